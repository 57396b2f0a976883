"""Whose word a board counts: the judge by name, how far people agree with it, what audits correct.

Everything is read from stored decisions. A judge's verdict is compared with a person's on the same
criterion of the same record; a resolution stands before the persons it resolved.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from django.db.models import QuerySet

from academy import summing
from academy.aggregation import ItemState
from academy.intervals import Interval, mean_interval, wilson
from academy.models import Decision, Run, RunVector
from leaderboard.digits import shown
from leaderboard.entries import Policy
from leaderboard.estimates import FEWEST_CLUSTERS
from leaderboard.inputs import Candidate, Inputs

Json = dict[str, Any]
NAMING = ("judge", "judge_audited", "reference")
ENOUGH = 30
SHOWN_RUNS = 60


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
        return {**facts, "agreement": None, "audits": []}
    return {
        **facts,
        "agreement": _agreement(runs, stored, inputs.policy.confidence),
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


def _agreement(runs: Sequence[Run], stored: Json, confidence: float) -> Json:
    """On how many criteria that both decided judge and people agree; records are the units."""
    verdicts: dict[tuple[int, int], dict[str, list[str]]] = {}
    rows = Decision.objects.filter(
        record__run__in=[run.pk for run in runs],
        criterion__isnull=False,
        current=True,
        counts=True,
        state__in=("value", "na"),
    )
    people = rows.filter(source__in=("person", "resolution"))
    judged = _named(rows.filter(source="judge"), stored)
    for chosen in (people, judged.filter(record_id__in=people.values("record_id"))):
        listed = chosen.order_by("pk").values_list(
            "record_id", "criterion_id", "source", "state", "value"
        )
        for record, criterion, kind, state, value in listed:
            held = verdicts.setdefault((record, criterion), {})
            held.setdefault(kind, []).append(f"{state} {json.dumps(value, sort_keys=True)}")
    agree: list[float] = []
    records: list[int] = []
    for (record, _criterion), held in sorted(verdicts.items()):
        truth = _truth(held)
        said = set(held.get("judge", ()))
        if truth is not None and len(said) == 1:
            agree.append(float(truth in said))
            records.append(record)
    return _agreement_json(agree, records, confidence)


def _truth(held: dict[str, list[str]]) -> str | None:
    """What people say: the resolution, else what all persons agree on."""
    if held.get("resolution"):
        return held["resolution"][-1]
    persons = set(held.get("person", ()))
    return persons.pop() if len(persons) == 1 else None


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
    note = "" if units >= ENOUGH else f"Too few to judge: {units} records, and {ENOUGH} are needed."
    return {
        "n": len(agree),
        "records": units,
        "agree": int(sum(agree)),
        "share": interval.point,
        "low": interval.low if told else None,
        "high": interval.high if told else None,
        "note": note,
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
    places = np.array([place for place in part.positions if place < len(codes)], dtype=np.int64)
    held = numbers[places][codes[places] == ItemState.SCORED]
    return float(held.mean()) if len(held) else None
