"""Seats are claimed, renewed, released and skipped, by conditional updates of the seat itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import Min, Q, QuerySet
from django.utils import timezone

from academy.errors import AcademyError
from academy.querysets import has_role
from adjudication.models import Queue, ReviewItem, Seat, Skip

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
    ORDER BY i.priority, i.id, s.number
    FOR UPDATE OF s SKIP LOCKED LIMIT 1)
  AND (state = 'free' OR state = 'held' AND lease_until < %(at)s)
RETURNING id
"""


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
            return (
                f"{self.held_by_others} {items} held by others; "
                f"the next is free at {self.next_free_at:%H:%M} UTC."
            )
        if self.not_yours:
            items = "item is" if self.not_yours == 1 else "items are"
            return (
                f"Nothing is left for you. {self.not_yours} open {items} not yours to decide: "
                "you skipped them, or they concern a run of your own organisation."
            )
        return "Nothing is left in this queue."


def lease_end(queue: Queue, at: datetime) -> datetime:
    """When a lease taken or renewed now runs out."""
    return at + timedelta(seconds=queue.lease_seconds)


def current_seat(user: Any) -> Seat | None:
    """The seat a person holds, if any; a lease that ran out still holds while nobody took it."""
    return (
        Seat.objects.held_by(user).select_related("item__queue__version__suite").first()
    )


def check_reviewer(user: Any, queue: Queue) -> None:
    """Raise AcademyError for somebody who does not review, or a queue that is paused."""
    if not has_role(user, "reviewer", "adjudicator"):
        raise AcademyError("Only reviewers and adjudicators take items.")
    if queue.is_paused:
        raise AcademyError("This queue is paused.")


def claim_next(queue: Queue, *, user: Any, at: datetime | None = None) -> Seat | NothingFree:
    """The seat a person works on next: the one they hold, else the next free one of the queue.

    Raises AcademyError for a paused queue or somebody who does not review.
    """
    check_reviewer(user, queue)
    now = at or timezone.now()
    held = current_seat(user)
    if held is not None and held.item.queue_id == queue.pk:
        renew(held, user=user, at=now)
        return held
    if held is not None:
        release(held, user=user)
    for _try in range(3):
        try:
            with transaction.atomic():
                seat_id = _claim(queue, user, now)
        except IntegrityError:
            # The same person claimed in another window at the same moment: that seat it is.
            mine = current_seat(user)
            if mine is not None:
                return mine
            continue
        if seat_id is None:
            return what_is_left(queue, user=user, at=now)
        return Seat.objects.select_related("item__queue__version__suite").get(pk=seat_id)
    return what_is_left(queue, user=user, at=now)


def _claim(queue: Queue, user: Any, at: datetime) -> int | None:
    with connection.cursor() as cursor:
        cursor.execute(
            CLAIM,
            {"user": user.pk, "at": at, "until": lease_end(queue, at), "queue": queue.pk},
        )
        row = cursor.fetchone()
    return row[0] if row else None


def open_seats(queue: Queue) -> QuerySet[Seat]:
    """Seats of open items."""
    seats: QuerySet[Seat] = Seat.objects.filter(
        item__queue=queue, item__state=ReviewItem.State.OPEN
    )
    return seats


def what_is_left(queue: Queue, *, user: Any, at: datetime) -> NothingFree:
    """Tell "nothing left" from "held by others until"."""
    others = open_seats(queue).filter(state=Seat.State.HELD, lease_until__gte=at).exclude(
        Q(holder=user) | Q(item__skips__user=user)
    )
    free = open_seats(queue).claimable(at=at).values("item").distinct().count()
    return NothingFree(
        held_by_others=others.values("item").distinct().count(),
        next_free_at=others.aggregate(soonest=Min("lease_until"))["soonest"],
        not_yours=free,
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
