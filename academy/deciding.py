"""The one door for verdicts: judges, imports, people and resolutions all come in here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from academy import scoring, tasks
from academy.bundle import JSON, DecisionSpec, RecordSpec
from academy.errors import AcademyError, FormatError
from academy.fitting import fitting
from academy.models import Criterion, Decision, InstanceRecord, Run

NO_DECISION_STATES = {"value", "na", "cannot_tell", "defective", "call_error"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A verdict on one criterion of a record, by a person or a program."""

    criterion: Criterion
    value: JSON = None
    state: str = "value"
    reason: str = ""
    confidence: float | None = None
    suggestion_seen: bool = False


def record_decisions(
    record: InstanceRecord,
    verdicts: Sequence[Verdict],
    *,
    source: str,
    person: Any = None,
    author: str = "",
    author_version: str = "",
    author_digest: str = "",
    seat: int | None = None,
    counts: bool = True,
    probability: float | None = None,
    at: datetime | None = None,
) -> list[Decision]:
    """Store verdicts on one record, superseding earlier ones of the same author, and re-score it.

    `probability` is the chance with which the record came to its reviewer: an audit weighs by it.
    Raises AcademyError for a criterion of another task or a value that is not on its scale. The
    same verdicts again change nothing.
    """
    stored = []
    with transaction.atomic():
        for verdict in verdicts:
            if verdict.criterion.task_id != record.task_id:
                raise AcademyError(
                    f"Criterion {verdict.criterion.key} belongs to another task than the record."
                )
            check_value(verdict.criterion, verdict.state, verdict.value)
            stored.append(
                _append(
                    Decision(
                        kind=Decision.Kind.RECORD,
                        record=record,
                        criterion=verdict.criterion,
                        source=source,
                        person=person,
                        author=author,
                        author_version=author_version,
                        author_digest=author_digest,
                        seat=seat,
                        state=verdict.state,
                        value=verdict.value if verdict.state == "value" else None,
                        reason=verdict.reason,
                        confidence=verdict.confidence,
                        suggestion_seen=verdict.suggestion_seen,
                        counts=counts,
                        probability=probability,
                        made_at=at or timezone.now(),
                    )
                )
            )
        if counts:
            scoring.schedule_records(record.run_id, [record.pk])
        tasks.nudge()
    return stored


def check_value(criterion: Criterion, state: str, value: JSON) -> None:
    """Raise AcademyError when a verdict is not on the criterion's scale."""
    if state not in NO_DECISION_STATES:
        raise AcademyError(f"{state!r} is no state of a verdict.")
    if state == "na" and not criterion.allows_na:
        raise AcademyError(f"Criterion {criterion.key} does not allow N/A.")
    if state != "value":
        return
    if criterion.scale == "met" and not isinstance(value, bool):
        raise AcademyError(f"Criterion {criterion.key} takes true or false, not {value!r}.")
    if criterion.scale == "rating":
        low, high = criterion.low or 0, 3 if criterion.high is None else criterion.high
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise AcademyError(
                f"Criterion {criterion.key} takes a whole number from {low} to {high}, "
                f"not {value!r}."
            )
    if value is None:
        raise AcademyError(f"Criterion {criterion.key} needs a value.")


def _append(decision: Decision) -> Decision:
    """Append a decision; an earlier one of the same author is superseded, never changed."""
    earlier = Decision.objects.select_for_update().filter(
        kind=decision.kind,
        record=decision.record,
        run=decision.run,
        task=decision.task,
        criterion=decision.criterion,
        part=decision.part,
        source=decision.source,
        current=True,
        counts=decision.counts,
    )
    if decision.source == Decision.Source.PERSON:
        earlier = earlier.filter(person=decision.person)
    elif decision.source != Decision.Source.RESOLUTION:
        earlier = earlier.filter(
            author=decision.author,
            author_version=decision.author_version,
            author_digest=decision.author_digest,
        )
    known = earlier.order_by("-pk").first()
    if known is not None:
        if (known.state, known.value, known.reason) == (
            decision.state,
            decision.value,
            decision.reason,
        ):
            return known
        Decision.objects.filter(pk=known.pk).update(current=False)
        decision.supersedes = known
    decision.save()
    return decision


def record_imported(run: Run, decisions: Iterable[tuple[int, RecordSpec]]) -> int:
    """Store the verdicts that came with the records of a run; gives how many.

    Raises AcademyError for a criterion the task does not have. Scoring is owed by the caller.
    """
    listed = list(decisions)
    criteria = {
        (task, key): pk
        for task, key, pk in Criterion.objects.filter(task__version=run.version_id).values_list(
            "task__external_id", "key", "pk"
        )
    }
    rows = []
    for record_id, spec in listed:
        for verdict in spec.decisions:
            criterion = criteria.get((spec.task_id, verdict.criterion))
            if criterion is None:
                raise FormatError.at(
                    spec.file,
                    "unknown-criterion",
                    f"task {spec.task_id!r} has no criterion {verdict.criterion!r}",
                    line=spec.line,
                )
            rows.append(fitting(_imported(record_id, criterion, verdict), spec.file))
    known = Decision.objects.filter(
        record_id__in=[record_id for record_id, _spec in listed], current=True
    ).exclude(source__in=("person", "resolution"))
    if known.exists():
        for row in rows:
            _append(row)
    else:
        Decision.objects.bulk_create(rows, batch_size=1000)
    return len(rows)


def _imported(record_id: int, criterion_id: int, verdict: DecisionSpec) -> Decision:
    return Decision(
        kind=Decision.Kind.RECORD,
        record_id=record_id,
        criterion_id=criterion_id,
        # A person outside is no reviewer here: what an upload says of people is an import.
        source="judge" if verdict.source == "judge" else "imported",
        author=verdict.author,
        author_version=verdict.author_version,
        author_digest=verdict.author_digest,
        state=verdict.state,
        value=verdict.value if verdict.state == "value" else None,
        reason=verdict.reason,
        confidence=verdict.confidence,
        made_at=timezone.now(),
    )
