"""Which records go to people, why, and with which probability."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from academy.errors import AcademyError
from academy.models import Decision, Finding, Run, SuiteVersion
from adjudication import assigning, claiming, deciding, policies, steering
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.policies import Policy, Sampling
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db


def judged_version(tasks: int, *, kind: str = "judge", seats: str = "audited") -> SuiteVersion:
    """A version on which a judge's word counts, which people audit."""
    report = build.make.import_files(
        {
            build.make.rubrics.BUCKET: [
                build.make.rubric_task(f"q-{place}", 2, _world_notes=None) for place in range(tasks)
            ]
        },
        rename=(seats, "1"),
        publish=True,
        attributes={"evidence": {"reference": {"kind": "reference"}, "strict": {"kind": kind}}},
    )
    return build.make.version_of(report)


def judged_run(version: SuiteVersion, name: str, *, met: int) -> Run:
    """A run whose judge calls the first tasks met."""
    ids = list(version.tasks.order_by("ordinal").values_list("external_id", flat=True))
    lines = [
        build.make.judged(task_id, place < met, place < met) for place, task_id in enumerate(ids)
    ]
    return build.rubric_run(version, *lines, entrant={"name": name})


def another_judge(run: Run, record: int, value: bool) -> None:
    """A second judge's verdict on the first criterion of a record."""
    criterion = run.records.get(pk=record).task.criteria.order_by("ordinal").first()
    Decision.objects.create(
        kind="record", record_id=record, criterion=criterion, source="judge",
        author="second-judge", author_version="1", value=value, made_at=run.created_at,
    )  # fmt: skip


def sampled(version: SuiteVersion, **rules: Any) -> Queue:
    """The queue of a version by these sampling rules."""
    build.do_work()
    queue = version.queues.filter(kind="criteria").first()
    if queue is None:
        queue = assigning.make_queue(version, "criteria", preset="one")
    policy = Policy(sampling=Sampling(**rules)).as_json()
    Queue.objects.filter(pk=queue.pk).update(policy=policy)
    assigning.fill_queue(version)
    queue.refresh_from_db()
    return queue


def per_run(queue: Queue) -> Counter[int]:
    return Counter(queue.items.filter(state="open").values_list("record__run", flat=True))


def test_a_share_is_drawn_from_each_run_with_its_probability_and_stays_the_same() -> None:
    version = judged_version(12)
    runs = [judged_run(version, name, met=6) for name in ("Alpha", "Beta")]
    queue = sampled(version, share=0.25, minimum=2, seed="example/1")
    assert per_run(queue) == {run.pk: 3 for run in runs}
    items = queue.items.order_by("pk")
    assert {(item.chosen_because, item.probability) for item in items} == {
        ("drawn for the audit", 0.25)
    }
    first = set(items.values_list("record", flat=True))
    assert assigning.fill_queue(version) == 0
    assert set(queue.items.filter(state="open").values_list("record", flat=True)) == first
    sampled(version, share=0.5, minimum=2, seed="example/1")
    assert per_run(queue) == {run.pk: 6 for run in runs}
    assert first <= set(queue.items.filter(state="open").values_list("record", flat=True))
    assert set(queue.items.values_list("probability", flat=True)) == {0.5}


def test_at_least_so_many_are_drawn_from_each_run() -> None:
    version = judged_version(8)
    judged_run(version, "Alpha", met=4)
    queue = sampled(version, share=0.1, minimum=5)
    assert queue.items.filter(state="open").count() == 5
    assert set(queue.items.values_list("probability", flat=True)) == {5 / 8}
    queue = sampled(version, share=0.1, minimum=50)
    assert queue.items.filter(state="open").count() == 8
    assert set(queue.items.values_list("probability", flat=True)) == {1.0}


