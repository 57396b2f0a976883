"""Files of lines are read line by line, whatever one of them is like."""

from __future__ import annotations

import io

import pytest

from academy.errors import FormatError, Problems
from academy.formats.reading import Limits, read_jsonl
from tests.academy.reading.refusals import refusal


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
