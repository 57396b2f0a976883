"""From the first word typed to a submission that counts."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest

from academy.errors import AcademyError
from academy.models import Decision
from adjudication import claiming, deciding
from adjudication.deciding import Stale
from adjudication.models import Draft, ExtraVerdict, Queue, Seat
from tests.adjudication import builders as build
from tests.adjudication.deciding.times import NOON, seconds

pytestmark = pytest.mark.django_db


def test_each_save_is_a_revision_of_the_draft(seat: Seat, anna: Any) -> None:
    first = build.verdicts(seat.item, False, reason="a")
    saved = deciding.save_draft(seat, user=anna, content=first, revision=0, at=seconds(1))
    assert isinstance(saved, Draft)
    assert (saved.content, saved.revision, saved.saved_at) == (first, 1, seconds(1))
    second = build.verdicts(seat.item, False, reason="ab")
    deciding.save_draft(seat, user=anna, content=second, revision=1, at=seconds(2))
    kept = Draft.objects.get(user=anna)
    assert (kept.content, kept.revision) == (second, 2)


def test_a_stale_window_is_told_and_overwrites_nothing(seat: Seat, anna: Any) -> None:
    newer = build.verdicts(seat.item, reason="of the other window")
    deciding.save_draft(seat, user=anna, content=newer, revision=0)
    older = build.verdicts(seat.item, reason="of this window")
    told = deciding.save_draft(seat, user=anna, content=older, revision=0)
    assert isinstance(told, Stale)
    assert told.stored.content == newer
    kept = Draft.objects.get(user=anna)
    assert (kept.content, kept.revision) == (newer, 1)


def test_the_same_words_again_are_no_conflict(seat: Seat, anna: Any) -> None:
    words = build.verdicts(seat.item)
    deciding.save_draft(seat, user=anna, content=words, revision=0)
    again = deciding.save_draft(seat, user=anna, content=words, revision=0)
    assert isinstance(again, Draft)
    assert again.revision == 1


def test_a_draft_is_kept_after_the_lease_was_lost(queue: Queue, seat: Seat, anna: Any) -> None:
    build.age(seat, minutes=1)
    taken = build.claimed(queue, build.reviewer())
    assert taken.pk == seat.pk
    words = build.verdicts(seat.item, reason="still typing")
    saved = deciding.save_draft(seat, user=anna, content=words, revision=0)
    assert isinstance(saved, Draft)
    assert saved.content == words
    lease = Seat.objects.get(pk=seat.pk).lease_until
    assert lease == taken.lease_until


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"state": "", "value": None}, "Choose a verdict."),
        ({"state": "maybe"}, "'maybe' is no state of a verdict."),
        ({"value": "yes"}, "Criterion R1 takes true or false, not 'yes'."),
        ({"value": None}, "Criterion R1 takes true or false, not None."),
        ({"state": "na", "value": None}, "Criterion R1 does not allow N/A."),
        ({"value": False, "reason": " \n"}, "Give a reason for anything but “met”."),
        ({"state": "cannot_tell", "value": None, "reason": ""}, "Give a reason"),
        ({"state": "defective", "value": None, "fault": "stale", "reason": ""}, "Give a reason"),
        ({"state": "defective", "value": None}, "Say what is wrong with the criterion"),
        ({"reason": "x" * 20_001}, "The reason has 20,001 characters; at most 20,000 are kept."),
    ],
)
def test_a_review_with_something_missing_is_not_taken(
    seat: Seat, anna: Any, change: dict[str, Any], problem: str
) -> None:
    said = build.verdicts(seat.item)
    said["R1"] |= change
    found = deciding.check_verdicts(deciding.questions_of(seat.item), said)
    assert list(found) == ["R1"]
    assert problem in found["R1"]
    with pytest.raises(AcademyError, match=r"The review is not complete\. R1: "):
        deciding.submit(seat, user=anna, verdicts=said)
    seat.refresh_from_db()
    assert (seat.state, seat.verdicts) == ("held", {})


def test_met_needs_no_reason_and_an_empty_form_lacks_everything(seat: Seat) -> None:
    criteria = deciding.questions_of(seat.item)
    assert deciding.check_verdicts(criteria, build.verdicts(seat.item, reason="")) == {}
    assert list(deciding.check_verdicts(criteria, {})) == ["R1", "R2"]


def test_a_submission_is_pending_until_its_window_ends(seat: Seat, anna: Any) -> None:
    said = build.verdicts(seat.item, True, False)
    done = deciding.submit(seat, user=anna, verdicts=said, at=seconds(60))
    assert (done.is_extra, done.final_at) == (False, seconds(70))
    seat.refresh_from_db()
    assert (seat.state, seat.verdicts, seat.lease_until) == ("pending", said, None)
    assert not deciding.finalise(seat.pk, at=seconds(69.9))
    assert not Decision.objects.exists()
    assert deciding.finalise(seat.pk, at=seconds(70))
    assert not deciding.finalise(seat.pk, at=seconds(71))
    assert Decision.objects.count() == 2


def test_a_submission_can_be_undone_within_its_window_and_not_after(seat: Seat, anna: Any) -> None:
    said = build.verdicts(seat.item, False, reason="typed a moment before the end")
    deciding.submit(seat, user=anna, verdicts=said, at=NOON)
    assert not deciding.undo(seat, user=build.reviewer(), at=seconds(1))
    assert deciding.undo(seat, user=anna, at=seconds(9.9))
    seat.refresh_from_db()
    assert (seat.state, seat.holder, seat.submitted_at, seat.final_at) == ("held", anna, None, None)
    assert seat.lease_until == claiming.lease_end(seat.item.queue, seconds(9.9))
    assert Draft.objects.get(user=anna).content == said
    assert not deciding.finalise(seat.pk, at=seconds(60))

    deciding.submit(seat, user=anna, verdicts=said, at=seconds(20))
    assert not deciding.undo(seat, user=anna, at=seconds(30))
    assert deciding.finalise(seat.pk, at=seconds(30))
    assert not deciding.undo(seat, user=anna, at=seconds(21))


def test_an_undo_gives_back_what_was_opened_in_between(queue: Queue, seat: Seat, anna: Any) -> None:
    deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item))
    following = build.claimed(queue, anna)
    words = build.verdicts(following.item, reason="just begun")
    deciding.save_draft(following, user=anna, content=words, revision=0)
    assert deciding.undo(seat, user=anna)
    following.refresh_from_db()
    held = claiming.current_seat(anna)
    assert held is not None
    assert (held.pk, following.state) == (seat.pk, "free")
    assert Draft.objects.get(item=following.item).content == words


def test_what_is_sent_again_after_an_undo_counts_too(queue: Queue, seat: Seat, anna: Any) -> None:
    queue.undo_seconds = 1
    queue.save()
    seat.item.queue = queue
    deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item, False))
    assert deciding.undo(seat, user=anna)
    final_at = deciding.submit(seat, user=anna, verdicts=build.verdicts(seat.item)).final_at
    assert final_at is not None
    # The work owed for the first window comes before the second window has ended.
    threading.Event().wait(1.1)
    Seat.objects.filter(pk=seat.pk).update(final_at=final_at + timedelta(seconds=1))
    build.do_work()
    assert Seat.objects.get(pk=seat.pk).state == "pending"
    threading.Event().wait(1.1)
    build.do_work()
    assert Seat.objects.get(pk=seat.pk).state == "submitted"
    assert list(Decision.objects.values_list("value", flat=True)) == [True, True]


def test_the_same_submission_twice_is_one(seat: Seat, anna: Any) -> None:
    said = build.verdicts(seat.item)
    first = deciding.submit(seat, user=anna, verdicts=said, at=NOON)
    again = deciding.submit(
        seat, user=anna, verdicts=build.verdicts(seat.item, False), at=seconds(5)
    )
    assert again == first
    seat.refresh_from_db()
    assert seat.verdicts == said
    assert not ExtraVerdict.objects.exists()
    deciding.finalise(seat.pk, at=seconds(10))
    assert not deciding.submit(seat, user=anna, verdicts=said, at=seconds(12)).is_extra
    assert (ExtraVerdict.objects.count(), Decision.objects.count()) == (0, 2)


@pytest.mark.django_db(transaction=True)
def test_a_save_and_a_submission_at_the_same_moment_both_end() -> None:
    queue = build.waiting_queue(1)
    anna = build.reviewer("anna")
    for _round in range(8):
        Seat.objects.update(state="free", holder=None, submitted_at=None, final_at=None)
        Draft.objects.all().delete()
        seat = build.claimed(queue, anna)
        typed = build.verdicts(seat.item, False, reason="typed")
        sent = build.verdicts(seat.item, False, reason="typed and sent")
        start = threading.Barrier(2, timeout=30)

        def save(seat: Seat = seat, typed: Any = typed, start: Any = start) -> None:
            start.wait()
            deciding.save_draft(seat, user=anna, content=typed, revision=0)

        def submit(seat: Seat = seat, sent: Any = sent, start: Any = start) -> None:
            start.wait()
            deciding.submit(seat, user=anna, verdicts=sent)

        with build.threads(2) as pool:
            both = [pool.submit(build.in_thread, act) for act in (save, submit)]
        for act in both:
            act.result()
        assert Draft.objects.get().content == sent
