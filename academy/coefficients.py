"""Agreement coefficients as functions of sums over units, so that one bootstrap serves them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from academy.draws import seed_of, weight_blocks
from academy.intervals import EQUAL_VALUES, Interval, cluster_codes

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
Label: TypeAlias = str | int | float | bool
Weights = Literal["identity", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]

MOST_CATEGORIES = 100
MOST_CELLS, FEWEST_ROUNDS, ROUNDS = 2_000_000, 200, 2000
ONE_CATEGORY = "Undefined: all ratings are of one category, so chance agreement is certain."
NO_PAIRS = "No unit has two ratings."


@dataclass(frozen=True, slots=True, eq=False)
class Ratings:
    """Ratings as category numbers: `codes` of shape (units, raters) with -1 for none.

    `counts` of shape (units, categories) says how many raters chose each; `scale` names them.
    """

    scale: tuple[Label, ...]
    codes: IntArray
    counts: FloatArray


@dataclass(frozen=True, slots=True, eq=False)
class Coefficient:
    """A figure and the features of each unit whose sums decide it.

    `features` has shape (units, features); `evaluate` maps sums of shape (..., features) to
    values of shape (...), NaN where undefined. Only the `n` units that can count do.
    """

    name: str
    features: FloatArray
    evaluate: Callable[[FloatArray], FloatArray]
    n: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Resampling:
    """How intervals are made: the units are drawn by record, and weighted by 1/inclusion.

    `seed_digest` (of the queue or version) fixes the draws. `clusters` names the record of each
    unit; without it each unit is its own.
    """

    seed_digest: str
    clusters: Sequence[Hashable] | None = None
    inclusion: Sequence[float] | None = None
    rounds: int = 2000
    confidence: float = 0.95


def ratings_of(
    units: Sequence[Sequence[Label | None]], scale: Sequence[Label] | None = None
) -> Ratings:
    """Number the categories of ratings, a row for each unit and a column for each rater.

    Without `scale` it is the ratings that occur, sorted. ValueError for rows of different length
    or a rating off the scale.
    """
    width = max((len(row) for row in units), default=0)
    if any(len(row) != width for row in units):
        raise ValueError("every unit needs one place for each rater, None where there is no rating")
    occurring = {rating for row in units for rating in row if rating is not None}
    names = tuple(scale) if scale is not None else tuple(_sorted(occurring))
    numbers = {name: number for number, name in enumerate(names)}
    if strange := occurring - set(numbers):
        raise ValueError(f"{_sorted(strange)} is not on the scale {list(names)}")
    codes = np.array(
        [[-1 if rating is None else numbers[rating] for rating in row] for row in units],
        dtype=np.int64,
    ).reshape(len(units), width)
    return Ratings(names, codes, category_counts(codes, len(names)))


def category_counts(codes: IntArray, categories: int) -> FloatArray:
    """How often each category was chosen in each unit."""
    counts = (codes[:, :, None] == np.arange(categories)).sum(axis=1)
    return np.asarray(counts, dtype=np.float64)


def agreement_weights(categories: int, weights: Weights) -> FloatArray:
    """How much two categories agree, from 0 to 1: 1 - distance, or its square, over the scale."""
    places = np.arange(categories, dtype=np.float64)
    distance = np.abs(places[:, None] - places[None, :])
    if weights == "identity":
        return np.eye(categories)
    scaled = distance / max(1, categories - 1)
    return 1.0 - (scaled if weights == "linear" else scaled**2)


def percent(ratings: Ratings) -> Coefficient:
    """The mean over units of the share of their pairs of ratings that agree."""
    pairs, has_pairs = _pair_agreement(ratings.counts, np.eye(len(ratings.scale)))
    features = np.column_stack([pairs, has_pairs])

    def evaluate(sums: FloatArray) -> FloatArray:
        return _divide(sums[..., 0], sums[..., 1])

    return Coefficient("percent", features, evaluate, int(has_pairs.sum()))


def cohen(ratings: Ratings, weights: Weights = "identity") -> Coefficient:
    """Cohen's kappa of two raters (1960), weighted (1968) for ordinal scales.

    1 - observed/expected disagreement; units that one of them did not rate are left out.
    """
    if ratings.codes.shape[1] != 2:
        raise ValueError(f"Cohen's kappa is for two raters, not {ratings.codes.shape[1]}")
    size = _check_scale(ratings)
    disagreement = 1.0 - agreement_weights(size, weights)
    complete = (ratings.codes >= 0).all(axis=1)
    cells = np.where(complete, ratings.codes[:, 0] * size + ratings.codes[:, 1], -1)
    features = (cells[:, None] == np.arange(size * size)).astype(np.float64)

    def evaluate(sums: FloatArray) -> FloatArray:
        table = sums.reshape(*sums.shape[:-1], size, size)
        observed = (table * disagreement).sum(axis=(-2, -1)) * table.sum(axis=(-2, -1))
        margins = table.sum(axis=-1)[..., :, None] * table.sum(axis=-2)[..., None, :]
        return 1.0 - _divide(observed, (margins * disagreement).sum(axis=(-2, -1)))

    name = "cohen" if weights == "identity" else f"cohen-{weights}"
    return Coefficient(name, features, evaluate, int(complete.sum()))


def fleiss(counts: FloatArray) -> Coefficient:
    """Fleiss' kappa (1971) of counts (units, categories), equally many ratings in each unit.

    ValueError where units have different numbers of ratings, or fewer than two.
    """
    totals = counts.sum(axis=1)
    if len(totals) and (totals[0] < 2 or (totals != totals[0]).any()):
        raise ValueError("Fleiss' kappa needs the same number of ratings, at least 2, in each unit")
    pairs, has_pairs = _pair_agreement(counts, np.eye(counts.shape[1]))
    features = np.column_stack([counts, pairs, has_pairs])

    def evaluate(sums: FloatArray) -> FloatArray:
        chosen = sums[..., :-2]
        shares = _divide(chosen, chosen.sum(axis=-1, keepdims=True))
        expected = (shares**2).sum(axis=-1)
        observed = _divide(sums[..., -2], sums[..., -1])
        return 1.0 - _divide(1.0 - observed, 1.0 - expected)

    return Coefficient("fleiss", features, evaluate, len(counts))


def gwet(ratings: Ratings, weights: Weights = "identity") -> Coefficient:
    """Gwet's AC1 (2008), or AC2 with weights, of any number of raters with gaps.

    Chance agreement is T/(q(q-1))·Σ pi(1-pi) of q categories of the scale, where T is the sum of
    the weights and pi the mean share of a category over units.
    """
    size = len(ratings.scale)
    agreement = agreement_weights(size, weights)
    pairs, has_pairs = _pair_agreement(ratings.counts, agreement)
    totals = ratings.counts.sum(axis=1, keepdims=True)
    shares = np.divide(ratings.counts, np.maximum(1.0, totals))
    features = np.column_stack([shares, totals[:, 0] > 0, pairs, has_pairs])
    factor = agreement.sum() / max(1, size * (size - 1))

    def evaluate(sums: FloatArray) -> FloatArray:
        mean_shares = _divide(sums[..., :size], sums[..., size : size + 1])
        used = (sums[..., :size] > 0).sum(axis=-1)
        expected = factor * (mean_shares * (1.0 - mean_shares)).sum(axis=-1)
        observed = _divide(sums[..., -2], sums[..., -1])
        chance_free = 1.0 - _divide(1.0 - observed, 1.0 - expected)
        return np.where(used > 1, chance_free, np.nan)

    return Coefficient(
        "ac1" if weights == "identity" else f"ac2-{weights}",
        features,
        evaluate,
        int(has_pairs.sum()),
    )


def krippendorff(ratings: Ratings, level: Level = "nominal") -> Coefficient:
    """Krippendorff's alpha (2011) for nominal, ordinal or interval ratings with gaps.

    1 - observed/expected disagreement of all pairs of ratings of the same unit against all pairs
    whatsoever. The interval level needs a scale of numbers; ValueError otherwise.
    """
    forms = {
        "nominal": _krippendorff_nominal,
        "ordinal": _krippendorff_ordinal,
        "interval": _krippendorff_interval,
    }
    return forms[level](ratings)


def estimate(coefficient: Coefficient, resampling: Resampling | None = None) -> Interval:
    """The figure of all units, with the percentile interval of its bootstrap by record if wanted.

    Resamples in which it is undefined are left out and counted in the note; where they are more
    than half, or fewer than two records exist, there is no interval.
    """
    weights = _unit_weights(coefficient, resampling)
    features = coefficient.features * weights[:, None]
    point = float(coefficient.evaluate(features.sum(axis=0)))
    name, n = coefficient.name, coefficient.n
    if n == 0:
        return Interval(None, None, None, name, 0, NO_PAIRS)
    if np.isnan(point):
        return Interval(None, None, None, name, n, ONE_CATEGORY)
    if resampling is None:
        return Interval(point, None, None, name, n)
    values = _resampled(coefficient, features, resampling)
    if values is None:
        return Interval(point, None, None, name, n, "Fewer than 2 records: no interval.")
    known = values[~np.isnan(values)]
    if 2 * len(known) < len(values):
        note = "Undefined in most resamples, so there is no interval."
        return Interval(point, None, None, name, n, note)
    tail = (1 - resampling.confidence) / 2
    low, high = (float(bound) for bound in np.quantile(known, [tail, 1 - tail]))
    dropped = len(values) - len(known)
    note = f"Undefined in {dropped} of {len(values)} resamples, left out." if dropped else ""
    note = EQUAL_VALUES if low == high else note
    return Interval(point, low, high, name, n, note)


def rounds_for(records: int) -> int:
    """How many resamples: 2000, fewer for many records, whose intervals need fewer."""
    return min(ROUNDS, max(FEWEST_ROUNDS, MOST_CELLS // max(1, records)))


def resampled_features(
    features: FloatArray, clusters: Sequence[Hashable] | None, seed: bytes, rounds: int
) -> FloatArray:
    """Sums of the features of drawn records in every round, shape (rounds, features).

    Features enter as integers in the finest power of two with which every sum stays below 2**53,
    so that any machine adds them up to the same bits.
    """
    largest = float(np.abs(features).sum(axis=1).max(initial=0.0)) * len(features) ** 2
    unit = 2.0 ** (51 - math.frexp(largest)[1])
    units = np.rint(features * unit)
    if clusters is not None:
        codes, count = cluster_codes(clusters, len(units))
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], np.arange(count))
        units = np.add.reduceat(units[order], starts, axis=0)
    sums = np.empty((rounds, units.shape[1]))
    for place, weights in weight_blocks(seed, len(units), rounds):
        np.matmul(weights.astype(np.float64), units, out=sums[place])
    return sums / unit


def inverse_weights(inclusion: Sequence[float], n: int) -> FloatArray:
    """1/inclusion of each unit, scaled to a mean of 1; ValueError unless all are in (0, 1]."""
    chances = np.asarray(inclusion, dtype=np.float64)
    if chances.shape != (n,) or not ((chances > 0) & (chances <= 1)).all():
        raise ValueError("every unit needs an inclusion probability in (0, 1]")
    weights = 1.0 / chances
    return np.asarray(weights / weights.mean(), dtype=np.float64)


def _resampled(
    coefficient: Coefficient, features: FloatArray, resampling: Resampling
) -> FloatArray | None:
    clusters = resampling.clusters
    records = len(features) if clusters is None else len(set(clusters))
    if records < 2:
        return None
    seed = seed_of("agreement/1", resampling.seed_digest, records, resampling.rounds)
    return coefficient.evaluate(resampled_features(features, clusters, seed, resampling.rounds))


def _unit_weights(coefficient: Coefficient, resampling: Resampling | None) -> FloatArray:
    n = len(coefficient.features)
    if resampling is None or resampling.inclusion is None:
        return np.ones(n)
    return inverse_weights(resampling.inclusion, n)


def _pair_agreement(counts: FloatArray, agreement: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The share of each unit's ordered pairs of ratings that agree, and whether it has pairs."""
    totals = counts.sum(axis=1)
    has_pairs = (totals >= 2).astype(np.float64)
    agreeing = (counts * (counts @ agreement - 1.0)).sum(axis=1)
    shares = agreeing / np.maximum(1.0, totals * (totals - 1.0))
    return shares * has_pairs, has_pairs


