"""Two entrants on the same items: paired tests and differences with their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from academy.distributions import fair_coin_cdf, t_quantile, t_two_sided
from academy.draws import weights_seed
from academy.intervals import cluster_codes, exact_mean
from leaderboard.resampling import (
    UNIT,
    cluster_sums,
    quantise,
    resampled_medians,
    resampled_sums,
    share_two_sided,
)

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Statistic = Literal["mean", "median"]


@dataclass(frozen=True, slots=True)
class Difference:
    """First minus second on the `n` items that both have, with interval and p-value.

    None is "cannot be said", for the reason in `note`. `only_first` and `only_second` count the
    items on which just that one is the higher.
    """

    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    error: float | None
    test: str
    n: int
    clusters: int
    only_first: int
    only_second: int
    note: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class CommonItems:
    """The items of two entrants on which both have a value."""

    first: FloatArray
    second: FloatArray
    codes: IntArray | None
    clusters: int

    @property
    def is_binary(self) -> bool:
        """Whether every value is 0 or 1."""
        return is_binary(self.first) and is_binary(self.second)


def is_binary(values: FloatArray) -> bool:
    """Whether every value is 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def mcnemar_exact(b: int, c: int) -> float:
    """The exact two-sided p of b against c discordant items (McNemar 1947, binomial form).

    min(1, 2·P(Bin(b+c, 1/2) <= min(b, c))); 1 when nothing is discordant.
    """
    if b < 0 or c < 0:
        raise ValueError(f"{b} and {c} are no counts")
    return float(mcnemar_pvalues(np.array([b]), np.array([c]))[0])


def mcnemar_pvalues(b: npt.ArrayLike, c: npt.ArrayLike) -> FloatArray:
    """`mcnemar_exact` of many pairs of counts."""
    first, second = np.asarray(b), np.asarray(c)
    return np.minimum(1.0, 2.0 * fair_coin_cdf(np.minimum(first, second), first + second))


def common_items(
    first: Sequence[float | None] | npt.ArrayLike,
    second: Sequence[float | None] | npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
) -> CommonItems:
    """Pair the values of two entrants, in the same order of items; None and NaN have no partner.

    ValueError for lists of different length or infinite values.
    """
    ours = np.asarray(first, dtype=np.float64)
    theirs = np.asarray(second, dtype=np.float64)
    if ours.ndim != 1 or ours.shape != theirs.shape:
        raise ValueError(f"items of shape {ours.shape} cannot be paired with {theirs.shape}")
    both = ~(np.isnan(ours) | np.isnan(theirs))
    ours, theirs = ours[both], theirs[both]
    if not (np.isfinite(ours).all() and np.isfinite(theirs).all()):
        raise ValueError("a value is infinite")
    if clusters is None:
        return CommonItems(ours, theirs, None, len(ours))
    if len(clusters) != len(both):
        raise ValueError(f"{len(both)} items came with {len(clusters)} cluster labels")
    labels = [label for label, has_both in zip(clusters, both, strict=True) if has_both]
    codes, count = cluster_codes(labels, len(labels))
    return CommonItems(ours, theirs, codes, count)


def paired_t(
    first: Sequence[float | None] | npt.ArrayLike,
    second: Sequence[float | None] | npt.ArrayLike,
    confidence: float = 0.95,
) -> Difference:
    """The paired t of independent items: difference of means, n-1 degrees of freedom."""
    return paired_difference(first, second, None, confidence)


