"""What may stand in published text, and the scan that looks through whole documents."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from academy.bundle import JSON
from academy.formats.doc_bridge.hashing import javascript_order

# White space as the original's language has it: with U+FEFF, without U+001C..U+001F and U+0085.
SPACE = r"[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"


def any_case(word: str) -> str:
    """The word in any mixture of ASCII cases; `re.IGNORECASE` would match U+017F and U+212A."""
    return "".join(f"[{c.lower()}{c.upper()}]" if c.isalpha() else re.escape(c) for c in word)


def any_of(*words: str) -> str:
    """One of the words in any case."""
    return "(?:" + "|".join(any_case(word) for word in words) + ")"


UNSAFE = re.compile(
    "|".join(
        (
            rf"(?:\A|[/\\]){any_of('Users', 'private', 'tmp', 'home')}[/\\]",
            rf"{any_of('apikey', 'api_key', 'api-key', 'token', 'password', 'secret')}{SPACE}*[:=]",
            any_case("-----BEGIN"),
            rf"{any_case('http')}[sS]?://",
        )
    )
)
JOINED = "[-_ ]?"
FORBIDDEN_KEY = re.compile(
    "|".join(
        (
            any_of("prompt", "credential", "secret", "password", "snippet", "stdout", "stderr"),
            rf"{any_case('raw')}(?:[-_ ]{any_case('agent')})?{JOINED}"
            rf"{any_of('response', 'output')}",
            rf"{any_case('agent')}{JOINED}{any_of('response', 'output')}",
            rf"{any_case('repository')}{JOINED}{any_of('content', 'path')}",
            rf"{any_case('private')}[-_ ]{any_case('identifier')}",
        )
    )
)
UNSAFE_TEXT = "Public study text cannot contain paths, URLs, credentials, or secret material"


def is_safe(text: str) -> bool:
    """Whether text holds no home or temporary path, credential, key header or web address."""
    return UNSAFE.search(text) is None


@dataclass(frozen=True, slots=True)
class PrivacyScan:
    """Where forbidden material stands; never what it says."""

    checked_strings: int
    forbidden: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing was found."""
        return not self.forbidden

    def as_json(self) -> dict[str, JSON]:
        """The result in the original's words."""
        return {
            "ok": self.ok,
            "checkedStrings": self.checked_strings,
            "forbiddenMatches": list(self.forbidden),
        }


def scan(value: JSON) -> PrivacyScan:
    """Look at every text and every key of a value. Unsafe text inside a key passes."""
    checked = 0
    forbidden: list[str] = []
    for place, kind, item in visit(value, "$"):
        if kind == "key":
            if FORBIDDEN_KEY.fullmatch(item):
                forbidden.append(place)
        else:
            checked += 1
            if not is_safe(item):
                forbidden.append(place)
    return PrivacyScan(checked, tuple(forbidden))


def visit(value: Any, place: str) -> Iterator[tuple[str, str, str]]:
    """Every key and every text with its place, a key before what it holds."""
    if isinstance(value, str):
        yield place, "text", value
    elif isinstance(value, dict):
        for key in javascript_order(value):
            yield f"{place}.{key}", "key", key
            yield from visit(value[key], f"{place}.{key}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from visit(item, f"{place}[{index}]")
