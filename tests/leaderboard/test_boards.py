"""What a board rests on: attempts, audits, policies, and the snapshots that follow."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from academy import deciding, ending
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run, SuiteVersion, Work
from leaderboard import boards, standings
from leaderboard.attempts import mean_items
from leaderboard.audit import judge_audited
from leaderboard.entries import ItemState
from leaderboard.inputs import read_inputs
from leaderboard.models import Board, BoardRevision, Snapshot
from tests import factories as made
from tests.leaderboard.boarding import (
    drawn_version,
    filled_board,
    judged_run,
    judged_version,
    newest,
    off,
    policy_of,
    row_of,
)

pytestmark = pytest.mark.django_db


def change(board: Board, **changes: Any) -> Board:
    versions = list(board.versions.order_by("pk"))
    changed = boards.change_board(board, policy_of(board, **changes), versions, reason="a test")
    made.score_all()
    return changed


def withdraw(run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(state=Run.State.WITHDRAWN, reason="wrong prompt")


def test_one_definition_of_item_states_serves_vectors_and_ranking() -> None:
    from academy import aggregation
    from leaderboard import entries

    assert entries.ItemState is aggregation.ItemState


def test_the_rule_of_the_board_chooses_among_several_attempts(wide_board: Board) -> None:
    board = wide_board
    version = board.versions.get()
    made.takeoff_run(version, off(20, 30), name="Alpha")
    made.takeoff_run(version, off(20, 20), name="Alpha")
    made.score_all()
    assert row_of(board, "Alpha")["shown"] == "20.0"
    assert row_of(board, "Alpha")["attempts"] == 3
    for rule, shown, mean in (
        ("first", "0.0", "16.7"),
        ("best", "0.0", "16.7"),
        ("last", "20.0", "16.7"),
    ):
        change(board, attempts=rule)
        row = row_of(board, "Alpha")
        assert (row["shown"], row["shown_mean_of_attempts"]) == (shown, mean), rule
    change(board, attempts="mean")
    # Each item counts (error + 30 + 20)/3, and most errors of the first run are 0.
    assert row_of(board, "Alpha")["shown"] == "16.7"


def test_attempts_are_chosen_by_the_median_where_the_median_ranks(wide_board: Board) -> None:
    board = wide_board
    version = board.versions.get()
    # A better median, but a worse mean: a handful of answers is far off.
    made.takeoff_run(version, off(20, 5), name="Delta")
    made.takeoff_run(version, off(8, 90), name="Delta")
    made.score_all()
    change(board, attempts="best")
    assert row_of(board, "Delta")["attempt"] == 2


def test_a_provisional_attempt_is_not_chosen_as_best_while_another_is_final() -> None:
    values: list[list[float | None]] = [[1.0, 0.0], [1.0, None]]
    states = [[0, 0], [0, int(ItemState.WAITING)]]
    merged, said = mean_items(values, states, 0.0)
    assert merged == [1.0, None]
    assert said == [ItemState.SCORED, ItemState.WAITING]


def test_a_withdrawn_run_is_listed_apart_and_still_counts_as_an_attempt(wide_board: Board) -> None:
    board = wide_board
    version = board.versions.get()
    second = made.takeoff_run(version, off(20, 30), name="Alpha")
    made.score_all()
    withdraw(second)
    standings.publish_snapshot(board)
    row = row_of(board, "Alpha")
    assert (row["shown"], row["attempts"], row["attempts_withdrawn"]) == ("0.0", 2, 1)
    gone = newest(board).standings["withdrawn"]
    assert [(held["name"], held["withdrawn_because"]) for held in gone] == [
        ("Alpha", "wrong prompt")
    ]
    moved = {held["name"]: held["why"] for held in newest(board).differences}
    assert moved["Alpha"] == f"run {second.pk} was withdrawn"


def test_an_audited_board_ranks_by_the_judge_corrected_by_people(judged: Board) -> None:
    board = judged.versions.get().boards.get(policy__mode="strict")
    assert board.policy["evidence"] == "judge_audited"
    assert "Judged, not audited" in row_of(board, "Alpha")["reason"]
    run = Run.objects.get(entrant__name="Alpha", version__boards=board)
    reviewer = made.person("reviewer", "reviewer")
    records = {
        int(record.task.external_id.removeprefix("q-")): record
        for record in InstanceRecord.objects.of_run(run.pk).select_related("task")
    }
    person: list[float | None] = [None] * 40
    for place, record in sorted(records.items())[:30]:
        met = place not in (3, 7)  # people disagree with the judge on two tasks
        person[place] = float(met)
        criterion = record.task.criteria.get()
        deciding.record_decisions(
            record,
            [deciding.Verdict(criterion=criterion, value=met, reason="seen")],
            source="person",
            person=reviewer,
            probability=0.75,
        )
    made.score_all()
    row = row_of(board, "Alpha")
    judge = [float(place < 36) for place in range(40)]
    chances = [0.75 if value is not None else None for value in person]
    expected = judge_audited(judge, person, chances)
    assert row["rank"] == 1 and row["audited"] == 30
    assert row["score"] == pytest.approx(expected.score.point, abs=1e-5)
    assert row["low"] == pytest.approx(expected.score.low, abs=1e-5)
    assert newest(board).standings["test"] == "t"
    assert newest(board).standings["fragility"] is None


def test_a_decision_keeps_its_chance_and_refuses_one_that_is_none() -> None:
    version = made.rubric_version(1, slug="one")
    run = judged_run(version, "Alpha", set())
    record = InstanceRecord.objects.of_run(run.pk).get()
    verdict = deciding.Verdict(
        criterion=record.task.criteria.order_by("pk").first(), value=True, reason="seen"
    )
    reviewer = made.person("reviewer", "reviewer")
    (stored,) = deciding.record_decisions(
        record, [verdict], source="person", person=reviewer, probability=0.25
    )
    assert stored.probability == 0.25
    with pytest.raises(IntegrityError), transaction.atomic():
        type(stored).objects.filter(pk=stored.pk).update(probability=0.5)
    other = made.person("other", "reviewer")
    with pytest.raises(IntegrityError), transaction.atomic():
        deciding.record_decisions(record, [verdict], source="person", person=other, probability=1.5)


def test_a_change_of_policy_is_a_revision_and_old_snapshots_stay(wide_board: Board) -> None:
    board = wide_board
    before = newest(board)
    change(board, confidence=0.9)
    assert board.revision == 2
    kept = BoardRevision.objects.get(board=board)
    assert kept.policy["confidence"] == 0.95
    assert newest(board).number == before.number + 1
    assert newest(board).standings["policy"]["confidence"] == 0.9
    before.refresh_from_db()
    assert before.standings["policy"]["confidence"] == 0.95
    change(board, confidence=0.9)
    assert (board.revision, newest(board).number) == (2, before.number + 1)


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"metric": "nothing"}, "metric"),
        ({"attempts": "luckiest"}, "attempts"),
        ({"coverage": 1.2}, "coverage"),
        ({"confidence": 1.0}, "confidence"),
        ({"slices": ["nothing"]}, "slices"),
        ({"cluster": "nothing"}, "cluster"),
        ({"verification": 5}, "verification"),
        ({"rounds": 1}, "rounds"),
    ],
)
def test_a_policy_that_cannot_be_is_refused_by_field(wrong: dict[str, Any], field: str) -> None:
    (board,) = boards.ensure_boards(drawn_version("other", 2))
    with pytest.raises(AcademyError, match=f"{field}: "):
        boards.change_board(board, policy_of(board, **wrong), list(board.versions.all()))
    board.refresh_from_db()
    assert board.revision == 1


def test_entries_below_the_step_of_the_board_are_listed_with_the_reason(wide_board: Board) -> None:
    board = wide_board
    change(board, verification=4)
    row = row_of(board, "Alpha")
    assert (row["rank"], row["place"]) == (None, "listed")
    assert row["reason"] == "This board ranks from the step “reproduced” on."


def test_a_board_over_two_versions_counts_the_items_of_both() -> None:
    board = filled_board("pair", 10)
    second = drawn_version("pair", 12, version="2.0")
    made.takeoff_run(second, off(0, of=12), name="Alpha")
    made.score_all()
    both = [*board.versions.all(), second]
    boards.change_board(board, policy_of(board, versions="all"), both)
    made.score_all()
    shown = newest(board).standings
    assert (shown["n"], len(shown["versions"])) == (22, 2)
    assert (row_of(board, "Alpha")["rank"], row_of(board, "Alpha")["scored"]) == (1, 22)
    missed = row_of(board, "Beta")
    assert (missed["place"], missed["missing"]) == ("incomplete", 12)


def test_versions_that_measure_differently_cannot_share_a_board(small_board: Board) -> None:
    board = small_board
    other = made.rubric_version(2, slug="two")
    with pytest.raises(AcademyError, match="metric: "):
        boards.change_board(board, policy_of(board), [*board.versions.all(), other])


def test_a_snapshot_never_changes_and_stays_published(small_board: Board) -> None:
    board = small_board
    snapshot = newest(board)
    for changes in (
        {"standings": {}},
        {"digest": "0" * 64},
        {"rows_html": "other"},
        {"number": 9},
        {"published_at": None},
        {"published_at": timezone.now()},
    ):
        with pytest.raises(IntegrityError), transaction.atomic():
            Snapshot.objects.filter(pk=snapshot.pk).update(**changes)
    with pytest.raises(IntegrityError), transaction.atomic():
        snapshot.delete()


def test_nothing_new_makes_no_snapshot(small_board: Board) -> None:
    board = small_board
    before = newest(board).number
    assert standings.publish_snapshot(board) == newest(board)
    boards.owe_snapshot(board)
    boards.owe_snapshot(board)
    assert made.score_all() == 1
    assert newest(board).number == before


def test_many_changes_before_the_work_is_done_make_one_snapshot(small_board: Board) -> None:
    board = small_board
    version = board.versions.get()
    before = newest(board).number
    for place in range(4):
        made.takeoff_run(version, off(place, of=8), name=f"Entrant {place}")
    made.score_all()
    assert newest(board).number - before <= 4
    assert len(newest(board).standings["standings"]) == 7


def test_differences_name_new_entrants_and_new_runs(wide_board: Board) -> None:
    board = wide_board
    version = board.versions.get()
    made.takeoff_run(version, off(18), name="Alpha")
    made.score_all()
    moved = {held["name"]: held for held in newest(board).differences}
    assert moved["Alpha"]["why"] == "new run, attempt 2"
    assert moved["Gamma"]["why"] == "others moved"
    made.takeoff_run(version, off(1), name="Delta")
    made.score_all()
    assert {(held["name"], held["what"]) for held in newest(board).differences} >= {
        ("Delta", "new")
    }


def test_a_snapshot_published_by_hand_waits_for_a_curator(small_board: Board) -> None:
    board = small_board
    change(board, publishing="by_hand")
    waiting = board.snapshots.order_by("-number").first()
    assert waiting.published_at is None
    assert newest(board).number == waiting.number - 1
    standings.publish_by_hand(waiting)
    assert newest(board).number == waiting.number


def test_a_board_of_a_draft_version_is_for_nobody_to_see(small_board: Board) -> None:
    board = small_board
    draft = made.takeoff_version(8, slug="draft", publish=False)
    hidden = boards.ensure_boards(draft)
    assert standings.compute(hidden[0]) is None
    assert SuiteVersion.objects.get(pk=draft.pk).state == "draft"
    assert read_inputs(board) is not None


def test_a_board_without_any_run_that_stands_is_published_without_entries() -> None:
    version = judged_version(3, slug="unentered")
    for run in version.runs.all():
        ending.fail_run(run, reason="the machine died")
    made.score_all()
    assert not Work.objects.filter(state="failed").exists()
    for board in version.boards.all():
        assert newest(board).standings["standings"] == []
        assert Client().get(f"/boards/{board.slug}/").status_code == 200
