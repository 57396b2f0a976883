"""What reviewers read of themselves, and when."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from adjudication import own_reporting
from adjudication.models import Queue
from adjudication.reporting import report_on
from tests.adjudication.builders import person
from tests.adjudication.reports.asking import DAY, doubly, read
from tests.adjudication.reviews import MINUTE, gold_reviews, quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db


def test_a_reviewer_reads_their_own_figures_and_nobody_elses(
    client: Client, queue: Queue, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, True), (True, False)])
    reviewed(queue, [{bert: {"R1": said(True)}}] * 5)
    page = read(client, queue, anna)
    assert "Your own part in this queue" in page
    assert "2 in all; median 60.0 s" in page
    assert "50.0 %" in page
    assert "bert" not in page and "Reviewer" not in page
    assert "differ on 1 of 1" in page and "say the same" in page


def test_own_gold_is_told_only_after_ten_more_items(queue: Queue, anna: Any) -> None:
    now = timezone.now()
    gold_reviews(queue, anna, [False], end=now - 2 * DAY)
    for place in range(9):
        reviewed(queue, [{anna: {"R1": said(True)}}], at=now - DAY + place * MINUTE)
    assert own_reporting.own_figures(anna).calibration is None
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now)
    figures = own_reporting.own_figures(anna)
    assert figures.calibration is not None
    assert (figures.calibration.n, figures.calibration.accuracy.point) == (1, 0.0)
    (missed,) = figures.missed
    assert (missed.task, missed.right, missed.asked) == ("q-0", 0, 1)


def test_an_adjudicator_who_reviews_reads_their_own_gold_as_late_as_anybody(queue: Queue) -> None:
    ada = person("ada", "adjudicator")
    gold_reviews(queue, ada, [False] * 4)
    (row,) = report_on(queue, reader=ada).reviewers
    assert row.is_reader and row.gold.n == 0


def test_today_counts_from_midnight_with_undone_and_breaks_apart(queue: Queue, anna: Any) -> None:
    now = datetime(2026, 5, 4, 15, tzinfo=UTC)
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now - DAY)
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now, took=3 * MINUTE, seat_facts={"undone": 2})
    reviewed(queue, [{anna: {"R1": said(True)}}], at=now, took=90 * MINUTE)
    today = own_reporting.own_figures(anna, at=now).today
    assert (today.submitted, today.undone) == (2, 2)
    assert (today.times.median, today.times.n, today.times.breaks) == (180, 1, 1)


def test_agreement_with_others_waits_until_all_seats_are_in(
    queue: Queue, anna: Any, bert: Any
) -> None:
    doubly(queue, anna, bert, [(True, False)], state="open", decide=False)
    assert own_reporting.own_figures(anna).agreement is None
    doubly(queue, anna, bert, [(True, True), (True, True), (True, False)])
    figures = own_reporting.own_figures(anna)
    assert figures.agreement is not None
    assert figures.agreement.point == pytest.approx(2 / 3)
    assert figures.agreement_items == 3


def test_history_shows_gold_like_any_other_item(queue: Queue, anna: Any, bert: Any) -> None:
    gold_reviews(queue, anna, [False])
    reviewed(queue, [{anna: {"R1": said(False)}}], at=timezone.now() + MINUTE)
    shown, secret = own_reporting.own_history(anna).rows
    assert (shown.state, shown.answers, shown.differing) == (
        secret.state,
        secret.answers,
        secret.differing,
    )


def test_history_comes_in_pages_and_a_page_beyond_is_the_last(queue: Queue, anna: Any) -> None:
    reviewed(queue, [{anna: {"R1": said(True)}}] * 7)
    page = own_reporting.own_history(anna, page=9, size=3)
    assert (page.page, page.pages, page.total, len(page.rows)) == (3, 3, 7, 1)
    assert (page.previous, page.next) == (2, None)


def test_own_figures_ask_as_often_for_twenty_items_as_for_ten(anna: Any, bert: Any) -> None:
    counts = []
    for size in (10, 20):
        queue = quiet_queue()
        doubly(queue, anna, bert, [(True, False)] * size)
        with CaptureQueriesContext(connection) as asked:
            own_reporting.own_figures(anna, queue=queue)
            own_reporting.own_history(anna, queue=queue)
        counts.append(len(asked))
    assert counts[0] == counts[1]
