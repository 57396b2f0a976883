"""Seats are added to items, and those whose way went past are sent back to look again."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from academy import auditing
from adjudication.models import Bookmark, ReviewItem, Seat

LOOK_AGAIN = """
WITH locked AS (
    SELECT id, (priority, item) >= (%(priority)s, %(item)s) AS is_past
    FROM adjudication_bookmark WHERE queue_id = %(queue)s ORDER BY id FOR UPDATE)
UPDATE adjudication_bookmark b SET version = b.version + 1,
       priority = CASE WHEN is_past THEN %(priority)s ELSE b.priority END,
       item = CASE WHEN is_past THEN %(item)s - 1 ELSE b.item END
FROM locked WHERE locked.id = b.id
"""
# What whoever held the seat before left on it; a draft is there from the claim on.
MAKE_OWN = """
UPDATE adjudication_seat s
SET comment = '', verdicts = '{}', guideline_id = NULL, undone = 0,
    suggestion_seen = own.suggestion_seen, not_blind = own.not_blind
FROM adjudication_draft own
WHERE s.id = %(seat)s AND own.item_id = s.item_id AND own.user_id = %(user)s
  AND (s.comment <> '' OR s.undone > 0 OR s.suggestion_seen OR s.not_blind <> ''
       OR own.suggestion_seen OR own.not_blind <> '')
"""
OF_ITEM = ("record", "finding", "criterion", "task", "appeal")


def add_seat(
    item: ReviewItem, *, role: str = Seat.Role.REVIEWER, holder: Any = None, **facts: Any
) -> Seat:
    """One more seat at an item, free unless it has a holder. The caller has locked the item."""
    last = item.seats.aggregate(last=Max("number"))["last"] or 0
    return Seat.objects.create(item=item, number=last + 1, role=role, holder=holder, **facts)


def free_seat(item: ReviewItem, *, role: str) -> Seat:
    """A free seat of a role at an item; one is added where there is none."""
    found: Seat | None = (
        item.seats.filter(role=role, state=Seat.State.FREE).order_by("number").first()
    )
    return found or add_seat(item, role=role)


def make_own(seat_id: int, user: Any) -> None:
    """Leave nothing on a claimed seat but what its holder themselves saw of the item."""
    with connection.cursor() as cursor:
        cursor.execute(MAKE_OWN, {"seat": seat_id, "user": user.pk})


def look_again(queue_id: int, items: Iterable[ReviewItem]) -> None:
    """Send back everybody whose way went past one of these items, since it is to be had again.

    The last act of a transaction: whoever holds these rows waits for nothing else.
    """
    first = min(((item.priority, item.pk) for item in items), default=None)
    if first is None:
        return
    with connection.cursor() as cursor:
        cursor.execute(LOOK_AGAIN, {"queue": queue_id, "priority": first[0], "item": first[1]})


def bookmark_of(queue_id: int, user: Any, role: str) -> Bookmark:
    """Where somebody's way through a queue goes on."""
    place, _made = Bookmark.objects.get_or_create(queue_id=queue_id, user=user, role=role)
    return place


def set_aside(seat: Seat, *, because: str, at: datetime | None = None) -> None:
    """Withdraw a seat: it keeps its holder and verdicts and counts no more."""
    Seat.objects.filter(pk=seat.pk).update(
        state=Seat.State.WITHDRAWN, withdrawn_because=because, lease_until=None
    )
    note("set_aside", seat.item, by=seat.holder, reason=because, seat=seat.pk)
    seat.state, seat.withdrawn_because = Seat.State.WITHDRAWN, because


def lock_item(item_id: int) -> ReviewItem:
    """An item that nobody else changes until the transaction ends; locked before its seats.

    Without its key: whoever claims a seat of it holds that seat and stores a draft that names it.
    """
    items = ReviewItem.objects.select_related("queue__version")
    found: ReviewItem = items.select_for_update(of=("self",), no_key=True).get(pk=item_id)
    return found


def subject_of(item: ReviewItem) -> str:
    """What an item is about, as the trail names it."""
    for name in OF_ITEM:
        if (pk := getattr(item, f"{name}_id")) is not None:
            return f"{name}:{pk}"
    return f"item:{item.pk}"


def note(act: str, item: ReviewItem, *, by: Any = None, reason: str = "", **details: Any) -> None:
    """Put an act of review into the trail."""
    auditing.note(f"review.{act}", subject_of(item), by=by, reason=reason, item=item.pk, **details)


def now_or(at: datetime | None) -> datetime:
    """The given time, else the present."""
    return at or timezone.now()
