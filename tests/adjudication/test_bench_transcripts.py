"""On the bench a transcript is the same as on its page, but nothing in it tells who made it."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from academy import drawings
from academy.models import RecordPicture
from adjudication.masking import Mask
from adjudication.models import Seat
from tests.academy import transcript_examples as example
from tests.adjudication import builders as build

SAYS = {"name": "Heron 5", "model": "lab-nine/heron-5", "developer": "Lab Nine", "harness": "Wader"}
NAMES = re.compile(r"heron|lab.?nine|wader", re.IGNORECASE)
LETTERS = "kKiIsSxX-_ .\n\u0130\u0131\u017f\u212a\u00df\u03a3\u03c3"


def seat_with(*events: dict[str, Any], **parts: Any) -> Seat:
    """A held seat on a record of these events."""
    version = build.rubric_version(1)
    line = {**build.make.judged("q-0"), "events": list(events), **parts}
    build.rubric_run(version, line, entrant=SAYS)
    return build.claimed(build.queue_of(version), build.reviewer("anna"))


def page(client: Client, seat: Seat, query: str = "", **headers: str) -> str:
    client.force_login(seat.holder)
    answer = client.get(reverse("adjudication:seat", args=[seat.pk]) + query, headers=headers)
    assert answer.status_code == 200
    return answer.content.decode()


def steps(client: Client, seat: Seat, query: str) -> str:
    return page(client, seat, query, **{"HX-Request": "true", "HX-Target": "steps"})


TELLING = [
    {
        "kind": "message",
        "role": "Heron-5",
        "title": "Wader says",
        "text": "I am\nHeron 5 of Lab Nine",
    },
    {"kind": "message", "text": "**Her**on-5 and [Lab Nine](https://lab-nine.test/) and `wader`"},
    {"kind": "tool_result", "tool": "wader_read", "text": "\x1b[1mHer\x1b[0mon 5 is \x1b[31mwader"},
    {
        "kind": "tool_call",
        "tool": "bash",
        "data": {"out": "line\nheron-5", "wader": ["\tLab Nine"]},
    },
    {
        "kind": "tool_call",
        "tool": "bash",
        "data": {"model": "hrn-05-latest", "id": "toolu_0123abc"},
    },
    {"kind": "tool_result", "text": "x" * 3_995 + " Heron 5 and more " + "y" * 99},
]


@pytest.mark.django_db
@pytest.mark.parametrize("query", ["", "?view=raw", "?view=record", "?q=is", "?kind=tool_call"])
def test_no_view_of_a_transcript_tells_who_made_it(client: Client, query: str) -> None:
    seat = seat_with(*TELLING)
    shown = page(client, seat, query)
    main = html.unescape(re.sub(r"<[^>]*>", "", shown))
    assert not NAMES.search(main), NAMES.search(main)
    assert not NAMES.search(shown)
    assert "hrn-05" not in shown
    assert "toolu_" not in shown
    assert 'class="mask"' in shown


@pytest.mark.django_db
def test_the_raw_text_of_the_bench_hides_names_behind_line_ends(client: Client) -> None:
    seat = seat_with(*TELLING)
    client.force_login(seat.holder)
    shown = client.get(reverse("adjudication:raw", args=[seat.pk])).content.decode()
    assert not NAMES.search(re.sub(r"<[^>]*>", "", shown))


@pytest.mark.django_db
def test_raw_steps_are_shown_but_not_what_judges_said(client: Client) -> None:
    seat = seat_with({"kind": "message", "text": "I did it", "data": {"n": 1}})
    raw = page(client, seat, "?view=raw")
    assert "/events/0" in raw
    assert "I did it" in raw
    for query in ("?view=raw", "?view=record"):
        shown = page(client, seat, query)
        assert "example-judge" not in shown
        assert "decisions" not in shown
        assert "Whole record" not in shown


@pytest.mark.django_db
def test_searching_for_a_hidden_name_finds_nothing(client: Client) -> None:
    seat = seat_with(
        {"kind": "message", "text": "I am Heron 5."}, {"kind": "message", "text": "A bird flew."}
    )
    assert "No step holds" in steps(client, seat, "?q=heron")
    assert "No step holds" in steps(client, seat, "?q=am+heron")
    assert "Match 1</a> of 1" in steps(client, seat, "?q=bird")


@pytest.mark.django_db
def test_a_seat_shows_pictures_to_whoever_holds_it(client: Client) -> None:
    seat = seat_with({"kind": "observation", "images": [example.data_address(example.png())]})
    assert "The raster copy is being made." in page(client, seat)
    build.do_work()
    shown = page(client, seat)
    copy = RecordPicture.objects.get()
    address = reverse("adjudication:seat-picture", args=[seat.pk, copy.digest])
    assert f'src="{address}"' in shown
    answer = client.get(address)
    assert drawings.kind_of(answer.content) == drawings.PNG
    client.force_login(build.reviewer("ben"))
    assert client.get(address).status_code == 404


@pytest.mark.django_db
def test_a_transcript_of_ten_megabytes_can_be_read_searched_and_decided(client: Client) -> None:
    seat = seat_with(*example.long_events())
    first = page(client, seat)
    assert len(first) < 400_000
    found = steps(client, seat, "?q=needle")
    assert "Match 1</a> of 1" in found
    assert len(found) < 400_000
    answer = client.post(
        reverse("adjudication:submit", args=[seat.pk]), build.posted(seat.item, True, True)
    )
    assert answer.status_code == 302
    seat.refresh_from_db()
    assert seat.state == Seat.State.PENDING


@given(
    names=st.lists(st.text(LETTERS, min_size=3, max_size=7), max_size=3),
    text=st.text(LETTERS, max_size=40),
)
def test_the_quick_search_for_names_finds_what_the_pattern_finds(
    names: list[str], text: str
) -> None:
    mask = Mask.of(names)
    whole = mask.pattern.finditer(text) if mask.pattern else ()
    assert list(mask.spans(text)) == [found.span() for found in whole]


@pytest.mark.parametrize(
    "text",
    [
        "a **Her**on-5 b",
        "a \x1b[1mHer\x1b[0mon 5 b",
        "a He\u200bron\u00ad 5 b",
        "a*heron 5*b",
        "`heron`~5 b",
        "a\u202eheron-5",
    ],
)
def test_marks_inside_a_name_do_not_show_it(text: str) -> None:
    mask = Mask.of(["Heron 5"])
    assert mask.count(text) == 1
    assert "eron" not in "".join(part for _hidden, part in mask.pieces(text))
