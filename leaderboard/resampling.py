"""The paired bootstrap of all entrants at once, in exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from academy.bundle import Direction
from academy.draws import weight_blocks

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Sense: TypeAlias = Direction | Literal["up", "down"]

UNIT = 1 << 20
EXACT = 1 << 53
RANKED_CELLS = 1 << 19


@dataclass(frozen=True, slots=True, eq=False)
class RankSpread:
    """Per entrant: the interval of the rank and the shares of draws in first and top three."""

    low: IntArray
    high: IntArray
    first: FloatArray
    top_three: FloatArray


def quantise(values: npt.ArrayLike) -> IntArray:
    """Values as integers round(x·2**20), half to even; ValueError where that is not exact."""
    scaled = np.asarray(values, dtype=np.float64) * UNIT
    if not (np.abs(scaled) < EXACT).all():
        raise ValueError("a value is not finite, or too large for exact sums (2**33 and more)")
    return np.rint(scaled).astype(np.int64)


def cluster_sums(units: IntArray, codes: IntArray | None, clusters: int) -> IntArray:
    """Sum the items (rows) of each cluster; without codes every item is its own cluster."""
    if codes is None:
        return units
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(clusters))
    return np.asarray(np.add.reduceat(units[order], starts, axis=0), dtype=np.int64)


def resampled_sums(units: IntArray, seed: bytes, rounds: int) -> FloatArray:
    """The sums of every entrant in every round: shape (rounds, entrants), exact integers.

    `units` are the cluster sums, shape (clusters, entrants). Every entrant has every item, so sums
    over one draw rank as means do. ValueError when a sum could pass 2**53.
    """
    clusters = len(units)
    if clusters * int(np.abs(units).max(initial=0)) >= EXACT:
        raise ValueError("the values are too large for exact sums")
    columns = np.ascontiguousarray(units, dtype=np.float64)
    sums = np.empty((rounds, columns.shape[1]), dtype=np.float64)
    buffer = np.empty(0)
    for place, weights in weight_blocks(seed, clusters, rounds):
        if weights.shape != buffer.shape:
            buffer = np.empty(weights.shape)
        np.copyto(buffer, weights)
        np.matmul(buffer, columns, out=sums[place])
    return sums


def resampled_medians(
    units: IntArray, codes: IntArray | None, clusters: int, seed: bytes, rounds: int
) -> FloatArray:
    """Twice the median of every entrant in every round: shape (rounds, entrants).

    `units` has a row for each item; a drawn cluster brings all its items, as often as it is drawn.
    The median of an even number is the mean of the middle two, hence twice it is an integer.
    """
    order = np.argsort(units, axis=0, kind="stable")
    medians = np.empty((rounds, units.shape[1]), dtype=np.float64)
    for place, weights in weight_blocks(seed, clusters, rounds):
        by_item = weights.T.astype(np.int32)
        if codes is not None:
            by_item = by_item[codes]
        for entrant in range(units.shape[1]):
            items = order[:, entrant]
            medians[place, entrant] = _weighted_medians(units[items, entrant], items, by_item)
    return medians


def rank_counts(statistics: FloatArray, direction: Sense) -> IntArray:
    """How often each entrant (row) takes each competition rank (column, from rank 1)."""
    rounds, entrants = statistics.shape
    counts = np.zeros(entrants * entrants, dtype=np.int64)
    rows = max(1, RANKED_CELLS // max(1, entrants))
    for low in range(0, rounds, rows):
        block = statistics[low : low + rows]
        order = np.argsort(-block if Direction(direction) is Direction.UP else block, axis=1)
        ordered = np.take_along_axis(block, order, axis=1)
        ranks = np.broadcast_to(np.arange(entrants), ordered.shape).copy()
        ranks[:, 1:][ordered[:, 1:] == ordered[:, :-1]] = 0
        np.maximum.accumulate(ranks, axis=1, out=ranks)
        counts += np.bincount((order * entrants + ranks).ravel(), minlength=len(counts))
    return counts.reshape(entrants, entrants)


def rank_spread(statistics: FloatArray, direction: Sense, confidence: float = 0.95) -> RankSpread:
    """Quantiles of the rank over the rounds: the least ranks that reach 2.5 and 97.5 per cent."""
    rounds = len(statistics)
    reached = np.cumsum(rank_counts(statistics, direction), axis=1)
    tail = (1 - Fraction(str(confidence))) / 2 * rounds
    return RankSpread(
        low=_least_rank(reached, tail),
        high=_least_rank(reached, rounds - tail),
        first=reached[:, 0] / rounds,
        top_three=reached[:, min(3, reached.shape[1]) - 1] / rounds,
    )


def share_two_sided(differences: FloatArray) -> FloatArray:
    """The p-values of bootstrapped differences, one a column: 2·min(share <= 0, share >= 0).

    Each share is (k+1)/(B+1) of B rounds; cut to 1.
    """
    rounds = len(differences)
    below = (differences <= 0).sum(axis=0)
    above = (differences >= 0).sum(axis=0)
    shares = (np.minimum(below, above) + 1) / (rounds + 1)
    return np.asarray(np.minimum(1.0, 2.0 * shares), dtype=np.float64)


def _least_rank(reached: IntArray, draws: Fraction) -> IntArray:
    needed = -(-draws.numerator // draws.denominator)
    return np.asarray((reached < needed).sum(axis=1) + 1, dtype=np.int64)


def _weighted_medians(ordered: IntArray, items: IntArray, weights: Int32Array) -> FloatArray:
    """Twice the median of each round (column of weights), from the items in order of value.

    One pass down the items for all rounds at once: a running sum of weights is several times
    faster so than as a cumulative sum of the whole block.
    """
    total = weights.sum(axis=0, dtype=np.int32)
    below_lower, below_upper = (total + 1) // 2, total // 2 + 1
    reached, lower, upper = np.zeros_like(total), np.zeros_like(total), np.zeros_like(total)
    for item in items.tolist():
        reached += weights[item]
        lower += reached < below_lower
        upper += reached < below_upper
    return np.asarray(ordered[lower] + ordered[upper], dtype=np.float64)
