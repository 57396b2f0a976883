"""Estimates with their intervals: Wilson for shares, Student's t for means, clustered or not."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from academy.distributions import normal_quantile, t_quantile

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

EQUAL_VALUES = "All units are alike, so the interval has no width; that is no proof of certainty."


@dataclass(frozen=True, slots=True)
class Interval:
    """A number with its interval. None is "cannot be said", for the reason in `note`, never 0.

    `method` names the formula, `n` the items (or units) behind it.
    """

    point: float | None
    low: float | None
    high: float | None
    method: str
    n: int
    note: str = ""


def wilson(successes: int, n: int, confidence: float = 0.95) -> Interval:
    """The interval of a share of `n` items (Wilson 1927).

    Centre (p + z²/2n)/(1 + z²/n), half width z·sqrt(p(1-p)/n + z²/4n²)/(1 + z²/n). Raises
    ValueError for counts that are no share.
    """
    _check_confidence(confidence)
    if not 0 <= successes <= n or successes != int(successes) or n != int(n):
        raise ValueError(f"{successes} of {n} is no share")
    if n == 0:
        return Interval(None, None, None, "wilson", 0, "There are no items.")
    z = normal_quantile(0.5 + confidence / 2)
    share = successes / n
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / scale
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(share, low, high, "wilson", n)


def t_interval(
    values: npt.ArrayLike,
    confidence: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    """The interval of the mean of independent items with n-1 degrees of freedom.

    `low` and `high` are the metric's range; the bounds are cut to it. One item has a point only.
    """
    return mean_interval(finite(values), None, confidence, low, high)


def clustered_interval(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable],
    confidence: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    """The interval of the mean of items that hang together in clusters (Miller 2024).

    SE = sqrt(C/(C-1) · Σ over clusters of (Σ deviations)²)/n, with C-1 degrees of freedom.
    """
    items = finite(values)
    codes, _ = cluster_codes(clusters, len(items))
    return mean_interval(items, codes, confidence, low, high)


def mean_interval(
    items: FloatArray,
    codes: IntArray | None,
    confidence: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> Interval:
    """`t_interval`, or with the cluster number of each item `clustered_interval`."""
    _check_confidence(confidence)
    method, noun = ("t", "items") if codes is None else ("clustered-t", "clusters")
    n = len(items)
    if n == 0:
        return Interval(None, None, None, method, 0, "There are no items.")
    point = exact_mean(items)
    sums = _sums_within(items - point, codes)
    error = error_of_sums(sums, n)
    if error is None:
        return Interval(point, None, None, method, n, f"Fewer than 2 {noun}: no interval.")
    if items.min() == items.max():
        return Interval(
            point, cut(point, low, high), cut(point, low, high), method, n, EQUAL_VALUES
        )
    half = t_quantile(0.5 + confidence / 2, len(sums) - 1) * error
    bounds = cut(point - half, low, high), cut(point + half, low, high)
    return Interval(point, *bounds, method, n)


def standard_error(
    values: npt.ArrayLike,
    clusters: Sequence[Hashable] | None = None,
    *,
    corrected: bool = True,
) -> float | None:
    """The error of the mean: s/sqrt(n), or the clustered form of `clustered_interval`.

    `corrected` is the factor C/(C-1) under the root. None below two items or clusters.
    """
    items = finite(values)
    if not len(items):
        return None
    codes = None if clusters is None else cluster_codes(clusters, len(items))[0]
    sums = _sums_within(items - exact_mean(items), codes)
    error = error_of_sums(sums, len(items))
    if error is None or corrected:
        return error
    return error * math.sqrt((len(sums) - 1) / len(sums))


def error_of_sums(sums: FloatArray, n: int) -> float | None:
    """The corrected error of a mean of `n` items from the cluster sums of their deviations."""
    count = len(sums)
    if count < 2:
        return None
    return math.sqrt(count / (count - 1) * float(np.dot(sums, sums))) / n


def cluster_codes(clusters: Sequence[Hashable], n: int) -> tuple[IntArray, int]:
    """Number the clusters 0, 1, … in the order in which they first appear, one code an item."""
    if len(clusters) != n:
        raise ValueError(f"{n} items came with {len(clusters)} cluster labels")
    numbers: dict[Hashable, int] = {}
    codes = [numbers.setdefault(label, len(numbers)) for label in clusters]
    return np.array(codes, dtype=np.int64), len(numbers)


def finite(values: npt.ArrayLike) -> FloatArray:
    """The values as a flat array; ValueError for one that is missing, NaN or infinite."""
    items = np.asarray(values, dtype=np.float64)
    if items.ndim != 1:
        raise ValueError(f"a flat list of values is needed, not {items.ndim} dimensions")
    if not np.isfinite(items).all():
        raise ValueError(f"value {int(np.argmin(np.isfinite(items)))} is not a finite number")
    return items


def exact_mean(values: FloatArray) -> float:
    """The mean with one rounding at the sum and one at the division, in any order of items."""
    return math.fsum(values.tolist()) / len(values)


def cut(value: float, low: float | None, high: float | None) -> float:
    """The value inside a metric's range, of which either end may be open."""
    if low is not None and value < low:
        return low
    return high if high is not None and value > high else value


def _sums_within(deviations: FloatArray, codes: IntArray | None) -> FloatArray:
    if codes is None:
        return deviations
    return np.asarray(np.bincount(codes, deviations), dtype=np.float64)


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise ValueError(f"a confidence lies between 0 and 1, not at {confidence}")
