"""Closed shapes of JSON values: every defect of a value with its code and its path, in order.

The codes and the order are those of the validation library that the original is built on, since
the original publishes them. What its library calls "continue" is `aborts` and `final` here:
checks of a value run on after a defect that does not abort, and checks of length run on after
every defect that is not final, even on a value of the wrong type that happens to have a length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, TypeAlias

from academy.canonical import PROTO

Path: TypeAlias = tuple[str | int, ...]
MAX_SAFE_INTEGER: Final = 2**53 - 1


class Absent(Enum):
    """The value of a key that is not there, which is not null."""

    ABSENT = "undefined"


ABSENT: Final = Absent.ABSENT


@dataclass(frozen=True, slots=True)
class Issue:
    """One defect. `path` is relative to the document; `aborts` ends the checks of its value."""

    code: str
    path: Path
    message: str
    aborts: bool = True
    final: bool = False

    @property
    def dotted(self) -> str:
        """The path as the original prints it."""
        return ".".join(str(part) for part in self.path)


Shape: TypeAlias = Callable[[Any, Path, list[Issue]], Any]
# Gives code, message and the path below the value, or None when all is well.
Finding: TypeAlias = tuple[str, str, Path]


@dataclass(frozen=True, slots=True)
class Rule:
    """A check after the type; `measured` marks checks of length."""

    test: Callable[[Any], Finding | None]
    measured: bool = False


def apply_rules(
    rules: Sequence[Rule], value: Any, path: Path, issues: list[Issue], start: int
) -> None:
    """Run the checks of a value whose own issues begin at `start`."""
    for rule in rules:
        if len(issues) > start and not may_run(rule, value, issues[start:]):
            continue
        finding = rule.test(value)
        if finding is not None:
            code, message, below = finding
            issues.append(Issue(code, path + below, message, aborts=False))


def may_run(rule: Rule, value: Any, found: Sequence[Issue]) -> bool:
    """Whether a check still runs after defects of the same value."""
    if rule.measured:
        return isinstance(value, str | list) and not any(issue.final for issue in found)
    return not any(issue.aborts for issue in found)


def kind_of(value: Any) -> str:
    """What the original calls the type of a value."""
    if value is ABSENT:
        return "undefined"
    if value is None:
        return "null"
    names: dict[type, str] = {bool: "boolean", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "number")


def wrong_type(expected: str, value: Any, path: Path) -> Issue:
    """The defect of a value of another type."""
    return Issue("invalid_type", path, f"expected {expected}, received {kind_of(value)}")


def refine(test: Callable[[Any], bool], message: str, below: Path = ()) -> Rule:
    """A check with a message of the format's own."""
    return Rule(lambda value: None if test(value) else ("custom", message, below))


def length(low: int, high: int) -> tuple[Rule, Rule]:
    """Bounds of the number of characters (code points) or elements."""
    return (
        Rule(
            lambda value: (
                ("too_small", f"expected at least {low}", ()) if len(value) < low else None
            ),
            measured=True,
        ),
        Rule(
            lambda value: (
                ("too_big", f"expected at most {high}", ()) if len(value) > high else None
            ),
            measured=True,
        ),
    )


