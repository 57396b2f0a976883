"""Defects of criteria: one verdict "defective" puts the criterion to two people.

What two people uphold is struck in a staged pass, for every run. What is dismissed sends the
records back on which it was called defective.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy import auditing, passes, striking
from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Criterion, Decision, ScoringPass, SuiteVersion
from adjudication import assigning, concluding, resolving
from adjudication.kinds import Kind, NewItem, Verdicts
from adjudication.models import Appeal, Queue, ReviewItem, Seat
from adjudication.questions import Choice, Question

DEFECTS = "defects"
QUESTION = "defect"
UPHELD, DISMISSED = striking.UPHELD, striking.DISMISSED
CHOICES = (
    Choice("upheld", "Defective: strike it", "no", "1", UPHELD),
    Choice("dismissed", "Sound: keep it", "yes", "2", DISMISSED),
)


def criterion_of(item: ReviewItem) -> Criterion:
    """The criterion an item is about. Raises AcademyError for an item about something else."""
    if item.criterion is None:
        raise AcademyError(f"Item {item.pk} is not about a criterion.")
    found: Criterion = item.criterion
    return found


def questions_of_defect(_item: ReviewItem) -> list[Question]:
    """One question, whatever the criterion."""
    return [
        Question(
            key=QUESTION,
            field=QUESTION,
            text="Is the criterion itself defective?",
            choices=CHOICES,
            hint="Defective: misaligned with the task, ambiguous, infeasible or stale. If two "
            "people uphold it, it is struck for every run.",
        )
    ]


def store_on_criterion(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """A verdict on the criterion itself."""
    subject = core.Subject(criterion=criterion_of(item))
    concluding.store_answer(seat, subject, verdicts[QUESTION])


def settle_defect(item: ReviewItem) -> None:
    """Strike what was upheld; send back the records of what was not."""
    came = concluding.conclusion(item, QUESTION)
    if came is None:
        return
    if came.value == UPHELD:
        strike(criterion_of(item), by=came.person)
    elif came.value == DISMISSED:
        keep(criterion_of(item), reason=came.reason)


def strike(criterion: Criterion, *, by: Any) -> ScoringPass:
    """Stage a pass without the criterion, unless one that lives does without it already."""
    version = criterion.task.version
    struck_by = next(
        (
            made
            for made in (passes.staged_pass(version), passes.published_pass(version))
            if made is not None and criterion.pk in made.struck
        ),
        None,
    )
    if struck_by is None:
        faults = ", ".join(sorted(faults_of(criterion)))
        struck_by = passes.stage(
            version,
            strike={criterion.pk},
            reason=f"criterion {name_of(criterion)} is struck: people found it defective"
            + (f" ({faults})" if faults else ""),
            by=by,
        )
        auditing.note(
            "criterion.strike",
            f"criterion:{criterion.pk}",
            by=by,
            reason=struck_by.reason,
            **{"pass": struck_by.number},
        )
    Appeal.objects.filter(
        criterion=criterion, consequence=Appeal.Consequence.CRITERION, scoring_pass=None
    ).update(scoring_pass=struck_by)
    return struck_by


def name_of(criterion: Criterion) -> str:
    """What a criterion is called in public: a task that is held out is not named."""
    if criterion.task.holdout:
        return "of a held-out task"
    return f"{criterion.key} of task {criterion.task.external_id}"


def faults_of(criterion: Criterion) -> set[str]:
    """What people said is wrong with a criterion."""
    said = standing_calls(criterion).values_list("value", flat=True)
    return {fault for fault in said if isinstance(fault, str) and fault}


def standing_calls(criterion: Criterion) -> Any:
    """The verdicts of people on records that call a criterion defective."""
    return Decision.objects.filter(
        kind=Decision.Kind.RECORD,
        criterion=criterion,
        state="defective",
        source__in=("person", "resolution"),
        current=True,
    ).order_by("pk")


def keep(criterion: Criterion, *, reason: str) -> int:
    """Send the items back on which a sound criterion was called defective; gives how many."""
    seats = standing_calls(criterion).exclude(seat=None).values_list("seat", flat=True)
    items = ReviewItem.objects.filter(seats__in=set(seats)).distinct().select_related("queue")
    auditing.note("criterion.keep", f"criterion:{criterion.pk}", reason=reason)
    told = f"The criterion was found sound. {reason}".strip()
    sent = 0
    for item in items.order_by("pk"):
        resolving.bring_back(item, keys=[criterion.key], reason=told)
        sent += 1
    return sent


def open_defects(item: ReviewItem, _seat: Seat, verdicts: Verdicts) -> None:
    """Put every criterion to the vote that a person finally calls defective on a record."""
    called = {key for key, given in verdicts.items() if given.get("state") == "defective"}
    if not called or item.record is None:
        return
    criteria = item.record.task.criteria.filter(key__in=called).select_related("task__version")
    for criterion in criteria.order_by("ordinal", "pk"):
        open_defect(criterion, because=f"called defective at item {item.pk}")


def open_defect(criterion: Criterion, *, because: str) -> ReviewItem:
    """The item about a criterion; after a dismissal another call brings it back to a third person.

    The queue of the version is made when it is needed first.
    """
    queue = queue_of(criterion.task.version)
    found: ReviewItem | None = queue.items.filter(criterion=criterion).first()
    if found is None:
        assigning.add_items(queue, [NewItem(criterion=criterion, because=because)])
        return queue.items.get(criterion=criterion)
    came = None
    if found.state == ReviewItem.State.RESOLVED:
        came = concluding.conclusion(found, QUESTION)
    if came is not None and came.value != UPHELD:
        resolving.bring_back(found, keys=[QUESTION], reason=because)
        found.refresh_from_db()
    return found


def queue_of(version: SuiteVersion) -> Queue:
    """The queue for defects of a version: two people, and a third where they differ."""
    found: Queue | None = version.queues.filter(kind=DEFECTS).first()
    return found or assigning.make_queue(version, DEFECTS, preset="two-and-third")


def evidence_of_defect(item: ReviewItem, _seat: Seat, _user: Any) -> Mapping[str, Any]:
    """The criterion, its task, and all reasons given so far, without who gave them."""
    criterion = criterion_of(item)
    calls = standing_calls(criterion)
    return {
        "criterion": criterion,
        "task": criterion.task,
        "version": criterion.task.version,
        "calls": [{"fault": call.value, "reason": call.reason} for call in calls],
        "records": calls.values("record").distinct().count(),
        "appeals": Appeal.objects.filter(
            criterion=criterion, consequence=Appeal.Consequence.CRITERION
        ).order_by("pk"),
        "answered": Decision.objects.filter(
            criterion=criterion, kind=Decision.Kind.RECORD, current=True, source="person"
        ).count(),
    }


DEFECT_KIND = Kind(
    key=DEFECTS,
    title="Defective criteria",
    form="criterion defects",
    questions=questions_of_defect,
    store=store_on_criterion,
    settle=settle_defect,
    evidence=evidence_of_defect,
    evidence_template="adjudication/_defect_evidence.html",
)
