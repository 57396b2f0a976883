"""Whose word a board counts: the judge by name, how far people agree with it, what audits correct.

Everything is read from stored decisions. A judge's verdict is compared with a person's on the same
criterion of the same record; a resolution stands before the persons it resolved. Errors and
corrected rates come from the functions that the reports of queues use.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from django.db.models import QuerySet

from academy import summing
from academy.aggregation import ItemState
from academy.coefficients import Label
from academy.correction import ENOUGH_DOUBLE, JudgeErrors, too_few_note
from academy.intervals import Interval, mean_interval, wilson
from academy.judge_matrix import (
    Judge,
    JudgeFigures,
    JudgeVerdict,
    PersonVerdict,
    Word,
    category,
    judges_against_people,
    settled,
)
from academy.models import Decision, Run, RunVector
from leaderboard.candidates import Candidate
from leaderboard.digits import shown
from leaderboard.entries import Policy
from leaderboard.estimates import FEWEST_CLUSTERS
from leaderboard.inputs import Inputs

Json = dict[str, Any]
NAMING = ("judge", "judge_audited", "reference")
SHOWN_RUNS = 60
MOST_JUDGED = 200_000
MUCH = f"Not corrected here: the judge gave more than {MOST_JUDGED:,} verdicts."


def judge_facts(inputs: Inputs, policy: Policy) -> Json | None:
    """The judge of a board, agreement and audits; None where the policy counts no judge."""
    if inputs.policy.evidence not in NAMING:
        return None
    runs = [run for held in inputs.candidates for run in held.runs]
    stored = inputs.newest.scoring_pass.evidence.get(inputs.policy.mode, {})
    facts: Json = {
        "judges": _judges(runs, stored),
        "policy": inputs.policy.evidence,
        "audited_needed": inputs.policy.audited,
    }
    if inputs.sealed:
        return {**facts, "agreement": None, "against_people": [], "audits": []}
    people = _people(runs)
    judged, is_all = _judged(inputs.candidates, people, stored) if people else ([], True)
    words = settled(people)
    return {
        **facts,
        "agreement": _agreement(judged, words, inputs.policy.confidence),
        "against_people": _against_people(judged, words, inputs, is_all=is_all),
        "audits": _audits(inputs, policy) if inputs.policy.evidence == "judge_audited" else [],
    }


def _judges(runs: Sequence[Run], stored: Json) -> list[Json]:
    """The judges that the pass names, else all whose verdicts count in the runs."""
    rows = Decision.objects.filter(
        record__run__in=[run.pk for run in runs], source="judge", current=True, counts=True
    )
    found = _named(rows, stored).order_by("author", "author_version", "author_digest").distinct()
    names = ("author", "author_version", "author_digest")
    return [
        {"name": name, "version": version, "digest": digest}
        for name, version, digest in found.values_list(*names)
    ]


def _named(rows: QuerySet[Decision], stored: Json) -> QuerySet[Decision]:
    """The decisions of the judge that a pass names; of all where it names none."""
    if stored.get("judge"):
        rows = rows.filter(author=stored["judge"])
    if stored.get("version"):
        rows = rows.filter(author_version=stored["version"])
    return rows


def _people(runs: Sequence[Run]) -> list[PersonVerdict]:
    """What people decided of the records of some runs, and stands."""
    rows = _decided(runs).filter(source__in=("person", "resolution"))
    names = ("record_id", "criterion_id", "person_id", "source", "state", "value", "probability")
    return [
        PersonVerdict(
            record=record,
            criterion=criterion,
            person=person,
            said=category(state, value),
            is_resolution=source == "resolution",
            inclusion=1.0 if chance is None else chance,
        )
        for record, criterion, person, source, state, value, chance in rows.values_list(*names)
    ]


def _judged(
    candidates: Sequence[Candidate], people: Sequence[PersonVerdict], stored: Json
) -> tuple[list[JudgeVerdict], bool]:
    """What the judge decided of the same runs, by the key of the entry; where that is too much to
    read, only what people decided too. True if it is all."""
    by_run = {run.pk: held.key for held in candidates for run in held.runs}
    rows = _named(
        _decided([run for held in candidates for run in held.runs]).filter(source="judge"), stored
    )
    checked = {verdict.record for verdict in people}
    is_all = rows.count() <= MOST_JUDGED
    if not is_all:
        rows = rows.filter(record_id__in=checked)
    names = (
        "author", "author_version", "author_digest", "record__run_id", "record_id",
        "criterion_id", "state", "value",
    )  # fmt: skip
    return [
        JudgeVerdict(
            judge=Judge(name, version, digest),
            entrant=by_run[run],
            record=record,
            criterion=criterion,
            said=category(state, value),
        )
        for name, version, digest, run, record, criterion, state, value in rows.values_list(
            *names
        ).iterator()
    ], is_all


def _decided(runs: Sequence[Run]) -> QuerySet[Decision]:
    """Decisions with a value, or that a criterion does not apply, in the order they were made."""
    found: QuerySet[Decision] = Decision.objects.filter(
        record__run__in=[run.pk for run in runs],
        criterion__isnull=False,
        current=True,
        counts=True,
        state__in=("value", "na"),
    ).order_by("pk")
    return found


def _agreement(
    judged: Sequence[JudgeVerdict],
    words: Mapping[tuple[int, int], Word | None],
    confidence: float,
) -> Json:
    """On how many criteria that both decided judge and people agree; records are the units."""
    said: dict[tuple[int, int], set[tuple[bool, Label]]] = {}
    for verdict in judged:
        said.setdefault((verdict.record, verdict.criterion), set()).add(_exact(verdict.said))
    agree: list[float] = []
    records: list[int] = []
    for place, word in sorted(words.items()):
        told = said.get(place, set())
        if word is not None and len(told) == 1:
            agree.append(float(_exact(word.said) in told))
            records.append(place[0])
    return _agreement_json(agree, records, confidence)


def _exact(said: Label) -> tuple[bool, Label]:
    """An answer as it can be compared: the word "1" is not the number."""
    return isinstance(said, str), said


def _against_people(
    judged: Sequence[JudgeVerdict],
    words: Mapping[tuple[int, int], Word | None],
    inputs: Inputs,
    *,
    is_all: bool,
) -> list[Json]:
    """Each judge's errors and corrected rates, by entry and pooled; it never ranks."""
    names = {held.key: _name_of(held.run) for held in inputs.candidates}
    return [
        _figures_json(figures, names, is_all=is_all)
        for figures in judges_against_people(judged, words, inputs.seed_digest)
        if figures.pairs
    ]


