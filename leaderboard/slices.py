"""The scores of all entrants in all slices at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from academy.distributions import normal_quantile, t_quantiles
from academy.draws import weights_seed
from leaderboard.estimates import FEWEST_CLUSTERS
from leaderboard.paired import is_binary
from leaderboard.resampling import UNIT, quantise, resampled_medians

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SliceScores:
    """Arrays of shape (slices, entrants): items with a value, mean (or median) and bounds.

    NaN stands for what cannot be said.
    """

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


def slice_medians(
    values: FloatArray,
    slices: npt.ArrayLike,
    codes: IntArray | None,
    seed_digest: str,
    rounds: int,
    confidence: float = 0.95,
) -> SliceScores:
    """Medians with intervals from the cluster bootstrap, each slice drawn for itself.

    `values` and `slices` are as for `slice_scores`, `codes` numbers the cluster of each item. An
    entrant that lacks a value in a slice, and a slice of fewer than 8 clusters, has a point only.
    """
    members = np.asarray(slices, dtype=np.bool_)
    shape = len(members), values.shape[1]
    middle, low, high = (np.full(shape, np.nan) for _ in range(3))
    made = SliceScores(np.zeros(shape, dtype=np.int64), middle, low, high, "bootstrap")
    for line, chosen in enumerate(members):
        held = values[chosen]
        known = ~np.isnan(held)
        made.n[line] = known.sum(axis=0)
        for column in np.flatnonzero(made.n[line]):
            made.mean[line, column] = np.median(held[known[:, column], column])
        own = None if codes is None else np.unique(codes[chosen], return_inverse=True)[1]
        clusters = len(held) if own is None else int(own.max(initial=-1)) + 1
        whole = np.flatnonzero(known.all(axis=0)) if len(held) else np.empty(0, dtype=np.int64)
        if clusters < FEWEST_CLUSTERS or not len(whole):
            continue
        seed = weights_seed(seed_digest, clusters, rounds)
        drawn = resampled_medians(quantise(held[:, whole]), own, clusters, seed, rounds)
        tail = (1 - confidence) / 2
        bounds = np.quantile(drawn, [tail, 1 - tail], axis=0) / (2 * UNIT)
        made.low[line, whole], made.high[line, whole] = bounds
    return made


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
