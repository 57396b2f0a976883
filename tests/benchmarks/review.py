"""Review: the next item, and submit and next, with 20 reviewers on queues of three sizes."""

from __future__ import annotations

import gc
import itertools
import platform
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from tests.benchmarks.measuring import ROUNDS, Report, Row, percentile
from tests.benchmarks.serving import database

SIZES = (1_000, 10_000, 100_000)
REVIEWERS = 20
CALLS = 20
P50, P99 = 0.030, 0.100
ALIKE = 1.5


def run(scale: float = 1.0) -> Report:
    """Measure on 1,000, 10,000 and 100,000 open items, or `scale` times as many."""
    with database():
        from django.conf import settings
        from django.db import connection
        from django.test.utils import setup_test_environment

        from tests.benchmarks import filling_review

        setup_test_environment(debug=False)
        settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
        sizes = [max(REVIEWERS * 10, round(size * scale)) for size in SIZES]
        benches = {
            size: Bench(filling_review.queue_of(size), filling_review.reviewers(REVIEWERS))
            for size in sizes
        }
        two = Bench(
            filling_review.queue_of(sizes[-1], seats=2), filling_review.reviewers(REVIEWERS)
        )
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        report = Report("review", facts_of(sizes))
        report.rows += rows_of(benches, two)
    return report


def facts_of(sizes: list[int]) -> dict[str, Any]:
    """What was measured, and on what."""
    return {
        "data": f"queues of {', '.join(f'{size:,}' for size in sizes)} open items, synthetic, "
        f"{REVIEWERS} reviewers each, who all hold an item and act in turn",
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "rounds": f"{ROUNDS} of {CALLS} calls, sizes in turn; whole requests in one process, "
        "without a server between",
    }


@dataclass(slots=True)
class Bench:
    """The people at one queue, each at a browser of their own."""

    queue: Any
    people: list[Any]
    clients: list[Any] = field(default_factory=list)
    turns: Iterator[int] = field(default_factory=itertools.count)

    def next_client(self) -> Any:
        """Whoever's turn it is; everybody holds an item from their first turn on."""
        from django.test import Client

        if not self.clients:
            for user in self.people:
                client = Client()
                client.force_login(user)
                client.post(self.claim_url)
                self.clients.append(client)
        return self.clients[next(self.turns) % len(self.clients)]

    @property
    def claim_url(self) -> str:
        """Where the next item of the queue is asked for."""
        from django.urls import reverse

        return reverse("adjudication:claim", args=[self.queue.pk])

    def next_item(self) -> float:
        """Seconds of asking for the next item by somebody who holds none."""
        from adjudication import claiming

        client = self.next_client()
        user = self.people[self.clients.index(client)]
        held = claiming.current_seat(user)
        if held is not None:
            claiming.release(held, user=user)
        return timed(lambda: client.post(self.claim_url), 302)

    def submit_and_next(self) -> float:
        """Seconds of handing a complete form in and being sent to the next item."""
        from django.urls import reverse

        from adjudication import claiming
        from tests.adjudication import builders

        client = self.next_client()
        user = self.people[self.clients.index(client)]
        held = claiming.current_seat(user)
        if held is None:
            client.post(self.claim_url)
            held = claiming.current_seat(user)
        if held is None:
            raise RuntimeError(f"{self.queue} has nothing left for {user}")
        url = reverse("adjudication:submit", args=[held.pk])
        form = builders.posted(held.item, revision=0)
        taken = timed(lambda: client.post(url, form), 302)
        self.end_windows()
        return taken

    def queue_page(self) -> float:
        """Seconds of the page of all queues."""
        from django.urls import reverse

        client = self.next_client()
        return timed(lambda: client.get(reverse("adjudication:queues")), 200)

    def end_windows(self) -> None:
        """What a worker does when undo windows end, without the scoring that follows."""
        from django.utils import timezone

        from adjudication import deciding
        from adjudication.models import Seat

        over = timezone.now() + timedelta(hours=1)
        waiting = Seat.objects.filter(state="pending", item__queue=self.queue)
        for pk in waiting.order_by("pk").values_list("pk", flat=True)[: 2 * REVIEWERS]:
            deciding.finalise(pk, at=over)


