"""The pages of review: with and without htmx, for holders, for others, and for strangers."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from academy.models import Decision
from adjudication import claiming, deciding
from adjudication.models import Draft, ExtraVerdict, Guideline, Queue, Seat, Skip
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
HTMX: dict[str, Any] = {"headers": {"HX-Request": "true"}}


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(3)


@pytest.fixture
def anna(client: Client) -> Any:
    user = build.reviewer("anna")
    client.force_login(user)
    return user


@pytest.fixture
def seat(queue: Queue, anna: Any) -> Seat:
    return build.claimed(queue, anna)


def url_of(seat: Seat, act: str = "") -> str:
    return reverse(f"adjudication:{act or 'seat'}", args=[seat.pk])


def text_of(answer: Any) -> str:
    return html.unescape(answer.content.decode())


def sentences(answer: Any) -> str:
    """What is left to read of a page."""
    return " ".join(re.sub(r"<[^>]+>", " ", text_of(answer)).split())


def typed(page: str, seat: Seat) -> list[tuple[str, str]]:
    """The chosen verdict and the reason of each criterion in a page."""
    found = []
    for asked in deciding.questions_of(seat.item):
        chosen = re.search(rf'name="v-{asked.field}" value="(\w+)"[^>]* checked', page)
        reason = re.search(
            rf'<textarea[^>]*name="r-{asked.field}"[^>]*>\n(.*?)</textarea>', page, re.S
        )
        assert reason is not None
        found.append((chosen[1] if chosen else "", html.unescape(reason[1])))
    return found


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
