"""YAML is read in a small subset, and everything outside it is refused soon."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.errors import FormatError
from academy.formats.reading import Limits, read_yaml, read_yaml_lines
from tests.academy.reading.refusals import refusal

YAML = """\
# a comment
name: an example
id: 0123
day: 2026-01-05
answer: yes
on: 12
share: -1.5e3
none: ~
empty:
'no': "quoted: 1"
list: &l [true, 2, .5]
same: *l
text: >-
  folded
  text
"""


def test_yaml_gives_core_types_and_leaves_the_rest_as_text() -> None:
    value, lines = read_yaml_lines(YAML.encode(), path="a.yaml")
    assert value == {
        "name": "an example",
        "id": "0123",
        "day": "2026-01-05",
        "answer": "yes",
        "on": 12,
        "share": -1500.0,
        "none": None,
        "empty": None,
        "no": "quoted: 1",
        "list": [True, 2, 0.5],
        "same": [True, 2, 0.5],
        "text": "folded text",
    }
    assert (lines["/name"], lines["/list"], lines["/list/1"], lines["/text"]) == (2, 11, 11, 13)


def test_yaml_scalars_may_all_stay_text() -> None:
    data = b"sha: 1234567e9\nsteps: 3\nnone: null\nquoted: '~'\n3: x\n"
    assert read_yaml(data, path="a.yaml", as_text=True) == {
        "sha": "1234567e9",
        "steps": "3",
        "none": None,
        "quoted": "~",
        "3": "x",
    }


def bomb(levels: int, each: int) -> bytes:
    lines = ["a0: &a0 [x]"]
    for level in range(1, levels + 1):
        aliases = ", ".join([f"*a{level - 1}"] * each)
        lines.append(f"a{level}: &a{level} [{aliases}]")
    return "\n".join(lines).encode()


def test_a_bomb_of_aliases_is_refused_before_it_is_expanded() -> None:
    started = time.perf_counter()
    problem = refusal(lambda: read_yaml(bomb(9, 9), path="a.yaml"))
    assert problem.rule == "yaml-nodes"
    assert problem.line is not None
    assert refusal(lambda: read_yaml(bomb(60, 2), path="a.yaml")).rule == "yaml-nodes"
    assert refusal(lambda: read_yaml(bomb(1, 101), path="a.yaml")).rule == "yaml-alias"
    assert time.perf_counter() - started < 1.0


def test_three_ordinary_anchors_still_load() -> None:
    data = b"a: &a {x: 1}\nb: &b [*a, *a]\nc: &c text\nd: [*b, *c]\n"
    assert read_yaml(data, path="a.yaml") == {
        "a": {"x": 1},
        "b": [{"x": 1}, {"x": 1}],
        "c": "text",
        "d": [[{"x": 1}, {"x": 1}], "text"],
    }
    assert refusal(lambda: read_yaml(data, path="a.yaml", aliases=False)).rule == "yaml-alias"


@pytest.mark.parametrize(
    ("text", "rule", "line"),
    [
        ("a: 1\nb: 2\na: 3", "double-key", 3),
        ("a: 1\n'a': 3", "double-key", 2),
        ("a: !!python/object/apply:os.system [x]", "yaml-tag", 1),
        ("a: !!str 1", "yaml-tag", 1),
        ("a: !own x", "yaml-tag", 1),
        ("x: &x {a: 1}\ny:\n  <<: *x", "yaml-merge", 3),
        ("a: .inf", "not-finite", 1),
        ("a: [1,\n .NaN]", "not-finite", 2),
        ("a: 1e999", "number-range", 1),
        ("a: " + "9" * 5000, "number-range", 1),
        ("a: " + "9" * 400, "number-range", 1),
        ("1: x", "yaml-key", 1),
        ("true: x", "yaml-key", 1),
        ("? [a]\n: x", "yaml-key", 1),
        ("? {a: b}\n: x", "yaml-key", 1),
        ("a: &a x\n*a : y", "yaml-key", 2),
        ("&k a: x", "yaml-key", 1),
        ("a: 1\n---\nb: 2", "yaml-documents", 2),
        ("a: *b", "yaml-alias", 1),
        ("a: &a [*a]", "yaml-alias", 1),
        ("a: &x 1\nb: &x 2", "yaml-alias", 2),
        ("a: 'open", "yaml-syntax", 1),
        ("a: b: c", "yaml-syntax", 1),
        ("a: 1\n\tb: 2", "yaml-syntax", 2),
        ("a: 1\nb: \x07", "yaml-syntax", 2),
        ('a: "\\U99999999"', "yaml-syntax", 1),
        ("%YAML 9.9\n--- a", "yaml-syntax", 1),
        ("\ufeffa: 1", "byte-order-mark", 1),
        ("", "empty", None),
        ("# nothing", "empty", None),
        ("[" * 5000, "depth", 1),
        ("\n".join(" " * n + "-" for n in range(100)), "depth", 61),
        ("- " * 100 + "x", "depth", 1),
    ],
)
def test_yaml_outside_the_subset_is_refused_with_its_line(text: str, rule: str, line: int) -> None:
    problem = refusal(lambda: read_yaml(text.encode(), path="a.yaml"))
    assert (problem.rule, problem.line) == (rule, line)


@given(
    st.lists(
        st.sampled_from(
            [
                *"abc: -[]{}&*!|>'\"\n#?,%@`\\01.\t~<",
                "\n- ",
                ": ",
                "&a ",
                "*a",
                "---\n",
                "\x85",
                "é",
                "\x00",
                "\\x",
                "\ud7ff",
            ]
        ),
        max_size=16,
    ).map("".join)
)
@settings(max_examples=300)
def test_any_text_is_yaml_of_the_subset_or_refused(text: str) -> None:
    try:
        value = read_yaml(text.encode(), path="a.yaml")
    except FormatError as error:
        assert error.problems
    else:
        json.dumps(value, allow_nan=False)


def test_yaml_past_its_budgets_is_refused_soon() -> None:
    started = time.perf_counter()
    many = b"- x\n" * 60_000
    assert (
        refusal(lambda: read_yaml(many, path="a", limits=Limits(yaml_nodes=2000))).rule
        == "yaml-nodes"
    )
    assert refusal(lambda: read_yaml(b"x" * 5_000_000, path="a")).rule == "size"
    assert time.perf_counter() - started < 1.5
