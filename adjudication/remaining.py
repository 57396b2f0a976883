"""What is left of queues, told without counting their items one by one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from adjudication.models import ItemTally, Queue, ReviewItem, Seat, Skip

ROLES = {Seat.Role.REVIEWER: ReviewItem.State.OPEN, Seat.Role.THIRD: ReviewItem.State.DECIDED}


@dataclass(frozen=True, slots=True)
class NothingFree:
    """Why no item could be claimed: none is left, others hold what is left until a time, or
    `refused` says why this queue has nothing for this person at all."""

    held_by_others: int = 0
    next_free_at: datetime | None = None
    not_yours: int = 0
    deferred: int = 0
    refused: str = ""

    @property
    def sentence(self) -> str:
        """The reason in words."""
        if self.refused:
            return self.refused
        if self.held_by_others and self.next_free_at:
            return (
                f"{_items(self.held_by_others)} held by others; "
                f"the next is free at {self._free_at:%H:%M} UTC.{self._deferred}"
            )
        if self.not_yours:
            return (
                "Nothing is left for you. "
                f"{_items(self.not_yours, 'open ')} not yours to decide: you skipped or reviewed "
                "them already, or you have a conflict of interest with them."
            )
        return "Nothing is left in this queue."

    @property
    def _free_at(self) -> datetime:
        # Up to the whole minute, so that nobody comes back too early.
        assert self.next_free_at is not None
        return self.next_free_at + timedelta(seconds=59, microseconds=999_999)

    @property
    def _deferred(self) -> str:
        if not self.deferred:
            return ""
        return f" You deferred {self.deferred} of them."


def _items(number: int, what: str = "") -> str:
    return f"{number} {what}item is" if number == 1 else f"{number} {what}items are"


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """A queue in numbers: its items by state, and one's own part.

    `open` and `waiting` are for reviewers and third persons, `done` are resolved, `closed` needed
    nobody any more. One's own are `mine`, what one handed in, of which `thirds` as the third
    person, and what one `skipped` or `deferred`.
    """

    open: int = 0
    waiting: int = 0
    done: int = 0
    closed: int = 0
    mine: int = 0
    thirds: int = 0
    skipped: int = 0
    deferred: int = 0

    @property
    def total(self) -> int:
        """All items that people decide or decided."""
        return self.open + self.waiting + self.done


def queue_counts(queues: Iterable[Queue], user: Any) -> Mapping[int, QueueCounts]:
    """The numbers of several queues by their ids, in a fixed number of queries.

    Nothing here grows with the number of items: states are tallied, and of the seats only one's
    own are looked at.
    """
    ids = [queue.pk for queue in queues]
    by_state: dict[int, dict[str, int]] = {pk: {} for pk in ids}
    for queue_id, state, number in ItemTally.objects.filter(queue__in=ids).values_list(
        "queue", "state", "number"
    ):
        by_state[queue_id][state] = number
    own = own_part(ids, user)
    return {
        pk: QueueCounts(
            open=by_state[pk].get(ReviewItem.State.OPEN, 0),
            waiting=by_state[pk].get(ReviewItem.State.DECIDED, 0),
            done=by_state[pk].get(ReviewItem.State.RESOLVED, 0),
            closed=by_state[pk].get(ReviewItem.State.CLOSED, 0),
            **own.get(pk, {}),
        )
        for pk in ids
    }


def own_part(queues: Iterable[int], user: Any) -> Mapping[int, dict[str, int]]:
    """What somebody handed in and passed over, by queue, as `QueueCounts` names it."""
    ids = list(queues)
    found: dict[int, dict[str, int]] = defaultdict(dict)
    seats = Seat.objects.filter(
        holder=user, state__in=(Seat.State.PENDING, Seat.State.SUBMITTED), item__queue__in=ids
    )
    for pk, mine, thirds in seats.values_list("item__queue").annotate(
        mine=Count("pk"), thirds=Count("pk", filter=Q(role=Seat.Role.THIRD))
    ):
        found[pk] |= {"mine": mine, "thirds": thirds}
    skips = Skip.objects.filter(user=user, item__queue__in=ids)
    for pk, skipped, deferred in skips.values_list("item__queue").annotate(
        skipped=Count("pk", filter=Q(act=Skip.Act.SKIP)),
        deferred=Count("pk", filter=Q(act=Skip.Act.DEFER)),
    ):
        found[pk] |= {"skipped": skipped, "deferred": deferred}
    return found


def held_seats(at: datetime) -> QuerySet[Seat]:
    """Seats under a lease at ordinary items; a person has at most one, so they are few."""
    seats: QuerySet[Seat] = Seat.objects.filter(state=Seat.State.HELD, lease_until__gte=at).exclude(
        item__state=ReviewItem.State.GOLD
    )
    return seats


def not_for(user: Any) -> Q:
    """Items that a person passed over for good, or has or had a seat of."""
    skipped = Skip.objects.filter(user=user).exclude(act=Skip.Act.DEFER)
    return Q(item__in=skipped.values("item")) | Q(
        item__in=Seat.objects.filter(holder=user).values("item")
    )


def what_is_left(queue: Queue, *, user: Any, role: str, at: datetime) -> NothingFree:
    """Tell "nothing left" from "held by others until" and "not for you"."""
    state = ROLES[Seat.Role(role)]
    tally = ItemTally.objects.filter(queue=queue, state=state).first()
    seats = Seat.objects.filter(item__queue=queue, item__state=state, role=role)
    held = seats.filter(state=Seat.State.HELD, lease_until__gte=at)
    others = held.exclude(not_for(user))
    items = set(others.values_list("item", flat=True))
    undecided = Seat.objects.filter(
        item=OuterRef("item"), role=role, state__in=(Seat.State.FREE, Seat.State.HELD)
    )
    coming = seats.filter(~Exists(undecided), state=Seat.State.PENDING)
    left = (tally.number if tally else 0) - coming.values("item").distinct().count()
    put_off = Skip.objects.filter(user=user, act=Skip.Act.DEFER, item__in=items)
    return NothingFree(
        held_by_others=len(items),
        next_free_at=others.aggregate(soonest=Min("lease_until"))["soonest"],
        not_yours=max(0, left - len(items)),
        deferred=put_off.count() if items else 0,
    )
