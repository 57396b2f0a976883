"""What a reviewer sees of their own work: today, calibration, agreement with others, history.

Nobody is ranked: every figure is about one person, and shown to that person.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum
from django.utils import timezone

from academy.coefficients import Label
from academy.intervals import Interval
from academy.judge_matrix import category
from adjudication import concordance, opening, pace, verdict_reading
from adjudication.calibration import GoldFigures, GoldResult, gold_figures
from adjudication.concordance import Asked, Unit
from adjudication.flow_reading import HANDED_IN
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.pace import Times

# Gold results are told after so many more reviews, so that they do not steer who gave them.
ITEMS_BEFORE_GOLD = 10
ITEMS_FOR_AGREEMENT = 200
MISSED = 3
HISTORY = 50
TIMED = 1000
STANDS = (Seat.State.PENDING, Seat.State.SUBMITTED)


@dataclass(frozen=True, slots=True)
class Today:
    """Reviews handed in since midnight UTC, the time each took, and how many were taken back."""

    since: datetime
    submitted: int
    times: Times
    undone: int


@dataclass(frozen=True, slots=True)
class Missed:
    """A gold item that was not answered as known: one's seat, and the task it is about."""

    seat: int
    task: str
    right: int
    asked: int


@dataclass(frozen=True, slots=True)
class OwnFigures:
    """One person's figures, over all queues or in one.

    `calibration` holds gold items only after ten more reviews, and is None while there are none.
    `agreement` is the share of answers that were equal to another reviewer's, on the last 200
    items of which all seats are in; None while there are none.
    """

    today: Today
    submitted: int
    times: Times
    calibration: GoldFigures | None
    missed: tuple[Missed, ...]
    agreement: Interval | None
    agreement_items: int


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One review. `state` is pending, counts, withdrawn; `answers` counts each answer given.

    `differing` counts the questions on which another reviewer said something else, None while
    others are missing. An item with known answers looks like any other.
    """

    seat: int
    item: int
    queue: str
    task: str
    role: str
    submitted_at: datetime | None
    seconds: float | None
    state: str
    answers: tuple[tuple[str, int], ...]
    differing: int | None
    questions: int

    @property
    def milliseconds(self) -> float | None:
        """The time as the filter of times takes it."""
        return None if self.seconds is None else self.seconds * 1000


@dataclass(frozen=True, slots=True)
class History:
    """One page of somebody's reviews, the newest first."""

    rows: tuple[HistoryRow, ...]
    page: int
    pages: int
    total: int

    @property
    def previous(self) -> int | None:
        """The page before, None on the first."""
        return self.page - 1 if self.page > 1 else None

    @property
    def next(self) -> int | None:
        """The page behind, None on the last."""
        return self.page + 1 if self.page < self.pages else None


def own_figures(user: Any, *, queue: Queue | None = None, at: datetime | None = None) -> OwnFigures:
    """The figures of one person, in a number of queries that never grows."""
    since = (at or timezone.now()).replace(hour=0, minute=0, second=0, microsecond=0)
    seats = own_seats(user, queue)
    results = told_gold(user, verdict_reading.gold_results(seats))
    agreement, items = agreement_with_others(user, queue)
    numbers = counted(user, queue, since)
    timed = spent(seats)
    times_today = times_of([one for one in timed if one.done >= since])
    return OwnFigures(
        today=Today(since, numbers["today"], times_today, numbers["undone"] or 0),
        submitted=numbers["submitted"],
        times=times_of(timed),
        calibration=gold_figures(results) if results else None,
        missed=missed(results),
        agreement=agreement,
        agreement_items=items,
    )


def own_seats(user: Any, queue: Queue | None) -> QuerySet[Seat]:
    """What somebody handed in and did not withdraw."""
    seats: QuerySet[Seat] = Seat.objects.filter(holder=user, state__in=STANDS)
    return seats if queue is None else seats.filter(item__queue=queue)


def counted(user: Any, queue: Queue | None, since: datetime) -> dict[str, Any]:
    """How much somebody handed in, `submitted` in all and `today`, and how often they undid it."""
    seats = Seat.objects.filter(holder=user)
    if queue is not None:
        seats = seats.filter(item__queue=queue)
    stands = Q(state__in=STANDS)
    return seats.aggregate(
        submitted=Count("pk", filter=stands),
        today=Count("pk", filter=stands & Q(submitted_at__gte=since)),
        undone=Sum("undone", filter=Q(submitted_at__gte=since) | Q(held_at__gte=since)),
    )


@dataclass(frozen=True, slots=True)
class Spent:
    """One review: when it was taken and handed in, and how many seconds the queue's lease lasts."""

    held: datetime
    done: datetime
    lease: int


def spent(seats: QuerySet[Seat]) -> list[Spent]:
    """The times of the newest reviews."""
    timed = seats.filter(held_at__isnull=False, submitted_at__isnull=False)
    rows = timed.order_by("-submitted_at", "-pk").values_list(
        "held_at", "submitted_at", "item__queue__lease_seconds"
    )
    return [
        Spent(held, done, lease)
        for held, done, lease in rows[:TIMED]
        if held is not None and done is not None
    ]


