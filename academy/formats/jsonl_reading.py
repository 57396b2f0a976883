"""JSON lines, streamed: one value per line, lines cut at LF only."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.json_reading import read_json
from academy.formats.limits import LIMITS, Limits

BLANK = b" \t\r\n"
CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True)
class Line:
    """One line that holds a value. `raw` has no LF, `offset` is where it starts in the stream."""

    number: int
    offset: int
    raw: bytes
    value: JSON


def read_jsonl(
    source: BinaryIO | bytes,
    *,
    path: str,
    problems: Problems | None = None,
    limits: Limits = LIMITS,
    lenient: Problems | None = None,
) -> Iterator[Line]:
    """Every line that is not blank, as it is read.

    Without `problems` the first bad line raises FormatError; with it bad lines are noted and left
    out, and the caller calls `problems.raise_if_any()`. Nothing but blank lines is an error.
    `lenient` is that of read_json.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    empty = True
    for number, offset, raw in cut_lines(stream, limits):
        if raw is not None and not raw.strip(BLANK):
            continue
        empty = False
        try:
            if raw is None:
                message = f"the line is longer than {limits.line_bytes} bytes"
                raise FormatError.at(path, "line-length", message, line=number)
            value = read_json(raw, path=path, limits=limits, first_line=number, lenient=lenient)
        except FormatError as error:
            refuse(error, number, path, problems)
        else:
            yield Line(number, offset, raw, value)
    if empty:
        nothing = FormatError.at(path, "empty", "there is no line with anything in it")
        refuse(nothing, None, path, problems)


def refuse(error: FormatError, number: int | None, path: str, problems: Problems | None) -> None:
    """Note the error at its line, or raise it."""
    for problem in error.problems:
        if problems is None:
            raise FormatError.at(
                path, problem.rule, problem.message, line=number, pointer=problem.pointer
            ) from None
        problems.error(path, problem.rule, problem.message, line=number, pointer=problem.pointer)


def cut_lines(stream: BinaryIO, limits: Limits) -> Iterator[tuple[int, int, bytes | None]]:
    """Number, offset and bytes of every line; None for bytes over the limit, which are skipped."""
    number = offset = 0
    while raw := stream.readline(limits.line_bytes + 1):
        number += 1
        size = len(raw)
        if size > limits.line_bytes and not raw.endswith(b"\n"):
            yield number, offset, None
            while raw and not raw.endswith(b"\n"):
                raw = stream.readline(CHUNK)
                size += len(raw)
        else:
            yield number, offset, raw.removesuffix(b"\n")
        offset += size
