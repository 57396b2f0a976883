"""Where a problem is, what a text may hold, and what is told of many problems."""

from __future__ import annotations

import io
import json
import random
from pathlib import PurePosixPath
from typing import BinaryIO

import pytest
from hypothesis import given, settings

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.reading import (
    Files,
    Limits,
    check_text,
    line_of,
    pointer,
    read_json,
    read_jsonl,
    read_text,
    read_yaml,
    read_zip,
)
from tests.academy.reading.refusals import VALUES, refusal


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
