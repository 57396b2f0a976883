"""When the figures of a report are counted, and how often the database is asked."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from academy import work
from adjudication import claiming, equal_answers, figuring
from adjudication.models import Queue, Seat
from adjudication.reporting import may_read, report_on
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reports.asking import (
    client_page,
    count_once,
    doubly,
    figures,
    polled,
    queue_row,
    read,
    url_of,
)
from tests.adjudication.reviews import MINUTE, gold_reviews, judged, quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db


def test_figures_follow_every_new_review_and_judgement(
    queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    items = doubly(queue, anna, bert, [(True, True), (False, False)])
    assert figures(queue, curator).doubly == 2
    judged(items, [True, False])
    (judge,) = figures(queue, curator).judges
    assert judge.pairs == 2
    (third,) = doubly(queue, anna, bert, [(True, True)])
    judged([third], [True])
    found = figures(queue, curator)
    assert (found.doubly, found.judges[0].pairs) == (3, 3)
    third.seats.filter(holder=bert).update(state="withdrawn")
    assert figures(queue, curator).doubly == 2


def test_figures_of_many_reviews_are_counted_by_the_worker(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, False)] * (equal_answers.MOST_AT_ONCE // 2 + 1), decide=False)
    page = client_page(client, queue, curator)
    assert "These figures are being counted." in page
    assert 'hx-trigger="every 5s"' in page
    assert '<a href="?page=1#agreement">Load the page again</a>' in page
    assert polled(client, queue).status_code == 204
    assert "Agreement" in (row := queue_row(client, queue)) and "%" not in row
    count_once()
    part = polled(client, queue)
    assert part.status_code == 286
    assert 'hx-trigger="every' not in part.content.decode()
    assert re.search(r'id="twice" hx-swap-oob="true">.*?2,001', part.content.decode())
    page = read(client, queue, curator)
    assert "being counted" not in page
    assert "0.0 %" in page
    assert "0.0 %" in queue_row(client, queue)
    assert work.claim("tests") is None
    # The last figures stand while newer ones are counted, at most once a minute.
    doubly(queue, anna, bert, [(True, True)], decide=False)
    assert "being counted" not in read(client, queue, curator)
    held = figuring.last_under(queue, 1, with_names=True)
    cache.set(held, replace(cache.get(held), at=timezone.now() - 2 * MINUTE))
    page = read(client, queue, curator)
    assert "Newer figures are being counted. These are as of" in page
    assert "2,001 items, all seats in" in page
    count_once()
    assert "2,002 items, all seats in" in read(client, queue, curator)


def test_the_list_of_queues_and_the_report_say_the_same_of_agreement_and_of_reviewers(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True)] * 7 + [(True, False)])
    # A third person's answer, and an item of which a seat is out, are no agreement.
    doubly(queue, anna, bert, [(True, False)] * 2, state="open", decide=False)
    ada = person("ada", "adjudicator")
    assert "Equal answers 87.5 %" in read(client, queue, ada)
    assert "87.5 %" in queue_row(client, queue)
    holder = build.reviewer("carl")
    assert isinstance(claiming.claim_next(build.waiting_queue(1), user=holder), Seat)
    number = f"Reviewer {holder.pk}"
    assert number in client.get(reverse("adjudication:queues")).content.decode()
    other = Seat.objects.get(holder=holder).item.queue
    assert number in read(client, other, ada)
    cora = person("both", "curator")
    cora.memberships.create(organization=cora.memberships.get().organization, role="reviewer")
    client.force_login(type(cora).objects.get(pk=cora.pk))
    assert "carl" in client.get(reverse("adjudication:queues")).content.decode()


def test_pages_of_criteria_hold_twenty_five_each(
    client: Client, curator: Any, anna: Any, bert: Any
) -> None:
    queue = quiet_queue(criteria=30)
    answers = {f"R{place}": said(True) for place in range(1, 31)}
    reviewed(queue, [{anna: answers, bert: answers}])
    assert "1–25 of 30" in read(client, queue, curator)
    assert "26–30 of 30" in read(client, queue, curator, "?page=2")
    assert "To the first page." in read(client, queue, curator, "?page=9")
    assert "1–25 of 30" in read(client, queue, curator, "?page=x")


@pytest.mark.parametrize("role", ["curator", "adjudicator", "reviewer"])
def test_the_report_asks_as_often_for_twenty_items_as_for_ten(client: Client, role: str) -> None:
    reader = person("reader", role)
    client.force_login(reader)
    counts = []
    for size in (10, 20):
        queue = quiet_queue(criteria=2)
        people = [reader if role == "reviewer" else build.reviewer(), build.reviewer()]
        answers = {"R1": said("defective", fault="stale"), "R2": said(True)}
        items = reviewed(queue, [dict.fromkeys(people, answers)] * size)
        judged(items, [True] * size, key="R2")
        gold_reviews(queue, people[0], [True] * (size // 5))
        with CaptureQueriesContext(connection) as asked:
            assert client.get(url_of(queue)).status_code == 200
        counts.append(len(asked))
    assert counts[0] == counts[1]


def test_a_real_review_reaches_the_report(
    client: Client, curator: Any, anna: Any, bert: Any
) -> None:
    queue = build.waiting_queue(2, criteria=2, seats=2)
    for user, value in ((anna, True), (bert, False)):
        build.decide(build.claimed(queue, user), user, value)
    assert figures(queue, curator).doubly == 1
    report = report_on(queue, reader=curator)
    assert {row.state: row.n for row in report.waiting} == {"open": 1, "decided": 1}
    assert sum(row.work.submitted for row in report.reviewers) == 2
    assert may_read(curator)
