"""How much a comparison can show: detectable differences, items needed, fragility."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from academy.bundle import Direction
from academy.distributions import normal_quantile
from academy.intervals import finite
from leaderboard.resampling import Sense, quantise


def smallest_detectable_difference(
    variance: float, n: int, power: float = 0.8, confidence: float = 0.95
) -> float | None:
    """The difference that a paired comparison of `n` items finds with this power.

    sqrt((1.96 + 0.84)²·variance/n), where `variance` is that of the items' paired differences
    (Miller 2024); None without items.
    """
    _check_variance(variance)
    return None if n < 1 else _factor(power, confidence) * math.sqrt(variance / n)


def items_needed(
    delta: float, variance: float, power: float = 0.8, confidence: float = 0.95
) -> int:
    """The least number of items with which a difference of `delta` is found with this power.

    (1.96 + 0.84)²·variance/delta², rounded up; ValueError for a difference of 0.
    """
    _check_variance(variance)
    if delta == 0:
        raise ValueError("no number of items can show a difference of 0")
    exact = _factor(power, confidence) ** 2 * variance / delta**2
    return max(1, math.ceil(exact - 1e-9))


def fragility(
    first: npt.ArrayLike,
    second: npt.ArrayLike,
    low: float = 0.0,
    high: float = 1.0,
    direction: Sense = "up",
) -> int | None:
    """The fewest item verdicts, of either entrant, whose change would swap first and second.

    Both have a value for every item; a changed verdict may move to the other end of the metric's
    range `low`..`high`. None when not even all of them would do.
    """
    ours, theirs = (quantise(finite(values)) for values in (first, second))
    if len(ours) != len(theirs):
        raise ValueError(f"{len(ours)} items cannot be paired with {len(theirs)}")
    bottom, top = (int(end) for end in quantise(np.array([low, high])))
    if Direction(direction) is Direction.DOWN:
        ours, theirs, bottom, top = -ours, -theirs, -top, -bottom
    lead = int(ours.sum()) - int(theirs.sum())
    moves = np.sort(np.concatenate([ours - bottom, top - theirs]))[::-1]
    enough = np.cumsum(moves) > lead
    return int(np.argmax(enough)) + 1 if enough.any() else None


def _factor(power: float, confidence: float) -> float:
    """1.96 + 0.84 by default: normal quantiles to two decimals, as they are published."""
    return round(normal_quantile(0.5 + confidence / 2), 2) + round(normal_quantile(power), 2)


def _check_variance(variance: float) -> None:
    if not 0 <= variance < math.inf:
        raise ValueError(f"a variance is not {variance}")
