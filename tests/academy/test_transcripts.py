"""The transcript on a record's page: all of it can be reached, and none of it can do harm."""

from __future__ import annotations

import html
import json
import re
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy.models import InstanceRecord
from tests import factories as make
from tests.academy import transcript_examples as example
from tests.academy.transcript_reading import page, steps

pytestmark = pytest.mark.django_db


def shown(client: Client, record: InstanceRecord, query: str = "?from=0") -> list[int]:
    """The numbers of the steps on a page of the transcript."""
    return [
        int(n)
        for n in re.findall(r'<article class="step[^>]* id="s(\d+)', steps(client, record, query))
    ]


def link(text: str, words: str) -> str:
    """The address of the link with these words, as a page without JavaScript follows it."""
    found = re.search(
        rf'<a [^>]*href="([^"#]*)[^"]*"[^>]*>(?:<[^>]*>)*[^<]*{re.escape(words)}', text
    )
    assert found, f"no link says {words!r}"
    return html.unescape(found[1])


def words_of(text: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", text)).split())


def many(number: int) -> list[dict[str, Any]]:
    return [{"kind": "message", "text": f"Text of {place}."} for place in range(1, number + 1)]


def test_steps_come_in_pages_that_links_lead_through(client: Client) -> None:
    record = example.record_with(*many(45))
    assert shown(client, record) == list(range(1, 21))
    first = page(client, record)
    second = page(client, record, link(first, "Show the next steps"))
    assert "Text of 21." in second
    assert "Text of 20." not in second
    assert "20 of 45 steps shown" in words_of(first)
    last = page(client, record, link(second, "Show the next steps"))
    assert "Show the next steps" not in last
    assert "Text of 40." in page(client, record, link(last, "Show the 20 before"))


def test_the_jump_list_names_steps_of_other_pages_too(client: Client) -> None:
    record = example.record_with(*many(45))
    first = page(client, record)
    for place in (1, 20, 21, 45):
        assert re.search(rf'href="\?at={place - 1}#s{place}"', first)
    assert shown(client, record, "?at=44") == [41, 42, 43, 44, 45]


def test_the_jump_list_of_a_long_transcript_has_pages_of_its_own(client: Client) -> None:
    record = example.record_with(*many(330))
    first = page(client, record)
    assert "1 – 100" in first
    after = page(client, record, link(first, "List "))
    assert "101 – 200" in after
    assert "Text of 1." in after  # the steps stay where they were
    assert "301 – 330" in page(client, record, "?at=329")


def test_steps_are_chosen_by_kind_tool_role_and_errors(client: Client) -> None:
    record = example.record_with(
        {"kind": "message", "role": "user", "text": "a"},
        {"kind": "tool_call", "role": "assistant", "tool": "bash", "data": {"x": 1}},
        {"kind": "tool_result", "tool": "bash", "text": "b"},
        {"kind": "tool_call", "role": "assistant", "tool": "look", "data": {"x": 2}},
        {"kind": "error", "text": "c"},
    )
    whole = page(client, record)
    assert shown(client, record, link(whole, "Tool calls")) == [2, 4]
    assert shown(client, record, link(whole, "Only errors")) == [5]
    assert shown(client, record, link(whole, "look")) == [4]
    assert shown(client, record, link(whole, "user")) == [1]
    both = steps(client, record, "?kind=tool_call&errors=1")
    assert "No such step" in both
    assert "All steps" in both


def test_a_choice_stays_while_one_turns_pages(client: Client) -> None:
    events = [{"kind": ("thought", "message")[n % 2], "text": f"n {n}"} for n in range(90)]
    record = example.record_with(*events)
    chosen = steps(client, record, "?kind=thought")
    assert "20 of 45 steps shown" in words_of(chosen)
    more = link(chosen, "Show the next steps")
    assert shown(client, record, more)[0] == 41


def test_words_are_found_in_all_steps_whatever_their_case(client: Client) -> None:
    events = many(60)
    events[9]["text"] = "The NEEDLE is here"
    events[49]["data"] = {"inside": ["a needle in data"]}
    record = example.record_with(*events)
    found = page(client, record, "?q=needle")
    assert "Match 1 of 2 steps" in words_of(found)
    assert "<mark>NEEDLE</mark>" in found
    assert 'value="needle"' in found
    further = link(found, "Next match")
    second = page(client, record, further)
    assert "Match 2 of 2 steps" in words_of(second)
    assert "a <mark>needle</mark> in data" in second
    assert shown(client, record, further) == list(range(41, 61))
    assert "Next match" not in second
    assert "Match 1 of 2" in words_of(page(client, record, link(second, "Previous match")))
    assert "No step holds" in page(client, record, "?q=haystack")


def test_what_is_found_beyond_the_cut_is_shown_with_a_little_around_it(client: Client) -> None:
    record = example.record_with(
        {"kind": "tool_result", "text": "x" * 90_000 + " needle " + "y" * 900}
    )
    text = steps(client, record, "?q=needle")
    assert "Further down:" in text
    assert "<mark>needle</mark>" in text
    assert text.count("x") < 6_000


def test_long_texts_are_cut_and_opened_by_links(client: Client) -> None:
    record = example.record_with(
        {"kind": "tool_result", "text": "a" * 70_000 + "END", "data": {"long": "b" * 9_000}}
    )
    first = page(client, record)
    assert "END" not in first
    wider = page(client, record, link(first, "Show more"))
    assert wider.count("a" * 65_536) == 1
    assert "END" not in wider
    assert "aaaEND" in page(client, record, link(first, "Show all 70 k"))
    assert "b" * 9_000 in page(client, record, link(first, "Show all 9,016"))
    assert "END" not in page(client, record, link(wider, "Show less"))


def test_a_long_answer_is_cut_and_can_be_opened_whole(client: Client) -> None:
    record = example.record_with({"kind": "message", "text": "m"}, answer="z" * 30_000 + "LAST")
    first = page(client, record)
    assert "zzz" in first
    assert "LAST" not in first
    assert "zLAST" in page(client, record, link(first, "Show all 30 k"))


@pytest.mark.parametrize("kind", ["message", "tool_result", "thought", "error"])
def test_hostile_text_stays_text(client: Client, kind: str) -> None:
    record = example.record_with(
        {
            "kind": kind,
            "text": example.HOSTILE,
            "title": example.HOSTILE,
            "role": example.HOSTILE,
            "tool": "<b>tool</b>",
            "data": {example.HOSTILE: example.HOSTILE},
        },
        answer=example.HOSTILE,
    )
    for query in ("", "?view=raw", "?view=record", "?q=alert"):
        text = page(client, record, query)
        body = text[text.index('<main id="main"') : text.index("</main>")]
        tags = re.findall(r"<(?!/)([a-z]+)([^>]*)", body)
        assert not {"script", "style", "iframe", "object"} & {tag for tag, _rest in tags}
        assert not [rest for _tag, rest in tags if re.search(r"\son[a-z]+\s*=", rest)]
        assert not [
            rest for _tag, rest in tags if re.search(r"(src|href)=\"?(javascript|data|http)", rest)
        ]
        assert not [tag for tag, _rest in tags if tag == "img"]
        assert "onerror" in html.unescape(body)


def test_markdown_is_read_by_an_allow_list(client: Client) -> None:
    text = "# Head\n\n**bold** and `code`\n\n- one\n- two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n[site](https://site.test/)"
    record = example.record_with(
        {"kind": "message", "text": text}, {"kind": "tool_result", "text": text}
    )
    shown_page = steps(client, record)
    message, result = shown_page.split('id="s2"')
    assert "<strong>bold</strong>" in message
    assert "<li>one</li>" in message
    assert "<td>1</td>" in message
    assert "<h1" not in message
    assert "https://site.test/" in message
    assert '<a href="https://site.test/' not in message
    assert "**bold**" in result


def test_terminal_colours_become_spans_and_other_controls_symbols(client: Client) -> None:
    text = "\x1b[31mred\x1b[0m \x1b[2Jgone \x1b[8;30;40mhidden\x1b[m \x07"
    record = example.record_with({"kind": "tool_result", "text": text})
    body = steps(client, record)
    assert '<span class="a-red">red</span>' in body
    assert '<span class="ctl">ESC[2J</span>' in body
    assert '<span class="ctl">U+0007</span>' in body
    assert "hidden" in body
    assert "terminal colours" in body
    assert "red gone" not in words_of(body)  # what was written between stays where it was


def test_words_are_found_across_colours(client: Client) -> None:
    record = example.record_with({"kind": "tool_result", "text": "so \x1b[1mfai\x1b[0mled it"})
    body = steps(client, record, "?q=failed")
    assert "Match 1 of 1" in words_of(body)
    assert body.count("<mark>") == 2  # one on either side of where the weight changes


def test_hidden_characters_are_shown_and_counted(client: Client) -> None:
    record = example.record_with({"kind": "message", "text": "safe \u202e\u2066gnp.exe\u200b"})
    body = steps(client, record)
    assert '<span class="ctl">U+202E</span>' in body
    assert "2 direction controls" in words_of(body)
    assert "1 invisible" in words_of(body)


def test_the_raw_view_shows_the_json_of_a_step_letter_by_letter(client: Client) -> None:
    record = example.record_with({"kind": "message", "text": "é <b>", "data": {"n": 1.5}})
    raw = steps(client, record, "?view=raw")
    assert '{"kind": "message", "text": "\\u00e9 <b>", "data": {"n": 1.5}}' in words_of(raw)
    assert "/events/0" in raw
    whole = steps(client, record, "?view=record")
    assert '"task": "t-0"' in words_of(whole)


def test_the_whole_record_stays_closed_while_its_verdicts_are(client: Client) -> None:
    version = make.rubric_version(1)
    line = make.judged("q-0", True, False)
    run = make.run_of(
        make.record_files(make.line_run(line, suite=f"{version.suite.slug}@1"), version)
    )
    make.score_all()
    record = InstanceRecord.objects.get(run=run)
    assert "example-judge" in page(client, record, "?view=record")
    client.force_login(make.person("rita", "reviewer"))
    closed = page(client, record, "?view=record")
    assert "example-judge" not in closed
    assert "Whole record" not in closed


STAMPS = [
    {"text": "one", "started_at": "2026-03-01T10:00:05Z", "ended_at": "2026-03-01T10:00:07Z"},
    {"text": "two", "started_at": "2026-03-01T10:00:01Z", "ended_at": "2026-03-01T10:00:02Z"},
    {"text": "three", "started_at": "2026-03-01T10:00:09Z", "ended_at": "2026-03-01T10:00:08Z"},
    {"text": "four", "started_at": "2026-03-01T10:00:10Z", "ended_at": 0},
    {"text": "five", "started_at": "2026-03-01T10:00:11", "ended_at": "2026-03-01T10:00:12Z"},
    {"text": "six", "started_at": 1772359213000, "ended_at": 1772359214000},
    {"text": "seven", "started_at": 1772359215000000, "ended_at": 1772359216000000},
]


@pytest.mark.parametrize("part", ["events", "trajectory"])
def test_steps_keep_their_order_and_times_that_cannot_be_are_unknown(
    client: Client, part: str
) -> None:
    listed = [{"kind": "message", **stamp} for stamp in STAMPS]
    record = example.record_with(**{part: listed})
    body = steps(client, record)
    assert re.findall(r'<article class="step[^>]* id="s(\d)', body) == list("1234567")
    said = words_of(body)
    assert "began before the step above" in said
    for doubt in (
        "it ends before it starts",
        "its end is 0",
        "its stamp names no time zone",
        "its stamp is in microseconds, those of other steps are in milliseconds",
    ):
        assert f"time unknown: {doubt}" in said
    assert "Time in steps 4.0 s in 3 steps, 4 unknown" in said


def test_a_transcript_says_what_it_took(client: Client) -> None:
    record = example.record_with(
        {"kind": "message", "text": "a", "offset_ms": 0, "tokens_in": 10, "tokens_out": 2},
        {"kind": "tool_call", "tool": "bash", "text": "x", "offset_ms": 1000},
        {"kind": "tool_call", "tool": "bash", "text": "y", "offset_ms": 3000, "tokens_in": 5},
        {"kind": "tool_result", "tool": "look", "text": "z"},
    )
    said = words_of(steps(client, record))
    assert "Steps 4" in said
    assert "bash 2" in said
    assert "15 in, 2 out" in said
    assert "3.0 s in 2 steps, 2 unknown" in said


def test_observed_phases_and_gates_stand_beside_the_steps(client: Client) -> None:
    record = example.record_with(
        {"kind": "message", "text": "a"},
        phases=[
            {"phase": "1", "state": "done"},
            {"phase": "2", "state": "skipped", "reason": "no need <b>"},
        ],
        gates=[{"gate": "gate-1", "state": "blocked", "evidence": "tests failed"}],
    )
    said = words_of(page(client, record))
    assert "Phases as observed 1 done 2 skipped no need <b>" in said
    assert "gate-1 blocked tests failed" in said


def test_a_record_without_steps_says_so(client: Client) -> None:
    assert "This record came without steps" in page(client, example.record_with())


def test_longer_transcripts_ask_the_database_no_more(client: Client) -> None:
    def asked(number: int, query: str) -> int:
        record = example.record_with(*many(number))
        example.forget()
        with CaptureQueriesContext(connection) as found:
            page(client, record, query)
        return len(found)

    for query in ("", "?q=text", "?view=raw", "?kind=message&at=4"):
        assert asked(5, query) == asked(300, query)


def test_a_transcript_of_ten_megabytes_is_shown_page_by_page(client: Client) -> None:
    record = example.record_with(*example.long_events())
    assert record.length > 9_000_000
    first = page(client, record)
    assert len(first) < 400_000
    found = page(client, record, "?q=needle")
    assert "Match 1 of 1" in words_of(found)
    assert len(found) < 400_000
    opened = steps(client, record, link(found, "Show more"))
    assert 65_536 < len(opened) < 500_000
    assert len(json.loads(client.get(f"/records/{record.pk}/raw/").content)["events"]) == 6_700
