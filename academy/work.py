"""Work that survives: rows claimed under a lease and finished once in effect.

A handler is `handler(payload) -> write`: it computes outside any transaction, and `write()` stores
the outcome in the transaction that finishes the row, only while the lease is still held.
"""

from __future__ import annotations

import json
import logging
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import connection, connections, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Collate
from django.utils import timezone

from academy.errors import AcademyError
from academy.fitting import storable
from academy.models import Work, WorkerHeartbeat
from academy.owing import disown as disown
from academy.owing import enqueue as enqueue
from academy.owing import gathering, store
from academy.owing import owing as owing

logger = logging.getLogger(__name__)

Handler = Callable[[Mapping[str, Any]], Callable[[], None]]
HANDLERS: dict[str, Handler] = {}
FOLLOWERS: list[str] = []
AFTER_FAILURE: dict[str, Callable[[Mapping[str, Any]], None]] = {}
MAX_ATTEMPTS = 5

DUE = """(state = 'ready' AND due_at <= clock_timestamp()
         OR state = 'leased' AND lease_until < clock_timestamp())"""
CLAIM = f"""
UPDATE academy_work SET state = 'leased', attempts = attempts + 1, lease_owner = %s,
       lease_until = clock_timestamp() + make_interval(secs => %s)
WHERE id = (SELECT id FROM academy_work WHERE {DUE} AND attempts < %s
            ORDER BY priority, id FOR UPDATE SKIP LOCKED LIMIT 1)
RETURNING id, kind, key, payload, attempts, requested
"""
DEAD = f"""
SELECT id, kind, key, payload, attempts, requested, lease_owner FROM academy_work
WHERE {DUE} AND state = 'leased' AND attempts >= %s ORDER BY id
"""
GIVE_UP = f"""
UPDATE academy_work SET state = 'failed', finished_at = clock_timestamp(),
       lease_owner = '', lease_until = NULL, error_id = left(md5(random()::text || id), 12),
       error = 'The worker died ' || attempts || ' times while it did this work.'
WHERE {DUE} AND state = 'leased' AND attempts >= %s AND id = %s
"""
RENEW = """
UPDATE academy_work SET lease_until = clock_timestamp() + make_interval(secs => %s)
WHERE id = %s AND state = 'leased' AND lease_owner = %s
"""
FINISH = """
UPDATE academy_work SET state = CASE WHEN requested = %s THEN 'done' ELSE 'ready' END,
       attempts = 0, lease_until = NULL, lease_owner = '', error = '', error_id = '',
       finished_at = clock_timestamp()
WHERE id = %s AND state = 'leased' AND lease_owner = %s
"""


class LeaseLostError(Exception):
    """Somebody else took the work over; nothing of ours may be written."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed row of work."""

    id: int
    kind: str
    key: str
    payload: Mapping[str, Any]
    attempts: int
    requested: int
    owner: str


def register(kind: str, handler: Handler) -> None:
    """Name the handler of a kind of work. Apps do this when they are ready."""
    HANDLERS[kind] = handler


def after_failure(kind: str, act: Callable[[Mapping[str, Any]], None]) -> None:
    """Name what follows, given the payload, when work of a kind is given up."""
    AFTER_FAILURE[kind] = act


def follow_failure(kind: str, payload: Mapping[str, Any]) -> None:
    """Do what follows when work is given up, in the transaction that says so."""
    act = AFTER_FAILURE.get(kind)
    if act is None:
        return
    try:
        with owing():
            act(payload)
    except Exception:
        # Work that failed has failed, whatever becomes of what follows.
        logger.exception("what follows the failure of work of kind %s failed too", kind)


def move(rows: QuerySet[Work], state: str, **facts: Any) -> list[Work]:
    """Give rows of work another state and further facts; gives the rows that moved. Comes last in
    a transaction."""
    with transaction.atomic():
        moved = _locked(rows)
        Work.objects.filter(pk__in=[row.pk for row in moved]).update(state=state, **facts)
    return moved


def drop(rows: QuerySet[Work]) -> None:
    """Remove rows of work. Comes last in a transaction."""
    with transaction.atomic():
        Work.objects.filter(pk__in=[row.pk for row in _locked(rows)]).delete()


def _locked(rows: QuerySet[Work]) -> list[Work]:
    # Keys in the order of Python's strings, which is that of all who lock rows of work.
    return list(rows.order_by(Collate("key", "C")).select_for_update(of=("self",)))


def follow_versions(kind: str) -> None:
    """Owe work of this kind, with {"version": id}, whenever a version's numbers move."""
    if kind not in FOLLOWERS:
        FOLLOWERS.append(kind)


def version_changed(version_id: int) -> None:
    """Owe what follows from a change of a version's numbers, once for any number of changes."""
    for kind in FOLLOWERS:
        enqueue(kind, key=f"{kind}:{version_id}", payload={"version": version_id}, priority=5)


def claim(owner: str) -> Claimed | None:
    """Take the next unit that is due under a lease, or None."""
    with connection.cursor() as cursor:
        cursor.execute(CLAIM, [owner, settings.ACADEMY_LEASE_SECONDS, MAX_ATTEMPTS])
        row = cursor.fetchone()
    if row is None:
        return None
    payload = row[3]
    return Claimed(row[0], row[1], row[2], as_mapping(payload), row[4], row[5], owner)


