"""The report on a queue: what waits, how fast it goes, how far people and judges agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone

from academy.querysets import has_role
from adjudication import defect_reading, figuring, flow_reading, pace, verdict_reading
from adjudication.calibration import GoldFigures, GoldResult, gold_figures
from adjudication.defect_reading import Defect
from adjudication.figuring import Counted
from adjudication.flow_reading import Reason, Waiting, Worker
from adjudication.models import Queue, Seat
from adjudication.own_reporting import own_figures, own_history, told_gold
from adjudication.pace import Day, Times

__all__ = ["Report", "may_read", "own_figures", "own_history", "report_on"]

NEWEST = 20


@dataclass(frozen=True, slots=True)
class Progress:
    """Items that are about something undecided, and seats by their state."""

    items: int
    waiting: int
    decided: int
    resolved: int
    closed: int
    seats: Mapping[str, int]

    @property
    def wanted(self) -> int:
        """Items that were to be decided: all but those closed because nobody needed them."""
        return self.items - self.closed


@dataclass(frozen=True, slots=True)
class Reviewer:
    """One person in the report. `name` is "Reviewer N" unless the reader may know names."""

    name: str
    is_reader: bool
    work: Worker
    gold: GoldFigures


@dataclass(frozen=True, slots=True)
class Told:
    """A seat whose evidence was reported as not blind, or that was withdrawn, with the reason."""

    item: int
    name: str
    at: datetime | None
    text: str


@dataclass(frozen=True, slots=True)
class Report:
    """Everything on the page of a queue's report."""

    queue: Queue
    at: datetime
    progress: Progress
    waiting: Sequence[Waiting]
    days: Sequence[Day]
    times: Times
    reasons: Sequence[Reason]
    counted: Counted
    reviewers: Sequence[Reviewer]
    defects: Sequence[Defect]
    not_blind: Sequence[Told]
    withdrawn: Sequence[Told]
    counts: Mapping[str, int]
    shows_names: bool
    shows_texts: bool


def may_read(user: Any) -> bool:
    """Whether somebody reads whole reports; reviewers read their own figures."""
    return has_role(user, "curator", "auditor", "adjudicator")


def report_on(queue: Queue, *, reader: Any, page: int = 1, at: datetime | None = None) -> Report:
    """The report on a queue as this person may read it.

    Curators read names of reviewers; curators and auditors read names of entrants and free texts.
    An adjudicator, who may yet hold a seat, reads figures of items of which all seats are in. The
    number of queries does not grow with the items.
    """
    now = at or timezone.now()
    shows_texts = has_role(reader, "curator", "auditor")
    reasons = flow_reading.reasons(queue)
    seats = flow_reading.seat_states(queue)
    workers = flow_reading.workers(queue)
    shows_names = has_role(reader, "curator")

    def texts(field: str) -> Sequence[Told]:
        return told(queue, field, with_accounts=shows_names) if shows_texts else ()

    return Report(
        queue=queue,
        at=now,
        progress=progress_of(reasons, seats),
        waiting=flow_reading.waiting(queue, now),
        days=pace.days_until(now.date(), *flow_reading.by_day(queue, now)),
        times=flow_reading.times(queue),
        reasons=reasons,
        counted=figures_for(queue, reader=reader, page=page),
        reviewers=reviewers_of(queue, workers, reader, with_accounts=shows_names),
        defects=defect_reading.defects(queue, with_open=shows_texts),
        not_blind=texts("not_blind"),
        withdrawn=texts("withdrawn_because"),
        counts=flow_reading.counted_reports(queue),
        shows_names=shows_names,
        shows_texts=shows_texts,
    )


def figures_for(queue: Queue, *, reader: Any, page: int) -> Counted:
    """The figures as this person may read them: curators and auditors know entrants by name."""
    return figuring.figures_of(queue, page=page, with_names=has_role(reader, "curator", "auditor"))


def progress_of(reasons: Sequence[Reason], seats: Mapping[str, int]) -> Progress:
    """The whole of what the reasons count apart."""
    return Progress(
        items=sum(one.items for one in reasons),
        waiting=sum(one.waiting for one in reasons),
        decided=sum(one.decided for one in reasons),
        resolved=sum(one.resolved for one in reasons),
        closed=sum(one.closed for one in reasons),
        seats=seats,
    )


def name_of(pk: int | None, username: str, *, with_accounts: bool) -> str:
    """What a reviewer is called on every page and in every file: by account, or by a number."""
    return username if with_accounts else f"Reviewer {pk}"


def reviewers_of(
    queue: Queue, workers: Sequence[Worker], reader: Any, *, with_accounts: bool
) -> list[Reviewer]:
    """Everybody's part, with their gold items; of the reader's own those that may be told."""
    gold: dict[int, list[GoldResult]] = defaultdict(list)
    for result in verdict_reading.gold_results(Seat.objects.filter(item__queue=queue)):
        gold[result.reviewer].append(result)
    if reader.pk in gold:
        gold[reader.pk] = told_gold(reader, gold[reader.pk])
    return [
        Reviewer(
            name=name_of(worker.pk, worker.username, with_accounts=with_accounts),
            is_reader=worker.pk == reader.pk,
            work=worker,
            gold=gold_figures(gold[worker.pk]),
        )
        for worker in workers
    ]


def told(queue: Queue, field: str, *, with_accounts: bool) -> list[Told]:
    """The newest seats with a text in a field."""
    rows = (
        Seat.objects.filter(item__queue=queue)
        .exclude(**{field: ""})
        .order_by("-submitted_at", "-pk")
        .values_list("item_id", "holder_id", "holder__username", "submitted_at", field)[:NEWEST]
    )
    return [
        Told(
            item=item,
            name=name_of(holder, username, with_accounts=with_accounts) if holder else "",
            at=at,
            text=text,
        )
        for item, holder, username, at, text in rows
    ]
