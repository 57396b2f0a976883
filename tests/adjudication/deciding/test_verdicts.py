"""Final verdicts become decisions, scores and standings."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from academy.models import AuditEvent, Decision, Run, Score
from adjudication import assigning, deciding
from adjudication.models import Queue, ReviewItem, Seat
from leaderboard.models import Board
from tests.adjudication import builders as build
from tests.adjudication.deciding.times import NOON, seconds

pytestmark = pytest.mark.django_db


def test_a_final_verdict_becomes_decisions_with_seat_and_person(seat: Seat, anna: Any) -> None:
    said = build.verdicts(seat.item, True, False, reason="step 3 shows it")
    said["R2"]["confidence"] = "high"
    deciding.submit(seat, user=anna, verdicts=said, at=NOON)
    deciding.finalise(seat.pk, at=seconds(10))
    rows = Decision.objects.order_by("criterion__ordinal")
    assert [(row.criterion.key, row.state, row.value) for row in rows] == [
        ("R1", "value", True),
        ("R2", "value", False),
    ]
    assert [row.confidence for row in rows] == [None, 0.75]
    for row in rows:
        assert (row.source, row.person, row.seat, row.counts) == ("person", anna, seat.pk, True)
        assert (row.record_id, row.reason) == (seat.item.record_id, "step 3 shows it")
        assert (row.made_at, row.suggestion_seen) == (NOON, False)
    item = ReviewItem.objects.get(pk=seat.item_id)
    assert (item.state, item.resolved_at) == ("resolved", seconds(10))
    act = AuditEvent.objects.get(act="review.decide")
    assert (act.actor, act.subject) == (anna, f"record:{seat.item.record_id}")


def scores_by_record() -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in Score.objects.order_by("pk").values_list(
        "record_id", "pk", "mode", "metric__key", "revision", "current", "status", "value"
    ):
        found.setdefault(row[0], []).append(row[1:])
    return found


def strict(record_id: int) -> dict[str, tuple[str, float | None]]:
    rows = Score.objects.filter(record_id=record_id, mode="strict", current=True)
    return {row.metric.key: (row.status, row.value) for row in rows.select_related("metric")}


def test_the_record_is_scored_again_and_only_that_record(
    queue: Queue, seat: Seat, anna: Any
) -> None:
    before = scores_by_record()
    decided, other = (record.pk for record in build.records_of(queue))
    build.decide(seat, anna, True, False)
    after = scores_by_record()
    assert after[other] == before[other]
    assert set(before) == set(after)
    assert strict(decided) == {"perfect": ("scored", 0.0), "rubric": ("scored", 0.5)}
    assert {status for status, _value in strict(other).values()} == {"needs_human"}
    # What was said before stays readable.
    assert {row[0] for row in before[decided]} < {row[0] for row in after[decided]}


def newest_row(board: Board, name: str = "Example") -> dict[str, Any]:
    snapshot = board.newest_snapshot()
    assert snapshot is not None
    rows = snapshot.standings["standings"]
    found: dict[str, Any] = next(row for row in rows if row["name"] == name)
    return found


def test_the_board_follows_the_last_verdict(anna: Any) -> None:
    queue = build.waiting_queue(2, notes=False)
    build.make_boards(queue.version)
    boards = Board.objects.filter(versions=queue.version, policy__metric="perfect")
    board = boards.get(policy__mode="strict")
    before = newest_row(board)
    assert (before["rank"], before["score"], before["waiting"]) == (None, None, 2)
    build.decide(build.claimed(queue, anna), anna)
    build.decide(build.claimed(queue, anna), anna, False)
    build.make_boards(queue.version)
    after = newest_row(board)
    assert (after["rank"], after["score"], after["waiting"]) == (1, 0.5, 0)


@pytest.mark.parametrize(
    ("said", "status", "note"),
    [("cannot_tell", "unscorable", "cannot be known: R1"), ("defective", "needs_human", "R1")],
)
def test_cannot_tell_and_defective_are_no_score(
    queue: Queue, seat: Seat, anna: Any, said: str, status: str, note: str
) -> None:
    build.decide(seat, anna, said, True)
    for row in Score.objects.filter(record=seat.item.record, mode="strict", current=True):
        assert (row.status, row.value) == (status, None)
        assert note in row.note
    decision = Decision.objects.get(criterion__key="R1")
    assert (decision.state, decision.value) == (said, build.fault_of(said).get("fault"))


def test_with_two_seats_nothing_counts_before_both_are_in(anna: Any) -> None:
    queue = build.waiting_queue(1, seats=2)
    bert = build.reviewer("bert")
    first, second = build.claimed(queue, anna), build.claimed(queue, bert)
    assert first.item_id == second.item_id
    build.decide(first, anna, True, True)
    assert not Decision.objects.exists()
    assert ReviewItem.objects.get().state == "open"
    build.decide(second, bert, True, True)
    assert {(row.person, row.seat, row.value) for row in Decision.objects.all()} == {
        (anna, first.pk, True),
        (bert, second.pk, True),
    }
    assert ReviewItem.objects.get().state == "resolved"
    assert strict(first.item.record_id)["perfect"] == ("scored", 1.0)


def test_two_people_who_differ_leave_the_item_to_a_third(anna: Any) -> None:
    queue = build.waiting_queue(1, seats=2)
    bert = build.reviewer("bert")
    first, second = build.claimed(queue, anna), build.claimed(queue, bert)
    build.decide(first, anna, True, True)
    build.decide(second, bert, True, False)
    item = ReviewItem.objects.get()
    assert (item.state, item.resolved_at) == ("decided", None)
    assert Decision.objects.count() == 4
    assert strict(first.item.record_id)["perfect"] == ("needs_human", None)
    assert assigning.fill_queue(queue.version) == 0
    assert ReviewItem.objects.get().state == "decided"


@pytest.mark.django_db(transaction=True)
def test_two_windows_that_end_at_once_decide_the_item_once() -> None:
    queue = build.waiting_queue(1, seats=2)
    people = [build.reviewer(), build.reviewer()]
    seats = [build.claimed(queue, user) for user in people]
    for seat, user in zip(seats, people, strict=True):
        deciding.submit(seat, user=user, verdicts=build.verdicts(seat.item), at=NOON)
    start = threading.Barrier(2, timeout=30)

    def finalise(seat: Seat) -> bool:
        start.wait()
        return deciding.finalise(seat.pk, at=seconds(60))

    with build.threads(2) as pool:
        done = list(pool.map(lambda seat: build.in_thread(finalise, seat), seats))
    assert done == [True, True]
    assert ReviewItem.objects.get().state == "resolved"
    assert Decision.objects.count() == 4


def test_items_that_need_nobody_any_more_are_closed_and_can_come_back(queue: Queue) -> None:
    run = Run.objects.get(kind="entrant")
    run.state = "withdrawn"
    run.reason = "by its owner"
    run.save()
    held = queue.items.order_by("pk").first()
    assert held is not None
    build.claimed(queue, build.reviewer())
    assigning.fill_queue(queue.version)
    assert list(queue.items.order_by("pk").values_list("state", flat=True)) == ["open", "closed"]
    run.state = "closed"
    run.save()
    assigning.fill_queue(queue.version)
    assert queue.items.filter(state="open").count() == 2
    assert Seat.objects.count() == 2
