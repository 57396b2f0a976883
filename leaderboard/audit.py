"""A judge's scores corrected by a sample that people decided: the policy `judge_audited`."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from academy.intervals import Interval, cluster_codes, cut, exact_mean, finite, mean_interval

FloatArray = npt.NDArray[np.float64]

ENOUGH_AUDITED = 30


@dataclass(frozen=True, slots=True)
class AuditedScore:
    """A judge's mean, what the audit changes of it, and the two parts of the error.

    `item_error` comes from which items there are, `audit_error` from which of them people saw;
    their squares add up to the square of the error behind `score`.
    """

    score: Interval
    judge_mean: float | None
    correction: float | None
    item_error: float | None
    audit_error: float | None
    n: int
    audited: int
    is_enough: bool


def audited_values(
    judge: npt.ArrayLike,
    person: Sequence[float | None],
    inclusion: Sequence[float | None],
) -> FloatArray:
    """The value of each item: judge_i, plus (person_i - judge_i)/pi_i where a person decided.

    Their mean is the estimate, and ranks and tests may use them like any item values, since both
    errors are in their spread; single ones may leave the metric's range. `inclusion` is the
    probability with which an item came to a person: 1 for those chosen by appeal or flag.
    ValueError for lists of different length, or a decided item without a probability in (0, 1].
    """
    values = finite(judge).copy()
    if not len(values) == len(person) == len(inclusion):
        raise ValueError("judge, person and inclusion need one entry for each item")
    for item, (decided, probability) in enumerate(zip(person, inclusion, strict=True)):
        if decided is None:
            continue
        if probability is None or not 0 < probability <= 1:
            raise ValueError(f"item {item} was decided by a person with probability {probability}")
        values[item] += (decided - values[item]) / probability
    return finite(values)


def judge_audited(
    judge: npt.ArrayLike,
    person: Sequence[float | None],
    inclusion: Sequence[float | None],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
    low: float | None = 0.0,
    high: float | None = 1.0,
) -> AuditedScore:
    """theta = mean(judge) + (1/n)·Σ over audited (person_i - judge_i)/pi_i, with its interval.

    Items are drawn into the audit independently, each with its probability pi_i. The whole error
    is the (clustered) error of the mean of `audited_values`; the audit's part of it is
    sqrt(Σ over audited (1 - pi_i)·((person_i - judge_i)/pi_i)²)/n (Horvitz & Thompson 1952), 0 for
    items that were sure to be audited. Point and bounds are cut to `low`..`high`. Below 30 audited
    items `is_enough` is false: judged, not audited.
    """
    values = audited_values(judge, person, inclusion)
    judged = finite(judge)
    n, audited = len(values), sum(decided is not None for decided in person)
    if n == 0:
        nothing = Interval(None, None, None, "judge-audited", 0, "There are no items.")
        return AuditedScore(nothing, None, None, None, None, 0, 0, False)
    codes = None if clusters is None else cluster_codes(clusters, n)[0]
    plain = mean_interval(values, codes, confidence)
    judge_mean = exact_mean(judged)
    correction = exact_mean(values - judged)
    chances = np.array([1.0 if chance is None else chance for chance in inclusion])
    audit_error = math.sqrt(float(((1 - chances) * (values - judged) ** 2).sum())) / n
    return AuditedScore(
        _cut_interval(plain, low, high),
        judge_mean,
        correction,
        _rest_of_error(values, codes, audit_error),
        audit_error,
        n,
        audited,
        audited >= ENOUGH_AUDITED,
    )


def _rest_of_error(
    values: FloatArray, codes: npt.NDArray[np.int64] | None, audit_error: float
) -> float | None:
    deviations = values - exact_mean(values)
    sums = deviations if codes is None else np.bincount(codes, deviations)
    if len(sums) < 2:
        return None
    whole = len(sums) / (len(sums) - 1) * float(np.dot(sums, sums)) / len(values) ** 2
    return math.sqrt(max(0.0, whole - audit_error**2))


def _cut_interval(interval: Interval, low: float | None, high: float | None) -> Interval:
    bounds = [
        None if bound is None else cut(bound, low, high)
        for bound in (interval.point, interval.low, interval.high)
    ]
    return replace(interval, point=bounds[0], low=bounds[1], high=bounds[2], method="judge-audited")
