"""The numbers of each entry: score with interval, the value without missing items, and bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemState
from academy.intervals import Interval, exact_mean, mean_interval, wilson
from leaderboard.entries import ItemTable, Policy
from leaderboard.paired import Statistic, is_binary
from leaderboard.resampling import UNIT

FloatArray = npt.NDArray[np.float64]

FEWEST_CLUSTERS = 8


@dataclass(frozen=True, slots=True)
class Estimate:
    """One entry's numbers: with missing items counted, without them, and at worst and best."""

    score: Interval
    second: float | None
    worst: float | None
    best: float | None


def estimates(table: ItemTable, policy: Policy, medians: FloatArray | None) -> list[Estimate]:
    """The numbers of every entry of the table, in its order.

    `medians` are twice the resampled medians of all entries in units of 2**-20, shape
    (rounds, entries); only a board that ranks by the median needs them.
    """
    return [
        _estimate(table, policy, column, None if medians is None else medians[:, column])
        for column in range(len(table.entries))
    ]


def statistic_of(values: FloatArray, statistic: Statistic) -> float | None:
    """The mean or median of some values; None of none."""
    if not len(values):
        return None
    return float(np.median(values)) if statistic == "median" else exact_mean(values)


def too_few_note(table: ItemTable) -> str:
    """Why there is neither interval nor spread, or nothing."""
    if table.clusters >= FEWEST_CLUSTERS:
        return ""
    noun = "items" if table.codes is None else "clusters"
    return f"Too few {noun}: {table.clusters}, and {FEWEST_CLUSTERS} are needed."


def _estimate(
    table: ItemTable, policy: Policy, column: int, medians: FloatArray | None
) -> Estimate:
    score = _score(table, policy, column, medians)
    values = table.values[:, column]
    known = values[~np.isnan(values)]
    if len(known) == len(values):
        return Estimate(score, score.point, score.point, score.point)
    return Estimate(score, statistic_of(known, policy.statistic), *_bounds(values, policy))


def _score(table: ItemTable, policy: Policy, column: int, medians: FloatArray | None) -> Interval:
    states = table.states[:, column]
    counted = table.counted[:, column]
    known = counted[~np.isnan(counted)]
    point = statistic_of(known, policy.statistic)
    if (states == ItemState.MISSING).all():
        return Interval(None, None, None, "none", 0, "No item has been submitted.")
    if policy.missing_value is None and _has_absent(states):
        return Interval(None, None, None, "none", len(known), "Missing items have no value.")
    if len(known) < len(counted):
        note = f"{len(counted) - len(known)} of {len(counted)} items have no value yet."
        return Interval(point, None, None, "none", len(known), note)
    too_few = too_few_note(table)
    if too_few:
        return Interval(point, None, None, "none", len(known), too_few)
    if medians is not None:
        return _median_interval(point, medians, policy.confidence, len(known))
    return _mean_interval(known, table, policy)


def _mean_interval(values: FloatArray, table: ItemTable, policy: Policy) -> Interval:
    """Wilson for independent passes, t (clustered) otherwise.

    Where all items pass or all fail, t would give no width at all, so Wilson's interval over as
    many units as there are clusters stands in.
    """
    if policy.kind == "pass" and is_binary(values):
        passes = int(values.sum())
        if table.codes is None and policy.replicates == 1:
            return wilson(passes, len(values), policy.confidence)
        if passes in (0, len(values)):
            whole = wilson(table.clusters if passes else 0, table.clusters, policy.confidence)
            note = "All items agree, so this is Wilson's interval over the clusters."
            return replace(whole, n=len(values), note=note)
    low, high = policy.limits or (None, None)
    return mean_interval(values, table.codes, policy.confidence, low, high)


def _median_interval(
    point: float | None, medians: FloatArray, confidence: float, n: int
) -> Interval:
    tail = (1 - confidence) / 2
    low, high = np.quantile(medians, [tail, 1 - tail]) / (2 * UNIT)
    return Interval(point, float(low), float(high), "bootstrap", n)


def _bounds(values: FloatArray, policy: Policy) -> tuple[float | None, float | None]:
    """The statistic with every item without a value at the worst, then at the best end."""
    if policy.limits is None:
        return None, None
    low, high = (
        statistic_of(np.where(np.isnan(values), end, values), policy.statistic)
        for end in policy.limits
    )
    return (low, high) if policy.direction == "up" else (high, low)


def _has_absent(states: npt.NDArray[np.uint8]) -> bool:
    return bool(((states == ItemState.MISSING) | (states == ItemState.FAILED)).any())
