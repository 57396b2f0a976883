"""What becomes of an item: agreed, split, escalated, sent back, withdrawn, brought back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone

from academy.errors import AcademyError
from academy.models import AuditEvent, Decision, Membership, Organization, Score, ScoringPass
from adjudication import claiming, conflicts, deciding, kinds, resolving
from adjudication.models import Appeal, Queue, ReviewItem, Seat, Skip
from leaderboard.models import Board
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(1, seats=2)


@pytest.fixture
def carla() -> Any:
    return build.person("carla", "adjudicator")


def item_of(queue: Queue) -> ReviewItem:
    return queue.items.select_related("queue__version", "record").get()


def split(queue: Queue, anna: Any, bert: Any) -> ReviewItem:
    """An item on whose second question two people differ."""
    first, second = build.claimed(queue, anna), build.claimed(queue, bert)
    build.decide(first, anna, True, True)
    build.decide(second, bert, True, False)
    return item_of(queue)


def third(queue: Queue, user: Any) -> Seat:
    return build.claimed(queue, user, role="third")


def finish(seat: Seat, user: Any, verdicts: dict[str, Any]) -> None:
    done = deciding.submit(seat, user=user, verdicts=verdicts)
    assert done.final_at is not None
    assert deciding.finalise(seat.pk, at=done.final_at)
    build.do_work()


def perfect(item: ReviewItem) -> tuple[str, float | None]:
    score = Score.objects.get(
        record=item.record, mode="strict", current=True, metric__key="perfect",
        scoring_pass__state="published",
    )  # fmt: skip
    return score.status, score.value


def test_a_third_person_decides_what_differs_and_the_originals_stay(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    assert resolving.disputed(item) == ["R2"]
    seat = third(queue, carla)
    finish(seat, carla, {"R2": build.given(value=False, reason="the list is missing")})
    item = item_of(queue)
    assert item.state == "resolved"
    assert perfect(item) == ("scored", 0.0)
    row = Decision.objects.get(source="resolution")
    assert (row.person, row.seat, row.value) == (carla, seat.pk, False)
    persons = Decision.objects.filter(source="person", current=True)
    assert {(one.person, one.criterion.key, one.value) for one in persons} == {
        (anna, "R1", True), (anna, "R2", True), (bert, "R1", True), (bert, "R2", False),
    }  # fmt: skip


def test_a_third_person_gives_each_verdict_and_a_reason_for_it(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    split(queue, anna, bert)
    seat = third(queue, carla)
    for said, problem in (
        ({}, "R2: Choose a verdict."),
        ({"R2": build.given(value=True)}, "R2: Give a reason for what you decide."),
        (
            {"R1": build.given(value=True), "R2": build.given(value=True, reason="seen")},
            "R1: Give a reason for what you decide.",
        ),
    ):
        with pytest.raises(AcademyError, match=problem):
            deciding.submit(seat, user=carla, verdicts=said)
    assert not Decision.objects.filter(source="resolution").exists()


def test_a_third_person_may_reopen_what_was_agreed(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    both = {"R1": build.given(value=False, reason="a"), "R2": build.given(value=True, reason="b")}
    finish(third(queue, carla), carla, both)
    assert perfect(item) == ("scored", 0.0)
    standing = Decision.objects.filter(source="resolution", current=True)
    assert {(row.criterion.key, row.value) for row in standing} == {("R1", False), ("R2", True)}


def test_the_third_person_is_neither_of_the_two(queue: Queue, bert: Any) -> None:
    both = build.person("both", "reviewer", "adjudicator")
    split(queue, both, bert)
    told = build.refused(queue, both, role="third")
    assert (told.held_by_others, told.not_yours) == (0, 1)
    with pytest.raises(AcademyError, match="Only adjudicators decide where others differ"):
        claiming.claim_next(queue, user=build.reviewer(), role="third")


def test_a_resolution_can_be_undone_and_counts_after_its_window(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    split(queue, anna, bert)
    seat = third(queue, carla)
    said = {"R2": build.given(value=True, reason="seen")}
    deciding.submit(seat, user=carla, verdicts=said)
    assert deciding.undo(seat, user=carla)
    seat.refresh_from_db()
    assert (seat.state, seat.undone) == ("held", 1)
    assert not Decision.objects.filter(source="resolution").exists()
    finish(seat, carla, said)
    assert item_of(queue).state == "resolved"


def test_every_pass_that_lives_and_the_board_follow_a_resolution(
    anna: Any, bert: Any, carla: Any
) -> None:
    queue = build.waiting_queue(1, seats=2, notes=False)
    item = split(queue, anna, bert)
    published = queue.version.passes.get(state="published")
    staged = ScoringPass.objects.create(
        version=queue.version,
        number=published.number + 1,
        state=ScoringPass.State.STAGED,
        scorers=published.scorers,
        key_revisions=published.key_revisions,
        evidence=published.evidence,
        digest="f" * 64,
    )
    finish(third(queue, carla), carla, {"R2": build.given(value=True, reason="seen")})
    scores = Score.objects.filter(
        record=item.record, metric__key="perfect", mode="strict", current=True
    )
    assert {row.scoring_pass_id: row.value for row in scores} == {published.pk: 1.0, staged.pk: 1.0}
    build.make_boards(queue.version)
    board = Board.objects.get(
        versions=queue.version, policy__metric="perfect", policy__mode="strict"
    )
    snapshot = board.newest_snapshot()
    assert snapshot is not None
    rows = snapshot.standings["standings"]
    assert [(row["score"], row["waiting"]) for row in rows] == [(1.0, 0)]


def test_an_escalated_item_goes_to_an_adjudicator_and_no_reviewer(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    seat = build.claimed(queue, anna)
    with pytest.raises(AcademyError, match="Say what an adjudicator has to decide"):
        claiming.escalate(seat, user=anna, reason=" ")
    assert claiming.escalate(seat, user=anna, reason="The task contradicts itself.")
    assert not isinstance(claiming.claim_next(queue, user=bert), Seat)
    item = item_of(queue)
    assert (item.state, item.escalated_at is not None) == ("decided", True)
    assert Skip.objects.get().act == "escalate"
    seat = third(queue, carla)
    assert resolving.disputed(item) == ["R1", "R2"]
    finish(seat, carla, build.verdicts(item, True, True, reason="it does not"))
    assert perfect(item) == ("scored", 1.0)


def test_an_escalated_item_can_be_sent_back_with_an_answer(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    claiming.escalate(build.claimed(queue, anna), user=anna, reason="Which list is meant?")
    held = third(queue, carla)
    with pytest.raises(AcademyError, match="Write what the reviewers should know"):
        resolving.send_back(held, user=carla, reason="")
    resolving.send_back(held, user=carla, reason="The first one.")
    item = item_of(queue)
    assert (item.state, item.escalated_at, item.answer) == ("open", None, "The first one.")
    assert {build.claimed(queue, anna).item_id, build.claimed(queue, bert).item_id} == {item.pk}
    with pytest.raises(AcademyError, match="You do not hold this item any more"):
        resolving.send_back(held, user=carla, reason="Again.")


def test_a_split_item_sent_back_gets_one_more_reviewer(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    resolving.send_back(third(queue, carla), user=carla, reason="Look at step 3.")
    dora = build.reviewer("dora")
    seat = build.claimed(queue, dora)
    assert (seat.item_id, seat.role) == (item.pk, "reviewer")
    build.decide(seat, dora, True, True)
    assert item_of(queue).state == "decided"
    assert resolving.disputed(item_of(queue)) == ["R2"]


def test_a_verdict_withdrawn_before_the_other_came_is_kept_and_linked(
    queue: Queue, anna: Any, bert: Any
) -> None:
    seat = build.claimed(queue, anna)
    build.decide(seat, anna, True, False)
    with pytest.raises(AcademyError, match="Say why you withdraw your verdict"):
        deciding.withdraw(seat, user=anna, reason="")
    deciding.withdraw(seat, user=anna, reason="I read the wrong tab.")
    build.do_work()
    rows = Decision.objects.filter(person=anna).order_by("pk")
    said = [row for row in rows if row.state == "value"]
    taken = [row for row in rows if row.state == "withdrawn"]
    assert len(said) == len(taken) == 2
    assert {row.supersedes_id for row in taken} == {row.pk for row in said}
    assert all(row.current for row in taken) and not any(row.current for row in said)
    seat.refresh_from_db()
    assert (seat.state, seat.withdrawn_because) == ("withdrawn", "I read the wrong tab.")
    assert seat.verdicts["R2"]["value"] is False
    carla = build.reviewer()
    for user in (bert, carla):
        build.decide(build.claimed(queue, user), user, True, True)
    assert item_of(queue).state == "resolved"
    assert perfect(item_of(queue)) == ("scored", 1.0)
    assert not isinstance(claiming.claim_next(queue, user=anna), Seat)


def test_a_verdict_withdrawn_from_a_split_item_opens_it_again(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    held = third(queue, carla)
    deciding.withdraw(item.seats.get(holder=bert), user=bert, reason="I was wrong.")
    held.refresh_from_db()
    assert (item_of(queue).state, held.state) == ("open", "free")
    dora = build.reviewer("dora")
    build.decide(build.claimed(queue, dora), dora, True, True)
    assert item_of(queue).state == "resolved"
    assert perfect(item) == ("scored", 1.0)


def test_what_opens_again_is_offered_to_who_had_gone_past_it(anna: Any, bert: Any) -> None:
    queue = build.waiting_queue(3, seats=2)
    carla = build.reviewer("carla")
    for user, met in ((anna, True), (bert, False)):
        build.decide(build.claimed(queue, user), user, met)
    first = queue.items.get(state="decided")
    seat = build.claimed(queue, carla)
    build.decide(seat, carla)
    held = build.claimed(queue, carla)
    assert first.pk < seat.item_id < held.item_id
    claiming.release(held, user=carla)
    deciding.withdraw(first.seats.get(holder=bert), user=bert, reason="I was wrong.")
    assert build.claimed(queue, carla).item_id == first.pk


def test_nobody_withdraws_what_is_resolved(queue: Queue, anna: Any, bert: Any) -> None:
    seats = [build.claimed(queue, user) for user in (anna, bert)]
    for seat, user in zip(seats, (anna, bert), strict=True):
        build.decide(seat, user, True, True)
    with pytest.raises(AcademyError, match="This item is resolved.*only by an appeal"):
        deciding.withdraw(seats[0], user=anna, reason="Too late.")
    with pytest.raises(AcademyError, match="There is no verdict of yours here"):
        deciding.withdraw(seats[0], user=bert, reason="Not mine.")
    assert Decision.objects.filter(state="withdrawn").count() == 0


def test_a_resolved_item_is_brought_back_to_another_third_person(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    finish(third(queue, carla), carla, {"R2": build.given(value=False, reason="not there")})
    resolving.bring_back(item, keys=["R1"], reason="appeal upheld")
    assert (item_of(queue).state, resolving.disputed(item_of(queue))) == ("decided", ["R1"])
    assert not isinstance(claiming.claim_next(queue, user=carla, role="third"), Seat)
    dora = build.person("dora", "adjudicator")
    finish(third(queue, dora), dora, {"R1": build.given(value=False, reason="nor this")})
    standing = Decision.objects.filter(source="resolution", current=True)
    assert {(row.criterion.key, row.value, row.person) for row in standing} == {
        ("R1", False, dora), ("R2", False, carla),
    }  # fmt: skip
    assert item_of(queue).state == "resolved"
    with pytest.raises(AcademyError, match="asks R1, R2; R9 is none"):
        resolving.bring_back(item, keys=["R9"], reason="no such question")


def test_who_came_into_conflict_is_set_aside_and_a_fresh_seat_added(
    queue: Queue, anna: Any, bert: Any
) -> None:
    seats = [build.claimed(queue, user) for user in (anna, bert)]
    done = [
        deciding.submit(seat, user=user, verdicts=build.verdicts(seat.item))
        for seat, user in zip(seats, (anna, bert), strict=True)
    ]
    item = item_of(queue)
    Appeal.objects.create(record=item.record, opened_by=anna, text="I contest this.")
    for seat, one in zip(seats, done, strict=True):
        deciding.finalise(seat.pk, at=one.final_at)
    item = item_of(queue)
    seats[0].refresh_from_db()
    assert (item.state, seats[0].state) == ("open", "withdrawn")
    assert seats[0].withdrawn_because == conflicts.item_conflict(anna, item)
    assert not Decision.objects.exists()
    assert AuditEvent.objects.filter(act="review.set_aside", actor=anna).count() == 1
    carla = build.reviewer()
    build.decide(build.claimed(queue, carla), carla, True, True)
    assert item_of(queue).state == "resolved"
    assert {row.person for row in Decision.objects.all()} == {bert, carla}


def test_a_third_person_in_conflict_is_replaced(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    item = split(queue, anna, bert)
    seat = third(queue, carla)
    done = deciding.submit(
        seat, user=carla, verdicts={"R2": build.given(value=True, reason="seen")}
    )
    team = Organization.objects.create(slug="team", name="Team")
    item.record.run.entrant.organization = team  # type: ignore[union-attr]
    item.record.run.entrant.save()  # type: ignore[union-attr]
    Membership.objects.create(user=carla, organization=team, role="entrant")
    deciding.finalise(seat.pk, at=done.final_at)
    assert item_of(queue).state == "decided"
    assert not Decision.objects.filter(source="resolution").exists()
    dora = build.person("dora", "adjudicator")
    finish(third(queue, dora), dora, {"R2": build.given(value=True, reason="seen")})
    assert item_of(queue).state == "resolved"


def test_the_author_of_the_version_and_who_appealed_are_in_conflict(
    queue: Queue, anna: Any, bert: Any
) -> None:
    item = item_of(queue)
    assert (conflicts.conflict_with(anna, queue), conflicts.item_conflict(anna, item)) == ("", "")
    type(queue.version).objects.filter(pk=queue.version_id).update(created_by=anna)
    queue.refresh_from_db()
    assert "You made this version" in build.refused(queue, anna).sentence
    Appeal.objects.create(record=item.record, opened_by=bert, text="I contest this.")
    assert build.refused(queue, bert).not_yours == 1


def test_a_late_verdict_of_another_seat_stands_beside_what_was_decided(
    queue: Queue, anna: Any, bert: Any, carla: Any
) -> None:
    first, second = build.claimed(queue, anna), build.claimed(queue, bert)
    claiming.escalate(first, user=anna, reason="Unclear.")
    done = deciding.submit(second, user=bert, verdicts=build.verdicts(second.item, False, False))
    item = item_of(queue)
    finish(third(queue, carla), carla, build.verdicts(item, True, True, reason="it is met"))
    deciding.finalise(second.pk, at=timezone.now() + timedelta(minutes=1))
    build.do_work()
    assert Decision.objects.filter(person=bert, source="person", current=True).count() == 2
    assert perfect(item) == ("scored", 1.0)
    assert done.final_at is not None


def test_followers_hear_of_final_verdicts_and_not_of_withdrawn_ones(
    queue: Queue, anna: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[int] = []

    def listen(_item: ReviewItem, seat: Seat, _verdicts: kinds.Verdicts) -> None:
        heard.append(seat.pk)

    monkeypatch.setattr(kinds, "FOLLOWERS", [*kinds.FOLLOWERS, listen])
    seat = build.claimed(queue, anna)
    build.decide(seat, anna, True, True)
    deciding.withdraw(seat, user=anna, reason="The wrong tab.")
    assert heard == []
    users = [build.reviewer() for _ in range(2)]
    seats = [build.claimed(queue, user) for user in users]
    for one, user in zip(seats, users, strict=True):
        build.decide(one, user, True, True)
    assert sorted(heard) == sorted(one.pk for one in seats)


def test_the_guideline_in_force_and_every_act_stay_with_a_verdict(queue: Queue, anna: Any) -> None:
    seat = build.claimed(queue, anna)
    first = queue.guidelines.create(revision=1, text="Look twice.")
    deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
    queue.guidelines.create(revision=2, text="Look three times.")
    seat.refresh_from_db()
    assert seat.guideline == first
    deciding.undo(seat, user=anna)
    seat.refresh_from_db()
    assert seat.guideline is None
    deciding.report_not_blind(seat, user=anna, text="The answer names its model.")
    claiming.release(seat, user=anna)
    acts = AuditEvent.objects.filter(actor=anna).order_by("pk").values_list("act", flat=True)
    assert list(acts) == [
        "review.claim", "review.submit", "review.undo", "review.not_blind", "review.release",
    ]  # fmt: skip


def test_a_decision_cannot_be_rewritten(queue: Queue, anna: Any, bert: Any) -> None:
    split(queue, anna, bert)
    row = Decision.objects.first()
    assert row is not None
    with pytest.raises(DatabaseError), transaction.atomic():
        Decision.objects.filter(pk=row.pk).update(value=False, reason="rewritten")
