"""How far reviewers agree with each other, and judges with people.

The report shows percent agreement first, always, Krippendorff's alpha as the default coefficient,
and Gwet's AC1 (AC2 for ordered scales) beside it when one category exceeds 80 %. A coefficient is
undefined, not 1 or 0, when all ratings are of one category. `FUNCTIONS` are the documented names
for use with JSON, beside those of `leaderboard.statistics`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np
import numpy.typing as npt

from academy.coefficients import (
    Coefficient,
    Label,
    Level,
    Ratings,
    Resampling,
    Weights,
    cohen,
    estimate,
    fleiss,
    gwet,
    inverse_weights,
    krippendorff,
    percent,
    ratings_of,
)
from academy.correction import (
    ENOUGH_DOUBLE,
    Calibration,
    ConfusionMatrix,
    EqualErrors,
    JudgeErrors,
    JudgeReport,
    confusion_matrix,
    corrected_rate,
    equal_errors,
    judge_errors,
    judge_report,
    rogan_gladen,
    too_few_note,
)
from academy.intervals import Interval

__all__ = [
    "ENOUGH_DOUBLE",
    "FUNCTIONS",
    "AgreementReport",
    "Calibration",
    "CategoryShare",
    "ConfusionMatrix",
    "EqualErrors",
    "JudgeErrors",
    "JudgeReport",
    "Resampling",
    "agreement_report",
    "cohen_kappa",
    "confusion_matrix",
    "corrected_rate",
    "equal_errors",
    "fleiss_kappa",
    "gwet_ac1",
    "gwet_ac2",
    "judge_errors",
    "judge_report",
    "krippendorff_alpha",
    "percent_agreement",
    "prevalence",
    "rogan_gladen",
]

PREVALENT = 0.8
Units = Sequence[Sequence[Label | None]]


@dataclass(frozen=True, slots=True)
class CategoryShare:
    """How many ratings are of a category, and their share (weighted by 1/inclusion if given)."""

    category: Label
    count: int
    share: float | None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """What a page shows of one criterion; a coefficient that does not apply is None.

    `kappa` and `weighted_kappa` need two raters who rated every unit, `fleiss` more raters and
    equally many ratings in each unit, weighted forms an ordered scale. `doubly` units have two or
    more ratings; below 30 of them `is_too_few` says that nothing should be concluded.
    """

    percent: Interval
    alpha: Interval
    kappa: Interval | None
    weighted_kappa: Interval | None
    fleiss: Interval | None
    ac1: Interval | None
    ac2: Interval | None
    prevalence: tuple[CategoryShare, ...]
    units: int
    doubly: int
    is_too_few: bool
    notes: tuple[str, ...]


def percent_agreement(table: npt.ArrayLike) -> Interval:
    """The share of units on which two raters agree, from their square table of counts."""
    return _of_table(percent, table)


def cohen_kappa(table: npt.ArrayLike, weights: Weights = "identity") -> Interval:
    """Cohen's kappa from two raters' square table of counts, weighted for an ordinal scale."""
    return _of_table(lambda ratings: cohen(ratings, weights), table)


def gwet_ac1(table: npt.ArrayLike) -> Interval:
    """Gwet's AC1 from two raters' square table of counts."""
    return _of_table(gwet, table)


def gwet_ac2(table: npt.ArrayLike, weights: Weights = "quadratic") -> Interval:
    """Gwet's AC2 from two raters' square table of counts, for an ordinal scale."""
    return _of_table(lambda ratings: gwet(ratings, weights), table)


def fleiss_kappa(counts: npt.ArrayLike) -> Interval:
    """Fleiss' kappa from counts of shape (units, categories), the same sum in every row."""
    table = np.asarray(counts, dtype=np.float64)
    if table.ndim != 2 or (table < 0).any():
        raise ValueError("counts are a table of units by categories")
    return estimate(fleiss(table))


def krippendorff_alpha(
    units: Units, level: Level = "nominal", scale: Sequence[Label] | None = None
) -> Interval:
    """Krippendorff's alpha of ratings, a row for each unit and None where a rater gave none.

    For ordinal ratings that are not numbers `scale` gives their order.
    """
    return estimate(krippendorff(ratings_of(units, scale), level))


def prevalence(
    units: Units, scale: Sequence[Label] | None = None, inclusion: Sequence[float] | None = None
) -> tuple[CategoryShare, ...]:
    """How often each category of the scale was chosen, in the scale's order."""
    ratings = ratings_of(units, scale)
    weights = np.ones(len(units)) if inclusion is None else inverse_weights(inclusion, len(units))
    counts = ratings.counts.sum(axis=0)
    weighted = weights @ ratings.counts
    total = float(weighted.sum())
    return tuple(
        CategoryShare(name, int(count), float(share) / total if total else None)
        for name, count, share in zip(ratings.scale, counts, weighted, strict=True)
    )


