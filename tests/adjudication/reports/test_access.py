"""Who reads which part of a report, and what an empty one says."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from adjudication.models import ExtraVerdict, Queue
from adjudication.reporting import report_on
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reports.asking import DAY, doubly, read, url_of
from tests.adjudication.reviews import quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db


def test_only_curators_read_names_of_reviewers(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    reviewed(queue, [{bert: {"R1": said(True)}}], at=timezone.now() - DAY)
    reviewed(queue, [{anna: {"R1": said(True)}}])
    assert "anna" in read(client, queue, curator)
    for role in ("auditor", "adjudicator"):
        page = read(client, queue, person(f"the-{role}", role))
        assert "anna" not in page and "bert" not in page
        assert page.index(f"Reviewer {bert.pk}") < page.index(f"Reviewer {anna.pk}")


@pytest.mark.parametrize("roles", [(), ("entrant",)])
def test_strangers_find_no_report(client: Client, queue: Queue, roles: tuple[str, ...]) -> None:
    client.force_login(person("stranger", *roles))
    assert client.get(url_of(queue)).status_code == 404


def test_who_is_not_signed_in_is_asked_to(client: Client, queue: Queue) -> None:
    response = client.get(url_of(queue))
    assert response.status_code == 302
    assert response["Location"] == f"{reverse('login')}?next={url_of(queue)}"


def test_an_empty_queue_says_why_there_is_nothing(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    assert "Nothing was put to people here yet" in read(client, queue, curator)
    assert "You have handed in nothing here yet" in read(client, queue, anna)


def test_items_without_reviews_explain_each_empty_part(client: Client, curator: Any) -> None:
    page = read(client, build.waiting_queue(2), curator)
    for told in (
        "Nothing was handed in during the last 30 days.",
        "No item was reviewed by two people yet",
        "People have not decided anything here yet",
        "Nobody has taken an item yet.",
        "No criterion was called defective.",
        "No review has a time yet.",
    ):
        assert told in page


def test_what_stands_beside_the_count_is_told_with_texts_only_to_who_may_read_them(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    (first, second) = reviewed(queue, [{anna: {"R1": said(True)}}] * 2)
    first.seats.update(not_blind="It says it is <Example>.")
    second.seats.update(state="withdrawn", withdrawn_because="I misread the total.")
    ExtraVerdict.objects.create(item=first, user=bert, verdicts={}, sent_at=timezone.now())
    report = report_on(queue, reader=curator)
    assert report.counts == {"not_blind": 1, "withdrawn": 1, "extra": 1}
    page = read(client, queue, curator)
    assert "It says it is <Example>." in page and "I misread the total." in page
    hidden = read(client, queue, person("ada", "adjudicator"))
    assert "It says it is" not in hidden and "I misread" not in hidden


def test_what_a_held_out_task_asks_is_on_no_report(
    client: Client, queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    hidden = quiet_queue()
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute(
            "UPDATE academy_task SET holdout = true WHERE version_id = %s", [hidden.version_id]
        )
        cursor.execute("SET session_replication_role = DEFAULT")
    pages = []
    for one in (queue, hidden):
        doubly(one, anna, bert, [(True, "defective")])
        pages.append(read(client, one, curator).count(one.version.tasks.get().criteria.get().text))
    assert pages == [2, 0]
    assert "held-out" in read(client, hidden, curator)
