"""The number and text rules of ECMAScript that reference scoring must follow to the last digit."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from decimal import ROUND_HALF_UP, Context, Decimal

from academy.bundle import JSON
from academy.canonical import es_number

# Python's own white space lacks U+FEFF and has U+001C..U+001F and U+0085 besides.
SPACE = "\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
SPACES = re.compile(f"[{SPACE}]+")
EDGES = re.compile(f"^[{SPACE}]+|[{SPACE}]+$")
DECIMAL = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
PREFIXED = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
EXACT = Context(prec=1200, rounding=ROUND_HALF_UP)


def text_of(value: JSON) -> str:
    """A value as ECMAScript would join it into text; null is the empty text."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return es_number(value)
    if isinstance(value, Sequence):
        return ",".join(text_of(item) for item in value)
    return "[object Object]"


def normalise(value: JSON) -> str:
    """Trimmed, lower-case, and each run of ECMAScript white space one space."""
    return SPACES.sub(" ", EDGES.sub("", text_of(value)).lower())


def to_number(value: JSON) -> float:
    """The number that arithmetic would make of a value: null is 0, text is read, else NaN."""
    if value is None:
        return 0.0
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if isinstance(value, str):
        return number_in(EDGES.sub("", value))
    if isinstance(value, Mapping):
        return math.nan
    return number_in(EDGES.sub("", text_of(value)))


def number_in(text: str) -> float:
    """The number a trimmed text spells; empty is 0, anything that is no number is NaN."""
    if not text:
        return 0.0
    if DECIMAL.fullmatch(text):
        return float(text)
    if PREFIXED.fullmatch(text):
        return to_number(int(text, 0))
    infinite = {"Infinity": math.inf, "+Infinity": math.inf, "-Infinity": -math.inf}
    return infinite.get(text, math.nan)


def round_places(value: float, places: int) -> float:
    """Round halves up in binary: 3.125 gives 3.13 and 0.844995… stays 0.84.

    Neither `round` (halves to even) nor decimal rounding gives the same digits.
    """
    if not math.isfinite(value):
        return value
    scale = float(10**places)
    scaled = value * scale
    if not math.isfinite(scaled):
        return value
    whole = math.floor(scaled)
    return (whole + 1 if scaled - whole >= 0.5 else whole) / scale


def fixed_places(value: float, places: int) -> str:
    """Text with exactly so many decimals; exact ties go away from zero, and -0 has no sign."""
    if not math.isfinite(value) or abs(value) >= 1e21:
        return es_number(value) if math.isfinite(value) else str(value)
    if value == 0:
        value = 0.0
    quantum = Decimal(1).scaleb(-places)
    return f"{Decimal(value).quantize(quantum, context=EXACT):f}"


def plain_sum(values: Iterable[float]) -> float:
    """Add in order, one by one; `sum` and `fsum` are more exact and so differ in the last bit."""
    total = 0.0
    for value in values:
        total += value
    return total


def plain_mean(values: Sequence[float]) -> float:
    """The mean by plain addition; of nothing it is 0."""
    return plain_sum(values) / len(values) if values else 0.0


def plain_median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the middle two; of nothing it is 0."""
    if not values:
        return 0.0
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2
