"""What a compiled schema finds wrong in a value, whatever characters the value holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from jsonschema_rs import Draft7Validator, Draft202012Validator, ValidationError

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
Compiled = Draft7Validator | Draft202012Validator


def errors_of(compiled: Compiled, value: object) -> list[ValidationError]:
    """Every breach of the schema, in the schema's order.

    The engine takes only real text, so it is shown another character for half of a pair; that
    changes no length and no verdict of a rule that speaks of none.
    """
    try:
        return [] if compiled.is_valid(value) else list(compiled.iter_errors(value))
    except UnicodeEncodeError:
        return list(compiled.iter_errors(without_surrogates(value)))


def is_valid(compiled: Compiled, value: object) -> bool:
    """Whether the schema takes the value; cheaper than to ask for its breaches."""
    try:
        return compiled.is_valid(value)
    except UnicodeEncodeError:
        return compiled.is_valid(without_surrogates(value))


def without_surrogates(value: Any) -> Any:
    """The value with another character for every half of a pair that stands alone."""
    if isinstance(value, str):
        return LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, Mapping):
        return {
            LONE_SURROGATE.sub("\ufffd", key): without_surrogates(item)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_surrogates(item) for item in value]
    return value
