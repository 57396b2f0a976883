"""JSON documents: fast where they are right, exact about the place where they are not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from itertools import accumulate

import msgspec

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.json_walk import Walk
from academy.formats.limits import LIMITS, Limits
from academy.formats.text_reading import read_text

DIGIT = re.compile(rb"[0-9]")
LONG_NUMBER = 300
SAMPLED = 100
STRUCTURE = b'"[]{}'
NO_STRUCTURE = bytes(byte for byte in range(256) if byte not in STRUCTURE)
STEPS = bytes(
    {ord("["): 1, ord("{"): 1, ord("]"): 255, ord("}"): 255}.get(b, 0) for b in range(256)
)


def read_json(
    data: bytes,
    *,
    path: str,
    limits: Limits = LIMITS,
    first_line: int = 1,
    lenient: Problems | None = None,
) -> JSON:
    """One JSON document. Raises FormatError with line and pointer of the first bad place.

    Whole numbers are exact; U+0000 and lone surrogates are kept when they come as escapes. With
    `lenient` numbers that are not finite become null, and each is noted there as a warning.
    """
    if len(data) <= limits.document_bytes and is_within(data, limits):
        try:
            value: JSON = msgspec.json.decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return read_exactly(data, path, limits, first_line, lenient)
        if has_no_double_key(data, value):
            return value
    return read_exactly(data, path, limits, first_line, lenient)


def stored_json(data: bytes) -> JSON:
    """A document that was read by these rules when it was taken in, at a sixth of the price."""
    try:
        value: JSON = msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = json.loads(data)
    return value


def read_exactly(
    data: bytes, path: str, limits: Limits, first_line: int, lenient: Problems | None
) -> JSON:
    """What read_json gives, by the slow pass that knows every place."""
    text = read_text(data, path=path, limits=limits)
    walk = Walk(text, limits, lenient=lenient is not None)
    fault = walk.find()
    if fault is not None:
        line = first_line + text.count("\n", 0, fault.offset)
        raise FormatError.at(path, fault.rule, fault.message, line=line, pointer=fault.pointer)
    if lenient is None or not walk.skipped:
        value: JSON = json.loads(text)
        return value
    for skipped in walk.skipped:
        line = first_line + text.count("\n", 0, skipped.offset)
        message = f"{skipped.message}; it is read as missing"
        lenient.warn(path, skipped.rule, message, line=line, pointer=skipped.pointer)
    value = json.loads(text, parse_constant=missing, parse_float=finite, parse_int=whole)
    return value


def missing(_text: str) -> None:
    """What a number that is not finite becomes."""
    return None


def finite(text: str) -> float | None:
    """A number, or None where a double would overflow."""
    number = float(text)
    return number if math.isfinite(number) else None


def whole(text: str) -> int | None:
    """A whole number, or None where a double would overflow."""
    return None if finite(text) is None else int(text)


def is_within(data: bytes, limits: Limits) -> bool:
    """Whether all limits are surely kept; False sends to the slow pass, which knows."""
    openers = data.count(b"[") + data.count(b"{")
    if openers + data.count(b",") >= limits.nodes or has_long_number(data):
        return False
    return openers <= limits.depth or measure_depth(data) <= limits.depth


def measure_depth(data: bytes) -> int:
    """The deepest nesting, for data that is JSON; for other data, some number."""
    bare = data.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, NO_STRUCTURE)
    brackets = b"".join(bare.split(b'"')[::2])
    return max(accumulate(memoryview(brackets.translate(STEPS)).cast("b")), default=0)


def has_long_number(data: bytes) -> bool:
    """Whether a run of digits may be longer than a double holds; looks at every 100th byte."""
    for found in DIGIT.finditer(data[::SAMPLED]):
        start = found.start() * SAMPLED
        if data[start : start + LONG_NUMBER - SAMPLED].isdigit():
            return True
    return False


def has_no_double_key(data: bytes, value: JSON) -> bool:
    """Whether no member was lost in decoding; False sends to the slow pass.

    Written again, the value has as many colons as the source unless a member was dropped: strings
    keep theirs, and only an escaped colon could make up for a lost one.
    """
    if b"\\u003a" in data or b"\\u003A" in data:
        return False
    try:
        return msgspec.json.encode(value).count(b":") == data.count(b":")
    except (UnicodeEncodeError, RecursionError):
        return False


def line_of(data: bytes, pointer: str) -> int | None:
    """The line where the value at a JSON pointer starts, or None if there is no such value.

    For documents that read_json has accepted; others may give None.
    """
    try:
        text = data.decode("utf-8")
        offset = offset_of(text, pointer)
    except (ValueError, RecursionError, IndexError):
        return None
    return None if offset is None else text.count("\n", 0, offset) + 1


SPACE = re.compile(r"[ \t\n\r]*+")
DECODER = json.JSONDecoder()


def after_space(text: str, at: int) -> int:
    """The offset of the next character that means something."""
    found = SPACE.match(text, at)
    return found.end() if found else at


def offset_of(text: str, pointer: str) -> int | None:
    """The offset of the value at a pointer; what lies beside the way costs a parse, no more."""
    at = after_space(text, 0)
    for part in pointer.split("/")[1:]:
        wanted = part.replace("~1", "/").replace("~0", "~")
        found = (
            member_offset(text, at, wanted) if text[at] == "{" else item_offset(text, at, wanted)
        )
        if found is None:
            return None
        at = found
    return at


def member_offset(text: str, at: int, wanted: str) -> int | None:
    """Where the value of a key starts in the object at this offset."""
    at = after_space(text, at + 1)
    while text[at] == '"':
        key, at = DECODER.raw_decode(text, at)
        at = after_space(text, after_space(text, at) + 1)
        if key == wanted:
            return at
        at = after_space(text, DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            return None
        at = after_space(text, at + 1)
    return None


def item_offset(text: str, at: int, wanted: str) -> int | None:
    """Where an item starts in the list at this offset."""
    if text[at] != "[" or not wanted.isdecimal():
        return None
    at = after_space(text, at + 1)
    for _ in range(int(wanted)):
        at = after_space(text, DECODER.raw_decode(text, at)[1])
        if text[at] != ",":
            return None
        at = after_space(text, at + 1)
    return None if text[at] == "]" else at


def lines_of_items(data: bytes, pointer: str) -> Iterator[int]:
    """The line of each item of the list at a pointer, in one pass, since it may be long.

    For documents that read_json has accepted.
    """
    text = data.decode("utf-8")
    at = offset_of(text, pointer)
    if at is None:
        return
    line = text.count("\n", 0, at) + 1
    before, at = at, after_space(text, at + 1)
    while text[at] != "]":
        line += text.count("\n", before, at)
        yield line
        before, at = at, after_space(text, DECODER.raw_decode(text, at)[1])
        if text[at] == ",":
            at = after_space(text, at + 1)
