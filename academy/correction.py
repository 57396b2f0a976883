"""A judge against people: its errors, and the rate that remains when they are taken out."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from academy.coefficients import Label, inverse_weights, ratings_of, resampled_features
from academy.distributions import chi_square_tail
from academy.draws import seed_of
from academy.intervals import Interval, wilson

FloatArray = npt.NDArray[np.float64]
Verdict: TypeAlias = bool | int

LEAST_YOUDEN = 1.1
ENOUGH_EXPECTED = 5
ENOUGH_DOUBLE = 30


@dataclass(frozen=True, slots=True)
class ConfusionMatrix:
    """Counts of the first's category (row) against the second's, on units that both rated."""

    scale: tuple[Label, ...]
    counts: tuple[tuple[int, ...], ...]
    n: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Verdicts of a judge, and of people on some of the same units.

    `judged` are all of the judge's verdicts whose rate is wanted; `person` and `judge` the pairs
    on units that people decided too, `inclusion` the probability with which each came to them.
    Records name what hangs together in either set.
    """

    judged: Sequence[Verdict]
    person: Sequence[Verdict]
    judge: Sequence[Verdict]
    judged_records: Sequence[Hashable] | None = None
    records: Sequence[Hashable] | None = None
    inclusion: Sequence[float] | None = None


@dataclass(frozen=True, slots=True)
class JudgeErrors:
    """How a judge's pass and fail stand to people's: counts, sensitivity q1 and specificity q0."""

    true_pass: int
    false_fail: int
    false_pass: int
    true_fail: int
    sensitivity: Interval
    specificity: Interval


@dataclass(frozen=True, slots=True)
class EqualErrors:
    """The test that a judge errs alike for all entrants; `p` is None where nothing can be said."""

    p: float | None
    statistic: float
    degrees: int
    note: str


@dataclass(frozen=True, slots=True)
class JudgeReport:
    """A judge against people for each entrant and pooled. It describes; it never ranks."""

    errors: Mapping[str, JudgeErrors]
    rates: Mapping[str, Interval]
    pooled_errors: JudgeErrors
    pooled_rate: Interval
    equal: EqualErrors


def confusion_matrix(
    first: Sequence[Label | None],
    second: Sequence[Label | None],
    scale: Sequence[Label] | None = None,
) -> ConfusionMatrix:
    """Cross two raters' ratings of the same units; ValueError for lists of different length."""
    ratings = ratings_of(list(zip(first, second, strict=True)), scale)
    size = len(ratings.scale)
    both = ratings.codes[(ratings.codes >= 0).all(axis=1)] if len(ratings.codes) else ratings.codes
    counts = np.zeros((size, size), dtype=np.int64)
    if len(both):
        np.add.at(counts, (both[:, 0], both[:, 1]), 1)
    rows = tuple(tuple(int(count) for count in row) for row in counts)
    return ConfusionMatrix(ratings.scale, rows, len(both), len(first) - len(both))


def judge_errors(
    person: Sequence[Verdict], judge: Sequence[Verdict], confidence: float = 0.95
) -> JudgeErrors:
    """Count a judge's verdicts against people's, with Wilson intervals of q1 and q0."""
    counts = [0, 0, 0, 0]
    for truth, verdict in zip(person, judge, strict=True):
        counts[_cell(truth, verdict)] += 1
    true_pass, false_fail, false_pass, true_fail = counts
    return JudgeErrors(
        true_pass,
        false_fail,
        false_pass,
        true_fail,
        wilson(true_pass, true_pass + false_fail, confidence),
        wilson(true_fail, true_fail + false_pass, confidence),
    )


