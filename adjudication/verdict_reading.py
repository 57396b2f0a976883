"""What was said in a queue, read with as many queries for many items as for few."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.db.models import Count, Exists, F, Max, OuterRef, Q, QuerySet
from django.db.models.functions import Coalesce

from academy.deciding import OUTCOMES
from academy.judge_matrix import Judge, JudgeVerdict, PersonVerdict, category
from academy.models import Criterion, Decision
from adjudication.calibration import GoldResult, said_right
from adjudication.concordance import Asked, Unit
from adjudication.models import Queue, ReviewItem, Seat

ALL_IN = (ReviewItem.State.DECIDED, ReviewItem.State.RESOLVED, ReviewItem.State.CLOSED)
# A review that counts beside others: third persons saw what was said before.
COUNTED = Q(role=Seat.Role.REVIEWER, state=Seat.State.SUBMITTED)
CATEGORIES = {"met": ("met", "not met"), "outcome": OUTCOMES}


def asked_of(criterion: Criterion, *, holdout: bool) -> Asked:
    """A criterion as a question of figures; equal criteria of several tasks are one question.

    What a held-out task asks is told nowhere outside the bench.
    """
    if criterion.scale == "rating":
        high = 3 if criterion.high is None else criterion.high
        categories: tuple[Any, ...] = tuple(range(criterion.low or 0, high + 1))
    elif criterion.scale == "fit":
        categories = tuple(criterion.anchors)
    else:
        categories = CATEGORIES.get(criterion.scale, ())
    label = f"held-out {criterion.digest[:8]}" if holdout else criterion.text
    return Asked(criterion.digest, label, criterion.scale, categories)


def questions(queue: Queue) -> dict[tuple[int, str], Asked]:
    """What is asked about each task, by task and key of the question."""
    rows = Criterion.objects.filter(task__version_id=queue.version_id).annotate(
        holdout=F("task__holdout")
    )
    return {
        (row.task_id, row.key): asked_of(row, holdout=row.holdout)
        for row in rows.order_by("pk").iterator()
    }


def said_twice(**of_items: Any) -> QuerySet[Seat]:
    """Reviews that count beside another of the same item, in its order."""
    another = Seat.objects.filter(COUNTED, item=OuterRef("item")).exclude(pk=OuterRef("pk"))
    found: QuerySet[Seat] = Seat.objects.filter(
        COUNTED,
        Exists(another),
        item__state__in=ALL_IN,
        **{f"item__{name}": value for name, value in of_items.items()},
    ).order_by("item_id", "number")
    return found


def bare_units(queues: Iterable[int]) -> Iterator[tuple[Unit, int]]:
    """The answers of `units` in several queues, without what was asked, each with its queue."""
    said: dict[tuple[int, int], list[Mapping[str, Any]]] = defaultdict(list)
    rows = said_twice(queue__in=list(queues))
    for queue_id, item, verdicts in rows.values_list("item__queue", "item_id", "verdicts"):
        said[queue_id, item].append(verdicts)
    for (queue_id, item), seats in said.items():
        for unit in _units_of(item, None, 1.0, seats, {}):
            yield unit, queue_id


def units(queue: Queue) -> list[Unit]:
    """Each question of each item that two or more people answered, all seats being in.

    Third persons saw what the others said, so that they are no further raters. Where one seat of
    an item was withdrawn, the one in its place counts.
    """
    said: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
    facts: dict[int, tuple[int | None, float]] = {}
    rows = said_twice(queue__in=[queue.pk]).values_list(
        "item_id",
        Coalesce("item__record__task_id", "item__task_id"),
        "item__probability",
        "verdicts",
    )
    for item, task, probability, verdicts in rows:
        said[item].append(verdicts)
        facts[item] = task, probability
    known = questions(queue)
    found = [
        unit for item, seats in said.items() for unit in _units_of(item, *facts[item], seats, known)
    ]
    return found


def _units_of(
    item: int,
    task: int | None,
    inclusion: float,
    seats: list[Mapping[str, Any]],
    known: Mapping[tuple[int, str], Asked],
) -> Iterator[Unit]:
    for key in dict.fromkeys(key for seat in seats for key in seat):
        given = [seat[key] for seat in seats if key in seat]
        if len(given) < 2:
            continue
        ratings = tuple(category(one.get("state", ""), one.get("value")) for one in given)
        asked = known.get((task or 0, key))
        if asked is None:
            asked = Asked(key, key, "number" if _has_numbers(given) else "other")
        yield Unit(item, asked, ratings, inclusion)


def _has_numbers(given: Iterable[Mapping[str, Any]]) -> bool:
    values = [one.get("value") for one in given if one.get("state") == "value"]
    return bool(values) and all(
        isinstance(value, int | float) and not isinstance(value, bool) for value in values
    )


def gold_results(reviews: QuerySet[Seat]) -> list[GoldResult]:
    """How reviews of gold items stand to what is known, oldest first."""
    rows = (
        reviews.filter(
            item__state=ReviewItem.State.GOLD,
            state=Seat.State.SUBMITTED,
            item__gold__isnull=False,
        )
        .order_by("submitted_at", "pk")
        .values_list(
            "pk", "item_id", "holder_id", "submitted_at", "item__gold__verdicts", "verdicts"
        )
    )
    found = []
    for pk, item, holder, at, known, given in rows:
        right, asked = said_right(known, given)
        if at is not None:
            found.append(GoldResult(pk, item, holder, at, right, asked))
    return found


def people_said(queue: Queue) -> list[PersonVerdict]:
    """What people decided of records through a queue, and stands."""
    seats = Seat.objects.filter(item__queue=queue).values("pk")
    rows = (
        Decision.objects.filter(
            seat__in=seats,
            kind=Decision.Kind.RECORD,
            criterion__isnull=False,
            source__in=("person", "resolution"),
            current=True,
            counts=True,
        )
        .exclude(state="withdrawn")
        .order_by("pk")
        .values_list(
            "record_id", "criterion_id", "person_id", "source", "state", "value", "probability"
        )
    )
    return [
        PersonVerdict(
            record=record,
            criterion=criterion,
            person=person,
            said=category(state, value),
            is_resolution=source == "resolution",
            inclusion=1.0 if probability is None else probability,
        )
        for record, criterion, person, source, state, value, probability in rows
    ]


def scales_of(criteria: Iterable[int]) -> list[str]:
    """The scales of some criteria."""
    rows = Criterion.objects.filter(pk__in=list(criteria)).order_by("scale")
    return list(rows.values_list("scale", flat=True).distinct())


def judged(queue: Queue) -> QuerySet[Decision]:
    """What judges said of the records of the version's ranking runs, and stands."""
    found: QuerySet[Decision] = Decision.objects.filter(
        kind=Decision.Kind.RECORD,
        record__run__version_id=queue.version_id,
        record__run__state="closed",
        record__run__kind="entrant",
        criterion__isnull=False,
        source=Decision.Source.JUDGE,
        current=True,
        counts=True,
    ).exclude(state="withdrawn")
    return found


def judged_facts(queue: Queue) -> list[int]:
    """What moves when a judge says something else of a ranking run."""
    counted = judged(queue).aggregate(n=Count("pk"), last=Max("pk"))
    return [counted["n"], counted["last"] or 0]


def judges_said(queue: Queue, scales: Iterable[str]) -> list[JudgeVerdict]:
    """What judges said of all records of the version's ranking runs, on criteria of some scales."""
    rows = (
        judged(queue)
        .filter(criterion__scale__in=list(scales))
        .order_by("pk")
        .values_list(
            "author",
            "author_version",
            "author_digest",
            "record__run__entrant_id",
            "record__run__entrant__name",
            "record_id",
            "criterion_id",
            "state",
            "value",
        )
    )
    names: dict[int, str] = {}
    found = []
    for author, version, digest, entrant, name, record, criterion, state, value in rows.iterator():
        if entrant not in names:
            names[entrant] = f"{name} (entrant {entrant})" if name in names.values() else name
        found.append(
            JudgeVerdict(
                judge=Judge(author, version, digest),
                entrant=names[entrant],
                record=record,
                criterion=criterion,
                said=category(state, value),
            )
        )
    return found
