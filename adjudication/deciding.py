"""Drafts are kept, verdicts submitted, undone within a window, and then made decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from academy import auditing, tasks, work
from academy.errors import AcademyError
from academy.models import Decision
from adjudication import claiming, kinds, resolving, seating
from adjudication.models import Draft, ExtraVerdict, ReviewItem, Seat
from adjudication.policies import read_policy
from adjudication.questions import COMMENT, Question

ASKED = "asked_questions"


@dataclass(frozen=True, slots=True)
class Stale:
    """A draft that was saved elsewhere in the meantime; nothing was overwritten."""

    stored: Draft


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission: pending until `final_at`, or extra because the seat had gone."""

    is_extra: bool
    final_at: datetime | None


def save_draft(
    seat: Seat, *, user: Any, content: Mapping[str, Any], revision: int, at: datetime | None = None
) -> Draft | Stale:
    """Keep what a reviewer typed, if nobody saved a newer draft since `revision`; renews the lease.

    A draft is kept even when the lease was lost: no keystroke goes.
    """
    now = at or timezone.now()
    with transaction.atomic():
        # Before the draft, as in `submit`: two orders of locks would wait for each other.
        claiming.renew(seat, user=user, at=now)
        draft, _created = Draft.objects.get_or_create(
            item=seat.item, user=user, defaults={"saved_at": now, "content": {}}
        )
        moved = Draft.objects.filter(pk=draft.pk, revision=revision).update(
            content=dict(content), revision=revision + 1, saved_at=now
        )
        draft.refresh_from_db()
        if not moved:
            return draft if draft.content == dict(content) else Stale(draft)
    return draft


def is_overtaken(seat: Seat, *, user: Any, content: Mapping[str, Any], revision: int) -> bool:
    """Whether other words were saved in another window since `revision` of the draft."""
    newer = Draft.objects.filter(item=seat.item, user=user, revision__gt=revision)
    return any(stored != dict(content) for stored in newer.values_list("content", flat=True))


def questions_of(item: ReviewItem) -> list[Question]:
    """What every seat of an item is asked; looked up once for an item that was read."""
    asked: list[Question] | None = item.__dict__.get(ASKED)
    if asked is None:
        asked = item.__dict__[ASKED] = kinds.kind_of(item).questions(item)
    return asked


