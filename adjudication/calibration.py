"""Reviewers against items whose verdicts are known: accuracy, and whether it has moved."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from academy.intervals import Interval, wilson

RECENT = 20


@dataclass(frozen=True, slots=True)
class GoldResult:
    """One gold item that somebody reviewed: how many of its questions were answered as known."""

    seat: int
    item: int
    reviewer: int
    at: datetime
    right: int
    asked: int

    @property
    def is_right(self) -> bool:
        """Whether every question was answered as known."""
        return self.right == self.asked


@dataclass(frozen=True, slots=True)
class GoldFigures:
    """Accuracy on gold items: all, the last 20, those before, and the difference of the two.

    An item is right when all its questions are. `drift` has a point only where there are items
    before the last 20.
    """

    accuracy: Interval
    recent: Interval
    before: Interval
    drift: Interval

    @property
    def n(self) -> int:
        """How many gold items were reviewed."""
        return self.accuracy.n

    @property
    def word(self) -> str:
        """What is to be said of the drift."""
        if self.drift.low is None or self.drift.high is None:
            return "not known yet"
        if self.drift.high < 0:
            return "lower than before"
        return "higher than before" if self.drift.low > 0 else "none that can be told"


def said_right(known: Mapping[str, Any], given: Mapping[str, Any]) -> tuple[int, int]:
    """How many questions were answered as known, and how many are known."""
    right = sum(
        1 for key, verdict in known.items() if _verdict(verdict) == _verdict(given.get(key, {}))
    )
    return right, len(known)


def _verdict(given: Mapping[str, Any]) -> tuple[Any, Any]:
    state = given.get("state")
    return state, given.get("value") if state == "value" else None


def gold_figures(results: Sequence[GoldResult]) -> GoldFigures:
    """The figures of one reviewer's gold items, in whatever order they come."""
    ordered = sorted(results, key=lambda one: (one.at, one.seat))
    recent, before = _share(ordered[-RECENT:]), _share(ordered[:-RECENT])
    return GoldFigures(_share(ordered), recent, before, difference(recent, before))


def _share(results: Sequence[GoldResult]) -> Interval:
    return wilson(sum(one.is_right for one in results), len(results))


def difference(later: Interval, earlier: Interval) -> Interval:
    """later - earlier of two shares, from their Wilson intervals (Newcombe 1998, method 10).

    Lower bound d - sqrt((p1 - l1)² + (u2 - p2)²), upper d + sqrt((u1 - p1)² + (p2 - l2)²). `n` is
    the sum of both.
    """
    n = later.n + earlier.n
    if None in (later.point, earlier.point):
        return Interval(None, None, None, "newcombe", n, "There is nothing to compare with yet.")
    p1, low1, high1 = _numbers(later)
    p2, low2, high2 = _numbers(earlier)
    d = p1 - p2
    return Interval(
        d,
        d - math.hypot(p1 - low1, high2 - p2),
        d + math.hypot(high1 - p1, p2 - low2),
        "newcombe",
        n,
    )


def _numbers(share: Interval) -> tuple[float, float, float]:
    assert share.point is not None and share.low is not None and share.high is not None
    return share.point, share.low, share.high
