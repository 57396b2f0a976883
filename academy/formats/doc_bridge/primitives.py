"""The small types that all artifacts of the study share."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from academy.formats.doc_bridge.hashing import ALGORITHM, ALGORITHM_KEY, HASH_KEY
from academy.formats.doc_bridge.safety import UNSAFE_TEXT, is_safe
from academy.formats.doc_bridge.shapes import (
    Finding,
    Optional,
    Path,
    Rule,
    above,
    at_least,
    integer,
    length,
    listed,
    number,
    one_of,
    pattern,
    refine,
    text,
)

CATEGORIES: Final = ("discovery", "architecture", "documentation", "implementation")
DIFFICULTIES: Final = ("easy", "medium", "hard")
OUTCOMES: Final = ("success", "partial", "incorrect", "incomplete", "blocked")
SURFACES: Final = ("logic", "endpoint", "database", "cli", "mcp", "ui", "docs")
SCENARIOS: Final = ("repository-only", "deterministic-doc-bridge", "registry-assisted")
EXECUTION_STATUSES: Final = (
    "completed",
    "failed",
    "timed-out",
    "unavailable",
    "invalid-output",
    "budget-exceeded",
)

HASH = text(pattern("[a-f0-9]{64}"))
IDENTIFIER = text(pattern("[a-z][a-z0-9-]{0,127}"))
REFERENCE = text(pattern("[a-z0-9][a-z0-9._:-]{0,255}"))
MODEL_REFERENCE = text(pattern("[a-z0-9][a-z0-9._:/-]{0,255}"))
SAFE_TEXT = text(*length(1, 2048), refine(is_safe, UNSAFE_TEXT))
SAFE_LIST = listed(SAFE_TEXT, 1, 32)
POSITIVE = integer(above(0))
COUNT = integer(at_least(0))
AMOUNT = number(at_least(0))
OUTCOME = one_of(*OUTCOMES)
TOKEN_METHOD = one_of("provider", "estimate")
VERSION_1 = one_of(1)
SEAL = {HASH_KEY: HASH, ALGORITHM_KEY: one_of(ALGORITHM)}

MOMENT = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\.[0-9]+)?)?Z"
)


def is_moment(value: str) -> bool:
    """ISO 8601 in UTC with a real day of the calendar; a numeric offset is refused."""
    found = MOMENT.fullmatch(value)
    if found is None:
        return False
    year, month, day = (int(part) for part in found.groups())
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    days = (31, 29 if leap else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
    return 1 <= month <= 12 and 1 <= day <= days[month - 1]


def moment(value: str) -> Finding | None:
    """The check behind `DATE_TIME`."""
    return None if is_moment(value) else ("invalid_format", "must be a date and time in UTC", ())


DATE_TIME = text(Rule(moment))


def maybe(shape: Any) -> Optional:
    """A key that may be absent."""
    return Optional(shape)


def repeats(values: Iterable[str]) -> bool:
    """Whether a value comes twice."""
    every = list(values)
    return len(set(every)) != len(every)


def unique(values: Iterable[str], label: str, path: Path) -> Iterator[tuple[str, Path]]:
    """The cross check that ids are not repeated."""
    if repeats(values):
        yield f"Duplicate {label} id.", path
