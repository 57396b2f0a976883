"""Seats are claimed, renewed, released and skipped, by conditional updates of the seat itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from academy.errors import AcademyError
from academy.models import Run
from academy.querysets import has_role, own_organizations
from adjudication.models import Draft, Queue, ReviewItem, Seat, Skip

# The claimed row itself changes, so a lock that is skipped over is looked at again by nobody.
CLAIM = """
UPDATE adjudication_seat SET state = 'held', holder_id = %(user)s, held_at = %(at)s,
       lease_until = %(until)s
WHERE id = (
    SELECT s.id FROM adjudication_seat s JOIN adjudication_reviewitem i ON i.id = s.item_id
    WHERE i.queue_id = %(queue)s AND i.state = 'open'
      AND (s.state = 'free' OR s.state = 'held' AND s.lease_until < %(at)s)
      AND NOT EXISTS (SELECT 1 FROM adjudication_seat o
                      WHERE o.item_id = i.id AND o.holder_id = %(user)s AND o.id <> s.id)
      AND NOT EXISTS (SELECT 1 FROM adjudication_skip k
                      WHERE k.item_id = i.id AND k.user_id = %(user)s)
      AND NOT EXISTS (
          SELECT 1 FROM academy_run r
          JOIN academy_entrant e ON e.id = r.entrant_id
          LEFT JOIN academy_submission u ON u.id = r.submission_id
          WHERE r.id = i.record_id >> 39 AND (u.account_id = %(user)s OR e.organization_id IN (
              SELECT m.organization_id FROM academy_membership m
              WHERE m.user_id = %(user)s AND m.role = 'entrant')))
    ORDER BY {preferred} i.priority, i.id, s.number
    FOR UPDATE OF s {locked} LIMIT 1)
  AND (state = 'free' OR state = 'held' AND lease_until < %(at)s)
