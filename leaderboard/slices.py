"""The scores of all entrants in all slices at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from academy.distributions import normal_quantile, t_quantiles
from leaderboard.paired import is_binary

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class SliceScores:
    """Arrays of shape (slices, entrants): items with a value, mean and bounds, NaN if unsaid."""

    n: npt.NDArray[np.int64]
    mean: FloatArray
    low: FloatArray
    high: FloatArray
    method: str


def slice_scores(
    values: npt.ArrayLike,
    slices: npt.ArrayLike,
    confidence: float = 0.95,
    low: float | None = None,
    high: float | None = None,
) -> SliceScores:
    """Means with intervals of independent items in slices that may overlap.

    `values` has shape (items, entrants) with NaN for no value, `slices` is a truth table of shape
    (slices, items). Wilson where all values are 0 or 1, else t cut to `low`..`high`. A slice is
    shown, not ranked. ValueError for tables that do not fit.
    """
    table = np.asarray(values, dtype=np.float64)
    members = np.asarray(slices, dtype=np.float64)
    if table.ndim != 2 or members.ndim != 2 or members.shape[1] != len(table):
        raise ValueError(f"slices of shape {members.shape} do not fit values of {table.shape}")
    known = ~np.isnan(table)
    whole = bool(known.all())
    filled = table if whole else np.where(known, table, 0.0)
    counts = members.sum(axis=1, keepdims=True) + np.zeros(table.shape[1])
    if not whole:
        counts = members @ known
    with np.errstate(divide="ignore", invalid="ignore"):
        means = np.where(counts > 0, members @ filled / counts, np.nan)
        if is_binary(filled):
            bounds, method = _wilson_bounds(means, counts, confidence), "wilson"
        else:
            bounds, method = _t_bounds(filled, known, members, means, counts, confidence), "t"
    lower, upper = bounds
    if low is not None or high is not None:
        lower, upper = np.clip(lower, low, high), np.clip(upper, low, high)
    return SliceScores(counts.astype(np.int64), means, lower, upper, method)


def _wilson_bounds(
    means: FloatArray, counts: FloatArray, confidence: float
) -> tuple[FloatArray, FloatArray]:
    z = normal_quantile(0.5 + confidence / 2)
    scale = 1 + z * z / counts
    centre = (means + z * z / (2 * counts)) / scale
    half = z * np.sqrt(means * (1 - means) / counts + z * z / (4 * counts**2)) / scale
    return np.maximum(0.0, centre - half), np.minimum(1.0, centre + half)


def _t_bounds(
    filled: FloatArray,
    known: npt.NDArray[np.bool_],
    members: FloatArray,
    means: FloatArray,
    counts: FloatArray,
    confidence: float,
) -> tuple[FloatArray, FloatArray]:
    """Squares are taken about each entrant's own mean, so that little cancels."""
    centres = filled.sum(axis=0) / np.maximum(1, known.sum(axis=0))
    squares = members @ (np.where(known, filled - centres, 0.0) ** 2)
    spread = np.maximum(0.0, squares - counts * (means - centres) ** 2)
    errors = np.sqrt(spread / (counts - 1) / counts)
    half = np.where(counts > 1, t_quantiles(0.5 + confidence / 2, counts - 1) * errors, np.nan)
    return means - half, means + half
