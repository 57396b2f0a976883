"""The reader refuses what is not well formed, says where, and takes everything else as it is."""

from __future__ import annotations

import io
import json
import math
import os
import random
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from academy.bundle import JSON
from academy.errors import FormatError, Problem, Problems
from academy.formats.json_reading import has_long_number, measure_depth, read_exactly
from academy.formats.reading import (
    LIMITS,
    Files,
    Limits,
    check_text,
    line_of,
    path_problem,
    pointer,
    read_json,
    read_jsonl,
    read_text,
    read_yaml,
    read_yaml_lines,
    read_zip,
    safe_path,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def refusal(act: Callable[[], object]) -> Problem:
    """The one problem that an act is refused with."""
    with pytest.raises(FormatError) as caught:
        act()
    (problem,) = caught.value.problems
    return problem


def refused_json(text: str | bytes, limits: Limits = LIMITS) -> Problem:
    data = text if isinstance(text, bytes) else text.encode()
    return refusal(lambda: read_json(data, path="a.json", limits=limits))


@given(VALUES, st.sampled_from([None, 2]))
@settings(max_examples=150)
def test_what_python_writes_as_json_is_read_as_the_same_value(
    value: JSON, indent: int | None
) -> None:
    for ascii_only in (True, False):
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only)
        read = read_json(text.encode("utf-8", "surrogatepass"), path="a.json")
        assert repr(read) == repr(json.loads(text))


def told(act: Callable[[], JSON]) -> tuple[str, bool]:
    """What an act gives or is refused with, and whether it was refused."""
    try:
        return repr(act()), False
    except FormatError as error:
        return str(error), True


def is_json(data: bytes) -> bool:
    """What the strictest reading of the standard library says, by its slow hooks."""

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise ValueError("double key")
        return dict(pairs)

    def finite(text: str) -> float:
        if math.isinf(float(text)):
            raise ValueError("overflow")
        return float(text)

    def whole(text: str) -> int:
        finite(text)
        return int(text)

    def refuse(text: str) -> object:
        raise ValueError(text)

    try:
        json.loads(
            data.decode(),
            object_pairs_hook=once,
            parse_float=finite,
            parse_int=whole,
            parse_constant=refuse,
        )
    except ValueError:
        return False
    return True


PIECES = st.sampled_from(
    [
        *'{}[],:"\\ \n\t-+.eE019',
        "true",
        "null",
        "NaN",
        "-Infinity",
        '"a"',
        '"a":',
        '"b":1',
        '"\\u003a"',
        '"\\u0061":2',
        '{"a":1}',
        '{"a":{"a":[]}}',
        "\\ud800",
        "1e999",
        "9" * 310,
        "é",
        "\x00",
        "\x0b",
    ]
)


@given(st.lists(PIECES, max_size=8).map("".join))
@settings(max_examples=400)
@example('{"a":1,"\\u0061":2}')
@example('{"x":":","x":"\\u003a\\u003a"}')
@example('{"a":"\\u003a","b":1,"b":2}')
def test_the_fast_and_the_slow_way_agree_with_the_standard_library(text: str) -> None:
    data = text.encode()
    exact, refused = told(lambda: read_exactly(data, "a", LIMITS, 1, None))
    assert told(lambda: read_json(data, path="a")) == (exact, refused)
    assert refused != is_json(data)


@given(VALUES, st.data())
@settings(max_examples=100)
def test_bytes_cut_off_or_changed_are_refused_or_read_rightly(
    value: JSON, data: st.DataObject
) -> None:
    whole = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    place = data.draw(st.integers(0, len(whole) - 1))
    byte = data.draw(st.binary(max_size=1))
    for bad in (whole[:place], whole[:place] + byte + whole[place + 1 :]):
        try:
            read = read_json(bad, path="a.json")
        except FormatError as error:
            assert not is_json(bad)
            assert all(problem.line for problem in error.problems)
        else:
            assert read == json.loads(bad)


