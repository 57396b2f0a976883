"""How the original parses: strict JSON, and which place a finding names."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from academy.bundle import JSON


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding of the original: its place in the original's notation, kind and a sentence."""

    loc: str
    type: str
    message: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceVerdict:
    """What the original finds in one file."""

    errors: tuple[Finding, ...]
    warnings: tuple[Finding, ...] = ()

    @property
    def accepted(self) -> bool:
        """Whether the original takes the file."""
        return not self.errors


class NotStrict(ValueError):
    """Text that the original's strict parser refuses."""


def parse_strictly(text: str) -> JSON:
    """JSON without NaN, Infinity, overflow and double keys. Raises ValueError."""
    try:
        value: JSON = json.loads(
            text,
            object_pairs_hook=single_keys,
            parse_constant=refuse_constant,
            parse_float=refuse_overflow,
        )
    except RecursionError:
        raise NotStrict("the nesting is too deep") from None
    return value


def single_keys(pairs: Sequence[tuple[str, JSON]]) -> Mapping[str, JSON]:
    """An object in which no member is named twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        raise NotStrict("a member is named twice")
    return found


def refuse_constant(text: str) -> JSON:
    """NaN and the infinities are no JSON."""
    raise NotStrict(f"{text} is no JSON number")


def refuse_overflow(text: str) -> float:
    """A float that is finite."""
    number = float(text)
    if not math.isfinite(number):
        raise NotStrict(f"{text} is too large")
    return number


def decode(data: bytes) -> str:
    """Text as the original reads it: any line end becomes LF. Raises ValueError."""
    return data.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def named(value: JSON) -> str:
    """An id as text; what is no text stands for itself."""
    return value if isinstance(value, str) else repr(value)


def rule_broken(message: str, place: str = "") -> Finding:
    """A finding of a repository check."""
    return Finding(place, "semantic_rule_error", message)
