"""Ways into JSON values that may lack any part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from academy.bundle import JSON, NOTHING

# What no text column and no JSON column can hold.
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
SYMBOLS = {"\x00": "\u2400"}


def as_map(value: JSON) -> Mapping[str, JSON]:
    """The object, or an empty one for whatever is none."""
    # Decoders give plain dicts; asking the abstract class costs as much as reading a small row.
    return value if type(value) is dict or isinstance(value, Mapping) else NOTHING


def as_list(value: JSON) -> Sequence[JSON]:
    """The list, or an empty one for whatever is none."""
    if type(value) is list:
        return value
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def as_text(value: JSON) -> str:
    """The text, or an empty one for whatever is none."""
    return value if isinstance(value, str) else ""


def as_number(value: JSON) -> float | None:
    """The number as a float, or None; a boolean is none. Whole numbers past a float are None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def as_whole(value: JSON) -> int | None:
    """The whole number, or None; 3.0 is whole."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) else None


def texts_of(value: JSON) -> list[str]:
    """The texts of a list."""
    return [item for item in as_list(value) if isinstance(item, str)]


def shown(text: str) -> str:
    """Text with a symbol for U+0000 and for half characters."""
    return UNSTORABLE.sub(lambda found: SYMBOLS.get(found[0], "\ufffd"), text)


def shown_value(value: JSON) -> JSON:
    """A value with symbols in all of its texts."""
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, Mapping):
        return {shown(name): shown_value(held) for name, held in value.items()}
    if isinstance(value, Sequence):
        return [shown_value(item) for item in value]
    return value
