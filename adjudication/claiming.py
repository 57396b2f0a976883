"""Seats are claimed, renewed and given back, by conditional updates of the seat itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from academy.errors import AcademyError
from academy.querysets import has_role
from adjudication import conflicts, golding, kinds, seating, walking
from adjudication.models import Draft, Queue, ReviewItem, Seat, Skip
from adjudication.policies import read_policy
from adjudication.remaining import NothingFree, what_is_left

# What a claim needs; more tables in one query take longer to plan than to read.
SEAT_ROWS = ("item__queue",)
# The last try waits for claims that may still fail, instead of passing over them.
TRIES = (walking.PASS_OVER, walking.WAIT, walking.WAIT)


def lease_end(queue: Queue, at: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return at + timedelta(seconds=queue.lease_seconds)


def current_seat(user: Any) -> Seat | None:
    """The seat a person holds, if any; a lease that ran out still holds while nobody took it."""
    return Seat.objects.held_by(user).select_related(*SEAT_ROWS).first()


def check_role(user: Any, queue: Queue, role: str) -> None:
    """Raise AcademyError for somebody whose part in review is another."""
    if role == Seat.Role.THIRD:
        if not has_role(user, "adjudicator"):
            raise AcademyError("Only adjudicators decide where others differ.")
        return
    kind = kinds.KINDS.get(queue.kind)
    roles = ("reviewer", "adjudicator") if kind is None else tuple(kind.roles)
    if not has_role(user, *roles):
        if has_role(user, "reviewer", "adjudicator"):
            raise AcademyError(f"Only {' and '.join(f'{name}s' for name in roles)} take these.")
        raise AcademyError("Only reviewers and adjudicators take items.")


def refusal(user: Any, queue: Queue, competing: conflicts.Competing | None = None) -> str:
    """Why a queue gives somebody nothing at all, as a sentence; empty when it may."""
    if queue.is_paused:
        return "This queue is paused."
    named = read_policy(queue.policy).reviewers
    if named and user.username not in named:
        return "This queue is for named reviewers, and you are not among them."
    return conflicts.conflict_with(user, queue, competing)


def claim_next(
    queue: Queue,
    *,
    user: Any,
    role: str = Seat.Role.REVIEWER,
    prefer: int | None = None,
    at: datetime | None = None,
) -> Seat | NothingFree:
    """The seat that `take_next` gives, as a row."""
    taken = take_next(queue, user=user, role=role, prefer=prefer, at=at)
    if isinstance(taken, NothingFree):
        return taken
    seat: Seat = Seat.objects.select_related(*SEAT_ROWS).get(pk=taken)
    return seat


def take_next(
    queue: Queue,
    *,
    user: Any,
    role: str = Seat.Role.REVIEWER,
    prefer: int | None = None,
    at: datetime | None = None,
) -> int | NothingFree:
    """The key of the seat a person works on next: the one they hold, else the next free one.

    `role` "third" gives items that wait for a third person. `prefer` is an item that is taken
    before the others when it is free. What somebody holds elsewhere is released only when this
    queue has something for them. Why there is nothing is told by the answer; raises AcademyError
    for somebody who does not review.
    """
    check_role(user, queue, role)
    now = at or timezone.now()
    if refused := refusal(user, queue):
        return NothingFree(refused=refused)
    place = seating.bookmark_of(queue.pk, user, role)
    for locking in TRIES:
        held = current_seat(user) if Seat.objects.held_by(user).exists() else None
        if held is not None and held.item.queue_id == queue.pk and held.role == role:
            if renew(held, user=user, at=now):
                return int(held.pk)
            continue
        wanted = walking.Wanted(queue, user, role, now, lease_end(queue, now), place, prefer)
        try:
            walked = _claim_instead(held, wanted, locking)
        except IntegrityError:
            # The same person claimed in another window at the same moment: look again.
            continue
        walking.move_on(wanted, walked.behind, took=walked.found is not None)
        if walked.found is not None:
            return walked.found.seat_id
        place.refresh_from_db()
    return what_is_left(queue, user=user, role=role, at=now)


@transaction.atomic
def _claim_instead(held: Seat | None, wanted: walking.Wanted, locking: str) -> walking.Walked:
    """Claim in place of what is held elsewhere; when nothing is free, that stays held.

    Seats under claim by others are passed over at first. When that finds nothing, the next try
    waits for them, since somebody else's claim may be about to fail.
    """
    if held is not None:
        release(held, user=wanted.user)
    gold = golding.claim_gold(wanted) if golding.is_turn(wanted) else None
    walked = walking.Walked(gold, wanted.start) if gold else walking.walk(wanted, locking)
    found = walked.found
    if found is None:
        transaction.set_rollback(held is not None)
        return walked
    # From now on this person's words are kept here, even when the lease is lost before any draft.
    Draft.objects.bulk_create(
        [Draft(item_id=found.item_id, user=wanted.user, saved_at=wanted.at)],
        ignore_conflicts=True,
    )
    seating.make_own(found.seat_id, wanted.user)
    item = ReviewItem(pk=found.item_id, record_id=found.record_id, **found.subject)
    seating.note("claim", item, by=wanted.user, seat=found.seat_id)
    return walked


def renew(seat: Seat, *, user: Any, at: datetime | None = None) -> bool:
    """Lengthen the lease; False when the seat went to somebody else."""
    now = at or timezone.now()
    until = lease_end(seat.item.queue, now)
    renewed = Seat.objects.held_by(user).filter(pk=seat.pk).update(lease_until=until)
    if renewed:
        seat.lease_until = until
    return renewed == 1


@transaction.atomic
def release(seat: Seat, *, user: Any) -> bool:
    """Give a held seat back; the draft is kept. False when it was not held any more."""
    if not _free(seat, user):
        return False
    seating.note("release", seat.item, by=user, seat=seat.pk)
    return True


def _free(seat: Seat, user: Any) -> bool:
    freed = (
        Seat.objects.held_by(user)
        .filter(pk=seat.pk)
        .update(state=Seat.State.FREE, holder=None, lease_until=None, held_at=None)
    )
    return freed == 1


@transaction.atomic
def reassign(seat: Seat, *, by: Any, reason: str) -> bool:
    """A curator takes a held seat back, so that others may have it; False when nobody holds it.

    Raises AcademyError for anybody else, or without a reason.
    """
    if not has_role(by, "curator"):
        raise AcademyError("Only curators take a seat back from somebody.")
    if not reason.strip():
        raise AcademyError("Say why the seat is taken back.")
    holder = seat.holder
    if holder is None or not _free(seat, holder):
        return False
    seating.note(
        "reassign", seat.item, by=by, reason=reason.strip(), seat=seat.pk, holder=holder.pk
    )
    return True


@transaction.atomic
def skip(seat: Seat, *, user: Any, reason: str) -> bool:
    """Pass over an item with a reason; it is not offered to this person again.

    Raises AcademyError without a reason.
    """
    if not reason.strip():
        raise AcademyError("Say why you skip this item.")
    return _pass_over(seat, user, Skip.Act.SKIP, reason)


@transaction.atomic
def defer(seat: Seat, *, user: Any, reason: str = "") -> bool:
    """Put an item at the end of one's own list; others may take it meanwhile."""
    return _pass_over(seat, user, Skip.Act.DEFER, reason)


