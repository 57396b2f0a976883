"""Which entries cannot be told apart: p-values of all pairs and the tie groups they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from leaderboard.entries import ItemTable, Policy
from leaderboard.multiplicity import holm
from leaderboard.paired import is_binary, mcnemar_pvalues, t_pvalues
from leaderboard.resampling import share_two_sided

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
PairTest = Literal["mcnemar", "t", "bootstrap"]


def pair_test(policy: Policy, values: FloatArray) -> PairTest:
    """The test of the statistic that ranks, one for all pairs of a board.

    Means by the paired (clustered) t; independent passes of one replicate by exact McNemar;
    anything else by the paired cluster bootstrap. ValueError when McNemar is asked of other values.
    """
    if policy.test == "mcnemar" and not is_binary(values):
        raise ValueError("McNemar's test needs items that pass (1) or fail (0)")
    if policy.test != "auto":
        return policy.test
    if policy.statistic != "mean":
        return "bootstrap"
    single = policy.kind == "pass" and policy.replicates == 1 and policy.clusters is None
    return "mcnemar" if single and is_binary(values) else "t"


def mean_pvalues(values: FloatArray, codes: IntArray | None, clusters: int) -> FloatArray:
    """Paired (clustered) t of all pairs of columns: shape (entrants, entrants).

    The squared errors of all differences come from one product, since
    Σ(a-b)² = Σa² + Σb² - 2Σab over the cluster sums of the deviations.
    """
    n = len(values)
    means = values.mean(axis=0)
    deviations = values - means
    if codes is not None:
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(clusters))
        deviations = np.add.reduceat(deviations[order], starts, axis=0)
    products = deviations.T @ deviations
    squares = np.diag(products)
    between = np.maximum(0.0, squares[:, None] + squares[None, :] - 2 * products)
    errors = np.sqrt(clusters / (clusters - 1) * between) / n
    return t_pvalues(means[:, None] - means[None, :], errors, clusters - 1)


def pass_pvalues(values: FloatArray) -> FloatArray:
    """Exact McNemar of all pairs of columns of 0 and 1: shape (entrants, entrants)."""
    only_first = values.T @ (1.0 - values)
    return mcnemar_pvalues(only_first, only_first.T)


def pair_pvalues(
    test: PairTest,
    values: FloatArray,
    table: ItemTable,
    statistics: FloatArray,
) -> Callable[[int, Sequence[int]], FloatArray]:
    """The p-values of one column of `values` against others, by the test of the board.

    `statistics` are those of the same columns in every round of the bootstrap.
    """
    if test == "bootstrap":
        return lambda one, others: share_two_sided(
            statistics[:, [one]] - statistics[:, list(others)]
        )
    if test == "mcnemar":
        matrix = pass_pvalues(values)
    else:
        matrix = mean_pvalues(values, table.codes, table.clusters)
    return lambda one, others: matrix[one, list(others)]


def tie_groups(
    order: Sequence[int],
    pvalues: Callable[[int, Sequence[int]], FloatArray],
    confidence: float = 0.95,
) -> dict[int, int]:
    """The group of each entrant of `order`, best first.

    The best anchors group 1, and everybody whom Holm's correction over those not yet grouped does
    not separate from it joins; the best remaining opens group 2. Not transitive.
    """
    level = round(1 - confidence, 12)
    groups: dict[int, int] = {}
    remaining, group = list(order), 0
    while remaining:
        group += 1
        anchor, *others = remaining
        groups[anchor] = group
        adjusted = holm(pvalues(anchor, others)) if others else []
        remaining = []
        for other, p in zip(others, adjusted, strict=True):
            if p >= level:
                groups[other] = group
            else:
                remaining.append(other)
    return groups
