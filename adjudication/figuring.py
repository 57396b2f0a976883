"""How far people and judges agree in a queue: figures that take long, and are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db import transaction
from django.utils import timezone

from academy import tasks, work
from academy.canonical import digest, sha256_hex
from academy.judge_matrix import (
    JudgeFigures,
    JudgeVerdict,
    PersonVerdict,
    judges_against_people,
    settled,
)
from adjudication import concordance, equal_answers, flow_reading, verdict_reading
from adjudication.concordance import Agreement, Asked, Unit
from adjudication.models import Queue, Seat

QUESTIONS_A_PAGE = 25
KEPT_SECONDS = 24 * 3600
KIND = "review_figures"
# Goes up with the fields of `Figures`, so that none that lacks one is read from before.
FORM = 2
# Figures of many reviews are not counted again at each of them.
FRESH = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Figures:
    """How far people and judges agree: what takes long, and is kept until something moves.

    `pooled` has an entry for each scale, `agreements` one for each question of the page, the least
    agreement first; `questions` counts them all. `doubly` items were reviewed by two or more,
    `equal` is the share of their answers that are equal, and `settled` criteria of records were
    decided by people. All of it is as of `at`.
    """

    at: datetime
    pooled: tuple[Agreement, ...]
    agreements: tuple[Agreement, ...]
    questions: int
    doubly: int
    equal: float | None
    judges: tuple[JudgeFigures, ...]
    settled: int


@dataclass(frozen=True, slots=True)
class Counted:
    """What is known of the figures, and whether newer ones are being counted."""

    figures: Figures | None
    is_counting: bool = False


def figures_of(queue: Queue, *, page: int, with_names: bool) -> Counted:
    """The figures of one page of questions, kept while nothing moves.

    Those of many reviews are counted by the worker, at most once a minute; until they are there
    the last ones stand, if there are any.
    """
    kept: Figures | None = cache.get(kept_under(queue, page, with_names=with_names))
    if kept is not None:
        return Counted(kept)
    payload = {"queue": queue.pk, "page": page, "with_names": with_names}
    reviews = Seat.objects.filter(item__queue=queue, state=Seat.State.SUBMITTED).count()
    if reviews <= equal_answers.MOST_AT_ONCE:
        return Counted(keep_figures(payload))
    last: Figures | None = cache.get(last_under(queue, page, with_names=with_names))
    if last is not None and timezone.now() - last.at < FRESH:
        return Counted(last)
    with transaction.atomic():
        work.enqueue(KIND, key=f"{KIND}:{queue.pk}:{page}:{with_names}", payload=payload)
        tasks.nudge()
    return Counted(last, is_counting=True)


def last_under(queue: Queue, page: int, *, with_names: bool) -> str:
    """The name under which the figures that were counted last are kept, whatever moved since."""
    return f"{KIND}-last:{digest([FORM, queue.pk, page, with_names])}"


def kept_under(queue: Queue, page: int, *, with_names: bool) -> str:
    """The name under which figures are kept: another one as soon as anything moves."""
    facts = [seed_of(queue), flow_reading.state_facts(queue), verdict_reading.judged_facts(queue)]
    return f"{KIND}:{digest([FORM, *facts, page, with_names])}"


def keep_figures(payload: Mapping[str, Any]) -> Figures:
    """Count figures and keep them under the state from which they were counted."""
    queue = Queue.objects.select_related("version").get(pk=payload["queue"])
    page, with_names = payload["page"], payload["with_names"]
    name = kept_under(queue, page, with_names=with_names)
    kept: Figures | None = cache.get(name)
    if kept is None:
        kept = count_figures(queue, page, with_names=with_names)
        cache.set(name, kept, KEPT_SECONDS)
        cache.set(last_under(queue, page, with_names=with_names), kept, KEPT_SECONDS)
    return kept


def count_in_background(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "review_figures": the figures of a queue with many reviews."""
    keep_figures(payload)
    return lambda: None


def count_figures(queue: Queue, page: int, *, with_names: bool) -> Figures:
    """The figures, from the rows."""
    at = timezone.now()
    units = verdict_reading.units(queue)
    asked = concordance.by_question(units)
    people = verdict_reading.people_said(queue)
    first = (page - 1) * QUESTIONS_A_PAGE
    return Figures(
        at=at,
        pooled=agreements_on(queue, concordance.by_scale(units)),
        agreements=agreements_on(queue, asked[first : first + QUESTIONS_A_PAGE]),
        questions=len(asked),
        doubly=len({unit.item for unit in units}),
        equal=equal_answers.keep_share(queue.pk, units),
        judges=judges_on(queue, people, with_names=with_names),
        settled=len({(one.record, one.criterion) for one in people}),
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
