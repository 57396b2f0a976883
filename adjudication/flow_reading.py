"""How a queue moves, read with as many queries for many items as for few: progress and pace."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import (
    Aggregate,
    Count,
    DurationField,
    ExpressionWrapper,
    F,
    FloatField,
    Max,
    Min,
    Q,
    QuerySet,
    Sum,
)
from django.db.models.functions import Extract, TruncDate

from adjudication import pace
from adjudication.models import ExtraVerdict, Queue, ReviewItem, Seat
from adjudication.pace import Times

HANDED_IN = (Seat.State.PENDING, Seat.State.SUBMITTED, Seat.State.WITHDRAWN)
WAITING = (ReviewItem.State.OPEN, ReviewItem.State.DECIDED)


class Percentile(Aggregate):
    """percentile_cont of an ordered set."""

    function = "percentile_cont"
    template = "%(function)s(%(share)s) WITHIN GROUP (ORDER BY %(expressions)s)"

    def __init__(self, expression: Any, share: float, **more: Any) -> None:
        super().__init__(expression, share=share, output_field=FloatField(), **more)


@dataclass(frozen=True, slots=True)
class Reason:
    """Items chosen for one reason: how many in each state, and the chances with which."""

    because: str
    items: int
    waiting: int
    decided: int
    resolved: int
    closed: int
    lowest: float
    highest: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Items that wait in one state: how many, since when, and how many of each age."""

    state: str
    n: int
    oldest: datetime | None
    median_at: datetime | None
    ages: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Worker:
    """One person's part in a queue. `undone` counts submissions taken back."""

    pk: int
    username: str
    submitted: int
    pending: int
    third: int
    withdrawn: int
    undone: int
    not_blind: int
    extra: int
    times: Times


def items_of(queue: Queue) -> QuerySet[ReviewItem]:
    """The items of a queue that are about something undecided; gold stands apart."""
    found: QuerySet[ReviewItem] = queue.items.exclude(state=ReviewItem.State.GOLD)
    return found


def reasons(queue: Queue) -> list[Reason]:
    """Items by the reason for which they were chosen, the most frequent first."""
    rows = (
        items_of(queue)
        .values("chosen_because")
        .annotate(
            n=Count("pk"),
            low=Min("probability"),
            high=Max("probability"),
            n_open=Count("pk", filter=Q(state=ReviewItem.State.OPEN)),
            n_decided=Count("pk", filter=Q(state=ReviewItem.State.DECIDED)),
            n_resolved=Count("pk", filter=Q(state=ReviewItem.State.RESOLVED)),
            n_closed=Count("pk", filter=Q(state=ReviewItem.State.CLOSED)),
        )
        .order_by("-n", "chosen_because")
    )
    return [
        Reason(
            because=row["chosen_because"],
            items=row["n"],
            waiting=row["n_open"],
            decided=row["n_decided"],
            resolved=row["n_resolved"],
            closed=row["n_closed"],
            lowest=row["low"],
            highest=row["high"],
        )
        for row in rows
    ]


def seat_states(queue: Queue) -> dict[str, int]:
    """How many seats of undecided subjects are in each state."""
    seats = Seat.objects.filter(item__queue=queue).exclude(item__state=ReviewItem.State.GOLD)
    rows = seats.values("state").annotate(n=Count("pk")).order_by("state")
    return {row["state"]: row["n"] for row in rows}


def waiting(queue: Queue, at: datetime) -> list[Waiting]:
    """What waits for reviewers and for a third person, with its age."""
    bounds = pace.age_bounds(at)
    counted = {
        f"age_{place}": Count("pk", filter=_between(after, until))
        for place, (_name, after, until) in enumerate(bounds)
    }
    rows = (
        queue.items.filter(state__in=WAITING)
        .values("state")
        .annotate(
            n=Count("pk"),
            oldest=Min("created_at"),
            middle=Percentile(Extract("created_at", "epoch"), 0.5),
            **counted,
        )
        .order_by("state")
    )
    return [
        Waiting(
            state=row["state"],
            n=row["n"],
            oldest=row["oldest"],
            median_at=datetime.fromtimestamp(row["middle"], tz=at.tzinfo),
            ages=tuple((name, row[f"age_{place}"]) for place, (name, *_) in enumerate(bounds)),
        )
        for row in rows
    ]


def _between(after: datetime | None, until: datetime | None) -> Q:
    found = Q()
    if after is not None:
        found &= Q(created_at__gt=after)
    if until is not None:
        found &= Q(created_at__lte=until)
    return found


