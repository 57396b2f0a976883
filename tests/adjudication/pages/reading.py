"""How pages of review are asked for and read."""

from __future__ import annotations

import html
import re
from typing import Any

from django.test import Client
from django.urls import reverse

from adjudication import deciding
from adjudication.models import Queue, Seat
from tests import factories as make
from tests.adjudication import builders as build

HTMX: dict[str, Any] = {"headers": {"HX-Request": "true"}}


def url_of(seat: Seat, act: str = "") -> str:
    """The address of a seat, or of an act at it."""
    return reverse(f"adjudication:{act or 'seat'}", args=[seat.pk])


def text_of(answer: Any) -> str:
    """A page with its entities read."""
    return html.unescape(answer.content.decode())


def sentences(answer: Any) -> str:
    """What is left to read of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", text_of(answer)).split())


def typed(page: str, seat: Seat) -> list[tuple[str, str]]:
    """The chosen verdict and the reason of each criterion in a page."""
    found = []
    for asked in deciding.questions_of(seat.item):
        chosen = re.search(rf'name="v-{asked.field}" value="(\w+)"[^>]* checked', page)
        reason = re.search(
            rf'<textarea[^>]*name="r-{asked.field}"[^>]*>\n(.*?)</textarea>', page, re.S
        )
        assert reason is not None
        found.append((chosen[1] if chosen else "", html.unescape(reason[1])))
    return found


MADE = b"a,b\n"
ENTRANT = {"name": "Grey Heron", "model": "acme/heron-5", "harness": "fishing-rod"}


def signed_in(client: Client, user: Any) -> Any:
    """Sign somebody in, and give them back."""
    client.force_login(user)
    return user


def talkative_queue(*, judge: str = "", seats: int = 1, **facts: Any) -> Queue:
    """One record that names its maker everywhere; a judge has its say on the first criterion."""
    version = build.rubric_version(1, notes=False)
    line = make.judged("q-0", *([True] if judge else []), judge=judge or "nobody")
    line |= {
        "answer": "I am Heron 5 of acme.",
        "messages": [
            {"role": "assistant", "content": "grey_heron here, run by fishing-rod"},
            {"role": "assistant", "tool_calls": [{"name": "heron5", "arguments": "{}"}]},
        ],
        "artifacts": [{"path": "out/heron-5.csv", "sha256": make.sha256(MADE)}],
    }
    made = make.line_run(line, suite="rubrics@1", run_id="r-talk", entrant=ENTRANT)
    make.record_files({**made, "out/heron-5.csv": MADE}, version)
    queue = build.queue_of(version, **facts)
    if seats > 1:
        build.add_seats(queue, seats)
    return queue


def left_behind(client: Client, queue: Queue, user: Any, words: str) -> Seat:
    """A seat on which somebody looked, commented and reported, that was submitted, undone, left."""
    signed_in(client, user)
    seat = build.claimed(queue, user)
    client.post(url_of(seat, "suggestion"))
    client.post(url_of(seat, "not-blind"), {"text": words})
    client.post(url_of(seat, "submit"), {**build.posted(seat.item, revision=9), "m-item": words})
    client.post(url_of(seat, "undo"))
    client.post(url_of(seat, "release"))
    seat.refresh_from_db()
    assert seat.state == "free"
    return seat
