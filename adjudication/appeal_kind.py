"""Appeals: upheld with what follows from it, or dismissed, both with a public reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy import auditing, keying, specs
from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Decision, Exposure, InstanceRecord, Score, ScoringPass
from adjudication import appealing, assigning, choosing, concluding, defect_kind, resolving
from adjudication.appealing import APPEALS
from adjudication.kinds import KINDS, Kind, NewItem, Verdicts, kind_of
from adjudication.models import Appeal, Queue, ReviewItem, Seat
from adjudication.questions import Choice, Question

QUESTION = "appeal"
DISMISSED = "dismissed"
REDECIDE, KEY, CRITERION, VERSION = "redecide", "key", "criterion", "version"
# Open until a curator names what corrects it, so that it is not forgotten.
WAITING = {KEY: Appeal.Consequence.KEY, VERSION: Appeal.Consequence.VERSION}


def appeal_of(item: ReviewItem) -> Appeal:
    """The appeal an item is about. Raises AcademyError for an item about something else."""
    if item.appeal is None:
        raise AcademyError(f"Item {item.pk} is not about an appeal.")
    return item.appeal


def record_of(appeal: Appeal) -> InstanceRecord:
    """The record an appeal contests. Raises AcademyError for one without."""
    if appeal.record is None:
        raise AcademyError(f"Appeal {appeal.pk} contests no record.")
    found: InstanceRecord = appeal.record
    return found


def questions_of_appeal(item: ReviewItem) -> list[Question]:
    """One question; only what can follow is offered."""
    appeal = appeal_of(item)
    return [
        Question(
            key=QUESTION,
            field=QUESTION,
            text="Is the appeal upheld, and what follows?",
            choices=tuple(choices_for(appeal)),
            hint="The reason is public, with the outcome."
            + (
                " The version is sealed: say nothing in it that is not public already."
                if record_of(appeal).run.version.sealed
                else ""
            ),
        )
    ]


def choices_for(appeal: Appeal) -> list[Choice]:
    """The outcomes that an appeal can have."""
    record = record_of(appeal)
    found = []
    if can_be_redecided(appeal):
        found.append((REDECIDE, "Upheld: decide again", "yes"))
    if record.task.gradings and keying.needs_key(record.task.gradings):
        found.append((KEY, "Upheld: the answer key is wrong", "yes"))
    if appeal.criterion is not None:
        found.append((CRITERION, "Upheld: put the criterion to the vote", "odd"))
    found.append((VERSION, "Upheld: a new version corrects it", "odd"))
    found.append((DISMISSED, "Dismissed", "no"))
    return [
        Choice(code, label, css, str(place), code)
        for place, (code, label, css) in enumerate(found, start=1)
    ]


def can_be_redecided(appeal: Appeal) -> bool:
    """Whether people decide what an appeal contests, so that they can decide it again."""
    record = record_of(appeal)
    counting = choosing.published_pass(record.run.version)
    if choosing.unasked_of(record.pk, record.pk + 1, counting):
        return False
    asked = record.task.criteria.exclude(decided_by="machine")
    if appeal.criterion_id is not None:
        asked = asked.filter(pk=appeal.criterion_id)
    return bool(asked.exists())


def store_on_appeal(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """The outcome as a decision on a part of the record."""
    appeal = appeal_of(item)
    subject = core.Subject(record=record_of(appeal), part=f"appeal:{appeal.pk}")
    concluding.store_answer(seat, subject, verdicts[QUESTION])


def settle_appeal(item: ReviewItem) -> None:
    """Close the appeal with its outcome, and do what follows from it."""
    came = concluding.conclusion(item, QUESTION)
    appeal = appeal_of(item)
    if came is None or appeal.state != Appeal.State.OPEN:
        return
    if came.value in WAITING:
        Appeal.objects.filter(pk=appeal.pk).update(
            consequence=WAITING[came.value], outcome_reason=came.reason
        )
        return
    state = Appeal.State.DISMISSED if came.value == DISMISSED else Appeal.State.UPHELD
    consequence = "" if came.value == DISMISSED else came.value
    appealing.close(appeal, state, reason=came.reason, by=came.person, consequence=consequence)
    if came.value == REDECIDE:
        decide_again(appeal, reason=came.reason)
    elif came.value == CRITERION and appeal.criterion is not None:
        put_to_the_vote(appeal, came.person)


def decide_again(appeal: Appeal, *, reason: str) -> None:
    """Bring the record's item back to a third person, who has no part in it yet.

    A record that no person has decided gets an ordinary item, with free seats.
    """
    record = record_of(appeal)
    told = f"Appeal {appeal.pk} was upheld: {reason}"
    items = [
        item
        for item in ReviewItem.objects.filter(record=record)
        .exclude(state=ReviewItem.State.GOLD)
        .select_related("queue")
        .order_by("pk")
        if keys_in(item, appeal)
    ]
    for item in items:
        resolving.bring_back(item, keys=keys_in(item, appeal), reason=told)
    if not items:
        queue = queue_for(record)
        assigning.add_items(queue, [NewItem(record=record, because=f"appeal {appeal.pk}")])


def keys_in(item: ReviewItem, appeal: Appeal) -> list[str]:
    """The questions of an item that an appeal contests."""
    return [
        question.key
        for question in kind_of(item).questions(item)
        if appeal.criterion_id is None
        or (question.criterion is not None and question.criterion.pk == appeal.criterion_id)
    ]


def queue_for(record: InstanceRecord) -> Queue:
    """The queue in which people decide a record for the first time; made when it is needed.

    The first kind about records that asks anything of this one.
    """
    version = record.run.version
    for kind in KINDS.values():
        queue = version.queues.filter(kind=kind.key).first()
        tried = queue or Queue(version=version, kind=kind.key)
        if kind.scales and kind.questions(ReviewItem(queue=tried, record=record)):
            return queue or assigning.make_queue(version, kind.key, preset="one")
    raise AcademyError(f"Nothing of record {record.pk} is decided by people.")


def put_to_the_vote(appeal: Appeal, by: Any) -> None:
    """Open an item about the contested criterion; one that is struck already says by which pass."""
    assert appeal.criterion is not None
    item = defect_kind.open_defect(appeal.criterion, because=f"appeal {appeal.pk}")
    came = None
    if item.state == ReviewItem.State.RESOLVED:
        came = concluding.conclusion(item, defect_kind.QUESTION)
    if came is not None and came.value == defect_kind.UPHELD:
        defect_kind.strike(appeal.criterion, by=by)


def evidence_of_appeal(_item: ReviewItem, seat: Seat, user: Any) -> Mapping[str, Any]:
    """The appeal, and what was decided on the record it contests, without who decided.

    Where the key decides, it is shown to the holder of the seat, which is noted.
    """
    appeal = appeal_of(seat.item)
    record = record_of(appeal)
    key = None
    if record.task.gradings and keying.needs_key(record.task.gradings):
        key = specs.latest_keys_of([record.task_id]).get(record.task_id)
    why = f"seat:{seat.pk}"
    is_new = not Exposure.objects.filter(user=user, task=record.task, why=why).exists()
    if is_new and (key is not None or record.run.version.sealed):
        what = "answer key" if key is not None else "verdicts under appeal"
        auditing.expose(user, task=record.task, what=what, why=why)
    return {
        "appeal": appeal,
        "contested": appeal.criterion,
        "verdicts": verdicts_on(record),
        "scores": Score.objects.filter(
            record=record, current=True, scoring_pass__state=ScoringPass.State.PUBLISHED
        )
        .select_related("metric")
        .order_by("metric__ordinal", "-mode", "pk"),
        "key": None if key is None else key.content,
    }


def verdicts_on(record: InstanceRecord) -> list[dict[str, Any]]:
    """The criteria of a record with what was decided on each, newest first."""
    held: dict[int, list[Decision]] = {}
    rows = Decision.objects.filter(record=record, counts=True).exclude(criterion=None)
    for row in rows.order_by("-pk"):
        if row.criterion_id is not None:
            held.setdefault(row.criterion_id, []).append(row)
    return [
        {"criterion": criterion, "decisions": held.get(criterion.pk, [])}
        for criterion in record.task.criteria.order_by("ordinal", "pk")
    ]


APPEAL_KIND = Kind(
    key=APPEALS,
    title="Appeals",
    form="appeals",
    questions=questions_of_appeal,
    store=store_on_appeal,
    settle=settle_appeal,
    evidence=evidence_of_appeal,
    evidence_template="adjudication/_appeal_evidence.html",
    roles=("adjudicator",),
)