@pytest.mark.parametrize(
    ("text", "rule", "line", "place", "words"),
    [
        ("[0.5,\nNaN]", "not-finite", 2, "/1", "NaN"),
        ('{"a": [1, Infinity]}', "not-finite", 1, "/a/1", "Infinity"),
        ('{"a": -Infinity}', "not-finite", 1, "/a", "-Infinity"),
        ('{"score": 1e999}', "number-range", 1, "/score", "1e999 is too large"),
        ('{"n": ' + "9" * 400 + "}", "number-range", 1, "/n", "too large"),
        ('{"n": ' + "9" * 5000 + "}", "number-range", 1, "/n", "5000 digits"),
        ('{"a": 1,\n "b": 2,\n "a": 3}', "double-key", 3, "/a", "'a' is given twice"),
        ('[{"x/y": {"~": 1, "~": 2}}]', "double-key", 1, "/0/x~1y/~0", "'~' is given twice"),
        ('{"a": 1,}', "json-syntax", 1, "", "a key is expected, but '}' is found"),
        ("[1, 2,\n]", "json-syntax", 2, "/2", "a value is expected, but ']' is found"),
        ('{"a" 1}', "json-syntax", 1, "/a", "':' is expected, but '1' is found"),
        ("{'a': 1}", "json-syntax", 1, "", "a key or '}' is expected"),
        ('{"a": [1 2]}', "json-syntax", 1, "/a/0", "',' or ']' is expected, but '2' is found"),
        ('{"a": tru}', "json-syntax", 1, "/a", "a value is expected, but 'tru' is found"),
        ('["a\nb"]', "json-syntax", 1, "/0", "U+000A must be escaped"),
        ('["\\x"]', "json-syntax", 1, "/0", "is no escape"),
        ('{"a": "b', "json-syntax", 1, "/a", "never closed"),
        ('{"a": {"b": [1', "json-syntax", 1, "/a/b/0", "the end of the text is found"),
        ("[01]", "json-syntax", 1, "/0", "'01' is no number"),
        ("[1.]", "json-syntax", 1, "/0", "'1.' is no number"),
        ("[+1]", "json-syntax", 1, "/0", "'+1' is no number"),
        ("{} {}", "json-syntax", 1, "", "follows after the end"),
        ("", "empty", 1, "", "nothing"),
        (" \n ", "empty", 2, "", "nothing"),
    ],
)
def test_a_bad_place_is_told_by_rule_line_and_pointer(
    text: str, rule: str, line: int, place: str, words: str
) -> None:
    problem = refused_json(text)
    assert (problem.rule, problem.line, problem.pointer) == (rule, line, place)
    assert words in problem.message


def test_bytes_that_are_not_utf8_are_refused_with_line_and_offset() -> None:
    problem = refused_json(b'{"a": 1,\n"b": "\xff"}')
    assert (problem.rule, problem.line) == ("encoding", 2)
    assert "0xff at offset 15" in problem.message
    assert refused_json('{"a": 1}'.encode("utf-16")).rule == "encoding"
    assert refused_json(b'"\xed\xa0\x80"').rule == "encoding"


def test_a_byte_order_mark_is_refused() -> None:
    assert refused_json(b'\xef\xbb\xbf{"a": 1}').rule == "byte-order-mark"


@pytest.mark.parametrize("brackets", ["[" * 20_000, "[" * 20_000 + "]" * 20_000, '{"a":' * 20_000])
def test_twenty_thousand_brackets_are_refused_by_naming_the_depth_limit(brackets: str) -> None:
    problem = refused_json(brackets)
    assert problem.rule == "depth"
    assert "deeper than 200 levels" in problem.message


def test_brackets_within_text_are_no_depth() -> None:
    value = {"a": "[" * 1000, 'b"\\': ['{"' * 500, "\\"]}
    assert read_json(json.dumps(value).encode(), path="a.json") == value
    assert read_json(b"[" * 200 + b"]" * 200, path="a.json")
    assert refused_json("[" * 201 + "]" * 201).rule == "depth"


@given(VALUES)
@settings(max_examples=60)
def test_the_measured_depth_is_the_depth(value: JSON) -> None:
    def depth(inner: object) -> int:
        if isinstance(inner, dict):
            return 1 + max(map(depth, inner.values()), default=0)
        return 1 + max(map(depth, inner), default=0) if isinstance(inner, list) else 0

    assert measure_depth(json.dumps(value).encode()) == depth(value)