def state_facts(queue: Queue) -> list[Any]:
    """What moves when a verdict is handed in, undone, withdrawn, resolved or sent late."""
    seats = (
        Seat.objects.filter(item__queue=queue)
        .values("state", "item__state")
        .annotate(n=Count("pk"), last=Max("submitted_at"), undone=Sum("undone"))
        .order_by("state", "item__state")
    )
    return [
        queue.pk,
        [
            [row["state"], row["item__state"], row["n"], str(row["last"]), row["undone"]]
            for row in seats
        ],
        counted_reports(queue),
    ]


def counted_reports(queue: Queue) -> dict[str, int]:
    """How many reviews were reported as not blind, were withdrawn, or came after a lost lease."""
    found: dict[str, int] = Seat.objects.filter(item__queue=queue).aggregate(
        not_blind=Count("pk", filter=~Q(not_blind="")),
        withdrawn=Count("pk", filter=Q(state=Seat.State.WITHDRAWN)),
    )
    return {**found, "extra": ExtraVerdict.objects.filter(item__queue=queue).count()}


def by_day(queue: Queue, at: datetime) -> tuple[dict[date, int], dict[date, int]]:
    """Reviews handed in, and items resolved, on each of the last days (UTC)."""
    since = at - timedelta(days=pace.SHOWN_DAYS + 1)
    seats = Seat.objects.filter(item__queue=queue, state__in=HANDED_IN, submitted_at__gte=since)
    items = items_of(queue).filter(resolved_at__gte=since)
    return _days(seats, "submitted_at"), _days(items, "resolved_at")


def _days(rows: QuerySet[Any], name: str) -> dict[date, int]:
    grouped = rows.annotate(day=TruncDate(name)).values("day").annotate(n=Count("pk"))
    return {row["day"]: row["n"] for row in grouped.order_by("day")}


SPENT = ExpressionWrapper(F("submitted_at") - F("held_at"), output_field=DurationField())


def spent_seconds(**over: Any) -> dict[str, Any]:
    """Aggregates of the time from taking an item to handing it in; `over` splits off breaks."""
    limit = over["limit"]
    kept = Q(seconds__gte=0, seconds__lte=limit)
    return {
        "timed": Count("pk", filter=kept),
        "breaks": Count("pk", filter=Q(seconds__gt=limit)),
        "lower": Percentile("seconds", 0.25, filter=kept),
        "median": Percentile("seconds", 0.5, filter=kept),
        "upper": Percentile("seconds", 0.75, filter=kept),
    }


def timed_seats(queue: Queue) -> QuerySet[Seat]:
    """Reviews handed in, with the seconds that each took."""
    found: QuerySet[Seat] = Seat.objects.filter(
        item__queue=queue, state__in=HANDED_IN, held_at__isnull=False, submitted_at__isnull=False
    ).annotate(seconds=Extract(SPENT, "epoch", output_field=FloatField()))
    return found


def times(queue: Queue) -> Times:
    """Quartiles of the time an item takes. What took longer than a lease lasts holds a break."""
    return _times(timed_seats(queue).aggregate(**spent_seconds(limit=queue.lease_seconds)))


def _times(row: Mapping[str, Any]) -> Times:
    return Times(row["timed"], row["breaks"], row["lower"], row["median"], row["upper"])


def workers(queue: Queue) -> list[Worker]:
    """Everybody who took part in a queue, in the order of their first submission."""
    extra = dict(
        queue.items.filter(extras__isnull=False)
        .values_list("extras__user")
        .annotate(n=Count("extras"))
        .order_by("extras__user")
    )
    rows = (
        Seat.objects.filter(item__queue=queue, holder__isnull=False)
        .annotate(seconds=Extract(SPENT, "epoch", output_field=FloatField()))
        .values("holder_id", "holder__username")
        .annotate(
            first=Min("submitted_at"),
            submitted=Count("pk", filter=Q(state=Seat.State.SUBMITTED, role=Seat.Role.REVIEWER)),
            pending=Count("pk", filter=Q(state=Seat.State.PENDING)),
            third=Count("pk", filter=Q(state=Seat.State.SUBMITTED, role=Seat.Role.THIRD)),
            withdrawn=Count("pk", filter=Q(state=Seat.State.WITHDRAWN)),
            taken_back=Sum("undone"),
            unblind=Count("pk", filter=~Q(not_blind="")),
            **spent_seconds(limit=queue.lease_seconds),
        )
        .order_by(F("first").asc(nulls_last=True), "holder_id")
    )
    return [
        Worker(
            pk=row["holder_id"],
            username=row["holder__username"],
            submitted=row["submitted"],
            pending=row["pending"],
            third=row["third"],
            withdrawn=row["withdrawn"],
            undone=row["taken_back"] or 0,
            not_blind=row["unblind"],
            extra=extra.get(row["holder_id"], 0),
            times=_times(row),
        )
        for row in rows
    ]
