"""The way through a queue: which seat comes next for somebody, and from where to look for it.

A claim is one conditional update of the seat, whatever the number of open items. The walk reads the
index of open items in the order of the queue, a few at a time, from where this person's bookmark
lies; what is behind it they have decided or passed over, which stays so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import F

from adjudication.models import Bookmark, Queue, ReviewItem, Seat

PASS_OVER = "SKIP LOCKED"
WAIT = ""
FEW, MANY, MOST_DEFERRED = 48, 256, 1000
PARTS = ("task_id", "criterion_id", "finding_id", "appeal_id")
Place = tuple[int, int]

# The items are cut off before anything is looked up about them, so that no plan reads them all;
# how many is part of the text, so that a plan kept for all values knows it. Each look-up starts at
# the item: the sums keep it from an index over all that somebody held, which grows with that, and
# OFFSET 0 keeps one look-up inside another from being turned around.
# What bars somebody is what `conflicts.item_conflict` says, and that one meets no record twice.
HELD = """EXISTS (SELECT 1 FROM adjudication_seat hs
               WHERE hs.item_id = {item}.id AND hs.holder_id + 0 = %(user)s OFFSET 0)"""
WALK = f"""
SELECT i.priority, i.id, i.record_id, i.task_id, i.criterion_id, i.finding_id, i.appeal_id,
       {HELD.format(item="i")} AS is_mine,
       EXISTS (SELECT 1 FROM adjudication_seat o
               WHERE o.item_id = i.id AND o.holder_id + 0 = %(user)s
                 AND o.state IN ('submitted', 'withdrawn')) AS is_decided,
       (SELECT k.act FROM adjudication_skip k
        WHERE k.item_id = i.id AND k.user_id + 0 = %(user)s) AS passed_over,
       EXISTS (SELECT 1 FROM adjudication_appeal a WHERE a.opened_by_id = %(user)s
                 AND (a.record_id = i.record_id OR a.id = i.appeal_id))
       OR EXISTS (SELECT 1 FROM adjudication_reviewitem g
                  WHERE g.queue_id = %(queue)s AND g.state = 'gold'
                    AND g.record_id = i.record_id AND {HELD.format(item="g")})
       OR EXISTS (SELECT 1 FROM adjudication_appeal a
                  WHERE a.id = i.appeal_id AND EXISTS (
                        SELECT 1 FROM adjudication_reviewitem hi
                        WHERE hi.record_id = a.record_id AND {HELD.format(item="hi")} OFFSET 0))
       OR EXISTS (SELECT 1 FROM adjudication_appeal a
                  WHERE a.record_id = i.record_id AND EXISTS (
                        SELECT 1 FROM adjudication_reviewitem hi
                        WHERE hi.appeal_id = a.id AND {HELD.format(item="hi")} OFFSET 0))
       AS is_barred
FROM ({{items}}) AS i ORDER BY {{order}}
"""
ITEM = "i.priority, i.id, i.record_id, i.task_id, i.criterion_id, i.finding_id, i.appeal_id"
ALONG = f"""SELECT {ITEM} FROM adjudication_reviewitem i
    WHERE i.queue_id = %(queue)s AND i.state = '{{state}}'
      AND (i.priority, i.id) > (%(priority)s, %(item)s)
    ORDER BY i.priority, i.id LIMIT {{most}}"""
PREFERRED = f"""SELECT {ITEM} FROM adjudication_reviewitem i
    WHERE i.queue_id = %(queue)s AND i.state = '{{state}}' AND i.id = %(prefer)s"""
DEFERRED = f"""SELECT {ITEM}, k.at, k.id AS skip FROM adjudication_skip k
    JOIN adjudication_reviewitem i ON i.id = k.item_id
    WHERE k.user_id = %(user)s AND k.act = 'defer'
      AND i.queue_id = %(queue)s AND i.state = '{{state}}'
    ORDER BY k.at, k.id LIMIT {{most}}"""
# The claimed row itself changes, so a lock that is skipped over is looked at again by nobody.
CLAIM = """
UPDATE adjudication_seat SET state = 'held', holder_id = %(user)s, held_at = %(at)s,
       lease_until = %(until)s
WHERE id = (
    SELECT s.id FROM adjudication_seat s
    WHERE s.item_id = ANY(%(items)s) AND s.role = %(role)s
      AND (s.state = 'free' OR s.state = 'held' AND s.lease_until < %(at)s)
      AND EXISTS (SELECT 1 FROM adjudication_reviewitem i
                  WHERE i.id = s.item_id AND i.state = '{state}')
    ORDER BY array_position(%(items)s, s.item_id), s.number
    FOR UPDATE OF s {locking} LIMIT 1)
  AND (state = 'free' OR state = 'held' AND lease_until < %(at)s)