@given(st.integers(0, 700), st.integers(309, 500))
@settings(max_examples=50)
def test_no_long_number_is_overlooked(before: int, digits: int) -> None:
    assert has_long_number(b" " * before + b"7" * digits + b" " * 300)


def test_sizes_and_counts_past_a_limit_are_refused() -> None:
    assert refused_json("[1, 2, 3]", Limits(document_bytes=5)).rule == "size"
    assert refused_json("[1, 2, 3]", Limits(nodes=3)).rule == "nodes"
    assert read_json(b"[1, 2, 3]", path="a", limits=Limits(nodes=4)) == [1, 2, 3]


def test_leniently_read_numbers_that_are_not_finite_are_missing_and_noted() -> None:
    data = b'[{"score": 0.5, "n": 1},\n {"score": NaN},\n {"score": [-Infinity, 1e999, 2]}]'
    noted = Problems()
    assert read_json(data, path="a.json", lenient=noted) == [
        {"score": 0.5, "n": 1},
        {"score": None},
        {"score": [None, None, 2]},
    ]
    assert noted.total == 0
    assert [(p.rule, p.line, p.pointer, p.severity) for p in noted.notices] == [
        ("not-finite", 2, "/1/score", "warning"),
        ("not-finite", 3, "/2/score/0", "warning"),
        ("number-range", 3, "/2/score/1", "warning"),
    ]
    lines = list(read_jsonl(b"[1]\n[NaN]\n", path="a.jsonl", lenient=noted))
    assert [line.value for line in lines] == [[1], [None]]
    assert noted.notices[-1].line == 2


def test_what_a_payload_may_hold_is_kept() -> None:
    assert read_json(b'"\\u0000\\ud800"', path="a.json") == "\x00\ud800"
    assert read_json(b"[9007199254740993, -0.0]", path="a.json") == [9007199254740993, 0.0]
    assert read_json(b'{"a": "\\u003a", "b": ":"}', path="a.json") == {"a": ":", "b": ":"}


def test_a_large_document_is_read_fast() -> None:
    rows = [{"id": f"t-{n}", "text": "words: [and] {brackets} " * 200} for n in range(2000)]
    data = json.dumps(rows).encode()
    started = time.perf_counter()
    assert read_json(data, path="a.json") == rows
    assert time.perf_counter() - started < 2.0


@given(VALUES)
@settings(max_examples=60)
def test_the_line_of_every_value_is_found(value: JSON) -> None:
    text = json.dumps(value, indent=1)
    data = text.encode()

    def check(inner: object, parts: tuple[str | int, ...]) -> None:
        line = line_of(data, pointer(*parts))
        assert line is not None
        rest = "\n".join(text.split("\n")[line - 1 :]).lstrip()
        if parts and isinstance(parts[-1], str):
            assert rest.startswith(json.dumps(parts[-1]) + ":")
        else:
            assert rest.startswith(json.dumps(inner, indent=1)[:1])
        if isinstance(inner, dict):
            for key, member in inner.items():
                check(member, (*parts, key))
        elif isinstance(inner, list):
            for place, item in enumerate(inner):
                check(item, (*parts, place))

    check(value, ())


def test_the_line_of_what_is_not_there_is_none() -> None:
    data = b'{"a": [1, 2], "b": {}, "c": 3}'
    for place in ("/x", "/a/2", "/a/-", "/a/x", "/b/c", "/c/d", "/c/0", "/a/0/0"):
        assert line_of(data, place) is None
    assert line_of(data, "") == 1
    for broken in (b"", b"[", b'{"a"', b"\xff", b'{"a": [1'):
        assert line_of(broken, "/a/5") is None


def test_a_pointer_escapes_what_it_must() -> None:
    assert pointer() == ""
    assert pointer("a/b", 0, "~") == "/a~1b/0/~0"


def test_text_that_no_column_holds_is_noted_with_its_place() -> None:
    problems = Problems()
    assert check_text("plain \t text", path="a", pointer="/id", problems=problems)
    assert not check_text("a\x00", path="a", pointer="/id", problems=problems, line=3)
    assert not check_text("\ud800", path="a", pointer="/name", problems=problems)
    assert [(p.rule, p.pointer, p.line) for p in problems.errors] == [
        ("text", "/id", 3),
        ("text", "/name", None),
    ]