def times_of(timed: Sequence[Spent]) -> Times:
    """Quartiles of the time of reviews; the lease of each queue bounds a break."""
    return pace.times_of([((one.done - one.held).total_seconds(), one.lease) for one in timed])


def told_gold(user: Any, results: Sequence[GoldResult]) -> list[GoldResult]:
    """The gold results after which a person handed in ten more reviews, of any queue."""
    if not results:
        return []
    submitted = Seat.objects.filter(holder=user, submitted_at__isnull=False)
    newest = submitted.order_by("-submitted_at", "-pk").values_list("submitted_at", "pk")
    edge = newest[ITEMS_BEFORE_GOLD - 1 : ITEMS_BEFORE_GOLD].first()
    if edge is None:
        return []
    return [one for one in results if (one.at, one.seat) < edge]


def missed(results: Sequence[GoldResult]) -> tuple[Missed, ...]:
    """The newest gold items, of those that may be told, that were not answered as known."""
    wrong = [one for one in results if not one.is_right][-MISSED:]
    tasks = dict(
        ReviewItem.objects.filter(pk__in=[one.item for one in wrong])
        .annotate(name=opening.task_name(""))
        .values_list("pk", "name")
    )
    return tuple(
        Missed(one.seat, tasks[one.item] or opening.unnamed(one.item), one.right, one.asked)
        for one in reversed(wrong)
    )


def agreement_with_others(user: Any, queue: Queue | None) -> tuple[Interval | None, int]:
    """The share of one's answers that equal another reviewer's, and on how many items."""
    own = own_seats(user, queue).filter(
        state=Seat.State.SUBMITTED,
        role=Seat.Role.REVIEWER,
        item__state__in=verdict_reading.ALL_IN,
    )
    others = verdict_reading.COUNTED & ~Q(holder=user)
    shared = own.filter(Exists(Seat.objects.filter(others, item=OuterRef("item"))))
    newest = shared.order_by("-submitted_at", "-pk").values_list("item_id", "verdicts")
    mine = dict(newest[:ITEMS_FOR_AGREEMENT])
    asked = Asked("", "", "other")
    units = [
        Unit(item, asked, (_said(mine[item][key]), _said(given)))
        for item, verdicts in Seat.objects.filter(others, item__in=mine)
        .order_by("item_id", "number")
        .values_list("item_id", "verdicts")
        for key, given in verdicts.items()
        if key in mine[item]
    ]
    if not units:
        return None, 0
    return concordance.percent_equal(units, f"own:{user.pk}"), len({unit.item for unit in units})


def _said(given: Mapping[str, Any]) -> Label:
    return category(given.get("state", ""), given.get("value"))


def own_history(
    user: Any, *, queue: Queue | None = None, page: int = 1, size: int = HISTORY
) -> History:
    """One page of what somebody handed in, the newest first; a page beyond the last is the last."""
    seats = Seat.objects.filter(holder=user, state__in=HANDED_IN)
    if queue is not None:
        seats = seats.filter(item__queue=queue)
    listed = seats.annotate(task_name=opening.task_name()).select_related("item__queue")
    pages = Paginator(listed.order_by("-submitted_at", "-pk"), size)
    shown = pages.get_page(page)
    held = list(shown.object_list)
    others = _others_said(user, [seat.item_id for seat in held])
    return History(
        rows=tuple(_history_row(seat, others.get(seat.item_id, [])) for seat in held),
        page=shown.number,
        pages=pages.num_pages,
        total=pages.count,
    )


def _others_said(user: Any, items: Sequence[int]) -> dict[int, list[Mapping[str, Any]]]:
    """What other reviewers said of items of which all seats are in, and of gold items, which would
    show as such if nobody else ever stood beside them."""
    found: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    rows = Seat.objects.filter(
        verdict_reading.COUNTED,
        ~Q(holder=user),
        item__in=items,
        item__state__in=(*verdict_reading.ALL_IN, ReviewItem.State.GOLD),
    )
    for item, verdicts in rows.order_by("item_id", "number").values_list("item_id", "verdicts"):
        found[item].append(verdicts)
    return found


def _history_row(seat: Any, others: Sequence[Mapping[str, Any]]) -> HistoryRow:
    said = {key: _said(given) for key, given in seat.verdicts.items()}
    differing = sum(
        any(key in other and _said(other[key]) != answer for other in others)
        for key, answer in said.items()
    )
    has_times = seat.held_at is not None and seat.submitted_at is not None
    return HistoryRow(
        seat=seat.pk,
        item=seat.item_id,
        queue=seat.item.queue.title,
        task=seat.task_name or opening.unnamed(seat.item_id),
        role=seat.role,
        submitted_at=seat.submitted_at,
        seconds=(seat.submitted_at - seat.held_at).total_seconds() if has_times else None,
        state={"submitted": "counts"}.get(seat.state, seat.state),
        answers=tuple(Counter(str(answer) for answer in said.values()).most_common()),
        differing=differing if others else None,
        questions=len(said),
    )
