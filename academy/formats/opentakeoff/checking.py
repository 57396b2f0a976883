"""Documents held against their schemas, with every breach as a sentence and a pointer."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.opentakeoff.schemas import SCHEMAS
from academy.formats.reading import Files, check_text, line_of, pointer, read_json
from academy.formats.schema_errors import errors_of

SHOWN = 80
LARGEST = int(sys.float_info.max)

# keyword -> what to say of the shown value and the broken rule
SENTENCES: Mapping[str, Callable[[str, Any], str]] = {
    "required": lambda _shown, kind: f"{kind.property!r} is missing",
    "additionalProperties": lambda _shown, kind: (
        f"fields that are not allowed here: {', '.join(map(repr, sorted(kind.unexpected)))}"
    ),
    "enum": lambda shown, _kind: f"{shown} is not one of the allowed values",
    "const": lambda shown, kind: f"{shown} is not {kind.expected_value!r}, the only allowed value",
    "type": lambda shown, kind: f"{shown} is not of the type {' or '.join(sorted(kind.types))}",
    "pattern": lambda shown, kind: f"{shown} does not have the form {kind.pattern}",
    "minimum": lambda shown, kind: f"{shown} is less than {kind.limit}",
    "maximum": lambda shown, kind: f"{shown} is greater than {kind.limit}",
    "minItems": lambda _shown, kind: f"the list has fewer than {kind.limit} items",
    "minLength": lambda _shown, kind: f"the text is shorter than {kind.limit} characters",
    "maxLength": lambda _shown, kind: f"the text is longer than {kind.limit} characters",
}


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One breach of a schema: the pointer of the value and what is wrong with it."""

    pointer: str
    keyword: str
    message: str


@cache
def validator(name: str) -> Draft202012Validator:
    """The compiled schema of that name."""
    return Draft202012Validator(json.dumps(SCHEMAS[name]))


def schema_errors(name: str, document: JSON) -> list[SchemaError]:
    """Every breach of the named schema, in the order of the pointers."""
    found = errors_of(validator(name), document)
    rows = [row_of(error, sealed=name == "key") for error in found]
    return sorted(rows, key=lambda row: (row.pointer, row.keyword, row.message))


def row_of(error: ValidationError, *, sealed: bool) -> SchemaError:
    """An error in our own words. Values are shown where they are short and no answer key."""
    kind: Any = error.kind
    keyword = str(kind.name)
    place = pointer(*error.instance_path)
    hidden = sealed or place.startswith("/groundTruth")
    shown = "the value" if hidden else show(error.instance)
    say = SENTENCES.get(keyword)
    text = say(shown, kind) if say else f"{shown} breaks the rule {keyword!r}"
    return SchemaError(place, keyword, text)


def show(value: object) -> str:
    """A value for a message: short texts and numbers as they are, the rest by its kind."""
    if isinstance(value, str | int | float) or value is None:
        text = json.dumps(value, ensure_ascii=True)
        return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
    return "a list" if isinstance(value, list) else "an object"


@dataclass(frozen=True, slots=True)
class Read:
    """A document that keeps to its schema, with the bytes that it was read from."""

    path: str
    data: bytes
    document: Mapping[str, JSON]

    def is_sound(self, problems: Problems) -> bool:
        """Whether everything in it can be stored; else an error each."""
        return check_values(self.document, path=self.path, data=self.data, problems=problems)


def read_checked(name: str, path: PurePosixPath, files: Files, problems: Problems) -> Read | None:
    """The document in a file; None when it cannot be read or breaks its schema."""
    try:
        data = files[path]
        document = read_json(data, path=str(path))
    except FormatError as error:
        problems.extend(error)
        return None
    if not check_schema(name, document, path=str(path), data=data, problems=problems):
        return None
    return Read(str(path), data, document if isinstance(document, Mapping) else {})


def check_schema(name: str, document: JSON, *, path: str, data: bytes, problems: Problems) -> bool:
    """Whether the document keeps to its schema; every breach goes to `problems` with its line."""
    rows = schema_errors(name, document)
    for row in rows:
        problems.error(
            path, "schema", row.message, line=line_of(data, row.pointer), pointer=row.pointer
        )
    return not rows


def find_key(value: JSON, name: str, *parts: str | int) -> tuple[str | int, ...] | None:
    """Where a member of that name is first found anywhere in a document, or None."""
    if isinstance(value, Mapping):
        if name in value:
            return (*parts, name)
        items: Iterable[tuple[str | int, JSON]] = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    else:
        return None
    for part, item in items:
        found = find_key(item, name, *parts, part)
        if found is not None:
            return found
    return None


def check_values(
    value: JSON, *parts: str | int, path: str, data: bytes, problems: Problems
) -> bool:
    """Whether every text, key and number of a document can be stored; else an error each."""
    if isinstance(value, str):
        where = pointer(*parts)
        return check_text(
            value, path=path, pointer=where, problems=problems, line=line_of(data, where)
        )
    children: list[tuple[str | int, JSON]] = []
    sound = True
    if isinstance(value, int) and not -LARGEST <= value <= LARGEST:
        where = pointer(*parts)
        message = "the number is too large for a double"
        problems.error(path, "number-range", message, line=line_of(data, where), pointer=where)
        return False
    if isinstance(value, Mapping):
        children = list(value.items())
        for name in value:
            sound &= check_text(name, path=path, pointer=pointer(*parts), problems=problems)
    elif isinstance(value, list):
        children = list(enumerate(value))
    for part, item in children:
        sound &= check_values(item, *parts, part, path=path, data=data, problems=problems)
    return sound