def test_lines_are_cut_at_lf_only_and_blank_ones_left_out() -> None:
    data = '{"a": "\u2028"}\r\n\n  \t\r\n[1]\x0b'.encode().replace(b"\x0b", b" \n") + b'"last"'
    lines = list(read_jsonl(data, path="a.jsonl"))
    assert [(line.number, line.value) for line in lines] == [
        (1, {"a": "\u2028"}),
        (4, [1]),
        (5, "last"),
    ]
    for line in lines:
        assert data[line.offset :].startswith(line.raw)


def test_a_line_cut_in_the_middle_is_told_by_its_number() -> None:
    data = b'{"id": "case-1", "score": 0.5}\n' * 4000 + b'{"id": "case-4001", "sc'
    problem = refusal(lambda: list(read_jsonl(data, path="a.jsonl")))
    assert (problem.line, problem.rule) == (4001, "json-syntax")


def test_at_most_fifty_bad_lines_are_shown_with_their_total() -> None:
    data = b'{"a": 1}\n{"a": NaN}\n' * 300
    problems = Problems()
    assert len(list(read_jsonl(data, path="a.jsonl", problems=problems))) == 300
    with pytest.raises(FormatError) as caught:
        problems.raise_if_any()
    assert caught.value.total == 300
    assert [problem.line for problem in caught.value.problems[:2]] == [2, 4]
    assert str(caught.value).count("\n") == 50
    assert str(caught.value).endswith("and 250 more")


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n\t\n\n"])
def test_nothing_but_blank_lines_is_an_error(data: bytes) -> None:
    assert refusal(lambda: list(read_jsonl(data, path="a.jsonl"))).rule == "empty"
    problems = Problems()
    assert list(read_jsonl(data, path="a.jsonl", problems=problems)) == []
    assert [problem.rule for problem in problems.errors] == ["empty"]


class Endless(io.RawIOBase):
    """A line that never ends, up to a gigabyte; counts what was asked for."""

    def __init__(self) -> None:
        self.given = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        self.given += len(buffer)
        buffer[:] = b"x" * len(buffer)
        return len(buffer) if self.given < 2**30 else 0


def test_a_line_that_is_too_long_is_refused_before_it_is_held() -> None:
    stream = Endless()
    limits = Limits(line_bytes=10_000)
    problem = refusal(
        lambda: next(read_jsonl(io.BufferedReader(stream), path="a", limits=limits))  # type: ignore[type-var]
    )
    assert (problem.rule, problem.line) == ("line-length", 1)
    assert stream.given < 100_000


def test_reading_goes_on_after_a_line_that_is_too_long() -> None:
    problems = Problems()
    data = b"[1]\n" + b'"' + b"x" * 200_000 + b'"\n[2]\n'
    lines = list(read_jsonl(data, path="a", problems=problems, limits=Limits(line_bytes=100)))
    assert [(line.number, line.value, data[line.offset :][:3]) for line in lines] == [
        (1, [1], b"[1]"),
        (3, [2], b"[2]"),
    ]
    assert [(problem.rule, problem.line) for problem in problems.errors] == [("line-length", 2)]
    exact = b"[" + b"1" * 8 + b"]\n"
    assert len(list(read_jsonl(exact, path="a", limits=Limits(line_bytes=10)))) == 1


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


def make_zip(entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, data in entries.items():
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return buffer.getvalue()


def test_a_zip_gives_its_files_in_order() -> None:
    files = read_zip(make_zip({"b/two.json": b"2", "a.json": b"1", "c/": b""}), path="a.zip")
    assert list(files) == [PurePosixPath("a.json"), PurePosixPath("b/two.json")]
    assert files["b/two.json"] == b"2"
    with files.open("b/two.json") as first, files.open("a.json") as second:
        assert (first.read(), second.read()) == (b"2", b"1")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../../etc/hostname", "climbs"),
        ("a/../../b", "climbs"),
        ("/etc/hostname", "absolute"),
        ("C:\\Windows\\x", "backslash"),
        ("C:/Windows/x", "drive"),
        ("a\\b.json", "backslash"),
        ("CON.json", "reserved"),
        ("sub/nul", "reserved"),
        ("lpt1.tar.gz", "reserved"),
        ("aux .txt", "reserved"),
        ("a/.. /b", "dots and spaces"),
        ("...", "dots and spaces"),
        ("new\nline", "control"),
        ("x" * 300, "longer than 255"),
        ("a/" * 40 + "b", "deeper than 32"),
    ],
)
def test_a_bad_path_is_refused_by_name(name: str, words: str) -> None:
    problem = refusal(lambda: read_zip(make_zip({"fine.json": b"", name: b"x"}), path="a.zip"))
    assert (problem.file, problem.rule) == ("a.zip", "path")
    assert words in problem.message
    assert repr(name) in problem.message
    assert safe_path(name) is None
    assert words in (path_problem(name) or "")


