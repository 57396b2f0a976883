"""One verdict "defective" puts a criterion to two people; what they uphold is struck for all."""

from __future__ import annotations

import pytest
from django.test import Client

from academy import passes
from academy.errors import AcademyError
from academy.models import Criterion, Decision, Score, SuiteVersion
from adjudication import deciding
from adjudication.models import Queue, ReviewItem
from tests.adjudication import builders as build
from tests.adjudication import subjects

pytestmark = pytest.mark.django_db


def called_defective(*, sealed: bool = False) -> tuple[Queue, Criterion, Queue]:
    """A criterion that a reviewer called defective on one of two records; both queues."""
    queue = subjects.sealed_queue(2) if sealed else build.waiting_queue(2, notes=False)
    reviewer = build.reviewer()
    seat = subjects.take(queue, reviewer)
    build.decide(seat, reviewer, "defective", True, reason="nobody can see this step")
    criterion = Decision.objects.get(state="defective").criterion
    assert criterion is not None
    return queue, criterion, subjects.queue_for(queue.version, "defects")


def vote(queue: Queue, *codes: str, reason: str = "read it twice") -> ReviewItem:
    """Let people vote, each a new one; gives the item."""
    item = queue.items.get()
    for code in codes:
        person = build.reviewer()
        item = subjects.say(subjects.take(queue, person), person, code, reason)
    return item


def scores(version: SuiteVersion, number: int, criterion: Criterion) -> set[str]:
    """The statuses of the records of a criterion's task in a pass, strict mode."""
    rows = Score.objects.filter(
        scoring_pass__version=version,
        scoring_pass__number=number,
        mode="strict",
        current=True,
        record__task=criterion.task,
        metric__kind="pass",
    )
    return set(rows.values_list("status", flat=True))


def test_a_final_verdict_of_a_person_opens_one_item_with_two_seats() -> None:
    _queue, criterion, defects = called_defective()
    item = defects.items.get()
    assert item.criterion == criterion
    assert item.seats.count() == 2


def test_a_verdict_that_can_be_undone_opens_nothing() -> None:
    queue = build.waiting_queue(1, notes=False)
    reviewer = build.reviewer()
    seat = subjects.take(queue, reviewer)
    deciding.submit(seat, user=reviewer, verdicts=build.verdicts(seat.item, "defective"))
    assert not queue.version.queues.filter(kind="defects").exists()


def test_two_people_see_all_reasons_and_no_names(client: Client) -> None:
    queue, criterion, defects = called_defective()
    first = Decision.objects.get(state="defective").person
    assert first is not None
    reviewer = build.reviewer()
    seat = subjects.take(defects, reviewer)
    client.force_login(reviewer)
    page = client.get(f"/review/seats/{seat.pk}/").content.decode()
    assert "nobody can see this step" in page
    assert "ambiguous" in page
    assert criterion.text in page
    assert first.username not in page
    assert queue.version.title in page or criterion.task.external_id in page


def test_what_two_people_uphold_is_struck_in_a_staged_pass_for_every_run() -> None:
    queue, criterion, defects = called_defective()
    build.rubric_run(queue.version, entrant={"name": "Another"})
    build.do_work()
    vote(defects, "upheld", "upheld")
    staged = passes.staged_pass(queue.version)
    assert staged is not None
    assert staged.struck == [criterion.pk]
    assert "ambiguous" in staged.reason
    assert passes.published_pass(queue.version).struck == []
    passes.publish(staged, reason="agreed")
    assert passes.published_pass(queue.version).struck == [criterion.pk]


def test_a_struck_criterion_stays_struck_in_later_passes() -> None:
    queue, criterion, defects = called_defective()
    vote(defects, "upheld", "upheld")
    staged = passes.staged_pass(queue.version)
    assert staged is not None
    passes.publish(staged, reason="agreed")
    other = criterion.task.criteria.exclude(pk=criterion.pk).get()
    for _number in range(2):
        person = build.reviewer()
        Decision.objects.create(
            kind="criterion", criterion=other, source="person", person=person, value="upheld",
            made_at=staged.created_at,
        )  # fmt: skip
    later = passes.stage(queue.version, strike={other.pk}, reason="the other one too")
    assert set(later.struck) == {criterion.pk, other.pk}