def check_verdicts(
    questions: Sequence[Question], content: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """What is missing or wrong in a form, by question key; empty when it may be submitted."""
    found = {asked.key: asked.problem(content.get(asked.key, {})) for asked in questions}
    return {key: problem for key, problem in found.items() if problem}


def problems_of(seat: Seat, content: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """What is missing or wrong in what a seat's holder wants to submit, by question key.

    A third person answers what is disputed, and what they reopen, each with a reason.
    """
    questions = questions_of(seat.item)
    if seat.role != Seat.Role.THIRD:
        return check_verdicts(questions, content)
    disputed = set(resolving.disputed(seat.item))
    asked = [q for q in questions if q.key in disputed or answered(content).get(q.key)]
    found = check_verdicts(asked, content)
    for question in asked:
        if not str(content.get(question.key, {}).get("reason", "")).strip():
            found.setdefault(question.key, "Give a reason for what you decide.")
    return found


def answered(content: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """The answers among what was sent."""
    return {key: dict(given) for key, given in content.items() if given.get("state")}


def submit(
    seat: Seat,
    *,
    user: Any,
    verdicts: Mapping[str, Mapping[str, Any]],
    comment: str = "",
    at: datetime | None = None,
) -> Submitted:
    """Hand all verdicts of a seat in. They can be undone until the window ends.

    After a lost lease they are kept as extra and never counted, and the draft stays. A seat that
    was submitted already stays as it is. Raises AcademyError when a question lacks a verdict or
    a reason.
    """
    problems = problems_of(seat, verdicts)
    if problems:
        listed = "; ".join(f"{key}: {text}" for key, text in problems.items())
        raise AcademyError(f"The review is not complete. {listed}")
    now = at or timezone.now()
    queue = seat.item.queue
    final_at = now + timedelta(seconds=queue.undo_seconds)
    with work.owing():
        moved = (
            Seat.objects.held_by(user)
            .filter(pk=seat.pk)
            .update(
                state=Seat.State.PENDING,
                submitted_at=now,
                final_at=final_at,
                lease_until=None,
                guideline=queue.guidelines.order_by("-revision").values("pk")[:1],
                comment=comment,
                verdicts=answered(verdicts),
            )
        )
        if not moved:
            return submit_again(seat, user=user, verdicts=verdicts, at=now)
        # What was typed last may not have been saved yet, and an undo must bring it back.
        Draft.objects.filter(item=seat.item, user=user).update(
            content=plain(verdicts) | ({COMMENT: {"reason": comment}} if comment else {}),
            revision=F("revision") + 1,
            saved_at=now,
        )
        seating.note("submit", seat.item, by=user, seat=seat.pk)
        owe_finalising(seat.pk, final_at)
    return Submitted(is_extra=False, final_at=final_at)


def submit_again(
    seat: Seat, *, user: Any, verdicts: Mapping[str, Mapping[str, Any]], at: datetime
) -> Submitted:
    """What becomes of verdicts for a seat that is not held: nothing new, or an extra review."""
    own = Seat.objects.filter(pk=seat.pk, holder=user).first()
    if own is not None:
        return Submitted(is_extra=False, final_at=own.final_at)
    kept = ExtraVerdict.objects.filter(item=seat.item, user=user, verdicts=plain(verdicts))
    if not kept.exists():
        ExtraVerdict.objects.create(item=seat.item, user=user, verdicts=plain(verdicts), sent_at=at)
        seating.note("extra", seat.item, by=user, seat=seat.pk)
    return Submitted(is_extra=True, final_at=None)


def owe_finalising(seat_id: int, final_at: datetime) -> None:
    """Owe the end of a seat's undo window."""
    work.enqueue(
        "finalise_seat",
        key=f"finalise_seat:{seat_id}",
        payload={"seat": seat_id},
        due_at=final_at,
        priority=-8,
    )
    tasks.nudge_at(final_at)


def plain(verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Verdicts as they are stored."""
    return {key: dict(given) for key, given in verdicts.items()}


@transaction.atomic
def undo(seat: Seat, *, user: Any, at: datetime | None = None) -> bool:
    """Take a submission back within its window; what is held in its place is released.

    False when the window is over.
    """
    now = at or timezone.now()
    pending = Seat.objects.select_for_update().filter(
        pk=seat.pk, holder=user, state=Seat.State.PENDING, final_at__gt=now
    )
    if not pending.exists():
        return False
    held = claiming.current_seat(user)
    if held is not None:
        claiming.release(held, user=user)
    try:
        with transaction.atomic():
            pending.update(
                state=Seat.State.HELD,
                submitted_at=None,
                final_at=None,
                guideline=None,
                undone=F("undone") + 1,
                lease_until=claiming.lease_end(seat.item.queue, now),
            )
    except IntegrityError:
        return False
    seating.note("undo", seat.item, by=user, seat=seat.pk)
    return True


def finalise_seat(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "finalise_seat": a submission whose window is over counts.

    A submission that was undone and sent again meets the work owed for its first window; then the
    same is owed for the second.
    """

    def write() -> None:
        if finalise(payload["seat"]):
            return
        again = Seat.objects.filter(pk=payload["seat"], state=Seat.State.PENDING).first()
        if again is not None and again.final_at is not None:
            owe_finalising(again.pk, again.final_at)

    return write


@work.owing()
def finalise(seat_id: int, *, at: datetime | None = None) -> bool:
    """Make a pending submission final, and settle the item when all its seats are in.

    False when the submission was undone or is still within its window.
    """
    now = at or timezone.now()
    over = Seat.objects.filter(pk=seat_id, state=Seat.State.PENDING, final_at__lte=now)
    item_id = over.values_list("item", flat=True).first()
    if item_id is None:
        return False
    # The item before its seats, as everybody who settles or takes back locks them.
    item = seating.lock_item(item_id)
    if not over.update(state=Seat.State.SUBMITTED):
        return False
    seat = Seat.objects.select_related("holder").get(pk=seat_id)
    if item.state == ReviewItem.State.GOLD:
        return True
    if seat.role == Seat.Role.THIRD:
        resolving.settle_third(item, seat, at=now)
    elif item.state == ReviewItem.State.OPEN:
        resolving.settle_seats(item, at=now)
    elif item.state != ReviewItem.State.DECIDED:
        # Decided without this seat; its words stand beside what was decided.
        resolving.store(item, seat)
    return True


def withdraw(seat: Seat, *, user: Any, reason: str) -> None:
    """Take one's verdicts back before the item is resolved; see `resolving.withdraw`."""
    resolving.withdraw(seat, user=user, reason=reason)


@transaction.atomic
def report_not_blind(seat: Seat, *, user: Any, text: str) -> None:
    """Note on one's seat that something shows who made the record.

    Raises AcademyError without words, or when the seat is not one's own.
    """
    if not text.strip():
        raise AcademyError("Say what gives the origin away.")
    mine = Seat.objects.filter(pk=seat.pk, holder=user).exclude(state=Seat.State.WITHDRAWN)
    if not mine.update(not_blind=text.strip()):
        raise AcademyError("This seat is not yours any more.")
    Draft.objects.filter(item=seat.item, user=user).update(not_blind=text.strip())
    seat.not_blind = text.strip()
    seating.note("not_blind", seat.item, by=user, reason=text.strip(), seat=seat.pk)


@transaction.atomic
def open_suggestion(seat: Seat, *, user: Any) -> list[Decision]:
    """What judges and checks said, before one's own verdict; that it was seen stays with the seat.

    Raises AcademyError where the queue keeps it sealed, where nothing was said, and when the seat
    is not held any more.
    """
    if read_policy(seat.item.queue.policy).suggestion != "open":
        raise AcademyError("In this queue the suggestion stays sealed until your verdict is in.")
    said = suggestions_on(seat.item)
    if not said:
        raise AcademyError("No judge was asked about this record, so there is nothing to show.")
    held = Seat.objects.held_by(user).filter(pk=seat.pk)
    if not held.update(suggestion_seen=True):
        raise AcademyError("You do not hold this item any more.")
    Draft.objects.filter(item=seat.item, user=user).update(suggestion_seen=True)
    if not seat.suggestion_seen:
        record = seat.item.record
        auditing.expose(
            user,
            task=record.task if record is not None else seat.item.task,
            what="suggestion",
            why=f"seat:{seat.pk}",
        )
        seating.note("suggestion", seat.item, by=user, seat=seat.pk)
    seat.suggestion_seen = True
    return said


def suggestions_on(item: ReviewItem) -> list[Decision]:
    """What judges, imports and checks say of the record of an item."""
    if item.record_id is None:
        return []
    rows = Decision.objects.filter(
        record=item.record_id, source__in=("judge", "imported", "machine"), current=True
    )
    return list(rows.select_related("criterion").order_by("criterion__ordinal", "author", "pk"))
