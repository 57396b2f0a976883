"""The names that would tell who made an answer are hidden wherever they stand."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from academy.templatetags.display import masked
from adjudication import evidence
from adjudication.masking import Mask
from tests.adjudication import builders as build

words = st.from_regex(r"[A-Za-z0-9]{2,6}", fullmatch=True)
names = st.lists(words, min_size=1, max_size=3).map("-".join)
between = st.sampled_from([" ", ". ", "(", ")", "/", "\n", "-", "_", "", "é"])


def shown(mask: Mask, text: str) -> str:
    """What is left to read, with a word in place of each hidden name."""
    return "".join("\N{BLACK SQUARE}" if hidden else part for hidden, part in mask.pieces(text))


@given(
    hidden=st.lists(names, min_size=1, max_size=4),
    parts=st.lists(st.tuples(between, st.one_of(names, words)), max_size=8),
    data=st.data(),
)
def test_the_masked_text_never_contains_a_name(
    hidden: list[str], parts: list[tuple[str, str]], data: st.DataObject
) -> None:
    used = data.draw(st.lists(st.tuples(between, st.sampled_from(hidden)), max_size=4))
    cases = data.draw(st.sampled_from([str.lower, str.upper, str]))
    spaced = data.draw(st.sampled_from(["-", " ", "_", ""]))
    mixed = data.draw(st.permutations([*parts, *used]))
    text = cases("".join(f"{gap}{word.replace('-', spaced)}" for gap, word in mixed))
    mask = Mask.of(hidden)
    left = shown(mask, text)
    again = [found for found in Mask.of(hidden).pieces(left) if found[0]]
    assert again == []
    for name in hidden:
        if len(name) < 3:
            continue
        plain = f" {left.lower()} "
        for gap in ("-", " ", "_", ""):
            assert f" {name.lower().replace('-', gap)} " not in plain
    assert mask.count(text) == left.count("\N{BLACK SQUARE}")


@given(text=st.text(), hidden=st.lists(st.text(max_size=8), max_size=4))
def test_whatever_is_not_hidden_stays_as_it_is(text: str, hidden: list[str]) -> None:
    mask = Mask.of(hidden)
    pieces = list(mask.pieces(text))
    kept = "".join(part for is_hidden, part in pieces if not is_hidden)
    assert all(part == "" for is_hidden, part in pieces if is_hidden)
    if not any(is_hidden for is_hidden, _part in pieces):
        assert kept == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("I am Example Model 5.", "I am ■."),
        ("EXAMPLE_MODEL-5, examplemodel5", "■, ■"),
        ("an example model of size 5", "an example model of size 5"),
        ("counterexample-model-5x", "counterexample-model-5x"),
        ("(Acme's harness)", "(■'s harness)"),
        ("lab/example-model-5", "lab/■"),
        ("ab and Ab", "ab and Ab"),
    ],
)
def test_names_are_found_as_words_in_any_spelling(text: str, left: str) -> None:
    assert shown(Mask.of(["example-model-5", "acme", "ab", "", "  "]), text) == left


def test_without_names_nothing_is_hidden() -> None:
    assert shown(Mask.of([]), "anything") == "anything"


def test_masked_text_is_escaped_and_its_controls_are_shown() -> None:
    html = masked("<b>acme</b>\u202e", Mask.of(["acme"]))
    assert html == (
        '&lt;b&gt;<span class="mask">name</span>&lt;/b&gt;<span class="ctl">U+202E</span>'
    )


SAYS = {
    "name": "Heron Run",
    "model": "lab-nine/heron-5",
    "developer": "Lab Nine",
    "harness": "wader",
}


@pytest.mark.django_db
def test_prompt_answer_and_transcript_hide_who_made_them_and_count_it(client: Client) -> None:
    version = build.rubric_version(1)
    line: dict[str, Any] = {
        **build.make.judged("q-0"),
        "answer": "Done, says HERON 5 by lab nine.",
        "messages": [
            {"role": "assistant", "content": "I am heron-5, run by Wader."},
            {
                "role": "assistant",
                "tool_calls": [{"name": "wader_open", "arguments": {"as": "Lab-Nine"}}],
            },
        ],
    }
    run = build.rubric_run(version, line, entrant=SAYS)
    run.entrant.aliases.create(name="Grey Bird")
    queue = build.queue_of(version)
    anna = build.reviewer()
    seat = build.claimed(queue, anna)
    mask = evidence.mask_of(seat.item)
    assert shown(mask, "the grey bird") == "the ■"
    client.force_login(anna)
    page = client.get(reverse("adjudication:seat", args=[seat.pk])).content.decode()
    lowered = page.lower()
    for name in ("heron", "lab nine", "lab-nine", "wader", "grey"):
        assert name not in lowered, name
    # The list of steps and the figures above them name tools a second time.
    parts = re.findall(
        r'<article.*?</article>|<section class="card" id="answer".*?</section>', page, re.S
    )
    assert sum(part.count('class="mask"') for part in parts) == 6
    assert "blind, 6 names masked" in page
