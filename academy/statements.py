"""Statements bound by the server: it keeps their plan, and sends large values as they are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.models import QuerySet
from psycopg.pq import Format


@contextmanager
def bound_cursor(*, binary: bool = False) -> Iterator[Any]:
    """A cursor for the few statements that are asked most, or bring the most.

    Django puts parameters into the text, so that every statement is planned anew and a `bytea`
    comes as twice as many hexadecimal digits. Here a statement that comes again on a connection
    (`prepare_threshold` in the settings) is prepared; `binary` gets values in the binary format.
    The queries are logged and counted like all others.
    """
    connection.ensure_connection()
    with psycopg.Cursor(connection.connection) as cursor:
        cursor.format = Format.BINARY if binary else Format.TEXT
        # Wrapped as Django wraps its own, which mypy is told are of another class.
        wrapped: Any = cursor
        if connection.queries_logged:
            yield connection.make_debug_cursor(wrapped)
        else:
            yield connection.make_cursor(wrapped)


def read_binary(rows: QuerySet[Any, Any]) -> list[tuple[Any, ...]]:
    """The rows of a `values_list` of plain columns, with `bytea` as it is stored."""
    try:
        sql, parameters = rows.query.sql_with_params()
    except EmptyResultSet:
        # Django knows without asking that there is none, as of an empty list of runs.
        return []
    with bound_cursor(binary=True) as cursor:
        cursor.execute(sql, parameters)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
