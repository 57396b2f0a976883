"""Connections that the server has ended are replaced before anybody notices."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest
from django.db import connection

from academy.models import Suite
from academy.project.postgresql.base import is_open

pytestmark = pytest.mark.django_db(transaction=True)


def backend() -> int:
    """The server's process for the connection of this thread."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


def tell_server(sql: str, *given: Any) -> None:
    """Run a statement on a connection of its own, outside the pool."""
    with psycopg.connect(**address(), autocommit=True) as other:
        other.execute(sql, given)


def address() -> dict[str, Any]:
    known = connection.get_connection_params()
    return {
        key: known[key] for key in ("dbname", "user", "password", "host", "port") if known.get(key)
    }


def end_all_others() -> None:
    tell_server(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )


def test_what_the_server_ended_between_requests_is_replaced() -> None:
    before = backend()
    connection.close()
    end_all_others()
    assert Suite.objects.count() == 0
    assert backend() != before


def test_an_open_connection_is_known_though_the_server_said_something() -> None:
    with psycopg.connect(**address(), autocommit=True) as listening:
        listening.execute("LISTEN something")
        assert is_open(listening)
        tell_server("NOTIFY something")
        assert is_open(listening)
        tell_server("SELECT pg_terminate_backend(%s, 5000)", listening.info.backend_pid)
        assert not is_open(listening)