def rogan_gladen(p: float, sensitivity: float, specificity: float) -> Interval:
    """The rate behind a judge's rate p: (p + q0 - 1)/(q0 + q1 - 1), cut to 0..1.

    Rogan & Gladen 1978. Refused (no point) when q0 + q1 <= 1.1: such a judge hardly tells pass
    from fail. ValueError for what is no rate.
    """
    if not all(0 <= rate <= 1 for rate in (p, sensitivity, specificity)):
        raise ValueError("rates lie between 0 and 1")
    if sensitivity + specificity <= LEAST_YOUDEN + 1e-12:
        return _refused(0, f"Refused: q0 + q1 = {sensitivity + specificity:.4g} is not above 1.1.")
    corrected = (p + specificity - 1.0) / (sensitivity + specificity - 1.0)
    return Interval(min(1.0, max(0.0, corrected)), None, None, "rogan-gladen", 0)


def corrected_rate(
    calibration: Calibration, seed_digest: str, rounds: int = 2000, confidence: float = 0.95
) -> Interval:
    """The corrected rate of a judge's verdicts, with an interval that resamples both sets.

    Records are drawn anew from the judged set and, apart from it, from the calibration set. A
    resample whose judge tells nothing (q0 + q1 <= 1) could mean any rate, so it counts as 0 for
    the lower bound and as 1 for the upper. `n` is the number of judged verdicts.
    """
    judged = _judged_features(calibration.judged)
    pairs = _pair_features(calibration)
    n = len(judged)
    if not n:
        return _refused(0, "The judge has given no verdict.")
    whole = pairs.sum(axis=0)
    if not (whole[0] + whole[1] > 0 and whole[2] + whole[3] > 0):
        return _refused(n, "People have not decided both a pass and a fail.")
    share = float(judged[:, 0].mean())
    q1, q0 = (float(rate) for rate in _error_rates(whole))
    point = rogan_gladen(share, q1, q0)
    if point.point is None:
        return _refused(n, point.note)
    if min(_records(judged, calibration.judged_records), _records(pairs, calibration.records)) < 2:
        note = "Fewer than 2 records: no interval."
        return Interval(point.point, None, None, "rogan-gladen", n, note)
    low, high = _corrected_bounds(calibration, judged, pairs, seed_digest, rounds, confidence)
    return Interval(point.point, low, high, "rogan-gladen", n, too_few_note(len(pairs)))


def too_few_note(doubly: int) -> str:
    """What to say of figures from fewer than 30 doubly reviewed items, or nothing."""
    if doubly >= ENOUGH_DOUBLE:
        return ""
    return f"Too few to judge: {doubly} doubly reviewed items, and {ENOUGH_DOUBLE} are needed."


def equal_errors(errors: Sequence[JudgeErrors]) -> EqualErrors:
    """Whether a judge errs alike for all entrants: Pearson's chi-square over q1 and q0 together.

    The two statistics and their degrees of freedom add up, since passes and fails are different
    units.
    """
    statistic, degrees, least = 0.0, 0, float("inf")
    for right, wrong in (("true_pass", "false_fail"), ("true_fail", "false_pass")):
        table = np.array([[getattr(one, right), getattr(one, wrong)] for one in errors], float)
        table = table[table.sum(axis=1) > 0] if len(table) else table.reshape(0, 2)
        if len(table) < 2 or (table.sum(axis=0) == 0).any():
            continue
        expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
        statistic += float(((table - expected) ** 2 / expected).sum())
        degrees += len(table) - 1
        least = min(least, float(expected.min()))
    if not degrees:
        return EqualErrors(None, 0.0, 0, "Too few errors or entrants to compare.")
    note = "Some expected counts are below 5: rough." if least < ENOUGH_EXPECTED else ""
    return EqualErrors(chi_square_tail(statistic, degrees), statistic, degrees, note)