def agreement_report(
    units: Units,
    resampling: Resampling,
    level: Level = "nominal",
    scale: Sequence[Label] | None = None,
    weights: Weights = "quadratic",
) -> AgreementReport:
    """Everything that is shown of the agreement of reviewers on one criterion.

    `units` has a row for each item and a column for each rater (or seat). Intervals are drawn by
    record, and estimates weighted by 1/inclusion, as `resampling` says. ValueError for rows of
    different length, ratings off the scale, or interval ratings that are no numbers.
    """
    ratings = ratings_of(units, scale)
    shares = prevalence(units, scale, resampling.inclusion)
    is_prevalent = any((share.share or 0.0) > PREVALENT for share in shares)
    is_ordered = level != "nominal"
    per_unit = (ratings.codes >= 0).sum(axis=1)
    doubly = int((per_unit >= 2).sum())
    two_complete = ratings.codes.shape[1:] == (2,) and bool((per_unit == 2).all())
    equal_numbers = len(set(per_unit.tolist())) == 1 and int(per_unit[0]) >= 2

    def figure(applies: bool, coefficient: Callable[[], Coefficient]) -> Interval | None:
        return estimate(coefficient(), resampling) if applies else None

    return AgreementReport(
        percent=estimate(percent(ratings), resampling),
        alpha=estimate(krippendorff(ratings, level), resampling),
        kappa=figure(two_complete, lambda: cohen(ratings)),
        weighted_kappa=figure(two_complete and is_ordered, lambda: cohen(ratings, weights)),
        fleiss=figure(equal_numbers and not two_complete, lambda: fleiss(ratings.counts)),
        ac1=figure(is_prevalent, lambda: gwet(ratings)),
        ac2=figure(is_prevalent and is_ordered, lambda: gwet(ratings, weights)),
        prevalence=shares,
        units=len(units),
        doubly=doubly,
        is_too_few=doubly < ENOUGH_DOUBLE,
        notes=_notes(shares, doubly),
    )


def _notes(shares: Sequence[CategoryShare], doubly: int) -> tuple[str, ...]:
    notes = [too_few_note(doubly)]
    for share in shares:
        if share.share == 1.0:
            notes.append(f"All ratings are {share.category!r}: coefficients are undefined.")
        elif (share.share or 0.0) > PREVALENT:
            notes.append(
                f"Prevalence: {share.share:.0%} of the ratings are {share.category!r}. Kappa and "
                "alpha fall with prevalence even where raters agree; read AC1 beside them."
            )
    return tuple(note for note in notes if note)


def _of_table(coefficient: Callable[[Ratings], Coefficient], table: npt.ArrayLike) -> Interval:
    """A figure of two raters from counts: each cell is a kind of unit, as often as it counts."""
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or not (counts >= 0).all():
        raise ValueError("two raters' counts are a square table of numbers from 0 up")
    size = len(counts)
    cells = [(row, column) for row in range(size) for column in range(size)]
    of_cells = coefficient(ratings_of(cells, range(size)))
    weighted = replace(of_cells, features=of_cells.features * counts.reshape(-1, 1))
    return replace(estimate(replace(weighted, n=int(counts.sum()))), low=None, high=None)


def _from_plain(
    function: Callable[..., object], read: Callable[[Any], object], place: int
) -> Callable[..., object]:
    """A function that takes one of its arguments, by place or by name, as a plain object."""
    name = list(inspect.signature(function).parameters)[place]

    @wraps(function)
    def call(*given: Any, **named: Any) -> object:
        if name in named:
            return function(*given, **{**named, name: read(named[name])})
        if len(given) <= place:
            return function(*given, **named)
        return function(*given[:place], read(given[place]), *given[place + 1 :], **named)

    return call


def _calibration(plain: Mapping[str, Any]) -> Calibration:
    return Calibration(**plain)


def _calibrations(plain: Mapping[str, Mapping[str, Any]]) -> dict[str, Calibration]:
    return {key: Calibration(**held) for key, held in plain.items()}


def _resampling(plain: Mapping[str, Any]) -> Resampling:
    return Resampling(**plain)


FUNCTIONS: dict[str, Callable[..., object]] = {
    "agreement_report": _from_plain(agreement_report, _resampling, 1),
    "cohen_kappa": cohen_kappa,
    "confusion_matrix": confusion_matrix,
    "corrected_rate": _from_plain(corrected_rate, _calibration, 0),
    "fleiss_kappa": fleiss_kappa,
    "gwet_ac1": gwet_ac1,
    "gwet_ac2": gwet_ac2,
    "judge_errors": judge_errors,
    "judge_report": _from_plain(judge_report, _calibrations, 0),
    "krippendorff_alpha": krippendorff_alpha,
    "percent_agreement": percent_agreement,
    "prevalence": prevalence,
    "rogan_gladen": rogan_gladen,
}
