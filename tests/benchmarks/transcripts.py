"""Transcripts: the first screen of 10 MB, the next pages, search and raw text, and their memory."""

from __future__ import annotations

import platform
import tracemalloc
from collections.abc import Iterator
from typing import Any

from tests.benchmarks.measuring import ROUNDS, Report, Row, interleaved
from tests.benchmarks.serving import database

STEPS, LONGEST = 6_700, 5_000_000
FIRST_SCREEN = 0.3
PAGES = {
    "record, first screen": "",
    "record, a page in the middle": "?from=3340",
    "record, search in all steps": "?q=needle",
    "record, raw text of a page": "?view=raw&from=3340",
    "record, a text of 5 MB whole": "?at=3350&step=3350&part=text&chars=5000000",
}


def run(scale: float = 1.0) -> Report:
    """Measure on a transcript of 6,700 steps with one result of 5 MB, `scale` times as long.

    Times are of the server alone: from the request to the whole answer, without a network. "Cold"
    is the first page of a record that no page of this process has opened before.
    """
    with database():
        from tests.academy import transcript_examples as example

        steps, longest = max(4, round(STEPS * scale)), max(10, round(LONGEST * scale))
        seat = held_seat(example.long_events(steps, longest))
        record = seat.item.record
        report = Report("transcripts", facts_of(steps, record.length))
        report.rows += rows(seat)
        report.facts["memory of a first screen"] = f"{peak(seat) / 2**20:.0f} MB at its peak"
        return report


def held_seat(events: list[dict[str, Any]]) -> Any:
    """A seat on a record of these events; its version is not sealed, so that its page is public."""
    from tests.adjudication import builders as build

    version = build.rubric_version(1, notes=False)
    line = {**build.make.judged("q-0"), "events": events}
    build.rubric_run(version, line, entrant={"name": "Example Heron", "model": "example/heron-5"})
    return build.claimed(build.queue_of(version), build.reviewer("anna"))


def facts_of(steps: int, length: int) -> dict[str, Any]:
    """What was measured, and on what."""
    return {
        "data": f"{steps:,} steps, {length / 1e6:.1f} MB of JSON, synthetic",
        "machine": f"{platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "rounds": f"{ROUNDS}, variants in turn; a time is the median of the rounds",
    }


def rows(seat: Any) -> Iterator[Row]:
    """Every page cold, and again while it is open; the targets are those of first screens."""
    variants = {}
    for name, (client, address) in asked(seat).items():
        variants[f"{name}, cold"] = lambda c=client, a=address: show(c, a, cold=True)
        variants[name] = lambda c=client, a=address: show(c, a)
    times = interleaved(variants)
    for name, measured in times.items():
        is_first = "first screen" in name
        yield Row(name, measured, seconds=FIRST_SCREEN if is_first else None)


def asked(seat: Any) -> dict[str, tuple[Any, str]]:
    """Who asks for which address."""
    from django.test import Client
    from django.urls import reverse

    public, reviewer = Client(), Client()
    reviewer.force_login(seat.holder)
    record = reverse("academy:record", args=[seat.item.record_id])
    bench = reverse("adjudication:seat", args=[seat.pk])
    found = {name: (public, record + query) for name, query in PAGES.items()}
    found["bench, first screen"] = (reviewer, bench)
    found["bench, search in all steps"] = (reviewer, f"{bench}?q=needle")
    return found


def show(client: Any, address: str, *, cold: bool = False) -> None:
    """One page; RuntimeError when it is not shown."""
    from tests.academy import transcript_examples as example

    if cold:
        example.forget()
    answer = client.get(address)
    if answer.status_code != 200:
        raise RuntimeError(f"{address} answered {answer.status_code}")


def peak(seat: Any) -> int:
    """The most bytes that the cold first screen of the bench held at once."""
    client, address = asked(seat)["bench, first screen"]
    tracemalloc.start()
    try:
        show(client, address, cold=True)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