def test_where_judges_differ_a_record_comes_for_certain_and_says_all_its_reasons() -> None:
    version = judged_version(10)
    run = judged_run(version, "Alpha", met=5)
    build.do_work()
    ids = list(run.records.order_by("id").values_list("pk", flat=True))
    another_judge(run, ids[0], value=False)
    another_judge(run, ids[1], value=True)
    Finding.objects.create(
        run=run, record_id=ids[2], code="example", sentence="Example.", severity="low"
    )
    queue = sampled(version, waiting=False, differing=True, flagged=True)
    found = {
        item.record_id: (item.chosen_because, item.probability)
        for item in queue.items.filter(state="open")
    }
    assert found == {ids[0]: ("judges differ", 1.0), ids[2]: ("has an open finding", 1.0)}
    queue = sampled(version, waiting=False, differing=True, flagged=True, share=0.4)
    drawn = queue.items.filter(state="open", chosen_because__contains="drawn for the audit")
    assert drawn.count() == 4
    for item in queue.items.filter(state="open"):
        certain = {"judges differ", "has an open finding"} & set(item.chosen_because.split("; "))
        assert item.probability == (1.0 if certain else 0.4)


def test_a_queue_takes_up_every_record_when_it_is_told_to() -> None:
    version = judged_version(4)
    judged_run(version, "Alpha", met=2)
    queue = sampled(version, waiting=False, everything=True)
    assert set(queue.items.values_list("chosen_because", "probability")) == {
        ("every record is reviewed", 1.0)
    }
    assert queue.items.count() == 4


def test_a_record_that_needs_nobody_and_of_which_nobody_spoke_is_never_drawn() -> None:
    version = judged_version(3)
    lines = [build.make.judged("q-0", True, True), {"task": "q-1", "status": "missing"}]
    run = build.rubric_run(version, *lines, entrant={"name": "Alpha"})
    queue = sampled(version, everything=True, share=1.0)
    asked = queue.items.filter(state="open").values_list("record__task__external_id", flat=True)
    assert run.records.count() > 1
    assert list(asked) == ["q-0"]


def test_records_on_which_judges_agree_least_come_first() -> None:
    version = judged_version(3)
    run = judged_run(version, "Alpha", met=3)
    build.do_work()
    ids = list(run.records.order_by("id").values_list("pk", flat=True))
    another_judge(run, ids[1], value=True)
    another_judge(run, ids[2], value=False)
    queue = assigning.make_queue(version, "criteria", preset="one")
    policy = Policy(order="agreement", sampling=Sampling(everything=True)).as_json()
    steering.change_queue(queue, by=None, policy=policy)
    build.do_work()
    order = queue.items.order_by("priority", "pk").values_list("record", flat=True)
    assert list(order) == [ids[2], ids[1], ids[0]]
    assert build.claimed(queue, build.reviewer()).item.record_id == ids[2]


def test_an_audited_judge_is_audited_without_anybody_setting_rules() -> None:
    version = judged_version(40, kind="judge_audited")
    judged_run(version, "Alpha", met=20)
    build.do_work()
    queue = version.queues.get(kind="criteria")
    assert queue.items.filter(state="open").count() == policies.AUDIT_MINIMUM
    assert set(queue.items.values_list("probability", flat=True)) == {30 / 40}


def test_a_person_who_differs_from_the_judge_calls_in_a_second() -> None:
    version = judged_version(3, kind="judge_audited")
    judged_run(version, "Alpha", met=3)
    build.do_work()
    queue = version.queues.get(kind="criteria")
    anna, bert = build.reviewer(), build.reviewer()
    build.decide(build.claimed(queue, anna), anna, True, True)
    seat = build.claimed(queue, anna)
    build.decide(seat, anna, True, False)
    assert [item.state for item in queue.items.order_by("pk")] == ["resolved", "open", "open"]
    assert not Decision.objects.filter(source="person", record=seat.item.record).exists()
    second = build.claimed(queue, bert)
    assert (second.item_id, second.number) == (seat.item_id, 2)
    build.decide(second, bert, True, False)
    item = ReviewItem.objects.get(pk=seat.item_id)
    assert item.state == "resolved"
    rows = Decision.objects.filter(source="person", record=item.record)
    assert {(row.person, row.criterion.key, row.value) for row in rows} == {
        (anna, "R1", True), (anna, "R2", False), (bert, "R1", True), (bert, "R2", False),
    }  # fmt: skip
    assert {row.probability for row in rows} == {item.probability}


