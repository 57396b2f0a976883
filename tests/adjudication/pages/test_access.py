"""Who finds which page of review, and which acts are theirs."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from adjudication.models import Draft, ExtraVerdict, Queue, Seat, Skip
from tests.adjudication import builders as build
from tests.adjudication.pages.reading import HTMX, text_of, url_of

pytestmark = pytest.mark.django_db
ACTS = ("draft", "submit", "undo", "release", "skip")


@pytest.mark.parametrize("act", ACTS)
def test_acts_are_posts(client: Client, seat: Seat, act: str) -> None:
    assert client.get(url_of(seat, act)).status_code == 405


def test_a_claim_is_a_post_and_pages_are_read(client: Client, seat: Seat) -> None:
    assert client.get(reverse("adjudication:claim", args=[seat.item.queue_id])).status_code == 405
    assert client.post(url_of(seat)).status_code == 405
    assert client.post(reverse("adjudication:queues")).status_code == 405


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize("who", ["another", "curator", "revoked"])
def test_somebody_elses_seat_is_not_there(
    client: Client, seat: Seat, anna: Any, act: str, who: str
) -> None:
    if who == "revoked":
        anna.memberships.all().delete()
    else:
        client.force_login(
            build.reviewer() if who == "another" else build.person("carla", "curator")
        )
    before = Seat.objects.values().get(pk=seat.pk)
    words = {**build.posted(seat.item), "why": "Not my field"}
    assert client.get(url_of(seat)).status_code == 404
    assert client.post(url_of(seat, act), words).status_code == 404
    assert Seat.objects.values().get(pk=seat.pk) == before
    assert not ExtraVerdict.objects.exists()
    assert not Skip.objects.exists()


def test_a_seat_that_does_not_exist_is_not_there(client: Client, anna: Any) -> None:
    for pk in ("0", "123456", "9" * 40):
        assert client.get(f"/review/seats/{pk}/").status_code == 404
        assert client.post(f"/review/seats/{pk}/submit/").status_code == 404
        assert client.post(f"/review/queues/{pk}/claim/").status_code == 404


def test_anonymous_people_are_sent_to_sign_in_and_scripts_are_told(
    client: Client, seat: Seat
) -> None:
    client.logout()
    for url in (reverse("adjudication:queues"), url_of(seat)):
        answer = client.get(url)
        assert (answer.status_code, answer["Location"]) == (302, f"/login/?next={url}")
    posts = [reverse("adjudication:claim", args=[seat.item.queue_id])]
    for url in posts + [url_of(seat, act) for act in ACTS]:
        for came_from, page in (
            (f"http://testserver{url_of(seat)}?q=1", url_of(seat)),
            ("https://elsewhere.test/review/", "/review/"),
            ("", "/review/"),
        ):
            sent = client.post(url, build.posted(seat.item), headers={"referer": came_from})
            # The address of the form itself would show nothing after the login.
            assert sent["Location"] == f"/login/?next={page}"
        # A login page would be put in the place of a few words.
        assert client.post(url, build.posted(seat.item), **HTMX).status_code == 403
    assert not Draft.objects.filter(revision__gt=0).exists()


def test_strangers_find_nothing(client: Client, queue: Queue, seat: Seat) -> None:
    client.force_login(build.person("sven", "entrant"))
    assert client.get(reverse("adjudication:queues")).status_code == 404
    assert client.post(reverse("adjudication:claim", args=[queue.pk])).status_code == 404
    assert 'href="/review/"' not in text_of(client.get("/"))


@pytest.mark.parametrize("role", ["curator", "auditor"])
def test_curators_and_auditors_see_queues_and_take_nothing(
    client: Client, queue: Queue, role: str
) -> None:
    client.force_login(build.person("carla", role))
    page = client.get(reverse("adjudication:queues"))
    assert queue.title in text_of(page)
    assert "Next item" not in text_of(page)
    answer = client.post(reverse("adjudication:claim", args=[queue.pk]), follow=True)
    assert "Only reviewers and adjudicators take items." in text_of(answer)


def test_a_paused_queue_says_so(client: Client, queue: Queue, anna: Any) -> None:
    Queue.objects.update(is_paused=True)
    assert "paused" in text_of(client.get(reverse("adjudication:queues")))
    answer = client.post(reverse("adjudication:claim", args=[queue.pk]), follow=True)
    assert "This queue is paused." in text_of(answer)
