"""Who gets which seat, who keeps it, and what the others are told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from academy.errors import AcademyError
from academy.models import Decision, Membership, Organization, Submission
from adjudication import claiming, deciding
from adjudication.claiming import NothingFree
from adjudication.models import Draft, ExtraVerdict, Queue, ReviewItem, Seat, Skip
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(3, lease_seconds=600)


def minutes(number: float) -> datetime:
    return NOON + timedelta(minutes=number)


def test_each_record_that_waits_is_one_item_with_all_its_criteria(queue: Queue) -> None:
    items = queue.items.order_by("pk")
    assert [item.record.task.external_id for item in items] == ["q-0", "q-1", "q-2"]
    assert [item.chosen_because for item in items] == ["waits for a person"] * 3
    assert [len(deciding.questions_of(item)) for item in items] == [2, 2, 2]
    assert Seat.objects.filter(item__queue=queue, state="free").count() == 3


def test_the_next_item_is_the_first_that_nobody_holds(queue: Queue, anna: Any, bert: Any) -> None:
    first = build.claimed(queue, anna, at=NOON)
    second = build.claimed(queue, bert, at=NOON)
    ids = list(queue.items.order_by("pk").values_list("pk", flat=True))
    assert [first.item_id, second.item_id] == ids[:2]
    assert (first.state, first.holder, first.held_at) == ("held", anna, NOON)
    assert first.lease_until == minutes(10)


def test_an_urgent_item_comes_before_older_ones(queue: Queue, anna: Any) -> None:
    last = queue.items.order_by("-pk").first()
    assert last is not None
    ReviewItem.objects.filter(pk=last.pk).update(priority=-1)
    assert build.claimed(queue, anna).item_id == last.pk


def test_who_holds_an_item_gets_it_again_with_a_new_lease(queue: Queue, anna: Any) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    again = build.claimed(queue, anna, at=minutes(4))
    assert again.pk == seat.pk
    assert again.lease_until == minutes(14)
    assert Seat.objects.filter(holder=anna).count() == 1


def test_an_expired_item_still_is_its_holders_while_nobody_took_it(queue: Queue, anna: Any) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    again = build.claimed(queue, anna, at=minutes(90))
    assert (again.pk, again.lease_until) == (seat.pk, minutes(100))


def test_a_skipped_item_goes_to_others_and_not_back(queue: Queue, anna: Any, bert: Any) -> None:
    seat = build.claimed(queue, anna)
    assert claiming.skip(seat, user=anna, reason="  Not my field ")
    kept = Skip.objects.get()
    assert (kept.item_id, kept.user, kept.reason) == (seat.item_id, anna, "Not my field")
    assert build.claimed(queue, anna).item_id != seat.item_id
    assert build.claimed(queue, bert).item_id == seat.item_id


def test_a_skip_needs_a_reason(queue: Queue, anna: Any) -> None:
    seat = build.claimed(queue, anna)
    with pytest.raises(AcademyError, match="Say why you skip this item"):
        claiming.skip(seat, user=anna, reason=" \n")
    seat.refresh_from_db()
    assert (seat.state, Skip.objects.count()) == ("held", 0)


def test_a_seat_that_went_cannot_be_skipped(queue: Queue, anna: Any, bert: Any) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    build.claimed(queue, bert, at=minutes(11))
    assert not claiming.skip(seat, user=anna, reason="Not my field")
    assert not Skip.objects.exists()


def test_release_keeps_the_draft_for_who_wrote_it(queue: Queue, anna: Any, bert: Any) -> None:
    seat = build.claimed(queue, anna)
    words = build.verdicts(seat.item, False, reason="half a thought")
    deciding.save_draft(seat, user=anna, content=words, revision=0)
    assert claiming.release(seat, user=anna)
    assert not claiming.release(seat, user=anna)
    seat.refresh_from_db()
    assert (seat.state, seat.holder, seat.lease_until, seat.held_at) == ("free", None, None, None)
    other = build.claimed(queue, bert)
    assert other.item_id == seat.item_id
    assert Draft.objects.get(user=anna).content == words
    assert Draft.objects.get(user=bert).content == {}


def test_somebody_else_cannot_release_or_renew(queue: Queue, anna: Any, bert: Any) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    assert not claiming.release(seat, user=bert)
    assert not claiming.renew(seat, user=bert, at=minutes(5))
    seat.refresh_from_db()
    assert (seat.holder, seat.lease_until) == (anna, minutes(10))


def test_when_a_lease_runs_out_the_item_goes_to_the_next(
    queue: Queue, anna: Any, bert: Any
) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    assert build.claimed(queue, bert, at=minutes(10)).item_id != seat.item_id
    bert_held = claiming.current_seat(bert)
    assert bert_held is not None
    claiming.release(bert_held, user=bert)
    taken = build.claimed(queue, bert, at=minutes(10.1))
    assert (taken.pk, taken.holder) == (seat.pk, bert)
    assert not claiming.renew(seat, user=anna, at=minutes(11))
    assert claiming.current_seat(anna) is None


def test_activity_renews_the_lease(queue: Queue, anna: Any, bert: Any) -> None:
    seat = build.claimed(queue, anna, at=NOON)
    deciding.save_draft(
        seat, user=anna, content=build.verdicts(seat.item), revision=0, at=minutes(9)
    )
    seat.refresh_from_db()
    assert seat.lease_until == minutes(19)
    assert build.claimed(queue, bert, at=minutes(18)).item_id != seat.item_id


def test_the_wanted_item_comes_first_if_it_is_free(queue: Queue, anna: Any, bert: Any) -> None:
    last = queue.items.order_by("-pk").first()
    assert last is not None
    assert build.claimed(queue, anna, prefer=last.pk).item_id == last.pk
    assert build.claimed(queue, bert, prefer=last.pk).item_id != last.pk


def test_another_queue_takes_over_what_is_held_only_when_it_has_something(
    queue: Queue, anna: Any
) -> None:
    seat = build.claimed(queue, anna)
    version = build.rubric_version(1, slug="others")
    build.rubric_run(version)
    other = build.queue_of(version)
    moved = build.claimed(other, anna)
    seat.refresh_from_db()
    assert (seat.state, moved.item.queue) == ("free", other)
    claiming.release(moved, user=anna)
    again = build.claimed(queue, anna)
    ReviewItem.objects.filter(queue=other).update(state="closed")
    assert build.refused(other, anna).sentence == "Nothing is left in this queue."
    again.refresh_from_db()
    assert (again.state, again.holder) == ("held", anna)


def test_nobody_judges_their_own_organisations_entrant(queue: Queue, anna: Any) -> None:
    team = Organization.objects.create(slug="team", name="Team")
    run = queue.items.first().record.run  # type: ignore[union-attr]
    run.entrant.organization = team
    run.entrant.save()
    Membership.objects.create(user=anna, organization=team, role="entrant")
    assert build.refused(queue, anna).sentence == (
        "Your organisation has a run on this version, so others decide what is reviewed here."
    )
    assert isinstance(claiming.claim_next(queue, user=build.reviewer()), Seat)


def test_a_reviewer_of_the_entrants_organisation_who_enters_nothing_may_review(
    queue: Queue, anna: Any
) -> None:
    run = queue.items.first().record.run  # type: ignore[union-attr]
    run.entrant.organization = anna.memberships.get().organization
    run.entrant.save()
    seat = build.claimed(queue, anna)
    assert (seat.holder, seat.item.record.run_id) == (anna, run.pk)  # type: ignore[union-attr]


def test_nobody_judges_what_they_submitted(anna: Any) -> None:
    version = build.rubric_version(1)
    build.rubric_run(version, account=anna)
    assert Submission.objects.filter(account=anna).count() == 1
    queue = build.queue_of(version)
    assert build.refused(queue, anna).sentence == (
        "You submitted a run on this version, so others decide what is reviewed here."
    )
    assert build.claimed(queue, build.reviewer())


def test_a_paused_queue_gives_nothing(queue: Queue, anna: Any) -> None:
    queue.is_paused = True
    queue.save()
    assert build.refused(queue, anna).sentence == "This queue is paused."


@pytest.mark.parametrize("role", ["", "entrant", "curator", "auditor"])
def test_only_reviewers_and_adjudicators_take_items(queue: Queue, role: str) -> None:
    user = build.person("carla", *([role] if role else []))
    with pytest.raises(AcademyError, match="Only reviewers and adjudicators take items"):
        claiming.claim_next(queue, user=user)
    assert not Seat.objects.exclude(state="free").exists()


def test_an_adjudicator_takes_items_and_an_inactive_reviewer_does_not(queue: Queue) -> None:
    assert build.claimed(queue, build.person("carla", "adjudicator"))
    with pytest.raises(AcademyError):
        claiming.claim_next(queue, user=build.reviewer(is_active=False))


def test_nothing_left_and_held_by_others_are_told_apart(queue: Queue, anna: Any, bert: Any) -> None:
    for number in range(3):
        build.claimed(queue, build.reviewer(), at=minutes(number))
    nothing = build.refused(queue, anna, at=minutes(5))
    assert (nothing.held_by_others, nothing.next_free_at) == (3, minutes(10))
    assert nothing.sentence == "3 items are held by others; the next is free at 12:10 UTC."
    for seat in Seat.objects.filter(item__queue=queue):
        build.decide(seat, seat.holder)
    assert build.refused(queue, bert, at=minutes(5)) == NothingFree()
    assert build.refused(queue, bert).sentence == "Nothing is left in this queue."


def test_the_time_told_is_never_before_the_lease_ends(queue: Queue) -> None:
    told = NothingFree(1, minutes(10) + timedelta(seconds=1), 0).sentence
    assert told == "1 item is held by others; the next is free at 12:11 UTC."


def test_an_item_held_by_others_that_one_may_not_take_is_not_promised(
    queue: Queue, anna: Any, bert: Any
) -> None:
    seat = build.claimed(queue, anna)
    claiming.skip(seat, user=anna, reason="Not my field")
    build.claimed(queue, bert)
    for _number in range(2):
        build.claimed(queue, build.reviewer())
    assert build.refused(queue, anna).held_by_others == 2
    ReviewItem.objects.exclude(pk=seat.item_id).update(state="closed")
    nothing = build.refused(queue, anna)
    assert (nothing.held_by_others, nothing.not_yours) == (0, 1)


def test_nobody_gets_both_seats_of_an_item(anna: Any, bert: Any) -> None:
    queue = build.waiting_queue(1, seats=2)
    seat = build.claimed(queue, anna)
    deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
    nothing = build.refused(queue, anna)
    assert (nothing.held_by_others, nothing.not_yours) == (0, 1)
    assert build.claimed(queue, bert).number == 2


def test_the_database_itself_refuses_a_second_claim_or_a_second_seat(
    queue: Queue, anna: Any
) -> None:
    build.claimed(queue, anna)
    free = Seat.objects.filter(state="free").first()
    assert free is not None
    with pytest.raises(IntegrityError, match="one_open_claim"), transaction.atomic():
        Seat.objects.filter(pk=free.pk).update(state="held", holder=anna)
    build.add_seats(queue, 2)
    second = Seat.objects.get(item__seats__holder=anna, number=2)
    with pytest.raises(IntegrityError, match="one_seat_per_person"), transaction.atomic():
        Seat.objects.filter(pk=second.pk).update(state="submitted", holder=anna)
    with pytest.raises(IntegrityError, match="held_seat_has_holder"), transaction.atomic():
        Seat.objects.filter(pk=free.pk).update(state="held")


@pytest.mark.django_db(transaction=True)
def test_a_verdict_after_a_lost_lease_is_kept_beside_the_one_that_counts() -> None:
    queue = build.waiting_queue(1)
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    slept = build.claimed(queue, anna)
    words = build.verdicts(slept.item, False, True, reason="of the sleeper")
    deciding.save_draft(slept, user=anna, content=words, revision=0)
    build.age(slept, minutes=1)
    build.decide(build.claimed(queue, bert), bert, True, True, reason="of the other")

    done = deciding.submit(slept, user=anna, verdicts=words)
    assert (done.is_extra, done.final_at) == (True, None)
    deciding.submit(slept, user=anna, verdicts=words)
    build.do_work()

    extra = ExtraVerdict.objects.get()
    assert (extra.user, extra.item_id, extra.verdicts) == (anna, slept.item_id, words)
    draft = Draft.objects.get(user=anna)
    assert (draft.content, draft.revision) == (words, 1)
    slept.refresh_from_db()
    assert (slept.holder, slept.state) == (bert, "submitted")
    assert slept.verdicts == build.verdicts(slept.item, True, True, reason="of the other")
    decisions = Decision.objects.filter(source="person")
    assert {(row.person, row.value, row.reason) for row in decisions} == {
        (bert, True, "of the other")
    }
    assert decisions.count() == 2


@pytest.mark.django_db(transaction=True)
def test_a_sleeper_whose_words_were_never_saved_can_still_send_them() -> None:
    queue = build.waiting_queue(1)
    anna, bert = build.reviewer("anna"), build.reviewer("bert")
    slept = build.claimed(queue, anna)
    build.age(slept, minutes=1)
    build.decide(build.claimed(queue, bert), bert)
    words = build.verdicts(slept.item, "cannot_tell", reason="typed, never saved")
    assert deciding.submit(slept, user=anna, verdicts=words).is_extra
    assert ExtraVerdict.objects.get().verdicts == words