RETURNING id, item_id
"""
TRIES = ("SKIP LOCKED", "", "")


@dataclass(frozen=True, slots=True)
class NothingFree:
    """Why no item could be claimed: none is left, or others hold what is left until a time."""

    held_by_others: int
    next_free_at: datetime | None
    not_yours: int

    @property
    def sentence(self) -> str:
        """The reason in words."""
        if self.held_by_others and self.next_free_at:
            items = "item is" if self.held_by_others == 1 else "items are"
            # Up to the whole minute, so that nobody comes back too early.
            free_at = self.next_free_at + timedelta(seconds=59, microseconds=999_999)
            return (
                f"{self.held_by_others} {items} held by others; "
                f"the next is free at {free_at:%H:%M} UTC."
            )
        if self.not_yours:
            items = "item is" if self.not_yours == 1 else "items are"
            return (
                f"Nothing is left for you. {self.not_yours} open {items} not yours to decide: "
                "you skipped or reviewed them already, or they concern a run of your own "
                "organisation."
            )
        return "Nothing is left in this queue."


def lease_end(queue: Queue, at: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return at + timedelta(seconds=queue.lease_seconds)


def current_seat(user: Any) -> Seat | None:
    """The seat a person holds, if any; a lease that ran out still holds while nobody took it."""
    return Seat.objects.held_by(user).select_related("item__queue__version__suite").first()


def check_reviewer(user: Any, queue: Queue) -> None:
    """Raise AcademyError for somebody who does not review, or a queue that is paused."""
    if not has_role(user, "reviewer", "adjudicator"):
        raise AcademyError("Only reviewers and adjudicators take items.")
    if queue.is_paused:
        raise AcademyError("This queue is paused.")


def claim_next(
    queue: Queue, *, user: Any, prefer: int | None = None, at: datetime | None = None
) -> Seat | NothingFree:
    """The seat a person works on next: the one they hold, else the next free one of the queue.

    `prefer` is an item that is taken before the others when it is free. What somebody holds in
    another queue is released only when this one has something for them. Raises AcademyError for
    a paused queue or somebody who does not review.
    """
    check_reviewer(user, queue)
    now = at or timezone.now()
    for locked in TRIES:
        held = current_seat(user)
        if held is not None and held.item.queue_id == queue.pk:
            if renew(held, user=user, at=now):
                return held
            continue
        try:
            seat_id = _claim_instead(held, queue, user, now, prefer if locked else None, locked)
        except IntegrityError:
            # The same person claimed in another window at the same moment: look again.
            continue
        if seat_id is not None:
            seats = Seat.objects.select_related("item__queue__version__suite")
            claimed: Seat = seats.get(pk=seat_id)
            return claimed
        if not locked:
            break
    return what_is_left(queue, user=user, at=now)


@transaction.atomic
def _claim_instead(
    held: Seat | None, queue: Queue, user: Any, at: datetime, prefer: int | None, locked: str
) -> int | None:
    """Claim in place of what is held elsewhere; when nothing is free, that stays held.

    Seats under claim by others are passed over at first. When that finds nothing, the next try
    waits for them, since somebody else's claim may be about to fail.
    """
    if held is not None:
        release(held, user=user)
    preferred = "" if prefer is None else "(i.id = %(prefer)s) DESC,"
    with connection.cursor() as cursor:
        cursor.execute(
            CLAIM.format(preferred=preferred, locked=locked),
            {
                "user": user.pk,
                "at": at,
                "until": lease_end(queue, at),
                "queue": queue.pk,
                "prefer": prefer,
            },
        )
        row = cursor.fetchone()
    if row is None:
        transaction.set_rollback(held is not None)
        return None
    seat_id, item_id = row
    # From now on this person's words are kept here, even when the lease is lost before any draft.
    Draft.objects.bulk_create(
        [Draft(item_id=item_id, user=user, saved_at=at)], ignore_conflicts=True
    )
    return int(seat_id)


def open_seats(queue: Queue) -> QuerySet[Seat]:
    """Seats of open items."""
    seats: QuerySet[Seat] = Seat.objects.filter(
        item__queue=queue, item__state=ReviewItem.State.OPEN
    )
    return seats


def not_for(user: Any) -> Q:
    """Items that a person skipped, has or had a seat of, or has a conflict with."""
    conflicts = Run.objects.filter(
        Q(submission__account=user) | Q(entrant__organization__in=own_organizations(user))
    )
    return (
        Q(item__in=Skip.objects.filter(user=user).values("item"))
        | Q(item__in=Seat.objects.filter(holder=user).values("item"))
        | Q(item__record__run__in=conflicts)
    )


def what_is_left(queue: Queue, *, user: Any, at: datetime) -> NothingFree:
    """Tell "nothing left" from "held by others until"."""
    undecided = open_seats(queue).filter(state__in=(Seat.State.FREE, Seat.State.HELD))
    others = undecided.filter(state=Seat.State.HELD, lease_until__gte=at).exclude(not_for(user))
    return NothingFree(
        held_by_others=others.values("item").distinct().count(),
        next_free_at=others.aggregate(soonest=Min("lease_until"))["soonest"],
        not_yours=undecided.filter(not_for(user)).values("item").distinct().count(),
    )


def renew(seat: Seat, *, user: Any, at: datetime | None = None) -> bool:
    """Lengthen the lease; False when the seat went to somebody else."""
    now = at or timezone.now()
    until = lease_end(seat.item.queue, now)
    renewed = Seat.objects.held_by(user).filter(pk=seat.pk).update(lease_until=until)
    if renewed:
        seat.lease_until = until
    return renewed == 1


def release(seat: Seat, *, user: Any) -> bool:
    """Give a held seat back; the draft is kept. False when it was not held any more."""
    freed = (
        Seat.objects.held_by(user)
        .filter(pk=seat.pk)
        .update(state=Seat.State.FREE, holder=None, lease_until=None, held_at=None)
    )
    return freed == 1


@transaction.atomic
def skip(seat: Seat, *, user: Any, reason: str) -> bool:
    """Pass over an item with a reason; it is not offered to this person again.

    Raises AcademyError without a reason.
    """
    if not reason.strip():
        raise AcademyError("Say why you skip this item.")
    if not release(seat, user=user):
        return False
    Skip.objects.get_or_create(item=seat.item, user=user, defaults={"reason": reason.strip()})
    return True
