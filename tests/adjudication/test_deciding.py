"""From the first word typed to the board: drafts, submissions, decisions, and what stays sealed."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from academy.errors import AcademyError
from academy.models import AuditEvent, Decision, Exposure, Run, Score
from adjudication import assigning, claiming, deciding
from adjudication.deciding import Stale
from adjudication.models import Draft, ExtraVerdict, Queue, ReviewItem, Seat
from leaderboard.models import Board
from tests.adjudication import builders as build

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def seconds(number: float) -> datetime:
    return NOON + timedelta(seconds=number)


@pytest.fixture
def queue() -> Queue:
    return build.waiting_queue(2, undo_seconds=10)


@pytest.fixture
def anna() -> Any:
    return build.reviewer("anna")


@pytest.fixture
def seat(queue: Queue, anna: Any) -> Seat:
    return build.claimed(queue, anna, at=NOON)


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


JUDGE = "Example-Judge-7"
JUDGED = "the judge saw no list in step 2"


@pytest.fixture
def judged_seat(anna: Any) -> Seat:
    version = build.rubric_version(1, notes=False)
    assert not version.sealed
    line = build.make.judged("q-0", False, False, judge=JUDGE)
    for decision in line["decisions"]:
        decision["reason"] = JUDGED
    build.rubric_run(version, line)
    return build.claimed(build.queue_of(version), anna)


def pages_with(client: Client, seat: Seat) -> list[str]:
    """Every page and part a reviewer can open about a seat, and what its form sends back."""
    url = reverse("adjudication:seat", args=[seat.pk])
    record = reverse("academy:record", args=[seat.item.record_id])
    htmx = {"headers": {"HX-Request": "true", "HX-Target": "steps"}}
    answers = [
        client.get(url),
        client.get(url, **htmx),  # type: ignore[arg-type]
        client.get(f"{url}?from=0", **htmx),  # type: ignore[arg-type]
        client.post(f"{url}submit/", {}),
        client.post(f"{url}draft/", {}, **htmx),  # type: ignore[arg-type]
        client.get(reverse("adjudication:queues")),
        client.get(record),
        client.get(f"{record}raw/"),
        client.get(reverse("academy:run", args=[seat.item.record.run_id])),
    ]
    return [answer.content.decode() for answer in answers]


def test_what_a_judge_said_is_sealed_until_the_own_verdict_counts(
    client: Client, judged_seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    for page in pages_with(client, judged_seat):
        assert JUDGE not in page
        assert JUDGED not in page
    said = build.verdicts(judged_seat.item, True, False)
    final_at = deciding.submit(judged_seat, user=anna, verdicts=said).final_at
    for page in pages_with(client, judged_seat):
        assert JUDGE not in page
        assert JUDGED not in page
    deciding.finalise(judged_seat.pk, at=final_at)
    build.do_work()
    page = client.get(reverse("adjudication:seat", args=[judged_seat.pk])).content.decode()
    assert JUDGE in page
    assert JUDGED in page
    assert page.count('<tr class="sel">') == 1
    record = client.get(reverse("academy:record", args=[judged_seat.item.record_id]))
    assert JUDGED in record.content.decode()


def test_another_reviewer_does_not_see_the_judge_while_the_item_waits(
    client: Client, judged_seat: Seat
) -> None:
    client.force_login(build.reviewer())
    record = reverse("academy:record", args=[judged_seat.item.record_id])
    assert JUDGED not in client.get(record).content.decode()
    assert client.get(f"{record}raw/").status_code == 404


# Without its first word, which is the name of the entrant and masked.
NOTE = "note for graders."


def test_sealed_notes_are_shown_to_the_holder_and_each_sight_is_noted_once(
    client: Client, seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    assert not Exposure.objects.exists()
    assert NOTE in client.get(url).content.decode()
    client.get(url)
    exposure = Exposure.objects.get()
    assert (exposure.user, exposure.task) == (anna, seat.item.record.task)
    assert exposure.why == f"seat:{seat.pk}"
    assert exposure.what


def test_sealed_notes_are_gone_when_the_seat_is(
    client: Client, queue: Queue, seat: Seat, anna: Any
) -> None:
    client.force_login(anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    build.age(seat, minutes=1)
    build.claimed(queue, build.reviewer())
    words = build.posted(seat.item)
    for answer in (
        client.get(url),
        client.get(url, headers={"HX-Request": "true", "HX-Target": "steps"}),
        client.get(f"{url}?from=0", headers={"HX-Request": "true", "HX-Target": "steps"}),
        client.post(f"{url}draft/", words),
        client.post(f"{url}submit/", {}),
        client.post(f"{url}submit/", {}, headers={"HX-Request": "true", "HX-Target": "steps"}),
    ):
        assert NOTE not in answer.content.decode()
    assert not Exposure.objects.exists()


def test_sealed_notes_are_gone_after_the_submission(client: Client, seat: Seat, anna: Any) -> None:
    client.force_login(anna)
    build.decide(seat, anna)
    url = reverse("adjudication:seat", args=[seat.pk])
    assert NOTE not in client.get(url).content.decode()
    assert (
        NOTE
        not in client.get(
            url, headers={"HX-Request": "true", "HX-Target": "steps"}
        ).content.decode()
    )
