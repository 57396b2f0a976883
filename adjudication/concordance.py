"""What reviewers said of the same thing, made comparable: the agreement on each criterion."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from academy.coefficients import (
    Label,
    Level,
    estimate,
    krippendorff,
    percent,
    ratings_of,
    rounds_for,
)
from academy.correction import ENOUGH_DOUBLE, too_few_note
from academy.intervals import Interval
from adjudication.agreement import AgreementReport, Resampling, agreement_report, prevalence

LEVELS: Mapping[str, Level] = {"rating": "ordinal", "number": "interval"}
FEW_ROUNDS = 500


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as far as figures need it.

    `group` is the same for the same question about different subjects; `categories` are the
    answers of its scale in their order, empty where they are not known beforehand.
    """

    group: str
    label: str
    scale: str
    categories: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Unit:
    """What the seats of one item answered to one question, and how likely the item was drawn."""

    item: int
    asked: Asked
    ratings: tuple[Label, ...]
    inclusion: float = 1.0


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far reviewers agree on one question, or on all of one scale.

    `n` items were answered by two or more. On an ordered scale answers that are no place on it
    (N/A, cannot tell, defective) are left out: `left_out` counts units that lack two others so.
    """

    label: str
    scale: str
    n: int
    left_out: int
    report: AgreementReport | None


def share_equal(units: Iterable[Unit]) -> float | None:
    """The mean over units of the share of pairs that are equal: what a list is sorted by."""
    shares = []
    for unit in units:
        n = len(unit.ratings)
        if n > 1:
            pairs = sum(count * (count - 1) for count in _counted(unit.ratings).values())
            shares.append(pairs / (n * (n - 1)))
    return sum(shares) / len(shares) if shares else None


def by_question(units: Iterable[Unit]) -> list[tuple[Asked, list[Unit]]]:
    """Units of the same question together, those with the least agreement first."""
    found: dict[str, list[Unit]] = defaultdict(list)
    for unit in units:
        found[unit.asked.group].append(unit)
    grouped = [(held[0].asked, held) for held in found.values()]
    return sorted(grouped, key=lambda one: (share_equal(one[1]) or 0.0, one[0].label, one[0].group))


def by_scale(units: Iterable[Unit]) -> list[tuple[Asked, list[Unit]]]:
    """Units of all questions with the same scale together, the most units first."""
    found: dict[tuple[str, tuple[Label, ...]], list[Unit]] = defaultdict(list)
    for unit in units:
        found[(unit.asked.scale, unit.asked.categories)].append(unit)
    pooled = [
        (Asked("", _scale_words(scale, categories), scale, categories), held)
        for (scale, categories), held in found.items()
    ]
    return sorted(pooled, key=lambda one: (-len(one[1]), one[0].label))


def agreement_on(asked: Asked, units: Sequence[Unit], seed_digest: str) -> Agreement:
    """Every figure of the agreement on a question; intervals draw whole items anew."""
    level = LEVELS.get(asked.scale, "nominal")
    rows = [(unit, _on_level(unit.ratings, level)) for unit in units]
    kept = [(unit, ratings) for unit, ratings in rows if len(ratings) > 1]
    n = len({unit.item for unit, _ratings in kept})
    left_out = len(rows) - len(kept)
    if not kept:
        return Agreement(asked.label, asked.scale, 0, left_out, None)
    width = max(len(ratings) for _unit, ratings in kept)
    table = [[*ratings, *[None] * (width - len(ratings))] for _unit, ratings in kept]
    resampling = Resampling(
        seed_digest=seed_digest,
        clusters=[unit.item for unit, _ratings in kept],
        inclusion=[unit.inclusion for unit, _ratings in kept],
        rounds=rounds_for(n),
    )
    if level == "interval":
        report = _of_numbers(table, resampling)
    else:
        scale = _declared(asked.categories, table, level)
        report = agreement_report(table, resampling, level, scale)
    return Agreement(asked.label, asked.scale, n, left_out, report)


def percent_equal(units: Sequence[Unit], seed_digest: str) -> Interval:
    """The share of equal answers alone, with its interval by item."""
    resampling = Resampling(
        seed_digest=seed_digest,
        clusters=[unit.item for unit in units],
        rounds=FEW_ROUNDS,
    )
    return estimate(percent(ratings_of([unit.ratings for unit in units])), resampling)


def _on_level(ratings: Sequence[Label], level: Level) -> tuple[Label, ...]:
    if level == "nominal":
        return tuple(ratings)
    return tuple(rating for rating in ratings if not isinstance(rating, str))


def _declared(
    categories: Sequence[Label], table: Sequence[Sequence[Label | None]], level: Level
) -> list[Label]:
    """The scale's own answers, and behind them those that stand beside it and were given."""
    given = {rating for row in table for rating in row if rating is not None}
    beside = sorted(given - set(categories), key=lambda label: (isinstance(label, str), label))
    whole = [*categories, *beside]
    return sorted(whole, key=lambda label: float(label)) if level == "ordinal" else whole


def _of_numbers(table: Sequence[Sequence[Label | None]], resampling: Resampling) -> AgreementReport:
    """Numbers have no categories: percent of equal ones, and alpha of their distances."""
    ratings = ratings_of(table)
    alpha = estimate(krippendorff(ratings, "interval"), resampling)
    doubly = int(((ratings.codes >= 0).sum(axis=1) >= 2).sum())
    shares = prevalence(table) if len(ratings.scale) == 1 else ()
    return AgreementReport(
        percent=estimate(percent(ratings), resampling),
        alpha=alpha,
        kappa=None,
        weighted_kappa=None,
        fleiss=None,
        ac1=None,
        ac2=None,
        prevalence=shares,
        units=len(table),
        doubly=doubly,
        is_too_few=doubly < ENOUGH_DOUBLE,
        notes=tuple(note for note in (too_few_note(doubly),) if note),
    )


def _counted(ratings: Iterable[Label]) -> dict[tuple[str, Label], int]:
    """How often each answer was given; 1 and the text "1" are two answers."""
    found: dict[tuple[str, Label], int] = defaultdict(int)
    for rating in ratings:
        found[("text" if isinstance(rating, str) else "number", rating)] += 1
    return found


def _scale_words(scale: str, categories: Sequence[Label]) -> str:
    if scale == "number":
        return "All quantities"
    if not categories:
        return "All questions"
    first, last = categories[0], categories[-1]
    if scale == "rating":
        return f"All ratings {first}–{last}"
    return f"All criteria ({', '.join(str(name) for name in categories[:3])}" + (
        ", …)" if len(categories) > 3 else ")"
    )
