"""Acts in threads, each on a connection of its own."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection, connections

SECONDS = 30


def in_threads(count: int, act: Callable[[int], Any]) -> list[Any]:
    """What an act gives in several threads that start at the same moment, by their numbers."""
    connections.close_all()
    start = threading.Barrier(count)

    def run(number: int) -> Any:
        try:
            connection.ensure_connection()
            start.wait(timeout=SECONDS)
            return act(number)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def at_once(*acts: Callable[[], Any]) -> None:
    """Do several acts beside each other; raises what any of them raised."""
    in_threads(len(acts), lambda number: acts[number]())