def timed(act: Callable[[], Any], status: int) -> float:
    """Seconds of a request; RuntimeError when it is answered otherwise than expected."""
    start = time.perf_counter()
    answer = act()
    taken = time.perf_counter() - start
    if answer.status_code != status:
        raise RuntimeError(f"answered {answer.status_code} instead of {status}")
    return taken


def floors(bench: Bench) -> dict[str, Callable[[], float]]:
    """A view without database, and the conditional update of a seat alone."""
    from django.db import connection

    from adjudication.models import Seat

    seat = Seat.objects.filter(item__queue=bench.queue, state="free").order_by("-pk").first()
    if seat is None:
        raise RuntimeError("no seat is free to measure the floor on")

    def view() -> float:
        client = bench.next_client()
        return timed(lambda: client.get("/benchmark/floor/2000/"), 200)

    def update() -> float:
        start = time.perf_counter()
        with connection.cursor() as cursor:
            cursor.execute(
                "UPDATE adjudication_seat SET number = number WHERE id = %s AND state = 'free'",
                [seat.pk],
            )
        return time.perf_counter() - start

    return {"floor": view, "update": update}


def rows_of(benches: Mapping[int, Bench], two: Bench) -> Iterator[Row]:
    """All acts on all sizes in turn, against the floors and against the smallest size."""
    smallest, *_, largest = benches
    acts: dict[str, Callable[[], float]] = dict(floors(benches[smallest]))
    for size, bench in benches.items():
        acts[f"next {size}"] = bench.next_item
        acts[f"submit {size}"] = bench.submit_and_next
        acts[f"queues {size}"] = bench.queue_page
    acts["two"] = two.submit_and_next
    taken = in_turn(acts)
    for name, title in (("next", "next"), ("submit", "submit and next")):
        for size in benches:
            times = taken[f"{name} {size}"]
            ours, told = medians(times), f"{title}, {size:,} open"
            yield Row(told, ours, seconds=P50)
            yield Row(f"{told}, p99", (worst(times),), seconds=P99)
            yield Row(told, ours, medians(taken["floor"]), "a view without database")
            yield Row(told, ours, medians(taken["update"]), "the bare conditional update")
        yield Row(
            f"{title}, {largest:,} open",
            medians(taken[f"{name} {largest}"]),
            medians(taken[f"{name} {smallest}"]),
            f"the same at {smallest:,}",
            most=ALIKE,
        )
    yield Row(
        f"page of queues, {largest:,} open",
        medians(taken[f"queues {largest}"]),
        medians(taken[f"queues {smallest}"]),
        "the same page for the others' queue",
        most=ALIKE,
    )
    yield Row(f"submit and next, two seats, {largest:,} open", medians(taken["two"]), seconds=P50)


def in_turn(acts: Mapping[str, Callable[[], float]]) -> dict[str, list[list[float]]]:
    """Seconds of each call of each act, by round; the order turns from round to round."""
    names = list(acts)
    for act in acts.values():
        act()
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    for turn in range(ROUNDS):
        for place in range(len(names)):
            name = names[(place + turn) % len(names)]
            gc.collect()
            gc.disable()
            try:
                found[name].append([acts[name]() for _ in range(CALLS)])
            finally:
                gc.enable()
    return found


def medians(rounds: list[list[float]]) -> tuple[float, ...]:
    """The median of each round."""
    return tuple(statistics.median(times) for times in rounds)


def worst(rounds: list[list[float]]) -> float:
    """The 99th percentile of all calls."""
    return percentile([seconds for times in rounds for seconds in times], 0.99)
