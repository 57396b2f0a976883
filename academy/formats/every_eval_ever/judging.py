"""The verdict of a JSON Schema: every fault with the place in the document and the keyword."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import jsonschema_rs

from academy.bundle import JSON
from academy.formats import schema_errors
from academy.formats.reading import pointer

AGGREGATES = ("0.0.1", "0.1.0", "0.2.0", "0.2.1", "0.2.2", "0.3.0")
INSTANCES = ("0.2.0", "0.2.1", "0.3.0", "trajectory")
LARGE = 1e308
STAND_INS = {"NaN": 0.5, "Infinity": LARGE, "-Infinity": -LARGE}


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """One thing that a schema refuses. `missing` names the member that a `required` misses."""

    pointer: str
    keyword: str
    message: str
    missing: str = ""

    @property
    def rule(self) -> str:
        """The keyword as the name of a rule: `additionalProperties` is `additional-properties`."""
        return re.sub(r"([A-Z])", lambda found: f"-{found[1].lower()}", self.keyword)


@cache
def validator(name: str) -> Any:
    """The compiled schema of that name, for example `aggregate-0.3.0`.

    Formats are not asserted: the only one used, `uri-reference`, is an annotation to the tools
    that these records were first checked with.
    """
    text = files(__package__).joinpath("schemas", f"{name}.json").read_text(encoding="utf-8")
    return jsonschema_rs.Draft7Validator(json.loads(text), validate_formats=False)


def judge(value: JSON, name: str) -> tuple[SchemaFault, ...]:
    """Everything that a schema refuses in a value, in the schema's order."""
    return tuple(fault_of(error) for error in schema_errors.errors_of(validator(name), value))


def fault_of(error: Any) -> SchemaFault:
    """An error of the validator as a plain value."""
    keyword = next((str(part) for part in reversed(error.schema_path) if isinstance(part, str)), "")
    missing = str(getattr(error.kind, "property", "") or "") if keyword == "required" else ""
    return SchemaFault(pointer(*error.instance_path), keyword, error.message, missing)


def is_valid(value: JSON, name: str) -> bool:
    """Whether a schema takes a value."""
    return schema_errors.is_valid(validator(name), value)


def judge_text(text: str, name: str) -> tuple[SchemaFault, ...] | None:
    """The verdict as the common schema tools give it, or None for text that is no JSON
    or is nested deeper than they go.

    Their parser lets NaN, Infinity and double keys pass, so the schema sees numbers and the last
    of two members. What is stored never goes this way: `read_json` refuses all of them.
    """
    try:
        value = json.loads(text, parse_constant=STAND_INS.__getitem__, parse_float=finite_part)
        return judge(value, name)
    except (ValueError, RecursionError):
        return None


def finite_part(text: str) -> float:
    """A float, with one that overflows cut to a large one."""
    number = float(text)
    return number if math.isfinite(number) else math.copysign(LARGE, number)
