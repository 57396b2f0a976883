"""The page of queues, its tabs, and the third person's view."""

from __future__ import annotations

import html
import re

import pytest
from django.contrib.auth.models import AnonymousUser
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from adjudication import claiming, context, deciding
from adjudication.models import Draft, Seat, Skip
from adjudication.questions import COMMENT
from tests.adjudication import builders as build
from tests.adjudication.pages.reading import sentences, signed_in, text_of, url_of

pytestmark = pytest.mark.django_db


def test_a_comment_comes_back_with_the_draft_and_after_an_undo(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = build.claimed(build.waiting_queue(1), anna)
    client.post(url_of(seat, "draft"), {**build.posted(seat.item), "m-item": "first words"})
    assert Draft.objects.get().content[COMMENT]["reason"] == "first words"
    assert "first words" in text_of(client.get(url_of(seat)))
    sent = {**build.posted(seat.item, revision=1), "m-item": "last words"}
    client.post(url_of(seat, "submit"), sent)
    assert Seat.objects.get().comment == "last words"
    assert "last words" in text_of(client.post(url_of(seat, "undo"), follow=True))


def test_a_queue_with_a_conflict_of_interest_stands_last_and_says_why(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    version = build.rubric_version(1, slug="competing")
    build.rubric_run(version, account=anna)
    build.queue_of(version)
    build.waiting_queue(2)
    page = client.get(reverse("adjudication:queues"))
    told = "closed to you: You submitted a run on this version"
    assert told in sentences(page)
    assert text_of(page).count("Next item") == 1
    assert context.waiting_for(anna) == 2
    assert "Review 2" in sentences(page)


def test_the_number_in_the_navigation_costs_one_query_on_pages_that_show_it(
    client: Client,
) -> None:
    build.waiting_queue(2)
    anna = build.reviewer("anna")
    claiming.has_role(anna, "reviewer")
    with CaptureQueriesContext(connection) as seen:
        assert context.waiting_for(anna) == 2
    assert len(seen) == 1
    with CaptureQueriesContext(connection) as seen:
        assert context.waiting_for(AnonymousUser()) == 0
    assert len(seen) == 0
    stranger = text_of(client.get("/"))
    assert "items wait" not in stranger


def test_the_tabs_list_ones_own_drafts_submissions_and_what_one_passed_over(
    client: Client,
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(5)
    for act, field in (("skip", "why"), ("defer", "defer_why"), ("escalate", "escalate_why")):
        seat = build.claimed(queue, anna)
        client.post(url_of(seat, act), {field: f"{act} it"})
    seat = build.claimed(queue, anna)
    client.post(url_of(seat, "submit"), build.posted(seat.item))
    seat = build.claimed(queue, anna)
    client.post(url_of(seat, "draft"), build.posted(seat.item, False, reason="mine"))
    listed = {
        tab: sentences(client.get(reverse("adjudication:queues"), {"s": tab}))
        for tab in ("all", "pending", "draft", "submitted", "skipped", "escalated", "strange")
    }
    assert re.search(r"Draft 1 Submitted 1 Skipped 2 Escalated 1", listed["all"])
    assert "q-4" in listed["draft"]
    assert "2 met" in listed["submitted"]
    assert "skip it" in listed["skipped"]
    assert "defer it" in listed["skipped"]
    assert "escalate it" in listed["escalated"]
    assert "Queue Form Pending" in listed["strange"]
    assert Skip.objects.count() == 3


def test_the_tabs_ask_as_often_for_many_items_as_for_few(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(9)
    counts = []
    for items in (2, 4):
        for _item in range(items):
            seat = build.claimed(queue, anna)
            deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
        Seat.objects.filter(state="pending").update(state="submitted")
        row = []
        for tab in ("submitted", "draft", "skipped"):
            with CaptureQueriesContext(connection) as seen:
                client.get(reverse("adjudication:queues"), {"s": tab})
            row.append(len(seen))
        with CaptureQueriesContext(connection) as seen:
            client.get(reverse("adjudication:history"))
        counts.append([*row, len(seen)])
    assert counts[0] == counts[1]


def test_held_items_of_others_name_nobody(client: Client) -> None:
    queue = build.waiting_queue(2)
    other = build.reviewer("canary-name")
    build.claimed(queue, other)
    signed_in(client, build.reviewer("anna"))
    page = client.get(reverse("adjudication:queues"))
    assert "canary-name" not in text_of(page)
    assert re.search(r"Reviewer \d+ .* 30 min left", sentences(page))


def test_withdrawing_before_the_item_is_decided_keeps_the_words_and_opens_a_seat(
    client: Client,
) -> None:
    queue = build.waiting_queue(1, seats=2)
    ada = signed_in(client, build.reviewer("ada"))
    seat = build.claimed(queue, ada)
    build.decide(seat, ada, True)
    assert "Withdraw this review" in text_of(client.get(url_of(seat)))
    empty = client.post(url_of(seat, "withdraw"), {"withdraw_why": " "}, follow=True)
    assert "Say why you withdraw your verdict." in text_of(empty)
    done = client.post(url_of(seat, "withdraw"), {"withdraw_why": "wrong run"}, follow=True)
    assert "It was withdrawn and does not count: wrong run" in html.unescape(sentences(done))
    assert Seat.objects.filter(item=seat.item, state="free").count() == 2


def test_a_third_person_sends_an_escalated_item_back_with_an_answer(client: Client) -> None:
    queue = build.waiting_queue(1)
    ada = signed_in(client, build.reviewer("ada"))
    seat = build.claimed(queue, ada)
    client.post(url_of(seat, "escalate"), {"escalate_why": "is a draft meant?"})
    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    page = sentences(client.get(url_of(third)))
    assert "An escalated item" in page
    assert "is a draft meant?" in page
    client.post(url_of(third, "send-back"), {"back_why": "yes, a draft is meant"})
    signed_in(client, ada)
    again = build.claimed(queue, ada)
    assert "An adjudicator answered: yes, a draft is meant" in sentences(client.get(url_of(again)))


def test_extra_reviews_are_shown_to_the_third_person_as_such(client: Client) -> None:
    queue = build.waiting_queue(1, seats=2)
    late = build.reviewer("late")
    lost = build.claimed(queue, late)
    build.age(lost, minutes=1)
    for name, met in (("ada", True), ("bea", False)):
        person = build.reviewer(name)
        build.decide(build.claimed(queue, person), person, met)
    signed_in(client, late)
    client.post(url_of(lost, "submit"), build.posted(lost.item, False, reason="came too late"))
    otto = signed_in(client, build.person("otto", "adjudicator"))
    page = sentences(client.get(url_of(build.claimed(queue, otto, role="third"))))
    assert "Extra reviews sent after a lost hold; shown to you, never counted" in page
    assert "came too late" in page
    assert "2 reviews differ on 1 of 2" in page


@pytest.mark.parametrize("shown", ["all", "diff", "open", "strange"])
def test_hidden_rows_of_the_third_view_keep_what_was_decided(client: Client, shown: str) -> None:
    queue = build.waiting_queue(1, criteria=3, seats=2)
    for name, met in (("ada", True), ("bea", False)):
        person = build.reviewer(name)
        build.decide(build.claimed(queue, person), person, met, met)
    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    words = build.posted(third.item, True, "", "", reason="")
    first = deciding.questions_of(third.item)[0]
    words[f"r-{first.field}"] = "decided first"
    client.post(url_of(third, "draft"), words)
    page = client.get(url_of(third), {"d": shown}).content.decode()
    assert "decided first" in page
    assert re.search(rf'name="v-{first.field}" value="yes"', page)
