"""What pages of review tell at the moment when something is not as a reviewer thinks."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from adjudication import key_kind
from adjudication.models import Queue, Seat
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import subjects
from tests.adjudication.pages.reading import HTMX, sentences, signed_in, text_of, url_of

pytestmark = pytest.mark.django_db
ENDED = "Your hold on this item ended."


def lose(seat: Seat, to: Any, **more: Any) -> None:
    """Let the lease run out and somebody take the item."""
    build.age(seat, minutes=1)
    assert build.claimed(seat.item.queue, to, **more).pk == seat.pk


def third_seat(user: Any) -> Seat:
    """The seat of a third person at an item on which two differ."""
    queue = build.waiting_queue(1, seats=2)
    for place, reason in enumerate(("canary-a", "canary-b")):
        person = build.reviewer()
        build.decide(build.claimed(queue, person), person, bool(place), reason=reason)
    return build.claimed(queue, user, role="third")


def test_who_types_on_after_the_hold_ended_is_told_once_with_what_can_be_done(
    client: Client, seat: Seat
) -> None:
    lose(seat, build.reviewer("bea"))
    sent = build.posted(seat.item, "", reason="on")
    told = client.post(url_of(seat, "draft"), sent, **HTMX)
    assert ENDED in sentences(told)
    assert 'role="alert"' in text_of(told)
    assert "Send as extra review" in text_of(told)
    assert 'name="told"' in text_of(told)
    again = client.post(url_of(seat, "draft"), {**sent, "revision": "1", "told": "1"}, **HTMX)
    assert ENDED not in sentences(again)


def test_a_third_person_who_lost_the_hold_is_told_who_has_it_and_takes_it_again(
    client: Client,
) -> None:
    otto, olga = (build.person(name, "adjudicator") for name in ("otto", "olga"))
    seat = third_seat(signed_in(client, otto))
    lose(seat, olga, role="third")
    client.post(url_of(seat, "draft"), build.posted(seat.item, reason="mine"), **HTMX)
    assert "Somebody else has the item now." in sentences(client.get(url_of(seat)))
    client.force_login(olga)
    client.post(url_of(seat, "release"))
    client.force_login(otto)
    page = client.get(url_of(seat))
    assert "Nobody holds it now." in sentences(page)
    role = re.search(r'name="role" value="(\w+)"', text_of(page))
    assert role is not None
    taken = {"item": str(seat.item_id), "role": role[1]}
    again = client.post(reverse("adjudication:claim", args=[seat.item.queue_id]), taken)
    assert again["Location"] == url_of(seat)


def test_what_reviewers_said_is_closed_again_to_a_third_person_who_lost_the_hold(
    client: Client,
) -> None:
    otto, olga = (build.person(name, "adjudicator") for name in ("otto", "olga"))
    seat = third_seat(signed_in(client, otto))
    sent = build.posted(seat.item, "", "", reason="my own words")
    client.post(url_of(seat, "draft"), sent, **HTMX)
    lose(seat, olga, role="third")
    answer = client.post(url_of(seat, "submit"), {**sent, "revision": "1"}, **HTMX)
    assert answer.status_code == 422
    assert "my own words" in text_of(answer)
    assert "canary" not in text_of(answer)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_a_second_window_is_told_that_its_words_are_no_part_of_what_was_handed_in(
    client: Client, seat: Seat, headers: dict[str, Any]
) -> None:
    first = build.posted(seat.item, True, reason="window one")
    client.post(url_of(seat, "submit"), first)
    client.post(url_of(seat, "submit"), first, **headers)
    assert "another window" not in sentences(client.get(url_of(seat)))
    other = build.posted(seat.item, False, reason="window two")
    client.post(url_of(seat, "submit"), other, **headers)
    page = client.get(url_of(seat))
    assert "You had handed this item in already, in another window." in sentences(page)
    assert "window one" in text_of(page)


def test_why_a_queue_gives_nothing_does_not_look_like_success(
    client: Client, queue: Queue, anna: Any
) -> None:
    Queue.objects.update(is_paused=True)
    claim = reverse("adjudication:claim", args=[queue.pk])
    page = text_of(client.post(claim, follow=True))
    note = re.search(r'<p class="note ([^"]*)"[^>]*>(?:(?!</p>).)*This queue is paused', page)
    assert note is not None
    assert note[1] == "warn"


def test_a_closed_queue_has_the_columns_of_the_others(client: Client, anna: Any) -> None:
    version = build.rubric_version(1, slug="competing")
    build.rubric_run(version, account=anna)
    build.queue_of(version)
    page = text_of(client.get(reverse("adjudication:queues")))
    table = page[page.index("<table") : page.index("</table>")]
    head, row = table.split("<tbody>")
    assert "closed to you" in row
    cells = len(re.findall(r"<t[hd][ >]", row))
    spans = sum(int(span) - 1 for span in re.findall(r'colspan="(\d)"', row))
    assert cells + spans == len(re.findall(r"<th[ >]", head))


def test_a_review_with_something_missing_opens_at_the_first_of_it_without_scripts(
    client: Client, seat: Seat
) -> None:
    missing = client.post(url_of(seat, "submit"), build.posted(seat.item, True, ""))
    assert re.findall(r'name="(\w-)\d+"[^>]* autofocus', text_of(missing)) == ["v-"]
    assert 'class="crit on' in text_of(missing)
    silent = build.posted(seat.item, False, "", reason="")
    unexplained = client.post(url_of(seat, "submit"), {**silent, "revision": "1"})
    assert re.findall(r'name="(\w-)\d+"[^>]* autofocus', text_of(unexplained)) == ["r-"]


def test_a_rater_finds_the_drawing_before_the_context_and_opens_it_beside_the_bench(
    client: Client, anna: Any
) -> None:
    version = make.sealed_version(1)
    queue = key_kind.make_key_queue(version, raters=2, by=subjects.curator())
    build.do_work()
    page = text_of(client.get(url_of(build.claimed(queue, anna))))
    assert page.index('class="drawing"') < page.index("<h3>Context</h3>")
    for link in re.findall(r"<a[^>]*/files/\d+\.png\"[^>]*>", page):
        assert 'target="_blank"' in link


def test_steps_of_unknown_time_are_counted_without_a_sign_before_the_number(
    client: Client, anna: Any
) -> None:
    version = build.rubric_version(1, notes=False)
    steps = [{"role": "user", "content": "Go on."}, {"role": "assistant", "content": "I do."}]
    steps[1]["offset_ms"] = 10  # type: ignore[assignment]
    build.rubric_run(version, {**make.judged("q-0"), "messages": steps})
    page = client.get(url_of(build.claimed(build.queue_of(version), anna)))
    told = re.search(r"Time in steps (.*?) Words to look for", sentences(page))
    assert told is not None
    assert re.fullmatch(r"\d unknown", told[1])
