"""A judge's verdicts crossed with people's, for each judge in each version and configuration."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from academy.coefficients import Label, rounds_for
from academy.correction import (
    Calibration,
    ConfusionMatrix,
    JudgeReport,
    confusion_matrix,
    judge_report,
)

STATES = {
    "na": "N/A",
    "cannot_tell": "cannot tell",
    "defective": "defective",
    "call_error": "call failed",
}
PASSES = {"met": True, "not met": False, "success": True}
FAILED_OUTCOMES = ("partial", "incorrect", "incomplete", "blocked")


class Judge(NamedTuple):
    """Who judged. Two judges under one name differ by version and digest of the configuration."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True, slots=True)
class JudgeVerdict:
    """What a judge said of one criterion of one record."""

    judge: Judge
    entrant: str
    record: int
    criterion: int
    said: Label


@dataclass(frozen=True, slots=True)
class PersonVerdict:
    """What one person, or the third person, said; `inclusion` is the chance of the record."""

    record: int
    criterion: int
    person: int
    said: Label
    is_resolution: bool = False
    inclusion: float = 1.0


@dataclass(frozen=True, slots=True)
class Word:
    """What people say of one criterion of one record together."""

    said: Label
    inclusion: float


@dataclass(frozen=True, slots=True)
class JudgeFigures:
    """One judge against people.

    `matrix` has a row for each answer of people and a column for each of the judge. The report
    counts passes and fails only: `unclear` pairs, of which either is neither, are left out of it,
    as are `unsaid` verdicts of the judge that are neither. `unsettled` pairs await a third person.
    """

    judge: Judge
    matrix: ConfusionMatrix
    report: JudgeReport
    pairs: int
    judged: int
    unclear: int
    unsaid: int
    unsettled: int


def category(state: str, value: Any) -> Label:
    """An answer as a category: the value on the scale, or the word for its absence."""
    if state != "value":
        return STATES.get(state, state)
    if isinstance(value, bool):
        return "met" if value else "not met"
    if isinstance(value, str | int | float):
        return value
    return json.dumps(value, sort_keys=True)


def passed(said: Label) -> bool | None:
    """Whether an answer is a pass; None where it is neither pass nor fail."""
    if not isinstance(said, str):
        return None
    return PASSES.get(said, False if said in FAILED_OUTCOMES else None)


def settled(verdicts: Iterable[PersonVerdict]) -> dict[tuple[int, int], Word | None]:
    """By record and criterion the resolution, else what all agree on; None where they differ."""
    found: dict[tuple[int, int], list[PersonVerdict]] = defaultdict(list)
    for verdict in verdicts:
        found[(verdict.record, verdict.criterion)].append(verdict)
    return {place: _together(given) for place, given in found.items()}


def _together(given: Sequence[PersonVerdict]) -> Word | None:
    final = [one for one in given if one.is_resolution] or list(given)
    if len({(type(one.said) is str, one.said) for one in final}) > 1:
        return None
    return Word(final[-1].said, max(one.inclusion for one in given))


def judges_against_people(
    judged: Iterable[JudgeVerdict],
    people: Mapping[tuple[int, int], Word | None],
    seed_digest: str,
) -> list[JudgeFigures]:
    """The figures of every judge, by name, version and digest."""
    found: dict[Judge, list[JudgeVerdict]] = defaultdict(list)
    for verdict in judged:
        found[verdict.judge].append(verdict)
    return [_figures(judge, found[judge], people, seed_digest) for judge in sorted(found)]


def _figures(
    judge: Judge,
    judged: Sequence[JudgeVerdict],
    people: Mapping[tuple[int, int], Word | None],
    seed_digest: str,
) -> JudgeFigures:
    crossed = [
        (verdict, word)
        for verdict in judged
        if (word := people.get((verdict.record, verdict.criterion))) is not None
    ]
    unsettled = sum(
        1 for verdict in judged if people.get((verdict.record, verdict.criterion), True) is None
    )
    clear = [pair for pair in crossed if None not in (passed(pair[0].said), passed(pair[1].said))]
    entrants: dict[str, list[JudgeVerdict]] = defaultdict(list)
    checked: dict[str, list[tuple[JudgeVerdict, Word]]] = defaultdict(list)
    for verdict in judged:
        if passed(verdict.said) is not None:
            entrants[verdict.entrant].append(verdict)
    for verdict, word in clear:
        checked[verdict.entrant].append((verdict, word))
    records = len({verdict.record for verdict in judged})
    return JudgeFigures(
        judge=judge,
        matrix=confusion_matrix(
            [str(word.said) for _verdict, word in crossed],
            [str(verdict.said) for verdict, _word in crossed],
        ),
        report=judge_report(
            {name: _calibration(given, checked[name]) for name, given in entrants.items()},
            seed_digest,
            rounds=rounds_for(records),
        ),
        pairs=len(crossed),
        judged=len(judged),
        unclear=len(crossed) - len(clear),
        unsaid=sum(1 for verdict in judged if passed(verdict.said) is None),
        unsettled=unsettled,
    )


def _calibration(
    judged: Sequence[JudgeVerdict], checked: Sequence[tuple[JudgeVerdict, Word]]
) -> Calibration:
    return Calibration(
        judged=[bool(passed(verdict.said)) for verdict in judged],
        judged_records=[verdict.record for verdict in judged],
        person=[bool(passed(word.said)) for _verdict, word in checked],
        judge=[bool(passed(verdict.said)) for verdict, _word in checked],
        records=[verdict.record for verdict, _word in checked],
        inclusion=[word.inclusion for _verdict, word in checked],
    )