def _pairable(ratings: Ratings) -> tuple[FloatArray, FloatArray, int]:
    """Counts of units with at least two ratings (0 for others), their totals, and their number."""
    totals = ratings.counts.sum(axis=1)
    has_pairs = totals >= 2
    counts = np.where(has_pairs[:, None], ratings.counts, 0.0)
    return counts, np.where(has_pairs, totals, 0.0), int(has_pairs.sum())


def _krippendorff_nominal(ratings: Ratings) -> Coefficient:
    counts, totals, n_units = _pairable(ratings)
    within = (totals**2 - (counts**2).sum(axis=1)) / np.maximum(1.0, totals - 1.0)
    features = np.column_stack([counts, within])

    def evaluate(sums: FloatArray) -> FloatArray:
        margins, observed = sums[..., :-1], sums[..., -1]
        n = margins.sum(axis=-1)
        return 1.0 - _divide(observed * (n - 1.0), n**2 - (margins**2).sum(axis=-1))

    return Coefficient("alpha-nominal", features, evaluate, n_units)


def _krippendorff_ordinal(ratings: Ratings) -> Coefficient:
    """Keeps every coincidence, since the distance of two categories depends on all ratings."""
    counts, totals, n_units = _pairable(ratings)
    size = _check_scale(ratings)
    within = counts[:, :, None] * counts[:, None, :]
    diagonal = np.arange(size)
    within[:, diagonal, diagonal] -= counts
    within /= np.maximum(1.0, totals - 1.0)[:, None, None]
    features = within.reshape(len(counts), size * size)

    def evaluate(sums: FloatArray) -> FloatArray:
        coincidences = sums.reshape(*sums.shape[:-1], size, size)
        margins = coincidences.sum(axis=-1)
        middles = np.cumsum(margins, axis=-1) - margins / 2.0
        distances = (middles[..., :, None] - middles[..., None, :]) ** 2
        expected = margins[..., :, None] * margins[..., None, :] * distances
        observed = (coincidences * distances).sum(axis=(-2, -1))
        n = margins.sum(axis=-1)
        return 1.0 - _divide(observed * (n - 1.0), expected.sum(axis=(-2, -1)))

    return Coefficient("alpha-ordinal", features, evaluate, n_units)


