"""Text from outside, made safe to read: controls and direction characters become visible."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping

ANSI = r"\x1b\[[0-9;?]*[ -/]*[@-~]"
# What a spreadsheet takes for the beginning of a formula; some read the wide signs as well.
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
DIRECTION = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")
SPECIAL = re.compile(
    ANSI
    + "|[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f"
    + "\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    + "\ud800-\udfff\U000e0000-\U000e007f]"
)


def as_text(value: object, *, width: int = 100) -> str:
    """A value as people read it: text as it is, short JSON on one line, the rest indented."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    line = json.dumps(value, ensure_ascii=False, default=str)
    if len(line) <= width:
        return line
    if isinstance(value, Mapping) and value:
        parts = (
            f"  {json.dumps(str(key), ensure_ascii=False)}: " + _indented(part, width)
            for key, part in value.items()
        )
        return "{\n" + ",\n".join(parts) + "\n}"
    if isinstance(value, list | tuple) and value:
        return "[\n" + ",\n".join("  " + _indented(part, width) for part in value) + "\n]"
    return line


def _indented(value: object, width: int) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return as_text(value, width=max(20, width - 2)).replace("\n", "\n  ")


def segments(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces; True marks a piece that names characters which would not show."""
    place = 0
    for found in SPECIAL.finditer(text):
        if found.start() > place:
            yield False, text[place : found.start()]
        yield True, name_of(found[0])
        place = found.end()
    if place < len(text):
        yield False, text[place:]


def name_of(text: str) -> str:
    """What stands for characters that would not show."""
    if text.startswith("\x1b["):
        return "ESC" + text[1:]
    return {"\x00": "NUL", "\x1b": "ESC", "\x7f": "DEL"}.get(text, f"U+{ord(text):04X}")


HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    + "\U000e0000-\U000e007f]"
)


def hidden_counts(text: str) -> dict[str, int]:
    """How many direction controls and invisible characters a text has; quick on long texts."""
    found = "".join(HIDDEN.findall(text))
    direction = sum(character in DIRECTION for character in found)
    return {"direction": direction, "invisible": len(found) - direction}


def special_counts(text: str) -> dict[str, int]:
    """How many direction controls, invisible characters and control codes a text has."""
    counts = {"direction": 0, "invisible": 0, "control": 0}
    for found in SPECIAL.finditer(text):
        character = found[0][0]
        if character in DIRECTION:
            counts["direction"] += 1
        elif unicodedata.category(character) == "Cf":
            counts["invisible"] += 1
        else:
            counts["control"] += 1
    return counts


def cell(value: object) -> object:
    """A cell of a spreadsheet: text that would be run is neutralised, all else stays."""
    if isinstance(value, str) and value.startswith(FORMULA) and not NUMBER.fullmatch(value):
        return "'" + value
    return value