RETURNING id, item_id
"""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who wants a seat of which queue in which role, and from where they look."""

    queue: Queue
    user: Any
    role: str
    at: datetime
    until: datetime
    place: Bookmark
    prefer: int | None = None

    @property
    def state(self) -> str:
        """The state of items that a role decides."""
        is_third = self.role == Seat.Role.THIRD
        return str(ReviewItem.State.DECIDED if is_third else ReviewItem.State.OPEN)

    @property
    def start(self) -> Place:
        """Where this person's way goes on."""
        return self.place.priority, self.place.item


@dataclass(frozen=True, slots=True)
class Candidate:
    """An item on the way, and what stands between it and this person.

    `is_mine`: they have or had a seat of it; `is_decided`: for good. `passed_over` is how.
    """

    place: Place
    record_id: int | None
    subject: Mapping[str, int | None]
    is_mine: bool
    is_decided: bool
    passed_over: str
    is_barred: bool

    @property
    def item_id(self) -> int:
        """The item."""
        return self.place[1]

    @property
    def is_behind(self) -> bool:
        """Whether this person has nothing to do with the item any more."""
        return self.is_decided or bool(self.passed_over)

    def is_for(self, *, deferred: bool) -> bool:
        """Whether this person may take the item, at the end of their list what they deferred."""
        is_passed = bool(self.passed_over) and not (deferred and self.passed_over == "defer")
        return not (self.is_mine or is_passed or self.is_barred)


@dataclass(frozen=True, slots=True)
class Found:
    """A claimed seat with its item and what that is about."""

    seat_id: int
    item_id: int
    record_id: int | None
    subject: Mapping[str, int | None]


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found, and up to where everything is behind this person."""

    found: Found | None
    behind: Place


def walk(wanted: Wanted, locking: str) -> Walked:
    """Claim the next seat in the order of the queue; what somebody deferred comes at the end."""
    named = candidates(wanted, PREFERRED) if wanted.prefer is not None else []
    if found := first_free(wanted, PASS_OVER, named, deferred=True):
        return Walked(found, wanted.start)
    behind, is_close = wanted.start, True
    for listed in batches(wanted):
        for one in listed:
            is_close = is_close and one.is_behind
            behind = one.place if is_close else behind
        if found := first_free(wanted, locking, listed):
            return Walked(found, behind)
    put_off = candidates(wanted, DEFERRED, "i.at, i.skip", most=MOST_DEFERRED)
    return Walked(first_free(wanted, locking, put_off, deferred=True), behind)


def batches(wanted: Wanted) -> Iterator[list[Candidate]]:
    """The items on somebody's way, a few and then more at a time."""
    place, most = wanted.start, FEW
    while True:
        listed = candidates(wanted, ALONG, place=place, most=most)
        yield listed
        if len(listed) < most:
            return
        place, most = listed[-1].place, MANY


def candidates(
    wanted: Wanted,
    items: str,
    order: str = "i.priority, i.id",
    *,
    place: Place = (0, 0),
    most: int = 1,
) -> list[Candidate]:
    """Items in order, with what this person has to do with each."""
    with connection.cursor() as cursor:
        cursor.execute(
            WALK.format(items=items.format(state=wanted.state, most=most), order=order),
            {
                "user": wanted.user.pk,
                "queue": wanted.queue.pk,
                "priority": place[0],
                "item": place[1],
                "prefer": wanted.prefer,
            },
        )
        return [
            Candidate(
                place=(row[0], row[1]),
                record_id=row[2],
                subject=dict(zip(PARTS, row[3:7], strict=True)),
                is_mine=row[7],
                is_decided=row[8],
                passed_over=row[9] or "",
                is_barred=row[10],
            )
            for row in cursor.fetchall()
        ]


def first_free(
    wanted: Wanted, locking: str, listed: Sequence[Candidate], *, deferred: bool = False
) -> Found | None:
    """Claim the first free seat among the items that this person may take."""
    known = {one.item_id: one for one in listed if one.is_for(deferred=deferred)}
    if not known:
        return None
    with connection.cursor() as cursor:
        cursor.execute(
            CLAIM.format(state=wanted.state, locking=locking),
            {
                "items": list(known),
                "user": wanted.user.pk,
                "role": wanted.role,
                "at": wanted.at,
                "until": wanted.until,
            },
        )
        row = cursor.fetchone()
    if row is None:
        return None
    one = known[row[1]]
    return Found(row[0], one.item_id, one.record_id, one.subject)


def move_on(wanted: Wanted, behind: Place, *, took: bool) -> None:
    """Note how far the way is behind somebody, unless something came back before it meanwhile.

    In a statement of its own: nobody who waits for this row holds a seat.
    """
    if behind == wanted.start and not took:
        return
    Bookmark.objects.filter(pk=wanted.place.pk, version=wanted.place.version).update(
        priority=behind[0], item=behind[1], taken=F("taken") + int(took)
    )