def _krippendorff_interval(ratings: Ratings) -> Coefficient:
    """From sums of values and squares, centred and scaled, which alpha does not see."""
    if any(isinstance(name, str) for name in ratings.scale):
        raise ValueError("interval ratings are numbers")
    counts, totals, n_units = _pairable(ratings)
    values = np.array([float(name) for name in ratings.scale])
    used = values[counts.sum(axis=0) > 0]
    if len(used):
        values = (values - used.mean()) / (float(np.ptp(used)) or 1.0)
    sums, squares = counts @ values, counts @ values**2
    within = 2.0 * (totals * squares - sums**2) / np.maximum(1.0, totals - 1.0)
    features = np.column_stack([totals, sums, squares, within])

    def evaluate(total: FloatArray) -> FloatArray:
        n, first, second, observed = (total[..., feature] for feature in range(4))
        expected = 2.0 * (n * second - first**2)
        return 1.0 - _divide(observed * (n - 1.0), expected)

    return Coefficient("alpha-interval", features, evaluate, n_units)


def _check_scale(ratings: Ratings) -> int:
    size = len(ratings.scale)
    if size > MOST_CATEGORIES:
        raise ValueError(f"{size} categories are too many for a table of pairs")
    return size


def _divide(numerator: FloatArray, denominator: FloatArray) -> FloatArray:
    """The quotient, NaN where the denominator is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = np.divide(numerator, denominator)
    return np.where(denominator == 0, np.nan, quotient)


def _sorted(labels: set[Label]) -> list[Label]:
    """Numbers by size, texts by alphabet, numbers first."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))
