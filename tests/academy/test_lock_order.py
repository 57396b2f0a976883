"""Transactions that owe work never wait for each other over its rows."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import pytest
from django.db import OperationalError, connection, transaction

from academy import ending, rescoring, work
from academy.models import Blob, Run, Score, Work
from academy.work import Claimed
from tests import factories as make
from tests.threads import at_once

SECONDS = 20
# The table of sessions stays what it was when a transaction first looked; that of locks does not.
WAITING = """
SELECT EXISTS (SELECT 1 FROM pg_locks AS asked JOIN pg_locks AS held USING (pid)
               JOIN pg_database ON pg_database.oid = held.database
               WHERE NOT asked.granted AND datname = current_database())
"""
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row() -> Blob:
    """What several transactions want to lock."""
    return Blob.objects.create(digest="a" * 64, size=0, content=b"")


def await_waiting() -> None:
    """Return once another transaction waits for a lock."""
    until = time.monotonic() + SECONDS
    while time.monotonic() < until:
        with connection.cursor() as cursor:
            cursor.execute(WAITING)
            if cursor.fetchone()[0]:
                return
        time.sleep(0.01)
    pytest.fail("nobody came to wait")


def lock(row: Blob) -> None:
    Blob.objects.select_for_update().get(pk=row.pk)


def owe(key: str) -> None:
    work.enqueue("test-lock-order", key=key, payload={})


def claimed(key: str) -> Claimed:
    owe(key)
    unit = work.claim("worker")
    assert unit is not None
    assert unit.key == key
    return unit


def states() -> dict[str, tuple[str, int]]:
    """State and number of requests of all units, by key."""
    return {unit.key: (unit.state, unit.requested) for unit in Work.objects.order_by("key")}


def test_one_unit_owes_another_that_is_being_stored(row: Blob) -> None:
    """So the last unit of a run owes its sum while an earlier sum of it is stored."""
    score, total = claimed("score"), claimed("sum")
    holds = threading.Event()

    def write_scores() -> None:
        lock(row)
        holds.set()
        await_waiting()
        owe("sum")

    def write_sum() -> None:
        lock(row)

    def store_sum() -> None:
        assert holds.wait(SECONDS)
        work.finish(total, write_sum)

    at_once(lambda: work.finish(score, write_scores), store_sum)
    assert states() == {"score": ("done", 1), "sum": ("ready", 2)}


def test_two_units_owe_each_other(row: Blob) -> None:
    """So the sums of two human runs, each of which moves the baseline of the other."""
    first, second = claimed("first"), claimed("second")
    meet = threading.Barrier(2)

    def owing(key: str) -> Callable[[], None]:
        def write() -> None:
            meet.wait(SECONDS)
            owe(key)

        return write

    at_once(
        lambda: work.finish(first, owing("second")), lambda: work.finish(second, owing("first"))
    )
    assert sorted(states()) == ["first", "second"]
    assert all(requested == 2 for _state, requested in states().values())


def test_a_page_owes_a_unit_that_is_being_stored(row: Blob) -> None:
    unit = claimed("score")
    holds = threading.Event()

    def page() -> None:
        with work.owing():
            lock(row)
            holds.set()
            await_waiting()
            owe("score")

    def worker() -> None:
        assert holds.wait(SECONDS)
        work.finish(unit, lambda: lock(row))

    at_once(page, worker)
    assert states()["score"][1] == 2


def test_two_pages_owe_the_same_units_in_different_orders() -> None:
    meet = threading.Barrier(2)

    def page(*keys: str) -> Callable[[], None]:
        def act() -> None:
            with work.owing():
                owe(keys[0])
                meet.wait(SECONDS)
                owe(keys[1])

        return act

    at_once(page("one", "two"), page("two", "one"))
    assert states() == {"one": ("ready", 2), "two": ("ready", 2)}


def test_a_pause_and_a_page_want_the_same_units_in_different_orders() -> None:
    for key in ("c", "b", "a"):
        owe(key)
    holds = threading.Event()

    def page() -> None:
        with transaction.atomic():
            owe("a")
            holds.set()
            await_waiting()
            owe("b")

    def pause() -> None:
        assert holds.wait(SECONDS)
        work.move(Work.objects.filter(state="ready"), "paused")

    at_once(page, pause)
    assert set(states().values()) == {("paused", 1), ("paused", 2)}


def test_a_run_is_scored_again_while_scores_of_it_are_stored() -> None:
    version = make.takeoff_version(2, publish=False)
    run = make.takeoff_run(version, {"t-0": 100, "t-1": 50})
    unit = work.claim("worker")
    assert unit is not None
    assert unit.kind == "score"
    stored, asked = threading.Event(), threading.Event()
    write = work.HANDLERS["score"](unit.payload)

    def write_slowly() -> None:
        write()
        stored.set()
        assert asked.wait(SECONDS), "whoever asks for scores waited for those that are stored"

    def ask() -> None:
        assert stored.wait(SECONDS)
        rescoring.score_again([run], reason="asked for meanwhile")
        asked.set()

    at_once(lambda: work.finish(unit, write_slowly), ask)
    assert make.score_all()
    assert set(Work.objects.values_list("state", flat=True)) == {"done"}
    assert Score.objects.filter(record__run=run, current=True, mode="strict").count() == 2


def test_what_a_failed_part_of_a_transaction_owed_is_forgotten() -> None:
    with work.owing():
        owe("kept")
        with pytest.raises(ValueError, match="half way"), work.owing():
            owe("lost")
            raise ValueError("half way")
    assert list(states()) == ["kept"]


def test_a_transaction_that_is_rolled_back_owes_nothing() -> None:
    with work.owing():
        owe("lost")
        transaction.set_rollback(True)
    assert states() == {}


def test_no_run_ends_while_more_of_it_is_stored() -> None:
    """Else it would be open again, or hold records of which its digest does not know."""
    version = make.takeoff_version(2, publish=False)
    pieces = [make.line_run(line, closed=False) for line in map(make.execution, ("t-0", "t-1"))]
    run = make.run_of(make.record_files(pieces[0], version))
    holds = threading.Event()

    def withdraw_meanwhile() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            # What comes has to wait here, after the run was chosen.
            cursor.execute("LOCK TABLE academy_pack IN EXCLUSIVE MODE")
            holds.set()
            await_waiting()
            cursor.execute("SET LOCAL lock_timeout = '200ms'")
            ending.withdraw_run(run, reason="entered twice")

    def store_more() -> None:
        assert holds.wait(SECONDS)
        make.record_files(pieces[1], version)

    with pytest.raises(OperationalError, match="lock timeout"):
        at_once(withdraw_meanwhile, store_more)
    ending.withdraw_run(run, reason="entered twice")
    run.refresh_from_db()
    assert (run.state, run.records_expected) == (Run.State.WITHDRAWN, 2)
