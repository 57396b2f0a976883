"""Reports as they are asked for and read."""

from __future__ import annotations

import html
import re
from datetime import timedelta
from typing import Any

from django.test import Client
from django.urls import reverse

from academy import work
from academy.models import Work
from adjudication import figuring
from adjudication.figuring import Figures
from adjudication.models import Queue, ReviewItem
from adjudication.reporting import report_on
from tests.adjudication.reviews import reviewed, said

DAY = timedelta(days=1)


def url_of(queue: Queue) -> str:
    """The address of the report on a queue."""
    return reverse("adjudication:report", args=[queue.pk])


def read(client: Client, queue: Queue, user: Any, query: str = "") -> str:
    """What is left to read of a page."""
    client.force_login(user)
    answer = client.get(url_of(queue) + query)
    assert answer.status_code == 200
    text = re.sub(
        r"<(script|style)[^>]*>.*?</\1>|<[^>]+>", " ", answer.content.decode(), flags=re.S
    )
    return " ".join(html.unescape(text).split())


def doubly(
    queue: Queue, anna: Any, bert: Any, answers: list[tuple[Any, Any]], **facts: Any
) -> list[ReviewItem]:
    """Items that two people reviewed, each with an answer to the first criterion."""
    return reviewed(
        queue, [{anna: {"R1": said(one)}, bert: {"R1": said(two)}} for one, two in answers], **facts
    )


def figures(queue: Queue, reader: Any) -> Figures:
    """What is known of the agreement in a queue."""
    found = report_on(queue, reader=reader).counted.figures
    assert found is not None
    return found


def count_once() -> None:
    """Do the one piece of work that is owed for figures."""
    Work.objects.exclude(kind=figuring.KIND).delete()
    unit = work.claim("tests")
    assert unit is not None
    work.perform(unit)


def client_page(client: Client, queue: Queue, user: Any) -> str:
    """The page of a report as it is sent."""
    client.force_login(user)
    return client.get(url_of(queue)).content.decode()


def polled(client: Client, queue: Queue) -> Any:
    """What htmx gets when it asks for newer figures."""
    return client.get(url_of(queue), headers={"HX-Request": "true"})


def queue_row(client: Client, queue: Queue) -> str:
    """The row of a queue on the list of queues."""
    page = client.get(reverse("adjudication:queues")).content.decode()
    rows = re.findall(r"<tr>.*?</tr>", page, flags=re.S)
    return next(row for row in rows if f"/queues/{queue.pk}/" in row)


def pairs(*cells: tuple[str, str, int]) -> list[tuple[str, str]]:
    """Two answers to each item, as often as a table of counts says."""
    return [(first, second) for first, second, count in cells for _ in range(count)]


FAILURE_25 = pairs(("met", "met", 95), ("met", "not met", 2), ("not met", "met", 3))