def test_an_ordinary_path_is_taken() -> None:
    for text in (
        "a.json",
        "./a//b.json",
        "console.json",
        "a..b/c",
        "ünï/ç.yaml",
        "com.txt",
        ".x",
        "m-check.../a",
    ):
        assert safe_path(text) == PurePosixPath(text)
    assert safe_path("") is None
    assert safe_path(".") is None


@pytest.mark.parametrize(
    "names",
    [
        ["A.json", "a.json"],
        ["dir/a.json", "DIR/A.json"],
        ["dir", "DIR/a.json"],
        ["caf\u00e9.json", "cafe\u0301.json"],
        ["a", "a/b"],
        ["a/b", "a"],
        ["a/b", "a//b"],
        ["a/b", "./a/b"],
        ["x", "x/"],
    ],
)
def test_names_that_collide_are_refused(names: list[str]) -> None:
    data = make_zip(dict.fromkeys(names, b""))
    problem = refusal(lambda: read_zip(data, path="a.zip"))
    assert problem.rule == "path-collision"


def test_an_entry_that_comes_twice_is_refused() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("a.json", b"1")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.json", b"2")
    problem = refusal(lambda: read_zip(buffer.getvalue(), path="a.zip"))
    assert "'a.json' is there twice" in problem.message


def special_entry(mode: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo("link.json")
        info.external_attr = mode << 16
        archive.writestr(info, "/etc/hostname")
    return buffer.getvalue()


@pytest.mark.parametrize(("mode", "words"), [(0o120777, "symbolic link"), (0o010644, "neither")])
def test_links_and_devices_are_refused(mode: int, words: str) -> None:
    problem = refusal(lambda: read_zip(special_entry(mode), path="a.zip"))
    assert problem.rule == "archive-link"
    assert words in problem.message


def test_an_encrypted_entry_is_refused() -> None:
    data = bytearray(make_zip({"a.json": b"{}"}))
    for signature, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(signature) + place] |= 1
    assert refusal(lambda: read_zip(bytes(data), path="a.zip")).rule == "archive-encrypted"


def test_a_method_that_needs_much_memory_is_refused() -> None:
    data = make_zip({"a.json": b"{}"}, zipfile.ZIP_LZMA)
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "archive-method"


def test_an_archive_that_expands_a_thousandfold_is_refused() -> None:
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("a", "w") as out,
    ):
        for _ in range(64):
            out.write(bytes(2**20))
    problem = refusal(lambda: read_zip(buffer.getvalue(), path="a.zip"))
    assert problem.rule == "archive-ratio"
    limits = Limits(archive_bytes=2**20)
    assert (
        refusal(lambda: read_zip(buffer.getvalue(), path="a", limits=limits)).rule == "archive-size"
    )


def many_entries(count: int) -> bytes:
    """A zip of empty entries, written by hand since the library takes seconds for it."""
    local, central = io.BytesIO(), io.BytesIO()
    for number in range(count):
        name = b"%d" % number
        offset = local.tell()
        local.write(struct.pack("<4s5H3L2H", b"PK\x03\x04", 10, 0, 0, 0, 33, 0, 0, 0, len(name), 0))
        local.write(name)
        central.write(
            struct.pack(
                "<4s4B4HL2L5H2L", b"PK\x01\x02", 10, 3, 10, 0, 0, 0, 0, 33, 0, 0, 0, len(name),
                0, 0, 0, 0, 0, offset,
            )
        )  # fmt: skip
        central.write(name)
    count16 = count & 0xFFFF if count < 0xFFFF else 1
    end = struct.pack(
        "<4s4H2LH", b"PK\x05\x06", 0, 0, count16, count16, central.tell(), local.tell(), 0
    )
    return local.getvalue() + central.getvalue() + end


