"""The report on a queue: what waits, how fast it goes, how far people and judges agree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from academy import tasks, work
from academy.canonical import digest, sha256_hex
from academy.querysets import has_role
from adjudication import concordance, defect_reading, flow_reading, pace, verdict_reading
from adjudication.calibration import GoldFigures, GoldResult, gold_figures
from adjudication.concordance import Agreement, Asked, Unit
from adjudication.defect_reading import Defect
from adjudication.flow_reading import Reason, Waiting, Worker
from adjudication.judge_matrix import (
    JudgeFigures,
    JudgeVerdict,
    PersonVerdict,
    judges_against_people,
    settled,
)
from adjudication.models import Queue, Seat
from adjudication.own_reporting import own_figures, own_history, told_gold
from adjudication.pace import Day, Times

__all__ = ["Report", "may_read", "own_figures", "own_history", "report_on"]

QUESTIONS_A_PAGE = 25
NEWEST = 20
KEPT_SECONDS = 24 * 3600
KIND = "review_figures"
MOST_AT_ONCE = 4000


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
class Figures:
    """How far people and judges agree: what takes long, and is kept until something moves.

    `pooled` has an entry for each scale, `agreements` one for each question of the page, the least
    agreement first; `questions` counts them all. `doubly` items were reviewed by two or more, and
    `settled` criteria of records were decided by people.
    """

    pooled: tuple[Agreement, ...]
    agreements: tuple[Agreement, ...]
    questions: int
    doubly: int
    judges: tuple[JudgeFigures, ...]
    settled: int


@dataclass(frozen=True, slots=True)
class Report:
    """Everything on the page of a queue's report; `figures` is None while they are counted."""

    queue: Queue
    at: datetime
    progress: Progress
    waiting: Sequence[Waiting]
    days: Sequence[Day]
    times: Times
    reasons: Sequence[Reason]
    figures: Figures | None
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
        figures=figures_of(
            queue, page, with_names=shows_texts, reviews=seats.get(Seat.State.SUBMITTED, 0)
        ),
        reviewers=reviewers_of(queue, workers, reader, with_accounts=shows_names),
        defects=defect_reading.defects(queue, with_open=shows_texts),
        not_blind=told(queue, "not_blind", with_accounts=shows_names) if shows_texts else (),
        withdrawn=told(queue, "withdrawn_because", with_accounts=shows_names)
        if shows_texts
        else (),
        counts=flow_reading.counted_reports(queue),
        shows_names=shows_names,
        shows_texts=shows_texts,
    )


def figures_of(queue: Queue, page: int, *, with_names: bool, reviews: int) -> Figures | None:
    """The figures of one page of questions, kept while nothing moves.

    Those of many reviews are counted by the worker; None until they are there.
    """
    kept: Figures | None = cache.get(kept_under(queue, page, with_names=with_names))
    if kept is not None:
        return kept
    payload = {"queue": queue.pk, "page": page, "with_names": with_names}
    if reviews <= MOST_AT_ONCE:
        return keep_figures(payload)
    with transaction.atomic():
        work.enqueue(KIND, key=f"{KIND}:{queue.pk}:{page}:{with_names}", payload=payload)
        tasks.nudge()
    return None


def kept_under(queue: Queue, page: int, *, with_names: bool) -> str:
    """The name under which figures are kept: another one as soon as anything moves."""
    facts = [seed_of(queue), flow_reading.state_facts(queue), verdict_reading.judged_facts(queue)]
    return f"{KIND}:{digest([*facts, page, with_names])}"


def keep_figures(payload: Mapping[str, Any]) -> Figures:
    """Count figures and keep them under the state from which they were counted."""
    queue = Queue.objects.select_related("version").get(pk=payload["queue"])
    page, with_names = payload["page"], payload["with_names"]
    name = kept_under(queue, page, with_names=with_names)
    kept: Figures | None = cache.get(name)
    if kept is None:
        kept = count_figures(queue, page, with_names=with_names)
        cache.set(name, kept, KEPT_SECONDS)
    return kept


def count_in_background(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "review_figures": the figures of a queue with many reviews."""
    keep_figures(payload)
    return lambda: None


def count_figures(queue: Queue, page: int, *, with_names: bool) -> Figures:
    """The figures, from the rows."""
    units = verdict_reading.units(queue)
    asked = concordance.by_question(units)
    people = verdict_reading.people_said(queue)
    first = (page - 1) * QUESTIONS_A_PAGE
    return Figures(
        pooled=agreements_on(queue, concordance.by_scale(units)),
        agreements=agreements_on(queue, asked[first : first + QUESTIONS_A_PAGE]),
        questions=len(asked),
        doubly=len({unit.item for unit in units}),
        judges=judges_on(queue, people, with_names=with_names),
        settled=len({(one.record, one.criterion) for one in people}),
    )


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


def seed_of(queue: Queue) -> str:
    """What fixes the draws of a queue's intervals."""
    return f"{queue.version.digest}:{queue.kind}"


def agreements_on(
    queue: Queue, grouped: Sequence[tuple[Asked, list[Unit]]]
) -> tuple[Agreement, ...]:
    """The figures of some questions."""
    seed = seed_of(queue)
    return tuple(concordance.agreement_on(asked, units, seed) for asked, units in grouped)


def name_of(pk: int | None, username: str, *, with_accounts: bool) -> str:
    """What a reviewer is called: by account, or by a number that is the same on every page."""
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


def judges_on(
    queue: Queue, people: Sequence[PersonVerdict], *, with_names: bool
) -> tuple[JudgeFigures, ...]:
    """Every judge against what people settled; entrants by number for who must not know them."""
    scales = verdict_reading.scales_of({one.criterion for one in people})
    judged = verdict_reading.judges_said(queue, scales)
    if not with_names:
        judged = numbered(judged)
    return tuple(judges_against_people(judged, settled(people), seed_of(queue)))


def numbered(judged: Sequence[JudgeVerdict]) -> list[JudgeVerdict]:
    """The same verdicts with "Entrant N" for names, in no order that tells them."""
    mixed = sorted({one.entrant for one in judged}, key=lambda name: sha256_hex(name.encode()))
    places = {name: place for place, name in enumerate(mixed, start=1)}
    return [replace(one, entrant=f"Entrant {places[one.entrant]}") for one in judged]


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
