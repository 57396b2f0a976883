"""Many who press next, and hand in, at the same moment."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import transaction
from django.db.models import Count

from adjudication import claiming, deciding, seating
from adjudication.claiming import NothingFree
from adjudication.models import ExtraVerdict, Seat
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db


@pytest.mark.django_db(transaction=True)
def test_fifty_reviewers_press_next_on_ten_items_at_once() -> None:
    queue = build.waiting_queue(10, lease_seconds=600)
    people = [build.reviewer() for _number in range(50)]
    start = threading.Barrier(50, timeout=30)

    def press(user: Any) -> Seat | NothingFree:
        start.wait()
        return claiming.claim_next(queue, user=user)

    with build.threads(50) as pool:
        told = list(pool.map(lambda user: build.in_thread(press, user), people))
    seats = [answer for answer in told if isinstance(answer, Seat)]
    others = [answer for answer in told if isinstance(answer, NothingFree)]
    assert len({seat.pk for seat in seats}) == len(seats) == 10
    held = Seat.objects.filter(item__queue=queue, state="held")
    assert held.count() == 10
    assert held.aggregate(n=Count("holder", distinct=True))["n"] == 10
    assert Seat.objects.filter(item__queue=queue).count() == queue.items.count() == 10
    soonest = min(seat.lease_until for seat in held if seat.lease_until)
    assert len(others) == 40
    for nothing in others:
        assert "held by others; the next is free at" in nothing.sentence
        assert nothing.next_free_at == soonest
        assert nothing.not_yours == 0


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("succeeds", [True, False])
def test_a_claim_waits_for_one_that_may_still_fail(succeeds: bool) -> None:
    queue = build.waiting_queue(1)
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    claims, may_end = threading.Event(), threading.Event()

    def claim_slowly() -> None:
        with transaction.atomic():
            claiming.claim_next(queue, user=anna)
            claims.set()
            may_end.wait(10)
            transaction.set_rollback(not succeeds)

    with build.threads(2) as pool:
        slow = pool.submit(build.in_thread, claim_slowly)
        assert claims.wait(10)
        waiting = pool.submit(build.in_thread, claiming.claim_next, queue, user=bert)
        threading.Timer(0.3, may_end.set).start()
        told = waiting.result(20)
        slow.result(20)
    if succeeds:
        assert isinstance(told, NothingFree)
        assert (told.held_by_others, told.not_yours) == (1, 0)
    else:
        assert isinstance(told, Seat)


@pytest.mark.django_db(transaction=True)
def test_one_person_who_presses_next_in_many_windows_gets_one_seat() -> None:
    queue = build.waiting_queue(5)
    anna = build.reviewer()
    start = threading.Barrier(8, timeout=30)

    def press(_number: int) -> Seat | NothingFree:
        start.wait()
        return claiming.claim_next(queue, user=anna)

    with build.threads(8) as pool:
        told = list(pool.map(lambda number: build.in_thread(press, number), range(8)))
    assert all(isinstance(answer, Seat) for answer in told)
    assert len({answer.pk for answer in told if isinstance(answer, Seat)}) == 1
    assert Seat.objects.filter(holder=anna).count() == 1


@pytest.mark.django_db(transaction=True)
def test_when_the_holder_submits_while_another_takes_over_one_of_them_counts() -> None:
    queue = build.waiting_queue(1)
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    for _round in range(10):
        Seat.objects.update(
            state="free", holder=None, lease_until=None, submitted_at=None, final_at=None
        )
        ExtraVerdict.objects.all().delete()
        seat = build.claimed(queue, anna)
        build.age(seat, minutes=1)
        said = build.verdicts(seat.item)
        start = threading.Barrier(2, timeout=30)

        def submit(seat: Seat = seat, said: Any = said, start: Any = start) -> bool:
            start.wait()
            return deciding.submit(seat, user=anna, verdicts=said).is_extra

        def take(start: Any = start) -> bool:
            start.wait()
            return isinstance(claiming.claim_next(queue, user=bert), Seat)

        with build.threads(2) as pool:
            was_extra = pool.submit(build.in_thread, submit)
            was_taken = pool.submit(build.in_thread, take)
        assert was_extra.result() == was_taken.result()
        seat.refresh_from_db()
        assert (seat.holder, seat.state) == (
            (bert, "held") if was_taken.result() else (anna, "pending")
        )
        assert ExtraVerdict.objects.exists() == was_extra.result()


@pytest.mark.django_db(transaction=True)
def test_a_seat_is_taken_while_a_verdict_on_its_item_is_being_settled() -> None:
    queue = build.waiting_queue(1, seats=2)
    anna = build.reviewer("anna")
    item = queue.items.get()
    settles, is_taken = threading.Event(), threading.Event()

    def settle() -> bool:
        with transaction.atomic():
            seating.lock_item(item.pk)
            settles.set()
            return is_taken.wait(20)

    def take() -> Any:
        assert settles.wait(20)
        taken = claiming.claim_next(queue, user=anna)
        is_taken.set()
        return taken

    with build.threads(2) as pool:
        without_waiting = pool.submit(build.in_thread, settle)
        taken = pool.submit(build.in_thread, take)
    assert without_waiting.result()
    assert taken.result().item_id == item.pk