def test_where_two_people_differ_a_third_decides_for_all() -> None:
    queue, criterion, defects = called_defective()
    item = vote(defects, "upheld", "dismissed")
    assert item.state == ReviewItem.State.DECIDED
    assert passes.staged_pass(queue.version) is None
    third = subjects.adjudicator()
    subjects.say(subjects.take(defects, third, third=True), third, "upheld")
    staged = passes.staged_pass(queue.version)
    assert staged is not None
    assert staged.struck == [criterion.pk]


def test_what_is_dismissed_sends_the_record_back_with_the_reason(client: Client) -> None:
    queue, criterion, defects = called_defective()
    item = Decision.objects.get(state="defective").record.review_items.get(queue=queue)  # type: ignore[union-attr]
    assert item.state == ReviewItem.State.RESOLVED
    vote(defects, "dismissed", "dismissed", reason="the log shows it")
    item.refresh_from_db()
    assert item.state == ReviewItem.State.DECIDED
    assert item.contested == [criterion.key]
    third = subjects.adjudicator()
    seat = subjects.take(queue, third, third=True)
    client.force_login(third)
    assert "the log shows it" in client.get(f"/review/seats/{seat.pk}/").content.decode()
    subjects.hand_in(seat, third, {criterion.key: build.given(value=False, reason="not there")})
    item.refresh_from_db()
    assert item.state == ReviewItem.State.RESOLVED
    assert scores(queue.version, 1, criterion) == {"scored"}
    assert passes.staged_pass(queue.version) is None


def test_a_criterion_that_people_kept_is_not_struck_by_two_calls() -> None:
    queue, criterion, defects = called_defective()
    vote(defects, "dismissed", "dismissed")
    record = build.records_of(queue)[0]
    for _number in range(2):
        Decision.objects.create(
            kind="record", record=record, criterion=criterion, source="person",
            person=build.reviewer(), state="defective", made_at=record.run.created_at,
        )  # fmt: skip
    with pytest.raises(AcademyError, match="a vote of people dismissed"):
        passes.stage(queue.version, strike={criterion.pk}, reason="again")


def test_one_person_strikes_nothing() -> None:
    queue, criterion, defects = called_defective()
    vote(defects, "upheld")
    with pytest.raises(AcademyError, match="only when 2 people call it"):
        passes.stage(queue.version, strike={criterion.pk}, reason="too early")


def test_after_a_dismissal_another_call_puts_the_criterion_to_a_third_person() -> None:
    queue, criterion, defects = called_defective()
    vote(defects, "dismissed", "dismissed")
    build.rubric_run(queue.version, entrant={"name": "Another"})
    build.queue_of(queue.version)
    reviewer = build.reviewer()
    while True:
        seat = subjects.take(queue, reviewer)
        is_same = seat.item.record is not None and seat.item.record.task == criterion.task
        build.decide(seat, reviewer, *(["defective"] if is_same else []))
        if is_same:
            break
    item = defects.items.get()
    assert item.state == ReviewItem.State.DECIDED


def test_the_pages_of_version_and_task_tell_what_is_struck_and_why(client: Client) -> None:
    queue, criterion, defects = called_defective()
    version, task = queue.version, criterion.task
    vote(defects, "upheld", "upheld", reason="no screen shows it")
    pages = [
        f"/suites/{version.suite.slug}/{version.name}/",
        f"/suites/{version.suite.slug}/{version.name}/tasks/{task.ordinal}/",
    ]
    for page in pages:
        assert "Struck criteria" not in client.get(page).content.decode()
    staged = passes.staged_pass(version)
    assert staged is not None
    passes.publish(staged, reason="agreed")
    for page in pages:
        told = client.get(page).content.decode()
        assert "Struck criteria" in told
        assert "no screen shows it" in told
        assert "nobody can see this step" in told
        assert f"pass {staged.number}" in told


def test_of_a_sealed_version_only_the_key_of_a_struck_criterion_is_told(client: Client) -> None:
    queue, criterion, defects = called_defective(sealed=True)
    version = queue.version
    assert version.sealed
    vote(defects, "upheld", "upheld", reason="no screen shows it")
    staged = passes.staged_pass(version)
    assert staged is not None
    passes.publish(staged, reason="agreed")
    told = client.get(f"/suites/{version.suite.slug}/{version.name}/").content.decode()
    assert "Struck criteria" in told
    assert criterion.text not in told
    assert "no screen shows it" not in told
    assert "nobody can see this step" not in told
