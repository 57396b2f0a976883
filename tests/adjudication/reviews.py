"""Many reviews at once, as rows: records, items, seats and the decisions that come of them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from academy.identity import pack_record_id
from academy.models import Criterion, Decision, InstanceRecord, Run, SuiteVersion
from adjudication.models import Gold, Queue, ReviewItem, Seat
from tests.adjudication import builders as build

MINUTE = timedelta(minutes=1)
numbers = itertools.count(1)


def quiet_queue(
    *, tasks: int = 1, criteria: int = 1, seats: int = 2, kind: str = "criteria", **facts: Any
) -> Queue:
    """A queue without items, whose version has one run of an entrant."""
    version = build.rubric_version(tasks, criteria=criteria, slug=f"reported-{next(numbers)}")
    build.rubric_run(version)
    queue: Queue = Queue.objects.create(
        version=version, kind=kind, title="Example audit", seats_per_item=seats, **facts
    )
    return queue


def records_like(run: Run, count: int, *, start: int = 0) -> list[InstanceRecord]:
    """More executions of the first task of a run, as replicates and variants of its record."""
    first = InstanceRecord.objects.of_run(run.pk).order_by("id").first()
    assert first is not None
    ordinal = first.task.ordinal
    made = []
    for place in range(start, start + count):
        replicate, variant = 2 + place // 32, place % 32
        row = InstanceRecord.objects.get(pk=first.pk) if place == start else made[0]
        fields = {
            field.attname: getattr(row, field.attname) for field in InstanceRecord._meta.fields
        }
        fields |= {
            "id": pack_record_id(run.pk, ordinal, replicate, variant),
            "replicate": replicate,
            "variant": variant,
        }
        made.append(InstanceRecord(**fields))
    InstanceRecord.objects.bulk_create(made, batch_size=2000)
    return made


def run_of(queue: Queue) -> Run:
    """The run that is reviewed."""
    found = queue.version.runs.filter(kind="entrant").order_by("pk").first()
    assert found is not None
    return found


def criteria_of(version: SuiteVersion) -> list[Criterion]:
    """The criteria of the first task."""
    return list(Criterion.objects.filter(task__version=version).order_by("task_id", "ordinal"))


def said(value: Any, **more: Any) -> dict[str, Any]:
    """An answer: a text that is a state has no value."""
    if value in ("cannot_tell", "defective", "na"):
        return build.given(state=value, value=None, reason="seen", **more)
    return build.given(value=value, reason="seen", **more)


def reviewed(
    queue: Queue,
    reviews: Sequence[Mapping[Any, Mapping[str, Any]]],
    *,
    run: Run | None = None,
    state: str = "resolved",
    decide: bool = True,
    at: datetime | None = None,
    took: timedelta = MINUTE,
    seat_facts: Mapping[str, Any] | None = None,
    **facts: Any,
) -> list[ReviewItem]:
    """An item for each entry: reviewer -> answers by criterion key, all handed in.

    With `decide`, what is said also becomes decisions of persons, as it would when final.
    """
    now = at or timezone.now()
    chosen = run or run_of(queue)
    start = InstanceRecord.objects.of_run(chosen.pk).count() - queue.version.tasks.count()
    records = records_like(chosen, len(reviews), start=start)
    items = ReviewItem.objects.bulk_create(
        ReviewItem(
            queue=queue,
            record=record,
            state=state,
            resolved_at=now if state == "resolved" else None,
            **{"chosen_because": "waits for a person", **facts},
        )
        for record in records
    )
    seats = Seat.objects.bulk_create(
        Seat(
            **{
                "item": item,
                "number": number,
                "holder": person,
                "state": "submitted",
                "held_at": now - took,
                "submitted_at": now,
                "final_at": now,
                "verdicts": dict(answers),
                **(seat_facts or {}),
            }
        )
        for item, given in zip(items, reviews, strict=True)
        for number, (person, answers) in enumerate(given.items(), start=1)
    )
    if decide and state != "gold":
        decided(queue, seats)
    return list(items)


def decided(queue: Queue, seats: Sequence[Seat], **facts: Any) -> None:
    """What seats said as decisions of persons."""
    known = {row.key: row for row in reversed(criteria_of(queue.version))}
    Decision.objects.bulk_create(
        Decision(
            **{
                "kind": "record",
                "record_id": seat.item.record_id,
                "criterion": known[key],
                "source": "resolution" if seat.role == "third" else "person",
                "person": seat.holder,
                "seat": seat.pk,
                "state": given["state"],
                "value": given["value"],
                "probability": seat.item.probability,
                "made_at": seat.submitted_at or timezone.now(),
                **facts,
            }
        )
        for seat in seats
        for key, given in seat.verdicts.items()
    )


def judged(
    items: Sequence[ReviewItem],
    values: Sequence[Any],
    *,
    name: str = "example-judge",
    version: str = "1",
    digest: str = "a" * 64,
    key: str = "R1",
) -> None:
    """What one judge in one configuration said of the records of some items."""
    criterion = Criterion.objects.get(task__records=items[0].record_id, key=key)
    Decision.objects.bulk_create(
        Decision(
            kind="record",
            record_id=item.record_id,
            criterion=criterion,
            source="judge",
            author=name,
            author_version=version,
            author_digest=digest,
            state="value" if isinstance(value, bool) else value,
            value=value if isinstance(value, bool) else None,
            made_at=timezone.now(),
        )
        for item, value in zip(items, values, strict=True)
    )


def gold_reviews(
    queue: Queue, person: Any, rights: Sequence[bool], *, end: datetime | None = None
) -> list[ReviewItem]:
    """Gold items that somebody reviewed a minute apart, right or not, the last one at `end`."""
    until = end or timezone.now()
    items: list[ReviewItem] = []
    for place, is_right in enumerate(rights):
        items += reviewed(
            queue,
            [{person: {"R1": said(is_right)}}],
            state="gold",
            at=until - MINUTE * (len(rights) - 1 - place),
            chosen_because="gold",
        )
    Gold.objects.bulk_create(Gold(item=item, verdicts={"R1": said(True)}) for item in items)
    return items
