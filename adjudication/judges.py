"""What judges said of the record of an item, and where a person says something else."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from academy.models import Decision, ScoringPass
from adjudication import kinds
from adjudication.models import ReviewItem

MODE = "strict"


def judged_values(item: ReviewItem) -> dict[int, list[tuple[str, Any]]]:
    """What the judges of the version's evidence policy said, by criterion.

    Failed calls say nothing. Where the policy names no judge, every judge counts.
    """
    if item.record_id is None:
        return {}
    rows = Decision.objects.filter(record=item.record_id, source="judge", current=True)
    chosen = item.queue.version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    named = {} if chosen is None else chosen.evidence.get(MODE, {})
    if named.get("judge"):
        rows = rows.filter(author=named["judge"])
    if named.get("version"):
        rows = rows.filter(author_version=named["version"])
    found: dict[int, list[tuple[str, Any]]] = defaultdict(list)
    for criterion, state, value in rows.exclude(state="call_error").values_list(
        "criterion", "state", "value"
    ):
        if criterion is not None:
            found[criterion].append((state, value if state == "value" else None))
    return found


def heard(run_id: int, scales: Sequence[str]) -> dict[int, dict[int, list[tuple[str, str]]]]:
    """What judges and checks say of the records of a run, by record and criterion."""
    rows = Decision.objects.filter(
        record_id__gte=run_id << 39,
        record_id__lt=(run_id + 1) << 39,
        criterion__scale__in=scales,
        source__in=("judge", "machine"),
        current=True,
    ).exclude(state="call_error")
    found: dict[int, dict[int, list[tuple[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for record, criterion, state, value in rows.values_list(
        "record", "criterion", "state", "value"
    ):
        said = json.dumps(value, sort_keys=True) if state == "value" else ""
        found[int(record or 0)][int(criterion or 0)].append((state, said))
    return found


def differing_from(item: ReviewItem, verdicts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The questions on which a person says what no judge said, where one said anything."""
    judged = judged_values(item)
    return [
        question.key
        for question in (kinds.kind_of(item).questions(item) if judged else ())
        if question.criterion is not None
        and (heard := judged.get(question.criterion.pk))
        and _plain(verdicts.get(question.key, {})) not in heard
    ]


def _plain(given: Mapping[str, Any]) -> tuple[str, Any]:
    state = str(given.get("state", ""))
    return state, given.get("value") if state == "value" else None
