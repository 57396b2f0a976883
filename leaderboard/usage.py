"""Numbers beside the score: cost, tokens and time, ratings, and how hard the items are."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from academy.intervals import finite


@dataclass(frozen=True, slots=True)
class Usage:
    """Median and total over the `known` of `n` records that carry a number; None of none.

    `share` is known/n, None without records.
    """

    median: float | None
    total: float | None
    known: int
    n: int
    share: float | None


@dataclass(frozen=True, slots=True)
class RatingDistribution:
    """How often each of `n` ratings of a scale was given, in its order; there is no average."""

    scale: tuple[int, ...]
    counts: tuple[int, ...]
    n: int
    not_applicable: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Saturation:
    """How much room a version leaves: shares of items that every and no entry gets full."""

    n: int
    all_full: float | None
    none_full: float | None
    best_mean: float | None


def usage_summary(values: Sequence[float | None]) -> Usage:
    """Cost, tokens or latency of an entry's records; None is a record that does not carry it."""
    known = finite([value for value in values if value is not None])
    n = len(values)
    share = len(known) / n if n else None
    if not len(known):
        return Usage(None, None, 0, n, share)
    return Usage(float(np.median(known)), math.fsum(known.tolist()), len(known), n, share)


def rating_distribution(
    ratings: Sequence[int | None], scale: Sequence[int], waiting: int = 0
) -> RatingDistribution:
    """Count ratings on a scale that must not be averaged; None is "not applicable".

    ValueError for a rating off the scale.
    """
    counted = Counter(ratings)
    if strange := set(counted) - {None, *scale}:
        raise ValueError(f"{sorted(map(str, strange))} is not on the scale {list(scale)}")
    counts = tuple(counted[step] for step in scale)
    return RatingDistribution(tuple(scale), counts, sum(counts), counted[None], waiting)


def saturation(values: npt.ArrayLike, full: float = 1.0) -> Saturation:
    """Items (columns) by entries (rows): which are solved by all, which by none."""
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not table.size:
        return Saturation(table.shape[-1] if table.ndim == 2 else 0, None, None, None)
    reached = table >= full
    return Saturation(
        table.shape[1],
        float(reached.all(axis=0).mean()),
        float((~reached.any(axis=0)).mean()),
        float(table.mean(axis=1).max()),
    )


def pareto_front(
    costs: Sequence[float | None], is_separably_better: Sequence[Sequence[bool]]
) -> list[bool]:
    """Which entries are on the front of cost against score.

    A point is off it only if another is cheaper and separably better;
    `is_separably_better[i][j]` says so of i over j. An entry of unknown cost is off the chart.
    """
    size = len(costs)
    if len(is_separably_better) != size or any(len(row) != size for row in is_separably_better):
        raise ValueError(f"{size} costs need a square table of {size} comparisons")
    return [
        cost is not None
        and not any(
            other is not None and other < cost and is_separably_better[better][here]
            for better, other in enumerate(costs)
        )
        for here, cost in enumerate(costs)
    ]
