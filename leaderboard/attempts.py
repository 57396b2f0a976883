"""Several attempts at one item, and several runs of one entrant."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemState
from academy.bundle import Direction
from academy.intervals import Interval, exact_mean, finite, t_interval
from leaderboard.resampling import Sense

AttemptRule = Literal["first", "last", "best", "mean"]


@dataclass(frozen=True, slots=True)
class ChosenAttempt:
    """What an entrant's attempts count as: `index` is None for the mean, `mean` stands beside."""

    value: float | None
    index: int | None
    mean: float | None
    scored: int


def item_means(attempts: Sequence[Sequence[float]]) -> list[float | None]:
    """Average the attempts inside each item; an item without any stays None."""
    return [math.fsum(finite(values)) / len(values) if values else None for values in attempts]


def mean_items(
    values: Sequence[Sequence[float | None] | npt.NDArray[np.float64]],
    states: Sequence[Sequence[int] | npt.NDArray[np.uint8]],
    missing_value: float | None,
) -> tuple[list[float | None], list[ItemState]]:
    """Several attempts as one: each item is the average of what it counts in them.

    What an attempt lacks counts as missing there; an item that no attempt has is missing. One that
    waits or could not be scored in any attempt has no average yet. All lists are in the order of
    the items; ValueError for different lengths.
    """
    made: list[tuple[float | None, ItemState]] = [
        _mean_item(held, [ItemState(state) for state in said], missing_value)
        for held, said in zip(zip(*values, strict=True), zip(*states, strict=True), strict=True)
    ]
    return [value for value, _state in made], [state for _value, state in made]


def _mean_item(
    values: Sequence[float | None], states: Sequence[ItemState], missing_value: float | None
) -> tuple[float | None, ItemState]:
    for open_state in (ItemState.STRUCK, ItemState.WAITING, ItemState.UNSCORABLE):
        if open_state in states:
            return None, open_state
    absent = [state for state in states if state is not ItemState.SCORED]
    if absent and (missing_value is None or len(absent) == len(states)):
        return None, min(absent)
    held = [
        value if state is ItemState.SCORED else missing_value
        for value, state in zip(values, states, strict=True)
    ]
    counted = [value for value in held if value is not None]
    return exact_mean(finite(counted)), ItemState.SCORED


def within_item_variance(attempts: Sequence[Sequence[float]]) -> float | None:
    """The mean over items of the variance (m-1 below) of their m attempts (Miller 2024).

    Items with fewer than two attempts tell nothing; None when no other item exists.
    """
    variances = [float(np.var(finite(values), ddof=1)) for values in attempts if len(values) > 1]
    return math.fsum(variances) / len(variances) if variances else None


def pass_at_k(n: int, c: int, k: int) -> float | None:
    """The chance that one of k attempts passes: 1 - C(n-c, k)/C(n, k) (Chen et al. 2021).

    `c` of `n` scored attempts passed. None with fewer than k; ValueError for impossible counts.
    """
    _check_counts(n, c, k)
    if n < k:
        return None
    ways = math.comb(n, k)
    return (ways - math.comb(n - c, k)) / ways


def pass_hat_k(n: int, c: int, k: int) -> float | None:
    """The chance that all of k attempts pass: C(c, k)/C(n, k) (Yao et al. 2024, tau-bench).

    None with fewer than k attempts; ValueError for impossible counts.
    """
    _check_counts(n, c, k)
    return None if n < k else math.comb(c, k) / math.comb(n, k)


def mean_pass_at_k(counts: Sequence[tuple[int, int]], k: int) -> Interval:
    """The mean of pass@k over items, each given as (attempts, passes), with its t interval."""
    return _mean_over_items([pass_at_k(n, c, k) for n, c in counts], k)


def mean_pass_hat_k(counts: Sequence[tuple[int, int]], k: int) -> Interval:
    """The mean of pass^k over items, each given as (attempts, passes), with its t interval."""
    return _mean_over_items([pass_hat_k(n, c, k) for n, c in counts], k)


def choose_attempt(
    scores: Sequence[float | None], rule: AttemptRule, direction: Sense = "up"
) -> ChosenAttempt:
    """Reduce the scores of an entrant's attempts, in their order, by the policy of the board.

    Attempts without a score are left out and never chosen; of equal best ones the earliest is.
    """
    scored = [(index, value) for index, value in enumerate(scores) if value is not None]
    if not scored:
        return ChosenAttempt(None, None, None, 0)
    mean = math.fsum(value for _, value in scored) / len(scored)
    if rule == "mean":
        return ChosenAttempt(mean, None, mean, len(scored))
    sign = 1.0 if Direction(direction) is Direction.UP else -1.0
    chosen = {
        "first": scored[0],
        "last": scored[-1],
        "best": max(scored, key=lambda pair: (sign * pair[1], -pair[0])),
    }[rule]
    return ChosenAttempt(chosen[1], chosen[0], mean, len(scored))


def ladder(scores: Sequence[float], step: float, direction: Sense = "up") -> list[float]:
    """The best score to publish after each attempt (Blum & Hardt 2015, the ladder).

    It moves only when an attempt beats the published one by more than `step`, and is then rounded
    to a multiple of `step`, so that many small tries cannot climb on noise. ValueError for a step
    that is not positive.
    """
    if not step > 0:
        raise ValueError(f"the ladder needs a positive step, not {step}")
    sign = 1.0 if Direction(direction) is Direction.UP else -1.0
    published: list[float] = []
    for score in finite(scores).tolist():
        if not published or sign * score > sign * published[-1] + step:
            published.append(round(score / step) * step)
        else:
            published.append(published[-1])
    return published


def _mean_over_items(values: Sequence[float | None], k: int) -> Interval:
    known = [value for value in values if value is not None]
    interval = t_interval(known, low=0.0, high=1.0)
    left_out = len(values) - len(known)
    if not left_out:
        return interval
    note = (
        f"{left_out} of {len(values)} items have fewer than {k} scored attempts and are left out."
    )
    return replace(interval, note=f"{note} {interval.note}".strip())


def _check_counts(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n or k < 1:
        raise ValueError(f"{c} passes of {n} attempts with k = {k} are impossible")
