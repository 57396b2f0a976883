"""Statements bound by the server: it keeps their plan, and sends large values as they are.

Django puts parameters into the text, so that every statement is planned anew and a `bytea` comes as
twice as many hexadecimal digits. A bound statement that comes again on a connection
(`prepare_threshold` in the settings) is prepared, and planning is most of what a small one costs.
Not all of Django's statements can be bound (ticket 34255), and a bound one has at most 65,535
parameters, so this is for named places, each with its tests, and not for the whole project.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from django.core.exceptions import EmptyResultSet
from django.db import connection
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.models import QuerySet
from psycopg.pq import Format


@contextmanager
def bound_cursor(*, binary: bool = False) -> Iterator[Any]:
    """A cursor for the few statements that are asked most, or bring the most.

    `binary` gets values in the binary format. The queries are logged and counted like all others.
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


@contextmanager
def all_bound() -> Iterator[None]:
    """Bind all statements within, those of querysets too; for requests that people wait for.

    While queries are logged nothing is bound, since Django cannot tell the text of a bound one.
    """
    if connection.queries_logged:
        yield
        return
    connection.ensure_connection()
    raw: Any = connection.connection
    before = raw.cursor_factory
    raw.cursor_factory = ServerBindingCursor
    try:
        yield
    finally:
        raw.cursor_factory = before


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
