"""Addresses of transcripts: what they ask for, and how another page of the same is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from academy.steps import KINDS

# How much of one text is shown when it is opened.
WHOLE = 65_536
LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class Asked:
    """What an address asks for. `tool` and `role` are places in lists, since names may be hidden;
    `start` counts in the chosen steps, `at` is the place of a step among all."""

    view: str = ""
    kind: str = ""
    tool: int | None = None
    role: int | None = None
    errors: bool = False
    words: str = ""
    start: int | None = None
    at: int | None = None
    jump: int | None = None
    step: int | None = None
    part: str = ""
    chars: int = WHOLE

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Asked:
        """What is asked; whatever cannot be meant is left out."""
        view, kind = query.get("view", ""), query.get("kind", "")
        return cls(
            view=view if view in ("raw", "record") else "",
            kind=kind if kind in KINDS else "",
            tool=number(query.get("tool")),
            role=number(query.get("role")),
            errors=query.get("errors") == "1",
            words=query.get("q", "").strip()[:LONGEST_WORDS],
            start=number(query.get("from")),
            at=number(query.get("at")),
            jump=number(query.get("jump")),
            step=number(query.get("step")),
            part=query.get("part", ""),
            chars=number(query.get("chars")) or WHOLE,
        )

    def link(self, **changes: Any) -> str:
        """The address of this page otherwise. What is not said again is not kept: places, and
        opened texts; view, choice and words are."""
        base = replace(self, start=None, at=None, jump=None, step=None, part="", chars=WHOLE)
        new = replace(base, **changes)
        told = {
            "view": new.view,
            "kind": new.kind,
            "tool": new.tool,
            "role": new.role,
            "errors": "1" if new.errors else "",
            "q": new.words,
            "from": new.start,
            "at": new.at,
            "jump": new.jump,
            "step": new.step,
            "part": new.part,
            "chars": new.chars if new.step is not None else None,
        }
        return "?" + urlencode({k: v for k, v in told.items() if v is not None and v != ""})


def number(text: str | None) -> int | None:
    """A number of an address, or None."""
    if text is None or not (text.isascii() and text.isdigit()):
        return None
    return min(int(text[:12]), 2**31)
