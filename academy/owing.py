"""Work is owed as rows, which a transaction locks last, after all others, in the order of keys.

Then no two transactions can wait for each other over rows of work: whoever holds one waits for
nothing but later ones. So a transaction that owes work and locks anything is opened by `owing()`,
and runs are locked without their keys: a row of work that names one must not wait for them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction

ENQUEUE = """
INSERT INTO academy_work (kind, key, payload, run_id, priority, state, attempts, requested,
                          lease_owner, error, error_id, created_at, due_at)
VALUES (%s, %s, %s::jsonb, %s, %s, 'ready', 0, 1, '', '', '', clock_timestamp(),
        COALESCE(%s, clock_timestamp()))
ON CONFLICT (key) DO UPDATE SET
    requested = academy_work.requested + 1, payload = EXCLUDED.payload,
    state = CASE WHEN academy_work.state IN ('done', 'failed') THEN 'ready'
                 ELSE academy_work.state END,
    attempts = CASE WHEN academy_work.state IN ('done', 'failed') THEN 0
                    ELSE academy_work.attempts END,
    due_at = CASE WHEN academy_work.state IN ('done', 'failed') THEN EXCLUDED.due_at
                  ELSE academy_work.due_at END,
    finished_at = NULL, error = '', error_id = ''
"""


@dataclass(frozen=True, slots=True)
class Owed:
    """A unit of work on its way to a row."""

    kind: str
    key: str
    payload: Mapping[str, Any]
    run_id: int | None
    priority: int
    due_at: datetime | None


# What the transactions that are open here owe at their ends, by key; None outside of them.
OWED: ContextVar[dict[str, Owed] | None] = ContextVar("owed", default=None)


def enqueue(
    kind: str,
    *,
    key: str,
    payload: Mapping[str, Any],
    run_id: int | None = None,
    priority: int = 0,
    due_at: datetime | None = None,
) -> None:
    """Owe a unit of work, from `due_at` on: at the end of the transaction that `owing` opened, or
    else at once. The same key again asks for one more execution, never two at once."""
    unit = Owed(kind, key, payload, run_id, priority, due_at)
    units = OWED.get()
    if units is None:
        store([unit])
    else:
        units[key] = unit


@contextmanager
def owing() -> Iterator[None]:
    """A transaction that stores what it owes as the last thing it does.

    One inside another leaves that to the outer one, and what it owed is forgotten when it fails.
    """
    outer = OWED.get()
    with transaction.atomic():
        with gathering() as units:
            yield
        if transaction.get_rollback():
            return
        if outer is None:
            store(units.values())
        else:
            outer.update(units)


@contextmanager
def gathering() -> Iterator[dict[str, Owed]]:
    """Collect what is owed in the block, by key; storing it is the caller's."""
    units: dict[str, Owed] = {}
    token = OWED.set(units)
    try:
        yield units
    finally:
        OWED.reset(token)


def store(units: Iterable[Owed]) -> None:
    """Store units of work in the order of keys."""
    listed = sorted(units, key=lambda unit: unit.key)
    if listed:
        with connection.cursor() as cursor:
            cursor.executemany(
                ENQUEUE,
                [
                    [u.kind, u.key, json.dumps(dict(u.payload)), u.run_id, u.priority, u.due_at]
                    for u in listed
                ],
            )


def disown(is_done: Callable[[Owed], bool]) -> None:
    """Forget what the transaction owes and has done itself by now."""
    units = OWED.get()
    if units is not None:
        for unit in [unit for unit in units.values() if is_done(unit)]:
            del units[unit.key]
