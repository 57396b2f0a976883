"""Tells faults against a schema as problems, and which of them a reader may live with."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.every_eval_ever.judging import SchemaFault, is_valid, judge
from academy.formats.reading import line_of
from academy.formats.schema_errors import without_surrogates

# Values of string maps that are no text: real writers put booleans, numbers and nulls there.
IN_STRING_MAP = re.compile(
    r"/(?:additional_details|details|parameters|config|metadata|arguments)/[^/]+"
)
SHOWN = 300


def value_at(value: JSON, pointer: str) -> JSON:
    """The value at a JSON pointer that a schema's fault named."""
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value[name]
        elif isinstance(value, list | tuple):
            value = value[int(name)]
    return value


def is_null_member(value: JSON, pointer: str) -> bool:
    """Whether a null stands there as the member of an object; in a list it is not absent."""
    holder = value_at(value, pointer.rpartition("/")[0])
    return isinstance(holder, Mapping) and value_at(value, pointer) is None


def without_nulls(value: JSON) -> JSON:
    """A value without members that are null."""
    if isinstance(value, Mapping):
        return {key: without_nulls(held) for key, held in value.items() if held is not None}
    if isinstance(value, list | tuple):
        return [without_nulls(item) for item in value]
    return value


def sort_faults(value: JSON, schema: str) -> Iterator[tuple[SchemaFault, str]]:
    """Every fault with the reason why it is tolerated; an empty reason refuses the document."""
    # Pointers speak of the value as the engine is shown it.
    value = without_surrogates(value)
    faults = judge(value, schema)
    needed: set[str] | None = None
    for fault in faults:
        if fault.keyword == "type" and IN_STRING_MAP.search(fault.pointer):
            yield fault, "a value of a string map that is no text is kept as it is"
        elif fault.keyword == "type" and is_null_member(value, fault.pointer):
            if needed is None:
                needed = {
                    f"{other.pointer}/{other.missing}"
                    for other in judge(without_nulls(value), schema)
                    if other.keyword == "required"
                }
            reason = "" if fault.pointer in needed else "a null is read as an absent member"
            yield fault, reason
        else:
            yield fault, ""


def report_faults(
    value: JSON, schema: str, *, path: str, problems: Problems, data: bytes = b"", line: int = 0
) -> bool:
    """Note what a schema refuses; whether nothing of it refuses the document.

    The line is that of the row, or is looked up in the document's bytes.
    """
    if is_valid(value, schema):
        return True
    sound = True
    for fault, reason in sort_faults(value, schema):
        at = line or line_of(data, fault.pointer)
        if reason:
            problems.warn(path, f"tolerated-{fault.rule}", reason, line=at, pointer=fault.pointer)
            continue
        sound = False
        message = fault.message
        if len(message) > SHOWN:
            message = f"{message[:SHOWN]}…"
        problems.error(path, f"schema-{fault.rule}", message, line=at, pointer=fault.pointer)
    return sound
