"""What a reviewer, an auditor and a third person may see, before and after the verdict."""

from __future__ import annotations

import re

import pytest
from django.test import Client
from django.urls import reverse

from academy.models import Decision, Exposure
from adjudication import assigning, claiming, deciding
from adjudication.models import Queue
from adjudication.policies import Policy
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import example_suites as examples
from tests.adjudication.pages.reading import (
    left_behind,
    sentences,
    signed_in,
    talkative_queue,
    text_of,
    url_of,
)

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("page", ["seat", "raw", "evidence"])
def test_names_are_masked_in_all_that_a_reviewer_reads_before_the_verdict(
    client: Client, page: str
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    seat = build.claimed(talkative_queue(), anna)
    answer = client.get(url_of(seat, page))
    assert answer.status_code == 200
    assert not re.search(r"heron|fishing|acme", text_of(answer), re.IGNORECASE)
    if page == "seat":
        told = re.search(r"blind, (\d+) names masked", sentences(answer))
        assert told is not None
        assert int(told[1]) >= 5
        assert "out/" in text_of(answer)


def test_a_queue_that_is_not_blind_masks_nothing_and_says_nothing_of_it(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = talkative_queue(policy=Policy(is_blind=False).as_json())
    page = client.get(url_of(build.claimed(queue, anna)))
    assert "I am Heron 5 of acme." in text_of(page)
    assert "names masked" not in sentences(page)


def test_what_a_judge_said_is_sealed_unless_the_queue_opens_it_and_that_is_kept(
    client: Client,
) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = talkative_queue(judge="canary-judge")
    seat = build.claimed(queue, anna)
    for page in ("seat", "raw", "evidence"):
        assert "canary-judge" not in text_of(client.get(url_of(seat, page)))
    refused = client.post(url_of(seat, "suggestion"), follow=True)
    assert "stays sealed until your verdict is in" in text_of(refused)
    assert "canary-judge" not in text_of(refused)

    Queue.objects.update(policy=Policy(suggestion="open").as_json())
    assert "canary-judge" not in text_of(client.get(url_of(seat)))
    words = build.posted(seat.item, "", reason="half a thought")
    opened = client.post(url_of(seat, "suggestion"), words, follow=True)
    assert "canary-judge" in text_of(opened)
    assert "half a thought" in text_of(opened)
    client.post(url_of(seat, "submit"), build.posted(seat.item, True, True, revision=1))
    seat.refresh_from_db()
    assert seat.final_at is not None
    assert "canary-judge" not in text_of(client.get(url_of(seat)))
    assert deciding.finalise(seat.pk, at=seat.final_at)
    assert "canary-judge" in text_of(client.get(url_of(seat)))
    assert Decision.objects.filter(source="person", suggestion_seen=True).count() == 2


def test_where_no_judge_was_asked_there_is_nothing_to_look_at(client: Client) -> None:
    anna = signed_in(client, build.reviewer("anna"))
    queue = build.waiting_queue(1, policy=Policy(suggestion="open").as_json())
    seat = build.claimed(queue, anna)
    page = client.get(url_of(seat))
    assert "No judge was asked about this record." in sentences(page)
    assert "Show what the judge said" not in text_of(page)
    refused = client.post(url_of(seat, "suggestion"), follow=True)
    assert "there is nothing to show" in text_of(refused)
    seat.refresh_from_db()
    assert not seat.suggestion_seen


def test_comments_and_verdicts_of_others_are_sealed_until_the_item_is_decided(
    client: Client,
) -> None:
    queue = talkative_queue(seats=2)
    ada, bea = build.reviewer("canary-ada"), build.reviewer("bea")
    first = build.claimed(queue, ada)
    signed_in(client, ada)
    sent = {**build.posted(first.item, False, reason="canary-reason"), "m-item": "canary-comment"}
    client.post(url_of(first, "submit"), sent)
    first.refresh_from_db()
    assert first.final_at is not None
    assert deciding.finalise(first.pk, at=first.final_at)

    signed_in(client, bea)
    second = build.claimed(queue, bea)
    seen = [text_of(client.get(url_of(second, page))) for page in ("seat", "raw", "evidence")]
    seen.append(text_of(client.get(reverse("adjudication:queues"))))
    client.post(url_of(second, "submit"), build.posted(second.item, True))
    seen.append(text_of(client.get(url_of(second))))
    assert not any("canary" in page for page in seen)
    second.refresh_from_db()
    assert second.final_at is not None
    assert deciding.finalise(second.pk, at=second.final_at)
    assert "canary" not in text_of(client.get(url_of(second)))

    otto = signed_in(client, build.person("otto", "adjudicator"))
    third = build.claimed(queue, otto, role="third")
    page = text_of(client.get(url_of(third)))
    assert "canary-reason" in page
    assert "canary-comment" in page
    assert ">canary-ada<" not in page
    assert ">bea<" not in page
    client.post(url_of(third, "submit"), build.posted(third.item, False, "", reason="decided"))
    third.refresh_from_db()
    assert third.final_at is not None
    assert ">canary-ada<" not in text_of(client.get(url_of(third)))
    assert deciding.finalise(third.pk, at=third.final_at)
    assert ">canary-ada<" in text_of(client.get(url_of(third)))

    signed_in(client, bea)
    page = text_of(client.get(url_of(second)))
    assert "canary-comment" in page
    assert "Reviewer A" in page
    assert ">canary-ada<" not in page
    assert ">otto<" not in page


def test_a_seat_that_goes_from_hand_to_hand_tells_nothing_of_who_held_it(client: Client) -> None:
    anna, bea = build.reviewer("anna"), build.reviewer("bea")
    queue = talkative_queue(judge="canary-judge")
    Queue.objects.update(policy=Policy(suggestion="open").as_json())
    queue.refresh_from_db()
    seat = left_behind(client, queue, anna, "canary-anna")
    signed_in(client, bea)
    assert build.claimed(queue, bea).pk == seat.pk
    page = text_of(client.get(url_of(seat)))
    assert "canary" not in page
    assert "you reported" not in page
    assert "Show what the judge said" in page
    seat.refresh_from_db()
    assert (seat.suggestion_seen, seat.not_blind, seat.undone) == (False, "", 0)
    left_behind(client, queue, bea, "canary-bea")

    signed_in(client, anna)
    assert build.claimed(queue, anna).pk == seat.pk
    page = text_of(client.get(url_of(seat)))
    assert "canary-anna" in page
    assert "canary-judge" in page
    assert "you reported" in page
    assert "canary-bea" not in page
    claiming.release(seat, user=anna)
    signed_in(client, bea)
    build.claimed(queue, bea)
    client.post(url_of(seat, "suggestion"))
    client.post(url_of(seat, "submit"), {**build.posted(seat.item, revision=9), "m-item": "canary"})
    signed_in(client, anna)
    assert "canary-bea" not in text_of(client.get(url_of(seat)))


def test_an_auditor_reads_all_of_review_and_finds_no_form_and_no_key(client: Client) -> None:
    version = make.version_of(
        make.import_files(examples.rated_suite(), rename=("rated", "1"), publish=True)
    )
    make.record_files(examples.answered_run("rated@1", examples.FIXTURE, 1), version)
    build.do_work()
    assigning.fill_queue(version)
    queue = version.queues.get(kind="ratings")
    item = queue.items.get()
    signed_in(client, build.person("aud", "auditor"))
    pages = [
        client.get(reverse("adjudication:queues")),
        client.get(reverse("adjudication:queue", args=[queue.pk])),
        client.get(reverse("adjudication:item", args=[item.pk])),
    ]
    for page in pages:
        assert page.status_code == 200
        text = text_of(page)
        assert examples.TRUTH not in text
        assert examples.NOTE not in text
        assert 'id="verdict"' not in text
        assert "Next item" not in text
    assert "Seat 1" in sentences(pages[2])
    for address in ("practice", "history"):
        assert client.get(reverse(f"adjudication:{address}")).status_code == 404
    assert not Exposure.objects.exists()


def test_an_undecided_item_is_sealed_for_whoever_could_still_decide_it(client: Client) -> None:
    queue = talkative_queue(seats=2)
    ada = build.reviewer("ada")
    build.decide(build.claimed(queue, ada), ada, False, reason="canary-reason")
    item = queue.items.get()
    url = reverse("adjudication:item", args=[item.pk])
    signed_in(client, build.person("otto", "adjudicator", "curator"))
    page = client.get(url)
    assert "What others said is sealed." in sentences(page)
    assert "canary-reason" not in text_of(page)
    assert "heron" not in text_of(page).lower()
    signed_in(client, build.person("cat", "curator"))
    assert "canary-reason" in text_of(client.get(url))
    signed_in(client, build.reviewer("cal"))
    assert client.get(url).status_code == 404


def test_a_reviewer_sees_only_the_sealed_parts_that_the_asked_criteria_name(
    client: Client,
) -> None:
    version = make.version_of(
        make.import_files(examples.routed_suite(), rename=("routed", "1"), publish=True)
    )
    make.record_files(examples.routed_run("routed@1", 1), version)
    build.do_work()
    assigning.fill_queue(version)
    anna = signed_in(client, build.reviewer("anna"))
    queue = version.queues.get(kind="ratings")
    ratings = build.claimed(queue, anna)
    page = text_of(client.get(url_of(ratings)))
    assert "terminal state: merged" in page
    assert "no server code touched" not in page
    assert Exposure.objects.get(why=f"seat:{ratings.pk}").what == "expectation"