def _name_of(run: Run) -> str:
    """An entry as a reader tells it from others of the same entrant."""
    return " · ".join(part for part in (run.entrant.name, run.arm, run.scenario) if part)


def _figures_json(figures: JudgeFigures, names: Mapping[str, str], *, is_all: bool) -> Json:
    report = figures.report
    keys = sorted(report.errors, key=lambda key: (names[key].casefold(), key))[:SHOWN_RUNS]
    return {
        **figures.judge._asdict(),
        "judged": figures.judged,
        "pairs": figures.pairs,
        "unclear": figures.unclear,
        "unsettled": figures.unsettled,
        "is_all": is_all,
        "entries": [
            {
                "key": key,
                "name": names[key],
                **_errors_json(report.errors[key], report.rates[key], is_all=is_all),
            }
            for key in keys
        ],
        "pooled": _errors_json(report.pooled_errors, report.pooled_rate, is_all=is_all),
        "equal": {"p": report.equal.p, "note": report.equal.note},
    }


def _errors_json(errors: JudgeErrors, rate: Interval, *, is_all: bool) -> Json:
    checked = errors.true_pass + errors.false_fail + errors.false_pass + errors.true_fail
    told = rate if is_all else Interval(None, None, None, "none", checked, MUCH)
    return {
        "checked": checked,
        "false_fail": errors.false_fail,
        "false_pass": errors.false_pass,
        "q1": _interval_json(errors.sensitivity),
        "q0": _interval_json(errors.specificity),
        "rate": _interval_json(told),
        "note": too_few_note(checked) if checked < ENOUGH_DOUBLE else told.note,
    }


def _interval_json(interval: Interval) -> Json:
    return {"point": interval.point, "low": interval.low, "high": interval.high}


def _agreement_json(agree: list[float], records: list[int], confidence: float) -> Json:
    interval = Interval(None, None, None, "none", 0)
    if agree:
        interval = mean_interval(
            np.array(agree), np.unique(records, return_inverse=True)[1], confidence, 0.0, 1.0
        )
    units = len(set(records))
    if units and min(agree) == max(agree):
        # All alike: the clustered error would be 0, so Wilson's interval over records stands in.
        interval = wilson(units if agree[0] else 0, units, confidence)
    told = units >= FEWEST_CLUSTERS
    noun = "record" if units == 1 else "records"
    note = f"Too few to judge: {units} {noun}, and {ENOUGH_DOUBLE} are needed."
    return {
        "n": len(agree),
        "records": units,
        "agree": int(sum(agree)),
        "share": interval.point,
        "low": interval.low if told else None,
        "high": interval.high if told else None,
        "note": note if units < ENOUGH_DOUBLE else "",
    }


def _audits(inputs: Inputs, policy: Policy) -> list[Json]:
    """For each audited run, what the judge alone would give and what the audit adds to it."""
    found = []
    for candidate in inputs.candidates[:SHOWN_RUNS]:
        alone = _judge_alone(candidate, inputs)
        scored = candidate.codes == ItemState.SCORED
        if not candidate.audited or alone is None or not scored.any():
            continue
        change = float(candidate.numbers[scored].mean()) - alone
        found.append(
            {
                "name": candidate.run.entrant.name,
                "run": candidate.run.pk,
                "audited": candidate.audited,
                "judge": shown(alone, policy.digits, policy.scale),
                "correction": f"{'+' if change > 0 else ''}"
                + shown(change, policy.digits, policy.scale).replace("-", "−"),
            }
        )
    return found


def _judge_alone(candidate: Candidate, inputs: Inputs) -> float | None:
    """The mean over the items of one part as the judge scored them; None over several parts."""
    if len(inputs.parts) != 1:
        return None
    part = inputs.newest
    row = RunVector.objects.filter(
        run=candidate.run,
        metric=part.metric,
        scoring_pass=part.scoring_pass,
        mode=inputs.policy.mode,
    ).first()
    if row is None:
        return None
    numbers, codes = summing.decode_arrays(bytes(row.values), bytes(row.states))
    places = part.graded.places[part.graded.places < len(codes)]
    held = numbers[places][codes[places] == ItemState.SCORED]
    return float(held.mean()) if len(held) else None
