"""Every verdict of a queue as rows: who gave it and when, what was seen, whether it counts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from typing import Any

from django.db.models import F, Q, QuerySet

from academy.models import Criterion, Exposure, InstanceRecord
from academy.querysets import has_role
from academy.tables import Column, Kind, Row
from adjudication import golding, reporting
from adjudication.models import ExtraVerdict, Gold, Queue, ReviewItem, Seat

BATCH = 500
# Seats of a part, which takes a minute at most, and rows that one job writes in any case.
PART, ONE_JOB = 5_000, 600_000
SAMPLE = 100
ELSEWHERE = "Verdicts of judges and imports, which are in the exports of runs, and drafts."
GIVEN_OUT = (Seat.State.SUBMITTED, Seat.State.WITHDRAWN)
SETTLED = (ReviewItem.State.RESOLVED, ReviewItem.State.CLOSED)
KINDS = {
    "queue": Kind.TEXT,
    "kind": Kind.TEXT,
    "version": Kind.TEXT,
    "item": Kind.INTEGER,
    "item_state": Kind.TEXT,
    "record": Kind.INTEGER,
    "run": Kind.INTEGER,
    "entrant": Kind.TEXT,
    "task": Kind.TEXT,
    "seat": Kind.INTEGER,
    "seat_number": Kind.INTEGER,
    "role": Kind.TEXT,
    "status": Kind.TEXT,
    "person": Kind.TEXT,
    "taken_at": Kind.TEXT,
    "submitted_at": Kind.TEXT,
    "final_at": Kind.TEXT,
    "undone": Kind.INTEGER,
    "criterion": Kind.TEXT,
    "criterion_id": Kind.INTEGER,
    "asked": Kind.TEXT,
    "state": Kind.TEXT,
    "value": Kind.TEXT,
    "number": Kind.NUMBER,
    "fault": Kind.TEXT,
    "reason": Kind.TEXT,
    "confidence": Kind.TEXT,
    "known_value": Kind.TEXT,
    "guideline": Kind.INTEGER,
    "suggestion_seen": Kind.FLAG,
    "sealed_seen": Kind.TEXT,
    "chosen_because": Kind.TEXT,
    "probability": Kind.NUMBER,
    "not_blind": Kind.TEXT,
    "withdrawn_because": Kind.TEXT,
}
COLUMNS = tuple(Column(name, kind) for name, kind in KINDS.items())


@dataclass(frozen=True, slots=True)
class Reading:
    """For whom rows are made: `is_whole` for the file of curators and auditors, who read accounts,
    entrants and gold; else for one adjudicator, who reads what is settled and their own."""

    queue: Queue
    viewer: Any
    is_whole: bool

    @classmethod
    def of(cls, queue: Queue, viewer: Any) -> Reading:
        """The reading of somebody; nobody in particular stands for curators and auditors."""
        is_whole = not has_role(viewer, "adjudicator") or has_role(viewer, "curator", "auditor")
        return cls(queue, viewer, is_whole)

    def name(self, pk: int | None, username: str) -> str:
        """What a reviewer is called in the rows."""
        return reporting.name_of(pk, username, with_accounts=self.is_whole)


def seats_of(queue: Queue) -> QuerySet[Seat]:
    """Verdicts that are final for who gave them."""
    found: QuerySet[Seat] = Seat.objects.filter(item__queue=queue, state__in=GIVEN_OUT)
    return found


def extras_of(queue: Queue) -> QuerySet[ExtraVerdict]:
    """Verdicts that came after a lost lease."""
    found: QuerySet[ExtraVerdict] = ExtraVerdict.objects.filter(item__queue=queue)
    return found


def settled_for(reading: Reading) -> Q:
    """Items that are resolved, on records that this person may see."""
    records = InstanceRecord.objects.visible_to(reading.viewer).values("pk")
    return Q(item__state__in=SETTLED) & (Q(item__record=None) | Q(item__record__in=records))


def readable_seats(reading: Reading) -> QuerySet[Seat]:
    """The seats whose verdicts this person may read."""
    seats = seats_of(reading.queue)
    if reading.is_whole:
        return seats
    return seats.filter(settled_for(reading) | Q(holder=reading.viewer))


def readable_extras(reading: Reading) -> QuerySet[ExtraVerdict]:
    """The late verdicts that this person may read."""
    extras = extras_of(reading.queue)
    if reading.is_whole:
        return extras
    return extras.filter(settled_for(reading) | Q(user=reading.viewer))


def left_out(reading: Reading) -> Iterator[str]:
    """In sentences what is not in the rows."""
    yield ELSEWHERE
    readable = readable_seats(reading)
    pending = Seat.objects.filter(item__queue=reading.queue, state=Seat.State.PENDING).count()
    if pending:
        yield f"Reviews that can still be undone: {pending}."
    held_out = Q(item__record__task__holdout=True) | Q(item__task__holdout=True)
    if held := readable.filter(held_out).count():
        yield f"What held-out tasks are called and ask, in the rows of {held} reviews."
    if reading.is_whole:
        return
    yield "Accounts of reviewers, who are numbered, and names of entrants."
    if hidden := seats_of(reading.queue).count() - readable.count():
        yield (
            "Reviews by others that are sealed from you, until their item is resolved or as long "
            f"as the version is sealed: {hidden}."
        )


def are_many(reading: Reading) -> bool:
    """Whether the rows may be too many for one job, by how many answers the first seats gave."""
    seats = readable_seats(reading)
    first = [len(said) for said in seats.order_by("pk").values_list("verdicts", flat=True)[:SAMPLE]]
    return seats.count() * sum(first) > ONE_JOB * len(first)


def rows(reading: Reading) -> Iterator[Row]:
    """A row for each question of each seat in the order of items, those sent too late behind."""
    yield from chain.from_iterable(parts(reading))


def parts(reading: Reading) -> list[Iterator[Row]]:
    """The same rows in parts of whole items; those sent too late are in the last."""
    criteria = Criteria(reading.queue)
    items = readable_seats(reading).order_by("item_id").values_list("item_id", flat=True)
    firsts = sorted(set(list(items)[::PART]))
    ends = [*firsts[1:], None]
    made = [seat_rows(reading, criteria, *span) for span in zip(firsts, ends, strict=True)]
    return [*made[:-1], chain(*made[-1:], extra_rows(reading, criteria))]


def seat_rows(reading: Reading, criteria: Criteria, first: int, end: int | None) -> Iterator[Row]:
    """A row for each question of each seat of the items from the first to before the end."""
    span = Q(item__gte=first) if end is None else Q(item__gte=first, item__lt=end)
    seats = (
        readable_seats(reading)
        .filter(span)
        .annotate(
            entrant_name=F("item__record__run__entrant__name"), username=F("holder__username")
        )
        .select_related("item__record__task", "item__task", "guideline")
        .order_by("item_id", "number")
    )
    for batch in batches(seats.iterator(chunk_size=BATCH)):
        exposed = exposures(batch)
        gold = gold_of(batch) if reading.is_whole else {}
        for seat in batch:
            facts = {
                **item_facts(reading, seat.item, seat.entrant_name),
                **seat_facts(reading, seat),
                "person": reading.name(seat.holder_id, seat.username),
                "sealed_seen": exposed.get((f"seat:{seat.pk}", seat.holder_id), ""),
            }
            for key, given in seat.verdicts.items():
                known = gold.get(seat.item_id, {}).get(key)
                yield {
                    **facts,
                    **criteria.facts(seat.item, key),
                    **said(given),
                    "known_value": None if known is None else text_of(known),
                }


def extra_rows(reading: Reading, criteria: Criteria) -> Iterator[Row]:
    """A row for each question of each verdict that came after a lost lease."""
    extras = (
        readable_extras(reading)
        .annotate(entrant_name=F("item__record__run__entrant__name"), username=F("user__username"))
        .select_related("item__record__task", "item__task")
        .order_by("pk")
    )
    for extra in extras.iterator(chunk_size=BATCH):
        facts = {
            **item_facts(reading, extra.item, extra.entrant_name),
            "role": Seat.Role.REVIEWER.value,
            "status": "extra",
            "person": reading.name(extra.user_id, extra.username),
            "submitted_at": written(extra.sent_at),
        }
        for key, given in extra.verdicts.items():
            yield {**facts, **criteria.facts(extra.item, key), **said(given)}


def batches(seats: Iterable[Any]) -> Iterator[list[Any]]:
    """Seats in lists of a bounded length."""
    waiting = iter(seats)
    while batch := list(islice(waiting, BATCH)):
        yield batch


def exposures(seats: Iterable[Seat]) -> dict[tuple[str, int | None], str]:
    """What sealed parts were shown with each seat, by the reason of the showing and the person."""
    held = list(seats)
    found: dict[tuple[str, int | None], str] = {}
    shown = Exposure.objects.filter(
        user__in={seat.holder_id for seat in held}, why__in=[f"seat:{seat.pk}" for seat in held]
    )
    for why, user, what in shown.order_by("pk").values_list("why", "user_id", "what"):
        known = found.get((why, user))
        found[(why, user)] = what if known in (None, what) else f"{known}, {what}"
    return found


def gold_of(seats: Iterable[Seat]) -> dict[int, Mapping[str, Any]]:
    """The known verdicts of those items of seats that are gold."""
    held = Gold.objects.filter(item__in={seat.item_id for seat in seats})
    return dict(held.order_by("pk").values_list("item_id", "verdicts"))


def item_facts(reading: Reading, item: ReviewItem, entrant: str | None) -> Row:
    """What is said of the item in each of its rows."""
    task = item.task if item.record is None else item.record.task
    # One's own gold item looks like any other.
    state = item.state if reading.is_whole else golding.shown_state(item)
    return {
        "queue": reading.queue.title,
        "kind": reading.queue.kind,
        "version": str(reading.queue.version),
        "item": item.pk,
        "item_state": str(state),
        "record": item.record_id,
        "run": None if item.record is None else item.record.run_id,
        "entrant": entrant if reading.is_whole else None,
        "task": None if task is None or task.holdout else task.external_id,
        "chosen_because": item.chosen_because,
        "probability": item.probability,
    }


def seat_facts(reading: Reading, seat: Seat) -> Row:
    """What is said of the seat in each of its rows."""
    if seat.state == Seat.State.WITHDRAWN:
        status = "withdrawn"
    elif seat.item.state == ReviewItem.State.GOLD and reading.is_whole:
        status = "gold"
    else:
        status = "final"
    return {
        "seat": seat.pk,
        "seat_number": seat.number,
        "role": str(seat.role),
        "status": status,
        "taken_at": written(seat.held_at),
        "submitted_at": written(seat.submitted_at),
        "final_at": written(seat.final_at),
        "undone": seat.undone,
        "guideline": None if seat.guideline is None else seat.guideline.revision,
        "suggestion_seen": seat.suggestion_seen,
        "not_blind": seat.not_blind,
        "withdrawn_because": seat.withdrawn_because,
    }


def written(at: datetime | None) -> str | None:
    """A time as text, in UTC."""
    return None if at is None else at.isoformat()


def said(given: Mapping[str, Any]) -> Row:
    """What one answer says."""
    value = given.get("value")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {
        "state": given.get("state", ""),
        "value": text_of(given),
        "number": value if is_number else None,
        "fault": given.get("fault", ""),
        "reason": given.get("reason", ""),
        "confidence": str(given.get("confidence") or ""),
    }


def text_of(given: Mapping[str, Any]) -> str | None:
    """The value as text: words as they are, everything else as JSON; None where there is none."""
    value = given.get("value")
    if given.get("state") != "value" or value is None:
        return None
    return value if isinstance(value, str) else json.dumps(value, sort_keys=True)


@dataclass(slots=True)
class Criteria:
    """The criteria of a queue's tasks, read one task after another and kept."""

    queue: Queue
    known: dict[int, dict[str, Criterion]] = field(default_factory=dict)

    def facts(self, item: ReviewItem, key: str) -> Row:
        """What a question is called, and asks unless its task is held out."""
        task = item.task if item.record is None else item.record.task
        found = None if task is None else self._of(task).get(key)
        if task is not None and task.holdout:
            return {"criterion": key, "criterion_id": None, "asked": None}
        return {
            "criterion": key,
            "criterion_id": None if found is None else found.pk,
            "asked": None if found is None else found.text,
        }

    def _of(self, task: Any) -> Mapping[str, Criterion]:
        if not self.known:
            rows = Criterion.objects.filter(task__version_id=self.queue.version_id).order_by("pk")
            for row in rows.iterator():
                self.known.setdefault(row.task_id, {})[row.key] = row
        return self.known.get(task.pk, {})