@transaction.atomic
def escalate(seat: Seat, *, user: Any, reason: str) -> bool:
    """Hand an item up to the adjudicators: no reviewer gets it until one of them sends it back.

    Raises AcademyError without a reason. A gold item only goes out of this person's way.
    """
    if not reason.strip():
        raise AcademyError("Say what an adjudicator has to decide about this item.")
    if seat.role == Seat.Role.THIRD:
        raise AcademyError("You are the third person: decide this item, or send it back.")
    item = seating.lock_item(seat.item_id)
    if not _pass_over(seat, user, Skip.Act.ESCALATE, reason):
        return False
    if item.state != ReviewItem.State.OPEN:
        return True
    item.state = ReviewItem.State.DECIDED
    item.escalated_at = timezone.now()
    item.contested = [question.key for question in kinds.kind_of(item).questions(item)]
    item.save(update_fields=["state", "escalated_at", "contested"])
    seating.free_seat(item, role=Seat.Role.THIRD)
    seating.look_again(item.queue_id, [item])
    return True


def _pass_over(seat: Seat, user: Any, act: str, reason: str) -> bool:
    if not _free(seat, user):
        return False
    Skip.objects.update_or_create(
        item=seat.item,
        user=user,
        defaults={"act": act, "reason": reason.strip(), "at": timezone.now()},
    )
    seating.note(act, seat.item, by=user, reason=reason.strip(), seat=seat.pk)
    return True
