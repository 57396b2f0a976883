"""What a claim costs: as much with many open items as with few, and with many behind one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from academy import statements
from adjudication import claiming, deciding, walking
from adjudication.models import Bookmark, Queue, ReviewItem, Seat
from adjudication.remaining import queue_counts
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
FEW, MANY = 2 * walking.FEW, 1200
# Analysed and so locked by the test: the server would do it in its midst, and find them empty.
TABLES = ", ".join(
    f"adjudication_{name}" for name in ("reviewitem", "seat", "skip", "appeal", "gold", "draft")
)


def copies(queue: Queue, number: int) -> None:
    """So many open items in place of those there are, about as many replicas of one record."""
    from tests.benchmarks import filling_review

    record = build.records_of(queue)[0]
    run = filling_review.copied(record.run, queue.version, number)
    records = [filling_review.replica(record, run, place) for place in range(1, number + 1)]
    type(record).objects.bulk_create(records[:1000])
    if number > 1000:
        more = filling_review.copied(record.run, queue.version, number + 1)
        records[1000:] = [
            filling_review.replica(record, more, place) for place in range(1, number - 999)
        ]
        type(record).objects.bulk_create(records[1000:])
    queue.items.all().delete()
    items = ReviewItem.objects.bulk_create(
        ReviewItem(queue=queue, record=one, chosen_because="example") for one in records
    )
    Seat.objects.bulk_create(
        Seat(item=item, number=number)
        for item in items
        for number in range(1, queue.seats_per_item + 1)
    )
    with connection.cursor() as cursor:
        cursor.execute(f"ANALYZE {TABLES}")


@contextmanager
def counted() -> Iterator[list[int]]:
    """How many statements a block sends, once it is over."""
    found: list[int] = []
    with CaptureQueriesContext(connection) as captured:
        yield found
    found.append(len(captured.captured_queries))


def rows_read(queue: Queue, user: Any) -> int:
    """How many rows of all tables the walk to the next item reads, by its plans.

    There are two: the one for these values, and the one that the database keeps for all.
    """
    place = Bookmark.objects.filter(queue=queue, user=user, role="reviewer").first()
    start = (place.priority, place.item) if place is not None else (-(2**31), 0)
    items = walking.ALONG.format(state="open", most=walking.FEW)
    text = walking.WALK.format(items=items, order="i.priority, i.id")
    named = {
        "user": user.pk,
        "queue": queue.pk,
        "priority": start[0],
        "item": start[1],
        "prefer": None,
    }
    read = 0.0
    for cursor_for_plan in (connection.cursor, statements.bound_cursor):
        with cursor_for_plan() as cursor:
            cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", named)
            told = cursor.fetchone()[0]
        read += total((json.loads(told) if isinstance(told, str) else told)[0]["Plan"])
    return round(read)


def total(plan: dict[str, Any]) -> float:
    """The rows that the scans of a plan gave, and those they looked at in vain."""
    own = 0.0
    if "Relation Name" in plan:
        read = plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)
        own = read * plan["Actual Loops"]
    return own + sum(total(part) for part in plan.get("Plans", ()))


def cost_of_claim(queue: Queue, user: Any) -> tuple[int, int]:
    """Statements and rows of a claim and a submission."""
    rows = rows_read(queue, user)
    with counted() as found:
        seat = build.claimed(queue, user)
        deciding.submit(seat, user=user, verdicts=build.verdicts(seat.item))
    return found[0], rows


@pytest.mark.parametrize("seats", [1, 2])
def test_a_claim_costs_as_much_among_many_items_as_among_few(seats: int) -> None:
    queue = build.waiting_queue(1, seats=seats)
    found = []
    for number in (FEW, MANY):
        copies(queue, number)
        anna = build.reviewer()
        cost_of_claim(queue, anna)
        found.append(cost_of_claim(queue, anna))
    (statements, rows), (statements_among_many, rows_among_many) = found
    assert statements == statements_among_many
    assert rows_among_many <= rows


def test_a_claim_costs_as_much_with_many_items_behind_one() -> None:
    queue = build.waiting_queue(1, seats=2)
    copies(queue, MANY)
    anna = build.reviewer()
    costs = []
    for number in range(120):
        cost = cost_of_claim(queue, anna)
        for pk in Seat.objects.filter(state="pending").values_list("pk", flat=True):
            Seat.objects.filter(pk=pk).update(state="submitted")
        if number in (5, 119):
            costs.append(cost)
    assert costs[0] == costs[1]


def test_that_nothing_is_left_is_known_without_looking_at_all_again() -> None:
    queue = build.waiting_queue(1, seats=2)
    found = []
    for number in (FEW, 4 * FEW):
        copies(queue, number)
        anna = build.reviewer()
        Seat.objects.filter(item__queue=queue, number=1).update(state="free")
        first = Seat.objects.filter(item__queue=queue, number=1)
        first.update(state="submitted", holder=anna, submitted_at="2026-03-02T12:00Z")
        assert build.refused(queue, anna).not_yours == number
        with counted() as cost:
            assert build.refused(queue, anna).not_yours == number
        found.append((cost[0], rows_read(queue, anna)))
    assert found[0] == found[1]


def test_the_numbers_of_queues_take_the_same_queries_for_any_number_of_them() -> None:
    anna = build.reviewer()
    queues = [build.waiting_queue(2)]
    version = build.rubric_version(3, slug="more")
    build.rubric_run(version)
    queues.append(build.queue_of(version))
    claimed = build.claimed(queues[1], anna)
    costs = []
    for listed in (queues[:1], queues):
        with counted() as found:
            counts = queue_counts(listed, anna)
        costs.append(found[0])
    assert costs[0] == costs[1]
    assert (counts[queues[0].pk].open, counts[queues[1].pk].open) == (2, 3)
    assert counts[queues[1].pk].mine == 0
    build.decide(claimed, anna)
    after = queue_counts(queues, anna)[queues[1].pk]
    assert (after.open, after.done, after.mine, after.total) == (2, 1, 1, 3)


def test_who_deferred_an_item_gets_it_after_all_others(queue_of_three: Queue) -> None:
    anna = build.reviewer()
    first = build.claimed(queue_of_three, anna)
    claiming.defer(first, user=anna)
    second = build.claimed(queue_of_three, anna)
    claiming.defer(second, user=anna, reason="Later.")
    third = build.claimed(queue_of_three, anna)
    assert len({first.item_id, second.item_id, third.item_id}) == 3
    build.decide(third, anna)
    again = build.claimed(queue_of_three, anna)
    assert again.item_id == first.item_id
    claiming.defer(again, user=anna)
    assert build.claimed(queue_of_three, anna).item_id == second.item_id


def test_what_was_deferred_and_is_held_by_others_is_told(queue_of_three: Queue) -> None:
    anna = build.reviewer()
    claiming.defer(build.claimed(queue_of_three, anna), user=anna)
    for _ in range(3):
        build.claimed(queue_of_three, build.reviewer())
    told = build.refused(queue_of_three, anna)
    assert (told.held_by_others, told.deferred) == (3, 1)
    assert told.sentence.endswith(" UTC. You deferred 1 of them.")


@pytest.fixture
def queue_of_three() -> Queue:
    return build.waiting_queue(3)


def test_a_seat_that_a_curator_takes_back_is_free_for_others(queue_of_three: Queue) -> None:
    anna, bert, curator = build.reviewer(), build.reviewer(), build.person("", "curator")
    seat = build.claimed(queue_of_three, anna)
    deciding.save_draft(seat, user=anna, content=build.verdicts(seat.item), revision=0)
    assert claiming.reassign(seat, by=curator, reason="On leave")
    assert not claiming.reassign(seat, by=curator, reason="On leave")
    assert claiming.current_seat(anna) is None
    assert build.claimed(queue_of_three, bert).item_id == seat.item_id
    assert seat.item.drafts.get(user=anna).content == build.verdicts(seat.item)
