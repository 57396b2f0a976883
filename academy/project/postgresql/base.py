"""Connections of the pool are looked at without asking the server, as each request needs one.

`CONN_HEALTH_CHECKS` asks it each time, which takes as long as the one query of most board pages. A
server that ended a connection has closed its socket, and that can be seen from here.
"""

from __future__ import annotations

import select
from typing import Any

import psycopg
from django.db.backends.postgresql import base


class DatabaseWrapper(base.DatabaseWrapper):
    """PostgreSQL by connections that are open."""

    def get_new_connection(self, conn_params: dict[str, Any]) -> Any:
        """A connection of the pool; those that the server has ended are replaced."""
        found = super().get_new_connection(conn_params)
        while self.pool and not is_open(found):
            found.close()
            self.pool.putconn(found)
            found = super().get_new_connection(conn_params)
        return found


def is_open(connection: psycopg.Connection[Any]) -> bool:
    """Whether an idle connection can be used.

    One whose server has said nothing since is open. What it said may be the end, or a changed
    setting; then it is asked.
    """
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    if not waiting.poll(0):
        return True
    try:
        connection.execute("")
    except psycopg.Error:
        return False
    return True
