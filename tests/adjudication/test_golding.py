"""Gold: known verdicts mixed in unmarked, each met once by everybody, never a score."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from academy.errors import AcademyError
from academy.models import AuditEvent, Decision, Score
from adjudication import claiming, deciding, golding
from adjudication.models import Gold, Queue, ReviewItem, Seat
from adjudication.policies import Policy
from adjudication.remaining import queue_counts
from adjudication.reporting import report_on
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
EVERY = 3


@pytest.fixture
def queue() -> Queue:
    """A queue of nine ordinary items with one gold item among each three; two are gold."""
    queue = build.waiting_queue(11)
    curator = build.person("curator", "curator")
    records = build.records_of(queue)[-2:]
    queue.items.filter(record__in=records).update(state="closed", chosen_because="kept out")
    for record in records:
        golding.add_gold(queue, record, right(queue), by=curator)
    Queue.objects.filter(pk=queue.pk).update(policy=Policy(gold_every=EVERY).as_json())
    queue.refresh_from_db()
    return queue


def right(queue: Queue) -> dict[str, Any]:
    return build.verdicts(queue.items.order_by("pk").first(), True, False, reason="")  # type: ignore[arg-type]


def met_by(queue: Queue, user: Any, times: int) -> list[str]:
    """The states of the items somebody gets one after the other."""
    found = []
    for _ in range(times):
        seat = claiming.claim_next(queue, user=user)
        if not isinstance(seat, Seat):
            break
        found.append(seat.item.state)
        done = deciding.submit(seat, user=user, verdicts=build.verdicts(seat.item, True, True))
        deciding.finalise(seat.pk, at=done.final_at)
    return found


def test_one_item_in_each_block_is_gold_and_each_is_met_once(queue: Queue) -> None:
    anna = build.reviewer("anna")
    met = met_by(queue, anna, 11)
    blocks = [met[start : start + EVERY] for start in range(0, 6, EVERY)]
    assert [block.count("gold") for block in blocks] == [1, 1]
    assert met.count("gold") == 2
    seats = Seat.objects.filter(holder=anna, item__state="gold")
    assert seats.values("item").distinct().count() == 2


def test_everybody_gets_a_seat_of_their_own_at_the_same_gold_item(queue: Queue) -> None:
    people = [build.reviewer() for _ in range(2)]
    for user in people:
        met_by(queue, user, 4)
    for item in queue.items.filter(state="gold"):
        holders = list(item.seats.values_list("holder", flat=True))
        assert len(holders) == len(set(holders))
    assert Seat.objects.filter(item__state="gold").count() >= 2


def test_gold_never_reaches_a_score(queue: Queue) -> None:
    met_by(queue, build.reviewer(), 11)
    gold = queue.items.filter(state="gold")
    assert Seat.objects.filter(item__in=gold, state="submitted").count() == 2
    assert not Decision.objects.filter(record__in=gold.values("record")).exists()
    scores = Score.objects.filter(record__in=gold.values("record"), mode="strict", current=True)
    assert {row.status for row in scores} == {"needs_human"}


def test_gold_looks_like_any_other_item_to_its_reviewer(queue: Queue) -> None:
    anna = build.reviewer()
    seat = None
    for _ in range(EVERY):
        seat = claiming.claim_next(queue, user=anna)
        assert isinstance(seat, Seat)
        if seat.item.state == "gold":
            break
        deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
    assert seat is not None and seat.item.state == "gold"
    assert claiming.renew(seat, user=anna)
    done = deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
    assert deciding.undo(seat, user=anna)
    assert claiming.escalate(seat, user=anna, reason="Unclear.")
    seat.item.refresh_from_db()
    assert (seat.item.state, done.is_extra) == ("gold", False)
    counts = queue_counts([queue], anna)[queue.pk]
    assert counts.open + counts.waiting + counts.done == 9
    assert met_by(queue, anna, 9).count("gold") == 1


@pytest.mark.parametrize("seats", [1, 2])
def test_gold_looks_like_any_other_item_once_it_is_handed_in(
    client: Client, queue: Queue, seats: int
) -> None:
    anna = build.reviewer("anna")
    build.add_seats(queue, seats)
    met_by(queue, anna, 2 * EVERY)
    client.force_login(anna)
    pages = {True: set(), False: set()}  # type: ignore[var-annotated]
    for seat in Seat.objects.filter(holder=anna, state="submitted").select_related("item"):
        page = client.get(f"/review/seats/{seat.pk}/").content.decode()
        told = ("It counts." in page, "as soon as the other" in page, "Withdraw this" in page)
        pages[seat.item.state == "gold"].add(told)
    assert pages[True] == pages[False] == {(seats == 1, seats == 2, seats == 2)}


def test_lists_of_items_show_gold_to_nobody_who_may_meet_it(client: Client, queue: Queue) -> None:
    carla = build.person("carla", "adjudicator", "auditor")
    met_by(queue, carla, EVERY)
    gold = Seat.objects.get(holder=carla, item__state="gold").item
    ordinary = queue.items.filter(state="open").first()
    assert ordinary is not None
    assert (gold.chosen_because, gold.probability) == (ordinary.chosen_because, 1.0)
    for who, sees in ((carla, False), (build.person("aude", "auditor"), True)):
        client.force_login(who)
        for state in ("", "gold"):
            page = client.get(f"/review/queues/{queue.pk}/?state={state}").content.decode()
            assert (f"/review/items/{gold.pk}/" in page) is sees
            assert ("?state=gold" in page) is sees
        page = client.get(f"/review/items/{gold.pk}/").content.decode()
        assert ("Gold" in page) is sees


def test_nobody_meets_the_record_of_an_item_they_decided_as_gold(queue: Queue) -> None:
    anna, curator = build.reviewer(), build.person("", "curator")
    seat = build.claimed(queue, anna)
    while seat.item.state == "gold":
        claiming.skip(seat, user=anna, reason="Not my field")
        seat = build.claimed(queue, anna)
    build.decide(seat, anna, True, True)
    item = ReviewItem.objects.get(pk=seat.item_id)
    made = golding.gold_from(item, by=curator)
    assert made.pk != item.pk
    verdicts = Gold.objects.get(item=made).verdicts
    assert {key: given["value"] for key, given in verdicts.items()} == {"R1": True, "R2": True}
    met_by(queue, anna, 11)
    assert not made.seats.filter(holder=anna).exists()


def test_gold_is_made_from_resolved_items_and_complete_verdicts_only(queue: Queue) -> None:
    curator = build.person("", "curator")
    item = queue.items.filter(state="open").first()
    assert item is not None
    with pytest.raises(AcademyError, match="Only a resolved item"):
        golding.gold_from(item, by=curator)
    with pytest.raises(AcademyError, match=r"not complete\. R2: Choose a verdict"):
        golding.add_gold(queue, item.record, {"R1": build.given(value=True)}, by=curator)
    with pytest.raises(AcademyError, match="There is no record 5 of"):
        golding.add_gold(queue, 5, right(queue), by=curator)
    before = Gold.objects.count()
    again = queue.items.filter(state="gold").first()
    assert again is not None
    changed = build.verdicts(again, False, False, reason="")
    golding.add_gold(queue, again.record, changed, by=curator)
    assert Gold.objects.count() == before
    assert Gold.objects.get(item=again).verdicts["R1"]["value"] is False


def test_a_retired_gold_item_is_given_to_nobody_and_its_answers_stay(queue: Queue) -> None:
    curator = build.person("", "curator")
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    met_by(queue, anna, 9)
    golds = list(queue.items.filter(state="gold").order_by("pk"))
    before = {worker.name: worker.gold.n for worker in report_on(queue, reader=curator).reviewers}
    for item in golds:
        golding.retire_gold(item, reason="The task was misread.", by=curator)
    assert met_by(queue, bert, 9).count("gold") == 0
    assert not Seat.objects.filter(holder=bert, item__in=golds).exists()
    after = {worker.name: worker.gold.n for worker in report_on(queue, reader=curator).reviewers}
    assert after["anna"] == before["anna"] > 0
    known = Gold.objects.get(item=golds[0])
    assert (known.retired_by, known.retired_because) == (curator, "The task was misread.")
    event = AuditEvent.objects.filter(act="review.retire_gold").first()
    assert event is not None and event.reason == "The task was misread."


def test_who_holds_a_gold_item_when_it_retires_goes_on_and_nobody_takes_what_they_give_back(
    queue: Queue,
) -> None:
    curator, anna, bert = build.person("", "curator"), build.reviewer(), build.reviewer()
    seat = build.claimed(queue, anna)
    while seat.item.state != "gold":
        build.decide(seat, anna, True, True)
        seat = build.claimed(queue, anna)
    golding.retire_gold(seat.item, reason="wrong", by=curator)
    again = claiming.claim_next(queue, user=anna)
    assert isinstance(again, Seat) and again.pk == seat.pk
    assert claiming.release(seat, user=anna)
    for user in (anna, bert):
        met_by(queue, user, 11)
    assert not Seat.objects.filter(item=seat.item, holder__isnull=False).exists()


def test_gold_is_retired_once_by_a_curator_for_a_reason_and_does_not_come_back(
    queue: Queue,
) -> None:
    curator = build.person("", "curator")
    item = queue.items.filter(state="gold").order_by("pk")[0]
    plain = queue.items.filter(state="open")[0]
    for who, chosen, reason, told in (
        (build.reviewer(), item, "wrong", "Only curators"),
        (curator, item, "  ", "Say why"),
        (curator, plain, "wrong", "is not a gold item"),
    ):
        with pytest.raises(AcademyError, match=told):
            golding.retire_gold(chosen, reason=reason, by=who)
    assert not Gold.objects.filter(retired_at__isnull=False).exists()
    golding.retire_gold(item, reason="wrong", by=curator)
    with pytest.raises(AcademyError, match="retired already: wrong"):
        golding.retire_gold(item, reason="again", by=curator)
    with pytest.raises(AcademyError, match="does not come back: wrong"):
        golding.add_gold(queue, item.record, right(queue), by=curator)