def text(*rules: Rule) -> Shape:
    """A string."""

    def shape(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if not isinstance(value, str):
            issues.append(wrong_type("string", value, path))
        apply_rules(rules, value, path, issues, start)
        return value

    return shape


def pattern(expression: str) -> Rule:
    """The whole string matches; a newline at the end does not slip through."""
    compiled = re.compile(expression)

    def test(value: str) -> Finding | None:
        if compiled.fullmatch(value):
            return None
        return ("invalid_format", f"must match {expression}", ())

    return Rule(test)


def is_number(value: Any) -> bool:
    """Whether the value is a number that the original's language can hold."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(value, int) or abs(value) < 2**1024


def number(*rules: Rule) -> Shape:
    """A finite number, never a boolean."""

    def shape(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if not is_number(value):
            issues.append(wrong_type("number", value, path))
        apply_rules(rules, value, path, issues, start)
        return value

    return shape


def integer(*rules: Rule) -> Shape:
    """A whole number; 288.0 is one. A fraction ends the checks of the value."""

    def shape(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if not is_number(value):
            issues.append(wrong_type("number", value, path))
        elif value != int(value):
            issues.append(Issue("invalid_type", path, "expected int, received number", final=True))
        elif abs(value) > MAX_SAFE_INTEGER:
            code = "too_big" if value > 0 else "too_small"
            issues.append(Issue(code, path, "whole numbers end at 2^53 - 1", aborts=False))
        apply_rules(rules, value, path, issues, start)
        return value

    return shape


def above(bound: float) -> Rule:
    """Greater than the bound."""
    return Rule(
        lambda value: None if value > bound else ("too_small", f"expected above {bound}", ())
    )


def at_least(bound: float) -> Rule:
    """Not below the bound."""
    return Rule(
        lambda value: None if value >= bound else ("too_small", f"expected at least {bound}", ())
    )


def at_most(bound: float) -> Rule:
    """Not above the bound."""
    return Rule(
        lambda value: None if value <= bound else ("too_big", f"expected at most {bound}", ())
    )


def boolean(value: Any, path: Path, issues: list[Issue]) -> Any:
    """True or false."""
    if not isinstance(value, bool):
        issues.append(wrong_type("boolean", value, path))
    return value


def one_of(*options: str | int | bool) -> Shape:
    """One of the given constants, of the same type; an absent value is none of them."""

    def shape(value: Any, path: Path, issues: list[Issue]) -> Any:
        if not any(kind_of(value) == kind_of(option) and value == option for option in options):
            named = " or ".join(str(option) for option in options)
            issues.append(Issue("invalid_value", path, f"expected {named}"))
        return value

    return shape


def anything(value: Any, _path: Path, _issues: list[Issue]) -> Any:
    """Any JSON value, also an absent one."""
    return value


def nullable(shape: Shape) -> Shape:
    """Null, or the shape."""
    return lambda value, path, issues: None if value is None else shape(value, path, issues)


@dataclass(frozen=True, slots=True)
class Optional:
    """A key that may be absent; with a default it is filled in."""

    shape: Shape
    default: Callable[[], Any] | None = None


def listed(shape: Shape, low: int, high: int, *rules: Rule) -> Shape:
    """An array of `low` to `high` elements; defects of elements come before its length."""
    every = (*length(low, high), *rules)

    def check(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if isinstance(value, list):
            value = [shape(item, (*path, index), issues) for index, item in enumerate(value)]
        else:
            issues.append(wrong_type("array", value, path))
        apply_rules(every, value, path, issues, start)
        return value

    return check


def closed(fields: Mapping[str, Shape | Optional], *rules: Rule) -> Shape:
    """An object with exactly these keys. Unknown keys are one defect, told after the others."""

    def check(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if not isinstance(value, dict):
            issues.append(wrong_type("object", value, path))
            return value
        found: dict[str, Any] = dict(value)
        for key, field in fields.items():
            read_field(found, key, field, path, issues)
        unknown = [key for key in value if key not in fields]
        if unknown:
            named = ", ".join(repr(key) for key in unknown)
            issues.append(Issue("unrecognized_keys", path, f"unknown keys: {named}", aborts=False))
        apply_rules(rules, found, path, issues, start)
        return found

    return check


def read_field(
    found: dict[str, Any], key: str, field: Shape | Optional, path: Path, issues: list[Issue]
) -> None:
    """Check one key of an object in place."""
    if isinstance(field, Optional):
        if key in found:
            found[key] = field.shape(found[key], (*path, key), issues)
        elif field.default is not None:
            found[key] = field.default()
        return
    checked = field(found.get(key, ABSENT), (*path, key), issues)
    if key in found:
        found[key] = checked


def mapping(key_shape: Shape, value_shape: Shape, *rules: Rule) -> Shape:
    """An object with free keys; the value of a bad key is not looked at."""

    def check(value: Any, path: Path, issues: list[Issue]) -> Any:
        start = len(issues)
        if not isinstance(value, dict):
            issues.append(wrong_type("record", value, path))
            return value
        for key, item in value.items():
            wrong: list[Issue] = []
            key_shape(key, (), wrong)
            # A member of this name is not covered by the hash.
            if wrong or key == PROTO:
                issues.append(Issue("invalid_key", (*path, key), "the key is not allowed"))
            else:
                value_shape(item, (*path, key), issues)
        apply_rules(rules, value, path, issues, start)
        return value

    return check


def told_apart(key: str, shapes: Mapping[str, Shape]) -> Shape:
    """One of several objects, chosen by the constant under one key."""

    def check(value: Any, path: Path, issues: list[Issue]) -> Any:
        if not isinstance(value, dict):
            issues.append(wrong_type("object", value, path))
            return value
        named = value.get(key)
        if not isinstance(named, str) or named not in shapes:
            known = " or ".join(shapes)
            issues.append(Issue("invalid_union", (*path, key), f"expected {known}"))
            return value
        return shapes[named](value, path, issues)

    return check


def issues_of(shape: Shape, value: Any) -> tuple[Any, list[Issue]]:
    """The value with defaults filled in, and all its defects."""
    issues: list[Issue] = []
    checked = shape(value, (), issues)
    return checked, issues
