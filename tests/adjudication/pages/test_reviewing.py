"""A review by its pages, with and without htmx."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from academy.models import Decision
from adjudication import deciding
from adjudication.models import Draft, ExtraVerdict, Guideline, Queue, Seat, Skip
from tests.adjudication import builders as build
from tests.adjudication.pages.reading import HTMX, sentences, text_of, typed, url_of

pytestmark = pytest.mark.django_db


def test_the_whole_walk_works_with_plain_forms(client: Client, queue: Queue, anna: Any) -> None:
    page = client.get(reverse("adjudication:queues"))
    assert "Next item" in text_of(page)
    claimed = client.post(reverse("adjudication:claim", args=[queue.pk]), follow=True)
    seat = Seat.objects.get(holder=anna)
    assert claimed.redirect_chain == [(url_of(seat), 302)]
    assert seat.item.record.task.prompt in text_of(claimed)

    saved = client.post(
        url_of(seat, "draft"), build.posted(seat.item, False, "", reason="half"), follow=True
    )
    assert "Draft saved." in text_of(saved)
    assert typed(saved.content.decode(), seat) == [("no", "half"), ("", "half")]

    sent = client.post(
        url_of(seat, "submit"), build.posted(seat.item, False, revision=1), follow=True
    )
    following = Seat.objects.get(holder=anna, state="held")
    assert sent.redirect_chain == [(url_of(following), 302)]
    assert "q-0 submitted" in sentences(sent)
    seat.refresh_from_db()
    assert seat.state == "pending"

    back = client.post(url_of(seat, "undo"), follow=True)
    assert back.redirect_chain == [(f"{url_of(seat)}#undone", 302)]
    assert typed(back.content.decode(), seat) == [("no", "seen"), ("yes", "seen")]
    client.post(url_of(seat, "submit"), build.posted(seat.item, False, revision=2))
    seat.refresh_from_db()
    assert deciding.finalise(seat.pk, at=seat.final_at)
    outcome = client.get(url_of(seat))
    assert "It counts." in text_of(outcome)
    assert "Not met" in text_of(outcome)
    assert "no judge was asked" in text_of(outcome)

    skipped = client.post(url_of(following, "skip"), {"why": "Evidence does not load"}, follow=True)
    assert Skip.objects.get().reason == "Evidence does not load"
    assert skipped.status_code == 200
    third = Seat.objects.get(holder=anna, state="held")
    released = client.post(url_of(third, "release"), follow=True)
    assert "Released." in text_of(released)
    assert not Seat.objects.filter(holder=anna, state="held").exists()


def test_htmx_is_sent_on_by_a_header_and_without_it_by_a_redirect(
    client: Client, seat: Seat
) -> None:
    sent = client.post(url_of(seat, "submit"), build.posted(seat.item), **HTMX)
    following = Seat.objects.get(state="held")
    assert (sent.status_code, sent.content) == (204, b"")
    assert sent["HX-Redirect"] == url_of(following)
    plain = client.post(url_of(following, "submit"), build.posted(following.item))
    assert plain.status_code == 302


def test_the_transcript_is_a_page_and_a_part(client: Client, seat: Seat) -> None:
    page = client.get(url_of(seat))
    assert "HX-Request" in page["Vary"]
    assert text_of(page).startswith("<!doctype html>")
    for query in ("?from=0", "?", ""):
        part = client.get(
            url_of(seat) + query, headers={"HX-Request": "true", "HX-Target": "steps"}
        )
        assert text_of(part).startswith('<div id="steps"')
    assert "<html" not in text_of(part)
    assert "<h1" in text_of(client.get(f"{url_of(seat)}?from=0"))


@pytest.mark.parametrize("query", ["from=x", "from=-1", "from=99999999999999999999", "step=²"])
def test_a_strange_place_in_the_transcript_is_no_error(
    client: Client, seat: Seat, query: str
) -> None:
    assert '<div id="steps"' in text_of(client.get(f"{url_of(seat)}?{query}"))


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_an_incomplete_review_comes_back_with_all_that_was_typed(
    client: Client, seat: Seat, headers: dict[str, Any]
) -> None:
    words = "a reason with <b>marks</b>,\nlines & “quotes”"
    sent = build.posted(seat.item, "", "cannot_tell", reason=words)
    answer = client.post(url_of(seat, "submit"), sent, **headers)
    assert answer.status_code == 422
    page = answer.content.decode()
    assert typed(page, seat) == [("", words), ("unk", words)]
    assert "Not submitted yet. 1 question needs something. Your words are kept." in sentences(
        answer
    )
    assert page.count("Choose a verdict.") == 1
    assert ("<html" in page) == (not headers)
    assert "<b>marks" not in page
    seat.refresh_from_db()
    assert seat.state == "held"
    assert Draft.objects.get().content["R2"]["reason"] == words
    # What comes back is a form that can be sent on: it starts from the draft as it is now.
    assert 'name="revision" value="1"' in page


def test_words_come_back_as_they_were_typed(client: Client, seat: Seat) -> None:
    words = "\n  first line is empty\r\nand \x00 is no text "
    client.post(url_of(seat, "draft"), build.posted(seat.item, reason=words))
    kept = typed(client.get(url_of(seat)).content.decode(), seat)
    assert kept[0][1] == "\n  first line is empty\nand \ufffd is no text "


def test_a_review_that_was_sent_changes_nothing_when_it_is_sent_again(
    client: Client, seat: Seat
) -> None:
    first = build.posted(seat.item, True, False)
    client.post(url_of(seat, "submit"), first)
    kept = Seat.objects.get(pk=seat.pk)
    for _time in range(2):
        answer = client.post(url_of(seat, "submit"), build.posted(seat.item, False, True))
        assert (answer.status_code, answer.url) == (302, url_of(seat))  # type: ignore[attr-defined]
        again = Seat.objects.get(pk=seat.pk)
        assert (again.verdicts, again.final_at) == (kept.verdicts, kept.final_at)
        deciding.finalise(seat.pk, at=kept.final_at)
        assert Decision.objects.count() == 2
    assert not ExtraVerdict.objects.exists()


def test_the_last_item_leads_back_with_the_reason_and_can_be_undone_there(
    client: Client, queue: Queue, anna: Any
) -> None:
    for _number in range(3):
        seat = build.claimed(queue, anna)
        answer = client.post(url_of(seat, "submit"), build.posted(seat.item), follow=True)
    assert answer.redirect_chain == [(reverse("adjudication:queues"), 302)]
    assert "Nothing is left in this queue." in text_of(answer)
    assert "q-2 submitted" in sentences(answer)
    assert url_of(seat, "undo") in text_of(answer)


def test_the_queue_page_tells_what_is_held_and_what_was_typed(
    client: Client, queue: Queue, seat: Seat, anna: Any
) -> None:
    page = client.get(reverse("adjudication:queues"))
    assert "You hold one item." in text_of(page)
    assert "Nothing typed yet." in text_of(page)
    deciding.save_draft(seat, user=anna, content=build.verdicts(seat.item), revision=0)
    assert "Draft saved" in text_of(client.get(reverse("adjudication:queues")))


def test_an_undo_that_comes_too_late_is_told(client: Client, seat: Seat) -> None:
    client.post(url_of(seat, "submit"), build.posted(seat.item))
    Seat.objects.filter(pk=seat.pk).update(final_at=seat.held_at)
    answer = client.post(url_of(seat, "undo"), follow=True)
    assert "The time to undo is over; the verdict counts." in text_of(answer)


def test_the_guideline_of_the_last_revision_is_shown_escaped(
    client: Client, queue: Queue, seat: Seat
) -> None:
    Guideline.objects.create(queue=queue, revision=1, text="old words")
    Guideline.objects.create(queue=queue, revision=2, text="Judge only <i>this</i>.")
    page = client.get(url_of(seat)).content.decode()
    assert "Judge only &lt;i&gt;this&lt;/i&gt;." in page
    assert "old words" not in page


def queries(client: Client, url: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as seen:
        answer: HttpResponse = client.get(url)  # type: ignore[assignment]
    assert answer.status_code == 200
    return len(seen)


def test_pages_ask_as_often_for_many_rows_as_for_few(client: Client, anna: Any) -> None:
    counts = []
    for number, (items, criteria) in enumerate([(3, 2), (9, 8)]):
        version = build.rubric_version(items, criteria=criteria, slug=f"suite-{number}")
        build.rubric_run(version)
        queue = build.queue_of(version)
        bench = build.claimed(queue, anna)
        on_bench = queries(client, url_of(bench))
        for _item in range(items - 1):
            done = build.claimed(queue, anna)
            deciding.submit(done, user=anna, verdicts=build.verdicts(done.item))
        Seat.objects.filter(state="pending").update(state="submitted")
        counts.append(
            (
                on_bench,
                queries(client, reverse("adjudication:queues")),
                queries(client, url_of(done)),
            )
        )
    assert counts[0] == counts[1]
