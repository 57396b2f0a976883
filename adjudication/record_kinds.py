"""Decisions about a record: rubric criteria and ratings, told apart by their scales."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord, Task
from adjudication.kinds import Kind, Verdicts
from adjudication.models import ReviewItem, Seat
from adjudication.questions import Question, of_criterion

CRITERIA, RATINGS, ROUTING = "criteria", "ratings", "routing"
SCALES = {CRITERIA: ("met", "outcome"), RATINGS: ("rating",)}
CONFIDENCES = {"low": 0.25, "medium": 0.5, "high": 0.75}


def record_of(item: ReviewItem) -> InstanceRecord:
    """The record an item is about. Raises AcademyError for an item about something else."""
    if item.record is None:
        raise AcademyError(f"Item {item.pk} is not about a record.")
    return item.record


def task_of(item: ReviewItem) -> Task:
    """The task whose criteria an item asks. Raises AcademyError when it is about none."""
    task = item.task if item.record is None else item.record.task
    if task is None:
        raise AcademyError(f"Item {item.pk} is about neither a record nor a task.")
    return task


def criteria_of(item: ReviewItem) -> QuerySet[Criterion]:
    """The criteria that a person is asked about an item, in order.

    Found by the record's key, so that neither the record nor its task has to be read.
    """
    found = Criterion.objects.filter(task__records=item.record_id)
    if item.record_id is None:
        found = task_of(item).criteria.all()
    return found.exclude(decided_by="machine").order_by("ordinal")


def questions_of_record(item: ReviewItem) -> list[Question]:
    """All criteria of the kind's scales, in order; those a machine decides are not asked."""
    asked = criteria_of(item).filter(scale__in=SCALES[item.queue.kind])
    return [of_criterion(criterion) for criterion in asked]


def store_on_record(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """Final verdicts on criteria become decisions of a person, or the resolution of a third."""
    is_third = seat.role == Seat.Role.THIRD
    core.record_decisions(
        record_of(item),
        [
            core.Verdict(
                criterion=question.criterion,
                state=given["state"],
                value=given.get("fault") if given["state"] == "defective" else given.get("value"),
                reason=given.get("reason", ""),
                confidence=CONFIDENCES.get(given.get("confidence", "")),
                suggestion_seen=seat.suggestion_seen,
            )
            for question in questions_of_record(item)
            if (given := verdicts.get(question.key)) and question.criterion is not None
        ],
        source="resolution" if is_third else "person",
        person=seat.holder,
        seat=seat.pk,
        probability=item.probability,
        at=seat.submitted_at,
    )


def beside_ratings(_item: ReviewItem) -> Mapping[str, Any]:
    """What is measured besides stays apart from what is rated."""
    return {
        "notes": (
            "Time, cost and length are shown after submission. They are not rated, and there is "
            "no composite.",
        ),
        "whole_numbers": True,
    }


RECORD_KINDS = (
    Kind(
        key=CRITERIA,
        title="Criteria",
        form="criteria",
        questions=questions_of_record,
        store=store_on_record,
        scales=SCALES[CRITERIA],
    ),
    Kind(
        key=RATINGS,
        title="Ratings",
        form="0 – 3 ratings",
        questions=questions_of_record,
        store=store_on_record,
        scales=SCALES[RATINGS],
        beside=beside_ratings,
        layout="even",
    ),
)