def test_what_a_person_began_stays_when_the_sample_becomes_smaller() -> None:
    version = judged_version(10)
    judged_run(version, "Alpha", met=5)
    queue = sampled(version, share=1.0)
    seat = build.claimed(queue, build.reviewer())
    sampled(version, share=0.0)
    left = queue.items.filter(state="open")
    assert [item.pk for item in left] == [seat.item_id]
    sampled(version, share=1.0)
    assert queue.items.filter(state="open").count() == 10
    assert Seat.objects.filter(item__queue=queue).count() == 10


def test_an_item_that_was_put_in_by_hand_stays() -> None:
    version = judged_version(3)
    run = judged_run(version, "Alpha", met=3)
    queue = sampled(version)
    record = run.records.order_by("id").first()
    assert record is not None
    added = [assigning.NewItem(record=record, because="appeal 7")]
    assert (assigning.add_items(queue, added), assigning.add_items(queue, added)) == (1, 0)
    assigning.fill_queue(version)
    assert [item.chosen_because for item in queue.items.filter(state="open")] == ["appeal 7"]


def test_new_items_are_found_by_who_has_been_through_the_queue() -> None:
    version = judged_version(4)
    run = judged_run(version, "Alpha", met=4)
    queue = sampled(version, waiting=False)
    ids = list(run.records.order_by("id").values_list("pk", flat=True))
    anna = build.reviewer()
    assigning.add_items(queue, [assigning.NewItem(record=ids[1], because="by hand")])
    seat = build.claimed(queue, anna)
    claiming.skip(seat, user=anna, reason="Not my field")
    assert not isinstance(claiming.claim_next(queue, user=anna), Seat)
    assigning.add_items(queue, [assigning.NewItem(record=ids[0], because="urgent", priority=-5)])
    assert build.claimed(queue, anna).item.record_id == ids[0]


@pytest.mark.parametrize("named", [True, False])
def test_only_named_reviewers_take_items_where_some_are_named(named: bool) -> None:
    queue = build.waiting_queue(1)
    anna = build.reviewer("anna")
    policy = Policy(reviewers=("anna",) if named else ("bert",)).as_json()
    Queue.objects.filter(pk=queue.pk).update(policy=policy)
    queue.refresh_from_db()
    got = claiming.claim_next(queue, user=anna)
    if named:
        assert isinstance(got, Seat)
    else:
        assert not isinstance(got, Seat)
        assert got.sentence == ("This queue is for named reviewers, and you are not among them.")


def test_a_version_has_one_queue_of_a_kind_and_no_unknown_ones() -> None:
    version = judged_version(1)
    queue = assigning.make_queue(version, "criteria", preset="two-and-third")
    assert (queue.seats_per_item, queue.title) == (2, f"{version.suite.title}, criteria")
    with pytest.raises(AcademyError, match="has a queue of this kind already"):
        assigning.make_queue(version, "criteria", preset="one")
    with pytest.raises(AcademyError, match="There is no kind of review 'tasting'"):
        assigning.make_queue(version, "tasting", preset="one")
    with pytest.raises(AcademyError, match="There is no preset 'three'"):
        assigning.make_queue(version, "ratings", preset="three")


def test_a_score_that_is_decided_leaves_the_queue_to_what_still_waits() -> None:
    queue = build.waiting_queue(2)
    anna = build.reviewer()
    build.decide(build.claimed(queue, anna), anna, True, True)
    assert deciding.questions_of(queue.items.order_by("pk").last())
    assigning.fill_queue(queue.version)
    assert list(queue.items.order_by("pk").values_list("state", flat=True)) == ["resolved", "open"]
