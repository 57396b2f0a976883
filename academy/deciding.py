"""The one door for verdicts: judges, imports, people and resolutions all come in here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from academy import scheduling, tasks, work
from academy.bundle import JSON, DecisionSpec, RecordSpec
from academy.errors import AcademyError, FormatError
from academy.fitting import fitting
from academy.models import Criterion, Decision, InstanceRecord, Run, Task

NO_DECISION_STATES = {"value", "na", "cannot_tell", "defective", "call_error"}
WITH_VALUE = ("value", "defective")
OUTCOMES = ("success", "partial", "incorrect", "incomplete", "blocked")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A verdict on one criterion of a record, by a person or a program.

    The value of a "defective" verdict says what is wrong with the criterion, where that is known.
    """

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
    with work.owing():
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
                        value=verdict.value if verdict.state in WITH_VALUE else None,
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
            scheduling.schedule_records(record.run_id, [record.pk])
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
    allowed = OUTCOMES if criterion.scale == "outcome" else criterion.anchors
    if criterion.scale in ("outcome", "fit") and value not in allowed:
        raise AcademyError(
            f"Criterion {criterion.key} takes one of {', '.join(allowed)}, not {value!r}."
        )
    if value is None:
        raise AcademyError(f"Criterion {criterion.key} needs a value.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What a verdict is on when it is no criterion of a record: exactly one row, and its part."""

    record: InstanceRecord | None = None
    run: Run | None = None
    task: Task | None = None
    criterion: Criterion | None = None
    part: str = ""

    @property
    def kind(self) -> str:
        """The kind of decision: which row is named; a criterion beside another row is its part."""
        named = (
            (Decision.Kind.RECORD, self.record),
            (Decision.Kind.RUN, self.run),
            (Decision.Kind.TASK, self.task),
        )
        kinds = [kind for kind, row in named if row is not None]
        if len(kinds) > 1 or (not kinds and self.criterion is None):
            raise ValueError("a verdict is on exactly one subject")
        return str(kinds[0] if kinds else Decision.Kind.CRITERION)


def decide_subject(
    subject: Subject,
    *,
    source: str,
    person: Any,
    value: JSON,
    state: str = "value",
    reason: str = "",
    confidence: float | None = None,
    seat: int | None = None,
    at: datetime | None = None,
) -> Decision:
    """Store one verdict on a run, task or criterion, or on a part of a record that is no criterion.

    An earlier one of the same author is superseded; the same again changes nothing. Nothing is
    scored by it: whoever decides says what follows.
    """
    with transaction.atomic():
        return _append(
            Decision(
                kind=subject.kind,
                record=subject.record,
                run=subject.run,
                task=subject.task,
                criterion=subject.criterion,
                part=subject.part,
                source=source,
                person=person,
                state=state,
                value=value,
                reason=reason,
                confidence=confidence,
                seat=seat,
                made_at=at or timezone.now(),
            )
        )


def withdraw_decisions(seat: int, *, person: Any, reason: str, at: datetime | None = None) -> int:
    """Append a withdrawal, linked to each standing verdict of a seat, and re-score; gives how many.

    Raises AcademyError without a reason.
    """
    if not reason.strip():
        raise AcademyError("Say why the verdict is withdrawn.")
    with work.owing():
        standing = list(
            Decision.objects.select_for_update(of=("self",))
            .filter(seat=seat, person=person, current=True)
            .exclude(state="withdrawn")
            .order_by("pk")
        )
        for known in standing:
            Decision.objects.filter(pk=known.pk).update(current=False)
            Decision.objects.create(
                kind=known.kind,
                record_id=known.record_id,
                run_id=known.run_id,
                task_id=known.task_id,
                criterion_id=known.criterion_id,
                part=known.part,
                source=known.source,
                person=known.person,
                seat=seat,
                state="withdrawn",
                value=None,
                reason=reason.strip(),
                counts=known.counts,
                probability=known.probability,
                supersedes=known,
                made_at=at or timezone.now(),
            )
        for record_id in sorted({one.record_id for one in standing if one.record_id}):
            scheduling.schedule_records(record_id >> 39, [record_id])
        tasks.nudge()
    return len(standing)


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
