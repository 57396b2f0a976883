"""What a scorer is: a pure function from a record and its key to a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from academy.bundle import JSON, NOTHING, RecordView, nothing

# The measure of a verdict that people would give, where they are not asked: review leaves the
# record alone, whatever a judge said of it.
ASKS_NOBODY = "asks_nobody"


class Mode(StrEnum):
    """Which rules apply: the original's to the last digit, or the ones that close its holes."""

    REFERENCE = "reference"
    STRICT = "strict"


class VerdictStatus(StrEnum):
    """Whether a number could be given. Nothing turns one of these into another."""

    SCORED = "scored"
    NEEDS_HUMAN = "needs_human"
    UNSCORABLE = "unscorable"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a scorer says of one record.

    `value` is the metric's own number, `credit` lies in 0..1 with more being better, `measures`
    are further numbers for display. Raises ValueError for a value that is not finite, a credit
    outside 0..1, and numbers without the status SCORED.
    """

    status: VerdictStatus
    value: float | None = None
    credit: float | None = None
    passed: bool | None = None
    measures: Mapping[str, JSON] = field(default_factory=nothing)
    note: str = ""

    def __post_init__(self) -> None:
        if self.status is VerdictStatus.SCORED:
            if self.value is None or not math.isfinite(self.value):
                raise ValueError(f"a scored verdict needs a finite value, not {self.value!r}")
            if self.credit is not None and not 0.0 <= self.credit <= 1.0:
                raise ValueError(f"credit {self.credit!r} lies outside 0..1")
        elif (self.value, self.credit, self.passed) != (None, None, None):
            raise ValueError(f"a verdict that is {self.status} carries no number")

    @classmethod
    def scored(
        cls,
        value: float,
        *,
        credit: float | None = None,
        passed: bool | None = None,
        note: str = "",
        measures: Mapping[str, JSON] = NOTHING,
    ) -> Self:
        """A number, right or wrong."""
        return cls(
            status=VerdictStatus.SCORED,
            value=float(value),
            credit=credit,
            passed=passed,
            note=note,
            measures=measures,
        )

    @classmethod
    def needs_human(cls, note: str, measures: Mapping[str, JSON] = NOTHING) -> Self:
        """A person must say."""
        return cls(status=VerdictStatus.NEEDS_HUMAN, note=note, measures=measures)

    @classmethod
    def unscorable(cls, note: str, measures: Mapping[str, JSON] = NOTHING) -> Self:
        """We cannot know."""
        return cls(status=VerdictStatus.UNSCORABLE, note=note, measures=measures)


@dataclass(frozen=True, slots=True, kw_only=True)
class EffectiveValue:
    """What stands for one criterion of one record under an evidence policy.

    `state` is "value", "na", "waiting" (a person must say), "unknowable" (cannot be known through
    us) or "struck" (a defective criterion that counts for nobody). `raw_state` is the state of
    the decision behind it ("call_error", "cannot_tell", "defective" …), for reference rules.
    """

    state: str
    value: JSON = None
    raw_state: str = ""
    source: str = ""
    reason: str = ""


Decisions = Mapping[str, EffectiveValue]
NO_DECISIONS: Decisions = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scorer:
    """A named, versioned way to score in one mode; its version goes up with any change of verdicts.

    `score(record, key, decisions, params)` is pure. `check(key, params)` raises ScoringError when
    it could never score anything. `needs_decisions` says that decisions of criteria are read.
    """

    key: str
    version: int
    mode: Mode
    score: Callable[[RecordView, JSON, Decisions, Mapping[str, JSON]], Verdict]
    check: Callable[[JSON, Mapping[str, JSON]], None]
    needs_decisions: bool = False
