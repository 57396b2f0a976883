"""No word is lost: stale windows, lost seats, and what was released or skipped."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from adjudication import claiming
from adjudication.models import Draft, ExtraVerdict, Queue, Seat, Skip
from tests.adjudication import builders as build
from tests.adjudication.pages.reading import HTMX, sentences, text_of, typed, url_of

pytestmark = pytest.mark.django_db


def test_autosave_tells_the_time_the_revision_and_the_lease(client: Client, seat: Seat) -> None:
    Seat.objects.filter(pk=seat.pk).update(lease_until=seat.held_at)
    answer = client.post(url_of(seat, "draft"), build.posted(seat.item), **HTMX)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert re.search(r"saved \d\d:\d\d:\d\d UTC", page)
    assert 'id="revision" name="revision" value="1" hx-swap-oob="true"' in page
    assert 'id="lease"' in page
    renewed = Seat.objects.get(pk=seat.pk).lease_until
    assert renewed is not None
    assert seat.held_at is not None
    assert renewed > seat.held_at


def test_a_stale_window_keeps_its_words_and_the_newer_draft_stays(
    client: Client, seat: Seat
) -> None:
    client.post(url_of(seat, "draft"), build.posted(seat.item, reason="newer"), **HTMX)
    older = build.posted(seat.item, "", reason="older")
    told = client.post(url_of(seat, "draft"), older, **HTMX)
    assert told.status_code == 409
    assert "Nothing was overwritten" in text_of(told)
    assert 'id="revision"' not in text_of(told)
    plain = client.post(url_of(seat, "draft"), older)
    assert plain.status_code == 409
    assert typed(plain.content.decode(), seat)[0] == ("", "older")
    assert "A newer draft was saved in another window." in sentences(plain)
    # Not even an incomplete submission makes it the newest.
    refused = client.post(url_of(seat, "submit"), older, **HTMX)
    assert refused.status_code == 422
    assert 'name="revision" value="0"' in text_of(refused)
    assert client.post(url_of(seat, "release"), older).status_code == 409
    kept = Draft.objects.get()
    assert (kept.content["R1"]["reason"], kept.revision) == ("newer", 1)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_stale_window_hands_nothing_in_before_it_was_told(
    client: Client, seat: Seat, headers: dict[str, Any]
) -> None:
    client.post(url_of(seat, "draft"), build.posted(seat.item, reason="newer"), **HTMX)
    older = build.posted(seat.item, reason="older")
    told = client.post(url_of(seat, "submit"), older, **headers)
    assert told.status_code == 409
    assert "A newer draft was saved in another window." in sentences(told)
    assert typed(told.content.decode(), seat)[0][1] == "older"
    seat.refresh_from_db()
    assert (seat.state, Draft.objects.get().content["R1"]["reason"]) == ("held", "newer")
    seen = re.search(r'name="seen" value="(\d+)"', text_of(told))
    assert seen is not None
    client.post(url_of(seat, "submit"), {**older, "seen": seen[1]}, **headers)
    seat.refresh_from_db()
    assert (seat.state, seat.verdicts["R1"]["reason"]) == ("pending", "older")


@pytest.mark.parametrize("revision", ["", "x", "-1", "²", "9" * 30])
def test_a_revision_that_is_none_is_stale_or_the_first(
    client: Client, seat: Seat, revision: str
) -> None:
    sent = {**build.posted(seat.item), "revision": revision}
    assert client.post(url_of(seat, "draft"), sent, **HTMX).status_code in (200, 409)
    assert client.post(reverse("adjudication:claim", args=[seat.item.queue_id]), {"item": revision})


def test_release_keeps_what_the_form_has(client: Client, seat: Seat) -> None:
    sent = build.posted(seat.item, False, reason="not saved before")
    assert client.post(url_of(seat, "release"), sent).status_code == 302
    assert Draft.objects.get().content["R1"]["reason"] == "not saved before"
    seat.refresh_from_db()
    assert seat.state == "free"


def lose(seat: Seat, *, decide: bool = False) -> Any:
    """Let the lease run out and somebody else take the item."""
    build.age(seat, minutes=1)
    other = build.reviewer()
    taken = build.claimed(seat.item.queue, other)
    assert taken.pk == seat.pk
    if decide:
        build.decide(taken, other)
    return other


@pytest.mark.parametrize("decide", [False, True])
def test_a_lost_seat_keeps_the_words_and_takes_them_as_extra(
    client: Client, seat: Seat, anna: Any, decide: bool
) -> None:
    client.post(url_of(seat, "draft"), build.posted(seat.item, False, reason="mine"), **HTMX)
    lose(seat, decide=decide)
    page = client.get(url_of(seat))
    told = "It is decided meanwhile." if decide else "Somebody else has the item now."
    assert told in sentences(page)
    assert typed(page.content.decode(), seat)[0] == ("no", "mine")
    sent = client.post(
        url_of(seat, "submit"),
        build.posted(seat.item, False, reason="mine, more", revision=1),
        follow=True,
    )
    assert "Your verdict is kept as an extra review" in text_of(sent)
    extra = ExtraVerdict.objects.get()
    assert (extra.user, extra.verdicts["R1"]["reason"]) == (anna, "mine, more")
    draft = Draft.objects.get(user=anna, item=seat.item)
    assert draft.content["R1"]["reason"] == "mine"


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_lost_seat_with_something_missing_keeps_what_was_typed(
    client: Client, seat: Seat, headers: dict[str, Any]
) -> None:
    lose(seat)
    sent = build.posted(seat.item, "", False, reason="typed after the loss")
    answer = client.post(url_of(seat, "submit"), sent, **headers)
    assert answer.status_code == 422
    assert typed(answer.content.decode(), seat) == [
        ("", "typed after the loss"),
        ("no", "typed after the loss"),
    ]
    assert "Send as extra review" in text_of(answer)
    assert "Submit and next" not in text_of(answer)


def test_words_that_were_never_saved_survive_a_lost_seat(client: Client, seat: Seat) -> None:
    lose(seat, decide=True)
    client.post(url_of(seat, "submit"), build.posted(seat.item, "cannot_tell", reason="typed"))
    assert ExtraVerdict.objects.get().verdicts["R1"]["reason"] == "typed"


def test_autosave_of_a_lost_seat_says_so_and_shows_nobody_elses_lease(
    client: Client, seat: Seat
) -> None:
    lose(seat)
    answer = client.post(url_of(seat, "draft"), build.posted(seat.item, reason="on"), **HTMX)
    assert "your hold ended; words are kept" in text_of(answer)
    assert "held until" not in text_of(answer)


def test_what_was_released_can_be_taken_again_while_it_is_free(
    client: Client, queue: Queue, seat: Seat
) -> None:
    client.post(url_of(seat, "draft"), build.posted(seat.item, False, reason="mine"))
    client.post(url_of(seat, "release"))
    page = client.get(url_of(seat))
    assert "Nobody holds it now." in sentences(page)
    assert "Take it again" in text_of(page)
    again = client.post(
        reverse("adjudication:claim", args=[queue.pk]), {"item": seat.item_id}, follow=True
    )
    assert again.redirect_chain == [(url_of(seat), 302)]
    assert typed(again.content.decode(), seat)[0] == ("no", "mine")


def test_a_skipped_item_says_so_and_cannot_be_taken_again(
    client: Client, queue: Queue, seat: Seat
) -> None:
    client.post(url_of(seat, "skip"), {"why": "Not\x00 my field"})
    page = client.get(url_of(seat))
    assert "You skipped it." in sentences(page)
    assert "Take it again" not in text_of(page)
    client.post(reverse("adjudication:claim", args=[queue.pk]), {"item": seat.item_id})
    held = claiming.current_seat(Skip.objects.get().user)
    assert held is not None
    assert held.item_id != seat.item_id


def test_a_skip_without_a_reason_is_told_and_changes_nothing(client: Client, seat: Seat) -> None:
    answer = client.post(url_of(seat, "skip"), follow=True)
    assert answer.redirect_chain == [(url_of(seat), 302)]
    assert "Say why you skip this item." in text_of(answer)
    seat.refresh_from_db()
    assert seat.state == "held"
