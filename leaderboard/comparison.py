"""A few entrants side by side, and all pairs of a board, by the statistic that ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
import numpy.typing as npt

from academy.draws import weights_seed
from leaderboard.entries import Entry, ItemTable, Policy, item_table
from leaderboard.estimates import statistic_of
from leaderboard.multiplicity import benjamini_hochberg, holm
from leaderboard.paired import (
    Difference,
    bootstrapped_difference,
    common_items,
    difference_of_means,
    difference_of_passes,
)
from leaderboard.power import items_needed, smallest_detectable_difference
from leaderboard.resampling import cluster_sums, quantise, resampled_medians, resampled_sums
from leaderboard.ties import pair_pvalues, pair_test

FloatArray = npt.NDArray[np.float64]
Adjustment = Literal["holm", "benjamini_hochberg"]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two entrants on the items that both have, by the test of the board.

    `only_first` and `only_second` list those of `items` (positions in the fixed order) on which
    the values differ. `detectable` is the difference that so many items would find with 80 %
    power, `needed` the items that would find the one seen. `is_separable` is None where the test
    cannot be made.
    """

    first: str
    second: str
    first_score: float | None
    second_score: float | None
    result: Difference
    p_adjusted: float | None
    is_separable: bool | None
    detectable: float | None
    needed: int | None
    only_first: tuple[int, ...]
    only_second: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class PairMatrix:
    """All pairs of entrants with a value for every item, as square arrays in the order of keys.

    `difference` is row minus column; `adjusted` are the p-values of all pairs after Benjamini and
    Hochberg.
    """

    keys: tuple[str, ...]
    difference: FloatArray
    p: FloatArray
    adjusted: FloatArray
    test: str
    n: int


def compare(
    entries: Sequence[Entry],
    policy: Policy,
    seed_digest: str,
    adjustment: Adjustment = "holm",
) -> list[Comparison]:
    """Compare every two of a few entrants, in the order given, adjusting for their number.

    A missing or failed item counts as the board counts it; waiting and unscorable ones are not
    common. Items struck for one are struck for all. Raises ValueError as `item_table` does.
    """
    table = item_table(entries, policy)
    columns = {entry.key: column for column, entry in enumerate(table.entries)}
    pairs = [
        (columns[first.key], columns[second.key]) for first, second in combinations(entries, 2)
    ]
    results = [_difference(table, policy, seed_digest, *pair) for pair in pairs]
    known = [result.p for result in results if result.p is not None]
    adjust = holm if adjustment == "holm" else benjamini_hochberg
    adjusted = iter(adjust(known))
    return [
        _comparison(table, policy, pair, result, None if result.p is None else next(adjusted))
        for pair, result in zip(pairs, results, strict=True)
    ]


def pair_matrix(entries: Sequence[Entry], policy: Policy, seed_digest: str) -> PairMatrix:
    """Test all pairs of those entrants that have a value for every item.

    The t and McNemar tests of all pairs come from one matrix product. ValueError as `item_table`
    does, or below two clusters.
    """
    table = item_table(entries, policy)
    whole = np.flatnonzero(~np.isnan(table.counted).any(axis=0))
    values = np.ascontiguousarray(table.counted[:, whole])
    if table.clusters < 2:
        raise ValueError("pairs need at least two clusters of items")
    test = pair_test(policy, values)
    draws = _statistics(table, policy, values, seed_digest) if test == "bootstrap" else values
    pvalues = pair_pvalues(test, values, table, draws)
    everybody = range(len(whole))
    p = np.array([pvalues(one, everybody) for one in everybody]).reshape(len(whole), len(whole))
    reduce = np.median if policy.statistic == "median" else np.mean
    scores = np.asarray(reduce(values, axis=0), dtype=np.float64)
    keys = tuple(table.entries[column].key for column in whole)
    difference = scores[:, None] - scores[None, :]
    return PairMatrix(keys, difference, p, _adjusted_matrix(p), test, len(values))


def _adjusted_matrix(p: FloatArray) -> FloatArray:
    upper = np.triu_indices(len(p), 1)
    adjusted = np.ones_like(p)
    adjusted[upper] = benjamini_hochberg(p[upper])
    return np.minimum(adjusted, adjusted.T)


def _statistics(
    table: ItemTable, policy: Policy, values: FloatArray, seed_digest: str
) -> FloatArray:
    units = quantise(values)
    seed = weights_seed(seed_digest, table.clusters, policy.rounds)
    if policy.statistic == "median":
        return resampled_medians(units, table.codes, table.clusters, seed, policy.rounds)
    sums = cluster_sums(units, table.codes, table.clusters)
    return resampled_sums(sums, seed, policy.rounds)


def _difference(
    table: ItemTable, policy: Policy, seed_digest: str, first: int, second: int
) -> Difference:
    labels = None if table.codes is None else table.codes.tolist()
    items = common_items(table.counted[:, first], table.counted[:, second], labels)
    test = pair_test(policy, np.column_stack([items.first, items.second]))
    if test == "mcnemar":
        return difference_of_passes(items, policy.confidence)
    if test == "t":
        return difference_of_means(items, policy.confidence)
    return bootstrapped_difference(
        items, seed_digest, policy.statistic, policy.rounds, policy.confidence
    )


def _comparison(
    table: ItemTable,
    policy: Policy,
    pair: tuple[int, int],
    result: Difference,
    p_adjusted: float | None,
) -> Comparison:
    first, second = (table.counted[:, column] for column in pair)
    common = ~(np.isnan(first) | np.isnan(second))
    level = round(1 - policy.confidence, 12)
    detectable, needed = _power(result)
    return Comparison(
        first=table.entries[pair[0]].key,
        second=table.entries[pair[1]].key,
        first_score=statistic_of(first[common], policy.statistic),
        second_score=statistic_of(second[common], policy.statistic),
        result=result,
        p_adjusted=p_adjusted,
        is_separable=None if p_adjusted is None else p_adjusted < level,
        detectable=detectable,
        needed=needed,
        only_first=_positions(table, first > second),
        only_second=_positions(table, first < second),
    )


def _power(result: Difference) -> tuple[float | None, int | None]:
    """From the error of the difference, which stands for sqrt(variance/n), clustered or not."""
    if result.error is None or result.difference is None:
        return None, None
    variance = result.error**2 * result.n
    needed = items_needed(result.difference, variance) if result.difference else None
    return smallest_detectable_difference(variance, result.n), needed


def _positions(table: ItemTable, chosen: npt.NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(position) for position in table.positions[chosen])