def as_mapping(payload: Any) -> Mapping[str, Any]:
    """The payload as a mapping, whatever the driver's loader gave."""
    return dict(json.loads(payload) if isinstance(payload, str) else payload)


def give_up_dead() -> int:
    """Mark work as failed whose workers died too often; gives how many."""
    with connection.cursor() as cursor:
        cursor.execute(DEAD, [MAX_ATTEMPTS])
        rows = cursor.fetchall()
    return sum(
        _give_up(Claimed(pk, kind, key, as_mapping(payload), *others))
        for pk, kind, key, payload, *others in rows
    )


def _give_up(dead: Claimed) -> bool:
    """False when somebody else has given it up by now."""
    try:
        settle(
            dead,
            lambda: follow_failure(dead.kind, dead.payload),
            lambda: _execute(GIVE_UP, [MAX_ATTEMPTS, dead.id]),
        )
    except LeaseLostError:
        return False
    return True


def units_ahead(rows: QuerySet[Work]) -> int:
    """The place in the queue: how many other units come before the first of these that waits."""
    first = rows.filter(state=Work.State.READY).order_by("priority", "pk").first()
    if first is None:
        return 0
    earlier = Q(priority__lt=first.priority) | Q(priority=first.priority, pk__lt=first.pk)
    return Work.objects.filter(earlier, state__in=("ready", "leased")).count()


@contextmanager
def renewed(claimed: Claimed) -> Iterator[None]:
    """Renew the lease every third of its length while the block runs."""
    done = threading.Event()
    seconds = settings.ACADEMY_LEASE_SECONDS

    def renew() -> None:
        try:
            while not done.wait(seconds / 3):
                with connection.cursor() as cursor:
                    cursor.execute(RENEW, [seconds, claimed.id, claimed.owner])
        finally:
            connections.close_all()

    thread = threading.Thread(target=renew, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def settle(claimed: Claimed, act: Callable[[], None], mark: Callable[[], int]) -> None:
    """Do an act and mark the claimed row in one transaction; the row is locked in its turn.

    Raises LeaseLostError, with nothing written, when the mark finds no row: somebody else has it.
    """
    with transaction.atomic():
        with gathering() as units:
            act()
        # What the work owes under its own key comes after its mark: that is one more execution.
        store(unit for key, unit in units.items() if key < claimed.key)
        if mark() != 1:
            raise LeaseLostError(claimed.key)
        store(unit for key, unit in units.items() if key >= claimed.key)


def _execute(statement: str, values: list[Any]) -> int:
    """How many rows a statement moved."""
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def _held(claimed: Claimed) -> QuerySet[Work]:
    return Work.objects.filter(pk=claimed.id, state="leased", lease_owner=claimed.owner)


def finish(claimed: Claimed, write: Callable[[], None]) -> None:
    """Store the outcome and finish the row in one transaction.

    Raises LeaseLostError, with nothing written, when the lease went to somebody else.
    """
    if not _held(claimed).exists():
        raise LeaseLostError(claimed.key)
    values = [claimed.requested, claimed.id, claimed.owner]
    settle(claimed, write, lambda: _execute(FINISH, values))


def fail(claimed: Claimed, error: BaseException) -> None:
    """Note an error. What a person must mend fails at once, the rest is tried again later."""
    final = isinstance(error, AcademyError) or claimed.attempts >= MAX_ATTEMPTS

    def follow() -> None:
        if final:
            follow_failure(claimed.kind, claimed.payload)

    def mark() -> int:
        return _held(claimed).update(
            state="failed" if final else "ready",
            lease_owner="",
            lease_until=None,
            due_at=timezone.now() + timedelta(seconds=2**claimed.attempts),
            error=told(error),
            error_id=uuid.uuid4().hex[:12],
            finished_at=timezone.now() if final else None,
        )

    try:
        settle(claimed, follow, mark)
    except LeaseLostError:
        logger.warning("lease lost on %s", claimed.key)


def told(error: BaseException) -> str:
    """An error as a text that the database keeps, whatever is in its message."""
    return storable(f"{type(error).__name__}: {error}")[:5000]


def perform(claimed: Claimed) -> None:
    """Do one claimed unit and finish it."""
    handler = HANDLERS.get(claimed.kind)
    try:
        if handler is None:
            raise AcademyError(f"No part of this installation handles work of kind {claimed.kind}.")
        with renewed(claimed):
            write = handler(claimed.payload)
            finish(claimed, write)
    except LeaseLostError:
        logger.warning("lease lost on %s", claimed.key)
    except Exception as error:
        logger.exception("work %s failed", claimed.key)
        fail(claimed, error)


def is_due() -> bool:
    """Whether any unit waits to be done."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT EXISTS (SELECT 1 FROM academy_work WHERE {DUE})")
        return bool(cursor.fetchone()[0])


def drain(owner: str, *, seconds: float = float("inf")) -> int:
    """Do units that are due until none is left or the time is up; gives how many."""
    give_up_dead()
    done = 0
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        claimed = claim(owner)
        if claimed is None:
            break
        perform(claimed)
        done += 1
    return done


def beat_heart(owner: str) -> None:
    """Say that a worker of this name is alive."""
    now = timezone.now()
    WorkerHeartbeat.objects.update_or_create(
        name=owner, defaults={"seen_at": now}, create_defaults={"seen_at": now, "started_at": now}
    )
