"""Work that is owed is claimed once, finished once in effect, and never lost."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import connection
from django.utils import timezone

from academy import work
from academy.errors import AcademyError
from academy.models import Blob, Work, WorkerHeartbeat
from tests.threads import in_threads

KIND = "test-kind"


@pytest.fixture
def done(db: None) -> Iterator[list[Mapping[str, Any]]]:
    """A kind of work of these tests; gives the payloads whose outcome was written."""
    written: list[Mapping[str, Any]] = []

    def handle(payload: Mapping[str, Any]) -> Callable[[], None]:
        return lambda: written.append(payload)

    work.register(KIND, handle)
    yield written
    del work.HANDLERS[KIND]


def owe(key: str = "one", **payload: Any) -> Work:
    work.enqueue(KIND, key=key, payload=payload)
    return Work.objects.get(key=key)


def again(row: Work) -> Work:
    row.refresh_from_db()
    return row


def make_due(row: Work) -> None:
    Work.objects.filter(pk=row.pk).update(due_at=timezone.now() - timedelta(seconds=1))


def end_lease(row: Work) -> None:
    """Let a lease run out, as it does when its worker is gone."""
    Work.objects.filter(pk=row.pk).update(lease_until=timezone.now() - timedelta(seconds=1))


def fail_with(error: Exception) -> None:
    def handle(_payload: Mapping[str, Any]) -> Callable[[], None]:
        raise error

    work.register(KIND, handle)


def test_what_is_owed_is_done_once(done: list[Mapping[str, Any]]) -> None:
    row = owe(number=7)
    assert work.is_due()
    assert work.drain("worker") == 1
    assert done == [{"number": 7}]
    assert (again(row).state, row.lease_owner, row.attempts) == ("done", "", 0)
    assert row.finished_at is not None
    assert not work.is_due()
    assert work.drain("worker") == 0


def test_work_is_done_in_the_order_of_priority_and_age(done: list[Mapping[str, Any]]) -> None:
    for key, priority in (("a", 0), ("b", 5), ("c", -5), ("d", 0)):
        work.enqueue(KIND, key=key, payload={"key": key}, priority=priority)
    work.drain("worker")
    assert [payload["key"] for payload in done] == ["c", "a", "d", "b"]


def test_a_claim_names_its_holder_and_holds_for_a_lease(done: list[Mapping[str, Any]]) -> None:
    row = owe()
    claimed = work.claim("worker")
    assert claimed is not None
    assert (claimed.id, claimed.attempts, claimed.owner) == (row.pk, 1, "worker")
    assert (again(row).state, row.lease_owner) == ("leased", "worker")
    assert row.lease_until is not None
    assert 20 < (row.lease_until - timezone.now()).total_seconds() <= 30
    assert work.claim("other") is None


def test_requests_for_the_same_key_collapse(done: list[Mapping[str, Any]]) -> None:
    for number in range(5):
        owe(number=number)
    assert Work.objects.count() == 1
    assert work.drain("worker") == 1
    assert done == [{"number": 4}]


def test_a_key_asked_for_again_later_is_done_again(done: list[Mapping[str, Any]]) -> None:
    owe(number=1)
    work.drain("worker")
    owe(number=2)
    work.drain("worker")
    assert done == [{"number": 1}, {"number": 2}]


def test_a_key_asked_for_while_it_is_being_done_is_done_once_more(
    done: list[Mapping[str, Any]],
) -> None:
    row = owe(number=1)
    claimed = work.claim("worker")
    assert claimed is not None
    owe(number=2)
    owe(number=3)
    assert (again(row).state, row.lease_owner) == ("leased", "worker")
    assert work.claim("other") is None
    work.perform(claimed)
    assert again(row).state == "ready"
    assert work.drain("worker") == 1
    assert done == [{"number": 1}, {"number": 3}]
    assert again(row).state == "done"


def test_a_lost_lease_writes_nothing(
    done: list[Mapping[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    row = owe(number=1)
    slow = work.claim("slow")
    assert slow is not None
    end_lease(row)
    quick = work.claim("quick")
    assert quick is not None
    work.perform(slow)
    assert done == []
    assert "lease lost on one" in caplog.text
    assert (again(row).state, row.lease_owner) == ("leased", "quick")
    work.perform(quick)
    assert done == [{"number": 1}]


def test_finishing_without_the_lease_raises_before_anything_is_written(
    done: list[Mapping[str, Any]],
) -> None:
    row = owe()
    claimed = work.claim("slow")
    assert claimed is not None
    end_lease(row)
    work.claim("quick")
    with pytest.raises(work.LeaseLostError):
        work.finish(claimed, lambda: done.append({}))
    assert done == []


def test_an_outcome_that_cannot_be_stored_leaves_the_work_owed(db: None) -> None:
    def handle(_payload: Mapping[str, Any]) -> Callable[[], None]:
        def write() -> None:
            Blob.objects.create(digest="kept-by-nobody", size=1, content=b"")
            raise RuntimeError("half way")

        return write

    work.register(KIND, handle)
    row = owe()
    work.drain("worker")
    del work.HANDLERS[KIND]
    assert not Blob.objects.exists()
    assert (again(row).state, row.error) == ("ready", "RuntimeError: half way")


def test_a_lease_that_lives_is_renewed_and_a_lost_one_is_not(
    done: list[Mapping[str, Any]],
) -> None:
    row = owe()
    claimed = work.claim("worker")
    assert claimed is not None
    with connection.cursor() as cursor:
        cursor.execute(work.RENEW, [500, claimed.id, "somebody-else"])
        assert cursor.rowcount == 0
        cursor.execute(work.RENEW, [500, claimed.id, claimed.owner])
        assert cursor.rowcount == 1
    assert again(row).lease_until > timezone.now() + timedelta(seconds=400)


def test_an_unexpected_error_is_tried_again_later_and_fails_after_five_attempts(
    done: list[Mapping[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    fail_with(RuntimeError("the disk is on fire"))
    row = owe()
    waits = []
    for attempt in range(1, 6):
        assert work.drain("worker") == 1
        again(row)
        assert row.error == "RuntimeError: the disk is on fire"
        assert len(row.error_id) == 12
        assert row.attempts == attempt
        if attempt < 5:
            assert (row.state, row.finished_at) == ("ready", None)
            waits.append((row.due_at - timezone.now()).total_seconds())
            assert not work.is_due()
            make_due(row)
    assert row.state == "failed"
    assert row.finished_at is not None
    assert waits == sorted(waits)
    assert waits[0] > 0.5
    make_due(row)
    assert work.drain("worker") == 0
    assert caplog.text.count("the disk is on fire") >= 5


def test_what_a_person_must_mend_fails_at_once(done: list[Mapping[str, Any]]) -> None:
    fail_with(AcademyError("The suite lacks a key."))
    row = owe()
    work.drain("worker")
    assert (again(row).state, row.attempts) == ("failed", 1)
    assert row.error == "AcademyError: The suite lacks a key."
    assert len(row.error_id) == 12


def test_a_failure_that_is_asked_for_again_starts_anew(done: list[Mapping[str, Any]]) -> None:
    row = owe()
    Work.objects.filter(pk=row.pk).update(
        state="failed", attempts=5, error="old", error_id="old", finished_at=timezone.now()
    )
    owe(number=2)
    assert (again(row).state, row.attempts, row.error, row.error_id) == ("ready", 0, "", "")
    assert work.drain("worker") == 1
    assert done == [{"number": 2}]


def test_work_whose_workers_die_is_given_up_after_five_attempts_with_an_error_and_an_id(
    done: list[Mapping[str, Any]],
) -> None:
    row = owe()
    for _attempt in range(5):
        assert work.claim("doomed") is not None
        assert work.give_up_dead() == 0
        end_lease(row)
    assert work.claim("next") is None
    assert work.give_up_dead() == 1
    again(row)
    assert row.state == "failed"
    assert row.error == "The worker died 5 times while it did this work."
    assert len(row.error_id) == 12
    assert (row.lease_owner, row.finished_at is not None) == ("", True)
    assert done == []


ODD_TEXTS = {"null": "a \x00 in it", "surrogate": "a lone \ud800", "long": "long " * 5000}


@pytest.mark.parametrize("name", sorted(ODD_TEXTS))
def test_an_error_that_no_column_keeps_is_told_all_the_same(
    done: list[Mapping[str, Any]], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is logged goes to the process that runs the tests, which takes no lone surrogates.
    monkeypatch.setattr(work.logger, "disabled", True)
    fail_with(ValueError(ODD_TEXTS[name]))
    row = owe()
    assert work.drain("worker") == 1
    assert again(row).state == "ready"
    assert row.error.startswith("ValueError: ")
    assert len(row.error) <= 5000


def test_work_of_a_kind_nobody_knows_fails_with_a_sentence(db: None) -> None:
    work.enqueue("nobody-knows", key="one", payload={})
    work.drain("worker")
    row = Work.objects.get()
    assert row.state == "failed"
    assert "handles work of kind nobody-knows" in row.error


def test_paused_work_waits(done: list[Mapping[str, Any]]) -> None:
    row = owe()
    Work.objects.filter(pk=row.pk).update(state="paused")
    owe()
    assert work.drain("worker") == 0
    assert again(row).state == "paused"


def test_draining_ends_when_its_time_is_up(done: list[Mapping[str, Any]]) -> None:
    owe()
    assert work.drain("worker", seconds=0) == 0
    assert done == []


def test_one_failure_does_not_keep_others_from_being_done(
    done: list[Mapping[str, Any]], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    work.enqueue("nobody-knows", key="bad", payload={}, priority=-9)
    owe(number=1)
    assert work.drain("worker") == 2
    assert done == [{"number": 1}]


def test_a_heartbeat_keeps_the_start_and_moves_the_end(db: None) -> None:
    work.beat_heart("worker")
    first = WorkerHeartbeat.objects.get()
    work.beat_heart("worker")
    second = WorkerHeartbeat.objects.get()
    assert second.started_at == first.started_at
    assert second.seen_at > first.seen_at


@pytest.mark.django_db(transaction=True)
def test_eight_threads_never_claim_the_same_unit() -> None:
    for number in range(40):
        work.enqueue(KIND, key=f"key-{number}", payload={"number": number})

    def claim_all(thread: int) -> list[int]:
        found = []
        while (claimed := work.claim(f"thread-{thread}")) is not None:
            found.append(claimed.id)
        return found

    claimed = [pk for found in in_threads(8, claim_all) for pk in found]
    assert len(claimed) == len(set(claimed)) == 40
    assert Work.objects.filter(state="leased", attempts=1).count() == 40


@pytest.mark.django_db(transaction=True)
def test_eight_threads_that_want_one_unit_get_it_once() -> None:
    for round_number in range(5):
        work.enqueue(KIND, key=f"round-{round_number}", payload={})
        got = in_threads(8, lambda number: work.claim(f"thread-{number}"))
        assert sum(claimed is not None for claimed in got) == 1


@pytest.mark.django_db(transaction=True)
def test_eight_threads_that_owe_one_key_owe_one_unit() -> None:
    in_threads(8, lambda number: work.enqueue(KIND, key="one", payload={"number": number}))
    row = Work.objects.get()
    assert (row.state, row.requested) == ("ready", 8)


@pytest.mark.django_db(transaction=True)
def test_a_unit_that_takes_longer_than_its_lease_is_kept_by_renewing(
    settings: LazySettings,
) -> None:
    settings.ACADEMY_LEASE_SECONDS = 0.6
    written = []
    stolen = []

    def handle(_payload: Mapping[str, Any]) -> Callable[[], None]:
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            stolen.append(work.claim("thief"))
            time.sleep(0.05)
        return lambda: written.append(True)

    work.register(KIND, handle)
    work.enqueue(KIND, key="long", payload={})
    work.drain("worker")
    del work.HANDLERS[KIND]
    assert written == [True]
    assert set(stolen) == {None}
    assert Work.objects.get().state == "done"


@pytest.mark.django_db(transaction=True)
def test_a_worker_that_sleeps_past_its_lease_loses_to_the_one_that_took_over(
    settings: LazySettings,
) -> None:
    settings.ACADEMY_LEASE_SECONDS = 0.2
    work.enqueue(KIND, key="one", payload={})
    asleep = work.claim("asleep")
    assert asleep is not None
    time.sleep(0.3)
    awake = work.claim("awake")
    assert awake is not None
    assert awake.attempts == 2
    work.finish(awake, lambda: None)
    with pytest.raises(work.LeaseLostError):
        work.finish(asleep, lambda: pytest.fail("nothing may be written"))
    assert Work.objects.get().state == "done"
