"""How fast review goes: the time an item takes, days and what they brought, the age of waiting."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from statistics import median

SHOWN_DAYS = 30
AGES = (
    ("under a day", timedelta(days=1)),
    ("1 to 3 days", timedelta(days=3)),
    ("3 to 7 days", timedelta(days=7)),
    ("1 to 4 weeks", timedelta(days=28)),
)
OLDER = "over 4 weeks"


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds from taking an item to handing it in; `breaks` were longer than the limit, and are
    left out of the quartiles."""

    n: int
    breaks: int
    lower: float | None
    median: float | None
    upper: float | None


@dataclass(frozen=True, slots=True)
class Day:
    """What one day (UTC) brought: reviews handed in, and items resolved."""

    date: date
    submitted: int
    resolved: int


def times_of(spent: Sequence[tuple[float, float]]) -> Times:
    """Quartiles of seconds, each with the limit beyond which it holds a break."""
    kept = sorted(seconds for seconds, limit in spent if 0 <= seconds <= limit)
    breaks = sum(1 for seconds, limit in spent if seconds > limit)
    if not kept:
        return Times(0, breaks, None, None, None)
    return Times(len(kept), breaks, _quantile(kept, 0.25), median(kept), _quantile(kept, 0.75))


def _quantile(ordered: Sequence[float], share: float) -> float:
    """Linear between the nearest two, as percentile_cont does."""
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def days_until(
    last: date, submitted: Mapping[date, int], resolved: Mapping[date, int], shown: int = SHOWN_DAYS
) -> list[Day]:
    """The last days, oldest first, also those on which nothing came."""
    first = last - timedelta(days=shown - 1)
    days = [first + timedelta(days=place) for place in range(shown)]
    return [Day(one, submitted.get(one, 0), resolved.get(one, 0)) for one in days]


def pace_of(days: Sequence[Day], over: int = 7) -> float:
    """Reviews per day over the last days."""
    return sum(day.submitted for day in days[-over:]) / over


def age_bounds(at: datetime) -> list[tuple[str, datetime | None, datetime | None]]:
    """Each age group with the times between which its items were made: after, up to."""
    edges = [at - span for _name, span in AGES]
    names = [name for name, _span in AGES]
    return [
        (names[0], edges[0], None),
        *((name, edges[place + 1], edges[place]) for place, name in enumerate(names[1:])),
        (OLDER, None, edges[-1]),
    ]
