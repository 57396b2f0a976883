"""Reads values the forgiving way of the original's models: what they coerce and what they refuse.

The original checks records with generated models in lax mode, which take "0.5" for a number and
"yes" for a boolean. Nothing here coerces anything that is stored; it only tells the verdict.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from academy.bundle import JSON

Place: TypeAlias = tuple[str | int, ...]
Fault: TypeAlias = tuple[Place, str]
Check: TypeAlias = Callable[[JSON, Place], Iterator[Fault]]

WHOLE = re.compile(r"[+-]?[0-9]+(?:_[0-9]+)*(?:\.0+)?")
REAL = re.compile(r"[+-]?(?:(?:[0-9][0-9_]*)?\.?[0-9]+|[0-9][0-9_]*\.)(?:[eE][+-]?[0-9]+)?")
NOT_FINITE = frozenset({"nan", "inf", "infinity"})
TRUTHS = frozenset({"0", "off", "f", "false", "n", "no", "1", "on", "t", "true", "y", "yes"})


def is_number(value: JSON) -> bool:
    """Whether a value is a JSON number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def anything(_value: JSON, _place: Place) -> Iterator[Fault]:
    """No value is refused."""
    return iter(())


def text(value: JSON, place: Place) -> Iterator[Fault]:
    """Text alone; nothing becomes text."""
    if not isinstance(value, str):
        yield place, "string_type"


def matching(pattern: re.Pattern[str]) -> Check:
    """Text of which the whole matches."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        if not isinstance(value, str):
            yield place, "string_type"
        elif not pattern.fullmatch(value):
            yield place, "string_pattern_mismatch"

    return check


def flag(value: JSON, place: Place) -> Iterator[Fault]:
    """A boolean, 0, 1, or one of a dozen words."""
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        if value.lower() not in TRUTHS:
            yield place, "bool_parsing"
    elif isinstance(value, int):
        if value not in (0, 1):
            yield place, "bool_parsing"
    elif value not in (0.0, 1.0):
        yield place, "bool_type"


def read_real(value: JSON) -> float | str:
    """The number that a value stands for, or why it stands for none."""
    if isinstance(value, str):
        trimmed = value.strip()
        if trimmed.lstrip("+-").lower() in NOT_FINITE or REAL.fullmatch(trimmed):
            return float(trimmed.replace("_", ""))
        return "float_parsing"
    if isinstance(value, int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf
    return "float_type"


def read_whole(value: JSON) -> float | str:
    """The whole number that a value stands for, or why it stands for none."""
    if isinstance(value, str):
        trimmed = value.strip()
        if WHOLE.fullmatch(trimmed):
            return int(trimmed.partition(".")[0].replace("_", ""))
        return "int_parsing"
    if isinstance(value, float):
        if not math.isfinite(value):
            return "finite_number"
        return int(value) if value.is_integer() else "int_from_float"
    if isinstance(value, int):
        return int(value)
    return "int_type"


def within(
    read: Callable[[JSON], float | str], low: float | None = None, high: float | None = None
) -> Check:
    """A number as `read` takes it, between bounds."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        number = read(value)
        if isinstance(number, str):
            yield place, number
        elif low is not None and not number >= low:
            yield place, "greater_than_equal"
        elif high is not None and not number <= high:
            yield place, "less_than_equal"

    return check


real = within(read_real)
whole = within(read_whole)
count = within(read_whole, 0)


def word(*words: str) -> Check:
    """One of these words."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        if value not in words:
            yield place, "enum"

    return check


def listed(item: Check, least: int = 0) -> Check:
    """A list of items."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        if isinstance(value, str) or not isinstance(value, Sequence):
            yield place, "list_type"
            return
        if len(value) < least:
            yield place, "too_short"
        for position, member in enumerate(value):
            yield from item(member, (*place, position))

    return check


def mapped(member: Check) -> Check:
    """An object with any keys and members of one kind."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield place, "dict_type"
            return
        for key, held in value.items():
            yield from member(held, (*place, key))

    return check


def parameter(value: JSON, place: Place) -> Iterator[Fault]:
    """Text, a number, a boolean or null."""
    if isinstance(value, Mapping) or (isinstance(value, Sequence) and not isinstance(value, str)):
        yield (*place, "str"), "string_type"
        yield (*place, "float"), "float_type"
        yield (*place, "bool"), "bool_type"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """An object: fields that must be there, fields that may be there or be null, and a last rule.

    `rule` says what is wrong with a whole whose fields are all right.
    """

    needed: Mapping[str, Check]
    optional: Mapping[str, Check] = field(default_factory=dict)
    closed: bool = False
    rule: Callable[[Mapping[str, JSON]], str | None] | None = None

    def __call__(self, value: JSON, place: Place) -> Iterator[Fault]:
        """Every fault of a value at a place."""
        if not isinstance(value, Mapping):
            yield place, "model_type"
            return
        faults = list(self.field_faults(value, place))
        if not faults and self.rule is not None and self.rule(value):
            faults.append((place, "value_error"))
        yield from faults

    def field_faults(self, value: Mapping[str, JSON], place: Place) -> Iterator[Fault]:
        """Faults of single fields."""
        for name, check in self.needed.items():
            if name in value:
                yield from check(value[name], (*place, name))
            else:
                yield (*place, name), "missing"
        for name, check in self.optional.items():
            if value.get(name) is not None:
                yield from check(value[name], (*place, name))
        if self.closed:
            for name in value:
                if name not in self.needed and name not in self.optional:
                    yield (*place, name), "extra_forbidden"


def tagged(tag: str, shapes: Mapping[str, Shape]) -> Check:
    """An object whose shape follows from one of its fields."""

    def check(value: JSON, place: Place) -> Iterator[Fault]:
        if not isinstance(value, Mapping):
            yield place, "model_attributes_type"
        elif tag not in value:
            yield place, "union_tag_not_found"
        else:
            name = value[tag]
            shape = shapes.get(name) if isinstance(name, str) else None
            if shape is None:
                yield place, "union_tag_invalid"
            else:
                yield from shape(value, (*place, str(name)))

    return check
