"""Texts and numbers from outside are held against the columns that are to keep them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from django.db import models

from academy.errors import AcademyError

LONE_SURROGATE = re.compile("[\ud800-\udfff]")
Row = TypeVar("Row", bound=models.Model)
WHOLE = {"IntegerField": 2**31, "BigIntegerField": 2**63}


def fitting(row: Row, where: str) -> Row:
    """The row, not stored yet. Raises AcademyError for a text that its column cannot keep."""
    for field in row._meta.concrete_fields:
        value = getattr(row, field.attname)
        if not isinstance(value, str):
            continue
        limit = getattr(field, "max_length", None)
        if limit is not None and len(value) > limit:
            raise AcademyError(
                f"{where}: the {field.verbose_name} has {len(value)} characters, "
                f"of which {limit} can be kept."
            )
        if "\x00" in value:
            raise AcademyError(f"{where}: the {field.verbose_name} holds the character U+0000.")
    return row


def as_plain(value: Any) -> Any:
    """A JSON value of lists and dicts, as the database gives it back."""
    if isinstance(value, Mapping):
        return {key: as_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [as_plain(part) for part in value]
    return value


def storable(text: str) -> str:
    """A text as the database keeps it: what it cannot hold is replaced by a sign for it."""
    return LONE_SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text).replace(
        "\x00", "\N{SYMBOL FOR NULL}"
    )


def too_great(model: type[models.Model], numbers: dict[str, int | None]) -> str:
    """The name of the first number that its column cannot keep, or ""."""
    for name, number in numbers.items():
        limit = WHOLE[model._meta.get_field(name).get_internal_type()]
        if number is not None and not -limit <= number < limit:
            return name
    return ""
