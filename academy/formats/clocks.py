"""Stamps of steps as offsets and durations; what cannot be known is said, never guessed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from academy.bundle import JSON

# Milliseconds of 2001-09-09 and 2100-01-01: a number between them, in one unit, is a date.
EARLIEST, LATEST = 1e12, 4.1e12
UNITS = {"seconds": 1e3, "milliseconds": 1.0, "microseconds": 1e-3, "nanoseconds": 1e-6}
ISO = "ISO 8601"


@dataclass(frozen=True, slots=True)
class Span:
    """When a step began, in milliseconds from the first one, and how long it took.

    `doubt` says why a duration is not known although times are told.
    """

    offset_ms: int | None = None
    duration_ms: int | None = None
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Moment:
    """A stamp as milliseconds since 1970 with the unit it was told in, or why it is none."""

    at: float | None = None
    unit: str = ""
    why: str = ""


def moment(value: JSON) -> Moment:
    """What a stamp means by itself. Numbers are dates in the one unit that makes them one."""
    if isinstance(value, str):
        return _written(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return Moment(why="its stamp is no time")
    return _counted(value)


def _counted(value: float) -> Moment:
    if value == 0:
        return Moment(why="its stamp is 0")
    for unit, factor in UNITS.items():
        if EARLIEST <= value * factor <= LATEST:
            return Moment(value * factor, unit)
    return Moment(why="its stamp is a number that is no date")


def _written(text: str) -> Moment:
    if text.isascii() and text.isdigit() and len(text) <= 20:
        return _counted(int(text))
    try:
        read = datetime.fromisoformat(text)
    except ValueError:
        return Moment(why="its stamp cannot be read")
    if read.tzinfo is None:
        return Moment(why="its stamp names no time zone")
    return Moment(read.timestamp() * 1000, ISO)


def spans(stamps: Sequence[tuple[JSON, JSON]]) -> list[Span]:
    """The spans of steps from their (start, end), None where a step does not say.

    Offsets count from the first step that can be placed, so one that began earlier has a negative
    one. A number in another unit than most is not taken: nobody can tell which of them is wrong.
    """
    starts = [None if start is None else moment(start) for start, _end in stamps]
    ends = [None if end is None else moment(end) for _start, end in stamps]
    told = Counter(one.unit for one in (*starts, *ends) if one is not None and one.unit in UNITS)
    usual = told.most_common(1)[0][0] if told else ""
    firsts = (one for one in starts if one is not None and one.at is not None)
    zero = next((one.at for one in firsts if one.unit in ("", ISO, usual)), None)
    speaks = any(one is not None for one in (*starts, *ends))
    return [
        _span(_same_unit(start, usual), _same_unit(end, usual), zero, speaks=speaks)
        for start, end in zip(starts, ends, strict=True)
    ]


def _same_unit(told: Moment | None, usual: str) -> Moment | None:
    if told is None or told.unit not in UNITS or told.unit == usual:
        return told
    return Moment(why=f"its stamp is in {told.unit}, those of other steps are in {usual}")


def _span(start: Moment | None, end: Moment | None, zero: float | None, *, speaks: bool) -> Span:
    if start is None or start.at is None or zero is None:
        why = start.why if start is not None else "it does not say when it began"
        return Span(doubt=why if speaks else "")
    offset = round(start.at - zero)
    if end is None:
        return Span(offset)
    if end.at is None:
        return Span(offset, doubt=end.why.replace("its stamp", "its end"))
    if end.at < start.at:
        return Span(offset, doubt="it ends before it starts")
    return Span(offset, round(end.at - start.at))