def paired_difference(
    first: Sequence[float | None] | npt.ArrayLike,
    second: Sequence[float | None] | npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Difference:
    """The paired t of d = first - second, clustered where labels are given (Miller 2024).

    SE as in `clustered_interval`, C-1 degrees of freedom. Fewer than two clusters: no interval.
    """
    return difference_of_means(common_items(first, second, clusters), confidence)


def paired_mcnemar(
    first: Sequence[float | None] | npt.ArrayLike,
    second: Sequence[float | None] | npt.ArrayLike,
    confidence: float = 0.95,
) -> Difference:
    """The difference of two pass rates with exact McNemar's p and the paired t interval."""
    return difference_of_passes(common_items(first, second), confidence)


def paired_bootstrap(
    first: Sequence[float | None] | npt.ArrayLike,
    second: Sequence[float | None] | npt.ArrayLike,
    seed_digest: str,
    statistic: Statistic = "mean",
    clusters: Sequence[Hashable] | None = None,
    rounds: int = 10_000,
    confidence: float = 0.95,
) -> Difference:
    """The paired cluster bootstrap of the difference of means or medians.

    Percentile interval; p = 2·min(share <= 0, share >= 0) with (k+1)/(B+1). The draws are those of
    the version whose digest is given, for as many clusters as the common items have.
    """
    items = common_items(first, second, clusters)
    return bootstrapped_difference(items, seed_digest, statistic, rounds, confidence)


def difference_of_means(items: CommonItems, confidence: float) -> Difference:
    """The paired (clustered) t of items already paired."""
    differences = items.first - items.second
    if not len(differences):
        return _unknown(items, "t", "The two have no item in common.")
    test = "t" if items.codes is None else "clustered-t"
    if items.clusters < 2:
        noun = "items" if items.codes is None else "clusters"
        return _unknown(
            items, test, f"Fewer than 2 {noun} in common: no interval.", exact_mean(differences)
        )
    _, errors, pvalues = t_columns(differences[:, None], items.codes, items.clusters)
    point, error = exact_mean(differences), float(errors[0])
    half = t_quantile(0.5 + confidence / 2, items.clusters - 1) * error
    return _difference(items, test, (point, point - half, point + half), float(pvalues[0]), error)


def difference_of_passes(items: CommonItems, confidence: float) -> Difference:
    """Exact McNemar of items already paired, all 0 or 1; ValueError for other values."""
    if not items.is_binary:
        raise ValueError("McNemar's test needs items that pass (1) or fail (0)")
    by_t = difference_of_means(items, confidence)
    p = mcnemar_exact(by_t.only_first, by_t.only_second) if by_t.n else None
    return replace(by_t, p=p, test="mcnemar")


def bootstrapped_difference(
    items: CommonItems, seed_digest: str, statistic: Statistic, rounds: int, confidence: float
) -> Difference:
    """The paired cluster bootstrap of items already paired."""
    test = f"bootstrap of the {statistic}"
    if items.clusters < 2:
        return _unknown(items, test, "Fewer than 2 clusters in common: no bootstrap.")
    units = quantise(np.column_stack([items.first, items.second]))
    seed = weights_seed(seed_digest, items.clusters, rounds)
    if statistic == "median":
        draws = resampled_medians(units, items.codes, items.clusters, seed, rounds) / (2 * UNIT)
        point = float(np.median(items.first) - np.median(items.second))
        by_draw = draws[:, 0] - draws[:, 1]
    else:
        sizes = cluster_sums(np.ones((len(units), 1), dtype=np.int64), items.codes, items.clusters)
        sums = cluster_sums(units, items.codes, items.clusters)
        draws = resampled_sums(np.column_stack([sums, sizes]), seed, rounds)
        point = exact_mean(items.first - items.second)
        by_draw = (draws[:, 0] - draws[:, 1]) / (draws[:, 2] * UNIT)
    tail = (1 - confidence) / 2
    low, high = (float(bound) for bound in np.quantile(by_draw, [tail, 1 - tail]))
    p = float(share_two_sided(by_draw[:, None])[0])
    error = float(np.std(by_draw, ddof=1))
    return _difference(items, test, (point, low, high), p, error)


def t_columns(
    differences: FloatArray, codes: IntArray | None, clusters: int
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, (clustered) errors and p-values of paired differences, one comparison a column.

    A difference that is 0 throughout is exactly 0 with p = 1; one that never varies has p = 0.
    """
    n = len(differences)
    means = differences.mean(axis=0)
    deviations = differences - means
    if codes is not None:
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(clusters))
        deviations = np.add.reduceat(deviations[order], starts, axis=0)
    squares = np.einsum("ij,ij->j", deviations, deviations)
    errors = np.sqrt(clusters / (clusters - 1) * squares) / n
    return means, errors, t_pvalues(means, errors, clusters - 1)


def t_pvalues(means: FloatArray, errors: FloatArray, degrees: int) -> FloatArray:
    """Two-sided p-values of means over errors, where an error may be 0."""
    certain = np.where(means == 0, 0.0, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.where(errors > 0, means / errors, certain)
    return t_two_sided(np.where(means == 0, 0.0, statistics), degrees)


def _discordant(items: CommonItems) -> tuple[int, int]:
    higher = int((items.first > items.second).sum())
    return higher, int((items.first < items.second).sum())


def _difference(
    items: CommonItems, test: str, bounds: tuple[float, float, float], p: float, error: float
) -> Difference:
    counts = (len(items.first), items.clusters, *_discordant(items))
    return Difference(*bounds, p, error, test, *counts)


def _unknown(
    items: CommonItems, test: str, note: str, difference: float | None = None
) -> Difference:
    counts = (len(items.first), items.clusters, *_discordant(items))
    return Difference(difference, None, None, None, None, test, *counts, note)
