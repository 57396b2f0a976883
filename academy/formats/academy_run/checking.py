"""The published JSON Schema, compiled, and its errors as problems."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import jsonschema_rs

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.reading import pointer
from academy.formats.schema_errors import errors_of

SHOWN = 200
CAPITAL = re.compile(r"(?<!^)(?=[A-Z])")


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
    for error in errors_of(validator(part), value):
        keyword = CAPITAL.sub("-", error.kind.name).lower()
        place = pointer(*error.instance_path)
        message = error.message if len(error.message) <= SHOWN else error.message[:SHOWN] + "…"
        problems.error(path, f"schema-{keyword}", message, line=line, pointer=place)
        is_right = False
    return is_right