def test_two_hundred_thousand_empty_entries_are_refused_whatever_the_trailer_says() -> None:
    data = many_entries(200_000)
    started = time.perf_counter()
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "archive-entries"
    assert time.perf_counter() - started < 0.5
    assert len(read_zip(many_entries(1000), path="a.zip")) == 1000


def test_a_member_larger_than_the_archive_says_is_refused() -> None:
    data = bytearray(make_zip({"a.json": b"[" + b"1," * 5000 + b"1]"}))
    place = data.index(b"PK\x01\x02") + 24
    data[place : place + 4] = struct.pack("<L", 100)
    files = read_zip(bytes(data), path="a.zip")
    assert refusal(lambda: files["a.json"]).rule == "archive-damaged"


def test_a_second_name_hidden_in_an_entry_is_refused() -> None:
    data = make_zip({"a.json_b": b"{}"}).replace(b"a.json_b", b"a.json\x00b")
    assert refusal(lambda: read_zip(data, path="a.zip")).rule == "path"


@given(st.integers(0, 10**6), st.integers(0, 255), st.booleans())
@settings(max_examples=150)
def test_a_damaged_archive_is_refused_or_gives_what_was_in_it(
    place: int, byte: int, cut: bool
) -> None:
    contents = {"a.json": b'{"a": 1}' * 50, "b/c.txt": os.urandom(0) + b"text" * 20}
    whole = make_zip(contents)
    place %= len(whole)
    bad = whole[:place] if cut else whole[:place] + bytes([byte]) + whole[place + 1 :]
    try:
        files = read_zip(bad, path="a.zip")
        read = [files[path] for path in files]
    except FormatError:
        return
    assert all(data in contents.values() for data in read)


def test_files_know_their_members_without_reading_them() -> None:
    def broken() -> BinaryIO:
        raise AssertionError("nobody asked for the bytes")

    files = Files({PurePosixPath("b"): broken, PurePosixPath("a"): lambda: io.BytesIO(b"12345")})
    assert list(files) == [PurePosixPath("a"), PurePosixPath("b")]
    wanted: list[object] = ["b", PurePosixPath("b"), "c", 7]
    assert [path in files for path in wanted] == [True, True, False, False]
    assert files.head("a", 2) == b"12"
    assert list(files.only(["b", "x"])) == [PurePosixPath("b")]
    with pytest.raises(KeyError):
        files["c"]


def test_a_member_too_large_to_hold_can_only_be_streamed() -> None:
    files = Files(
        {PurePosixPath("a"): lambda: io.BytesIO(b"12345")}, limits=Limits(document_bytes=4)
    )
    assert refusal(lambda: files["a"]).rule == "size"
    with files.open("a") as stream:
        assert stream.read() == b"12345"


def test_text_is_read_as_it_stands() -> None:
    assert read_text("a\r\n\x00é".encode(), path="a.txt") == "a\r\n\x00é"


def test_random_bytes_are_refused_by_every_reader() -> None:
    seed = random.Random(7)
    for _ in range(50):
        data = b"\xfe" + seed.randbytes(seed.randrange(200))
        for act in (read_json, read_yaml, read_zip, lambda d, path: list(read_jsonl(d, path=path))):
            with pytest.raises(FormatError):
                act(data, path="a")


def test_of_very_frequent_notices_the_first_are_told_and_how_many_there_are() -> None:
    problems = Problems()
    for line in range(1234):
        problems.warn("rows.jsonl", "unknown-task", f"no task {line}", line=line)
    problems.note("rows.jsonl", "odd", "one of another kind")
    told = problems.notices
    assert len(told) == 52
    assert [notice.line for notice in told[:50]] == list(range(50))
    assert told[-1].message == "and 1,184 more of this kind, 1,234 in all"
    assert (told[-1].rule, told[-1].file) == ("unknown-task", "rows.jsonl")
