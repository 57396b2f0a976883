"""What the database refuses, whoever asks."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction


def refused_by_trigger(statement: str, *values: Any) -> None:
    """The database refuses a statement, whoever sends it."""
    with (
        pytest.raises(IntegrityError, match=r"does not change|append-only|does not become"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement, values)
