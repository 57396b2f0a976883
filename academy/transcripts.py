"""A transcript in pages: which steps are shown, and how much of each text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.urls import reverse

from academy import foreign
from academy.bundle import Event, RecordView
from academy.models import InstanceRecord

STEPS = 20
TEXT = 4_000
WHOLE = 65_536

TITLES = {
    "message": "Message",
    "thought": "Thought",
    "tool_call": "Tool call",
    "tool_result": "Tool result",
    "action": "Action",
    "observation": "Observation",
    "error": "Error",
}


def page(record: InstanceRecord, view: RecordView, query: Mapping[str, str]) -> dict[str, Any]:
    """The steps from `from` on, cut; `step` and `chars` open one text further."""
    events = view.events
    start = _number(query.get("from"), 0, len(events))
    shown = events[start : start + STEPS]
    opened = _number(query.get("step"), -1, 2**31)
    chars = _number(query.get("chars"), WHOLE, 2**31)
    steps = [step_row(event, limit=chars if event.seq == opened else TEXT) for event in shown]
    end = start + len(shown)
    return {
        "record": record,
        "steps_url": reverse("academy:record", args=[record.pk]),
        "mask": None,
        "steps": steps,
        "steps_from": start,
        "steps_total": len(events),
        "steps_end": end,
        "more_from": end if end < len(events) else None,
        "less_from": max(0, start - STEPS) if start else None,
    }


def _number(text: str | None, default: int, most: int) -> int:
    if text is None or not (text.isascii() and text.isdigit()):
        return default
    return min(int(text[:12]), most)


def step_row(event: Event, *, limit: int) -> dict[str, Any]:
    """One step as the page shows it."""
    body = event.text
    counts = foreign.special_counts(body[:limit])
    return {
        "seq": event.seq,
        "title": event.title or TITLES.get(event.kind, event.kind),
        "kind": event.kind,
        "role": event.role,
        "tool": event.tool,
        "text": body[:limit],
        "data": event.data,
        "rest": max(0, len(body) - limit),
        "next_chars": limit * 4 if limit >= WHOLE else WHOLE,
        "length": len(body),
        "offset_ms": event.offset_ms,
        "tokens": (event.tokens_in or 0) + (event.tokens_out or 0),
        "images": event.images,
        "special": counts,
        "is_prose": event.kind in ("message", "thought"),
    }
