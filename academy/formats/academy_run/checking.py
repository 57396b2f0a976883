"""The published JSON Schema, compiled, and its errors as problems."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import jsonschema_rs

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.reading import pointer

SHOWN = 200
CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")
SURROGATE = re.compile(r"[\ud800-\udfff]")


@cache
def schema() -> Mapping[str, JSON]:
    """The schema of one line, as it is published."""
    text = files(__package__).joinpath("schema.json").read_text(encoding="utf-8")
    loaded: Mapping[str, JSON] = json.loads(text)
    return loaded


def published_schemas() -> Mapping[str, JSON]:
    """The schemas that anybody may check a file of this form against, by name."""
    return {"academy_run": schema()}


@cache
def validator(part: str) -> jsonschema_rs.Draft202012Validator:
    """The compiled schema of "header" or "execution"."""
    chosen = {key: value for key, value in schema().items() if key != "anyOf"}
    return jsonschema_rs.Draft202012Validator({**chosen, "$ref": f"#/$defs/{part}"})


def check(value: JSON, part: str, *, path: str, line: int, problems: Problems) -> bool:
    """Whether a line has the form; if not, every error is noted with its pointer and keyword."""
    is_right = True
    for error in errors_of(value, validator(part)):
        keyword = CAPITAL.sub("-", error.kind.name).lower()
        place = pointer(*error.instance_path)
        message = error.message if len(error.message) <= SHOWN else error.message[:SHOWN] + "…"
        problems.error(path, f"schema-{keyword}", message, line=line, pointer=place)
        is_right = False
    return is_right


def errors_of(
    value: JSON, compiled: jsonschema_rs.Draft202012Validator
) -> Sequence[jsonschema_rs.ValidationError]:
    """What the schema finds wrong."""
    try:
        return [] if compiled.is_valid(value) else list(compiled.iter_errors(value))
    except UnicodeEncodeError:
        # The validator takes no lone surrogates; no rule of the form depends on them.
        return list(compiled.iter_errors(without_surrogates(value)))


def without_surrogates(value: JSON) -> JSON:
    """The value with every lone surrogate replaced."""
    if isinstance(value, str):
        return SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {
            SURROGATE.sub("\ufffd", key): without_surrogates(item) for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value
