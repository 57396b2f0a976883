"""What a sealed version may say of a run: a number too coarse to give an answer key away."""

from __future__ import annotations

import math
from dataclasses import dataclass

FEWEST_TASKS = 10
TOO_FEW = (
    "This version is sealed and has fewer than ten tasks: any number would give the answer keys "
    "away, so only tier and pass are shown."
)
NO_INTERVAL = "Sealed, and without an interval by which the number could be rounded."


def why_hidden(tasks: int) -> str:
    """Why a number of a sealed version of so many tasks is not said at all."""
    return TOO_FEW if tasks < FEWEST_TASKS else NO_INTERVAL


@dataclass(frozen=True, slots=True)
class Coarse:
    """A value and its interval at the interval's first digit; `decimals` may be negative."""

    value: float
    low: float
    high: float
    decimals: int


def coarse(value: float | None, low: float | None, high: float | None, tasks: int) -> Coarse | None:
    """The value rounded to the first digit of half its interval's width.

    None where nothing may be said: with fewer than ten tasks, or without an interval that has a
    width (then every item is alike, and the value is that of each).
    """
    if value is None or low is None or high is None or tasks < FEWEST_TASKS or not high > low:
        return None
    decimals = -math.floor(math.log10((high - low) / 2))
    return Coarse(round(value, decimals), round(low, decimals), round(high, decimals), decimals)
