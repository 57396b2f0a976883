"""The task schema in its published forms, and its errors as the original's validator words them.

The rules are facts of the published schema; the documents are written anew. The seed form has the
rules of the paper form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

import jsonschema_rs

from academy.formats.schema_errors import errors_of

CATEGORIES = (
    "retrieval",
    "aggregation",
    "contradiction",
    "situated_action",
    "preference_inference",
    "counterfactual",
    "long_horizon",
    "cua_only",
    "hard_app",
)
ID_PATTERN = "^[a-z_]+-[a-z0-9]+$"
# Python's `$` also matches before one newline at the end, and the original runs on Python.
ID_PATTERN_AS_RUN = r"^[a-z_]+-[a-z0-9]+\n?$"


class Form(StrEnum):
    """The two sets of rules that the published forms of the schema come to."""

    PAPER = "paper"
    STRICT = "strict"


@dataclass(frozen=True, slots=True)
class SchemaError:
    """One broken rule, worded as Python's jsonschema 4.26 words it."""

    path: tuple[str | int, ...]
    keyword: str
    message: str


def schema_of(form: Form) -> dict[str, Any]:
    """The JSON Schema of a task. The order of keys is that in which errors are found."""
    strict = form is Form.STRICT
    text: dict[str, Any] = {"type": "string", "minLength": 1} if strict else {"type": "string"}
    weight = {"exclusiveMinimum": 0} if strict else {"minimum": 0}
    rubric: dict[str, Any] = {
        "type": "object",
        **({"required": ["type", "weight"]} if strict else {}),
        "anyOf": [{"required": ["criterion"]}, {"required": ["requirement"]}],
        "properties": {
            "rubric_id": {"type": "string"},
            "criterion": text,
            "requirement": text,
            "type": {"type": "string", "enum": ["llm_judge"]},
            "weight": {"type": "number", **weight, "maximum": 1},
        },
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "required": ["id", "category", "instruction", "grading"],
        "properties": {
            "id": {"type": "string", "pattern": ID_PATTERN},
            "category": {"type": "string", "enum": list(CATEGORIES)},
            "instruction": text,
            "persona": {"type": "string", "enum": ["michael_scott"]},
            "grading": {
                "type": "object",
                "required": ["type", "rubrics"],
                "properties": {
                    "type": {"type": "string", "enum": ["llm_judge"]},
                    "rubrics": {
                        "type": "array",
                        **({"minItems": 1} if strict else {}),
                        "items": rubric,
                    },
                },
            },
            "time_limit_seconds": {"type": "integer"},
            "horizon": {"type": "string"},
            "app": {"type": "string"},
            "apps_involved": {"type": "array", "items": text},
            "difficulty": {"type": "string", "enum": ["easy", "medium", "hard"]},
        },
    }


@cache
def _compiled(form: Form) -> tuple[dict[str, Any], jsonschema_rs.Draft202012Validator]:
    shown = schema_of(form)
    run = schema_of(form)
    run["properties"]["id"]["pattern"] = ID_PATTERN_AS_RUN
    return shown, jsonschema_rs.Draft202012Validator(run)


def schema_errors(task: object, form: Form) -> tuple[SchemaError, ...]:
    """Every error of a task, in the order in which Python's jsonschema finds them."""
    schema, validator = _compiled(form)
    found = []
    for error in errors_of(validator, task):
        keywords = [str(part) for part in error.schema_path]
        path = tuple(error.instance_path)
        value = _at(task, path)
        keyword = keywords[-1]
        rule = _at(schema, tuple(keywords))
        place, message = _worded(keyword, rule, value, error.message)
        found.append(
            ((*_order(schema, keywords, path), place), SchemaError(path, keyword, message))
        )
    return tuple(error for _, error in sorted(found, key=lambda item: item[0]))


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


def _order(
    schema: Mapping[str, Any], keywords: Sequence[str], path: Sequence[str | int]
) -> tuple[int, ...]:
    """The place of an error: by keyword at each level, and by item within `items`."""
    places: list[int] = []
    steps = iter(path)
    level: Any = schema
    names = False
    for keyword in keywords:
        places.append(list(level).index(keyword))
        if names:
            next(steps)
            names = False
        elif keyword == "items":
            places.append(int(next(steps)))
        else:
            names = keyword == "properties"
        level = level[keyword]
    return tuple(places)


def _worded(keyword: str, rule: Any, value: Any, said: str) -> tuple[int, str]:
    """The place among errors of one keyword, and the message."""
    if keyword == "required":
        missing = next(name for name in rule if said.startswith(f'"{name}"'))
        return rule.index(missing), f"{missing!r} is a required property"
    words = {
        "type": f"is not of type {rule!r}",
        "enum": f"is not one of {rule!r}",
        "pattern": f"does not match {rule!r}",
        "minLength": "should be non-empty",
        "minItems": "should be non-empty",
        "minimum": f"is less than the minimum of {rule!r}",
        "exclusiveMinimum": f"is less than or equal to the minimum of {rule!r}",
        "maximum": f"is greater than the maximum of {rule!r}",
        "anyOf": "is not valid under any of the given schemas",
    }
    return 0, f"{value!r} {words[keyword]}"
