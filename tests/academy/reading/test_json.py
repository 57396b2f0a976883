"""JSON is read as it stands or refused by rule, line and pointer."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.json_reading import has_long_number, measure_depth, read_exactly
from academy.formats.reading import LIMITS, Limits, read_json, read_jsonl
from tests.academy.reading.refusals import VALUES, refused_json


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