def judge_report(
    calibrations: Mapping[str, Calibration],
    seed_digest: str,
    rounds: int = 2000,
    confidence: float = 0.95,
) -> JudgeReport:
    """A judge against people for each entrant and pooled, for one criterion."""
    keys = sorted(calibrations)
    errors = {
        key: judge_errors(calibrations[key].person, calibrations[key].judge, confidence)
        for key in keys
    }
    rates = {
        key: corrected_rate(calibrations[key], seed_digest, rounds, confidence) for key in keys
    }
    pooled = _pool([(key, calibrations[key]) for key in keys])
    return JudgeReport(
        errors=errors,
        rates=rates,
        pooled_errors=judge_errors(pooled.person, pooled.judge, confidence),
        pooled_rate=corrected_rate(pooled, seed_digest, rounds, confidence),
        equal=equal_errors(list(errors.values())),
    )


def _pool(calibrations: Sequence[tuple[str, Calibration]]) -> Calibration:
    """All entrants' verdicts together; a record's name counts within its entrant."""
    every = [one for _, one in calibrations]
    weighted = any(one.inclusion is not None for one in every)
    return Calibration(
        judged=[verdict for one in every for verdict in one.judged],
        person=[verdict for one in every for verdict in one.person],
        judge=[verdict for one in every for verdict in one.judge],
        judged_records=[
            (key, record)
            for key, one in calibrations
            for record in one.judged_records or range(len(one.judged))
        ],
        records=[
            (key, record)
            for key, one in calibrations
            for record in one.records or range(len(one.person))
        ],
        inclusion=[chance for one in every for chance in one.inclusion or [1.0] * len(one.person)]
        if weighted
        else None,
    )


def _corrected_bounds(
    calibration: Calibration,
    judged: FloatArray,
    pairs: FloatArray,
    seed_digest: str,
    rounds: int,
    confidence: float,
) -> tuple[float, float]:
    def resampled(
        purpose: str, features: FloatArray, records: Sequence[Hashable] | None
    ) -> FloatArray:
        count = _records(features, records)
        seed = seed_of("agreement/1", purpose, seed_digest, count, rounds)
        return resampled_features(features, records, seed, rounds)

    passes = resampled("judged", judged, calibration.judged_records)
    cells = resampled("calibration", pairs, calibration.records)
    q1, q0 = _error_rates(cells)
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.clip((passes[:, 0] / passes[:, 1] + q0 - 1.0) / (q0 + q1 - 1.0), 0.0, 1.0)
    tells = q0 + q1 > 1.0
    tail = (1 - confidence) / 2
    return (
        float(np.quantile(np.where(tells, rates, 0.0), tail)),
        float(np.quantile(np.where(tells, rates, 1.0), 1 - tail)),
    )


def _records(features: FloatArray, records: Sequence[Hashable] | None) -> int:
    return len(features) if records is None else len(set(records))


def _error_rates(cells: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sensitivity and specificity of (…, 4) cells; NaN where people gave no pass, or no fail."""
    with np.errstate(divide="ignore", invalid="ignore"):
        sensitivity = cells[..., 0] / (cells[..., 0] + cells[..., 1])
        specificity = cells[..., 3] / (cells[..., 2] + cells[..., 3])
    return sensitivity, specificity


def _judged_features(judged: Sequence[Verdict]) -> FloatArray:
    passes = np.array([bool(verdict) for verdict in judged], dtype=np.float64)
    return np.column_stack([passes, np.ones(len(passes))])


def _pair_features(calibration: Calibration) -> FloatArray:
    """One of four cells for each pair: true pass, false fail, false pass, true fail; weighted."""
    cells = [
        _cell(truth, verdict)
        for truth, verdict in zip(calibration.person, calibration.judge, strict=True)
    ]
    features = np.eye(4)[np.array(cells, dtype=np.int64)]
    if calibration.inclusion is None or not cells:
        return features
    return features * inverse_weights(calibration.inclusion, len(cells))[:, None]


def _cell(truth: Verdict, verdict: Verdict) -> int:
    return (0 if truth else 2) + (0 if verdict else 1)


def _refused(n: int, reason: str) -> Interval:
    return Interval(None, None, None, "rogan-gladen", n, reason)
