"""Scores follow decisions, and nothing that waits is a number."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction

from academy import deciding
from academy.deciding import Verdict
from academy.errors import AcademyError
from academy.models import Decision, Run, RunResult, Score, Summary, Work
from tests import factories as make
from tests.academy.scoring.standing import criterion_of, decide, record_of, results_of, scores_of

pytestmark = pytest.mark.django_db


def test_a_run_is_provisional_while_anything_waits(rubric_run: Run) -> None:
    assert [(row[0], row[1], row[2]) for row in scores_of(rubric_run) if row[1] == "perfect"] == [
        ("q-0", "perfect", "scored"),
        ("q-1", "perfect", "scored"),
        ("q-2", "perfect", "needs_human"),
    ]
    summary = Summary.objects.get(run=rubric_run)
    assert (summary.scored, summary.waiting, summary.missing) == (2, 1, 0)
    assert results_of(rubric_run)["perfect", "strict"] == (0.5, 2, 1, 0, 0)
    result = RunResult.objects.get(
        run=rubric_run, metric__key="perfect", mode="strict", slice="", origin="computed"
    )
    assert "Provisional: 1 of 3" in result.note
    board = rubric_run.version.boards.get(policy__mode="strict").newest_snapshot()
    assert board is not None
    (row,) = board.standings["standings"]
    assert (row["rank"], row["waiting"]) == (None, 1)


def test_what_waits_is_neither_zero_nor_a_number(rubric_run: Run) -> None:
    waiting = Score.objects.filter(record__run=rubric_run, status="needs_human", current=True)
    assert waiting.exists()
    assert set(waiting.values_list("value", "credit", "passed")) == {(None, None, None)}


def test_a_decision_scores_again_only_what_depends_on_it(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    before = set(Score.objects.values_list("pk", flat=True))
    decide(record, reviewer, R1=True, R2=True)
    owed = Work.objects.filter(state="ready", kind="score")
    assert [(row.payload["first"], row.payload["last"]) for row in owed] == [(record.pk, record.pk)]
    make.score_all()
    fresh = Score.objects.exclude(pk__in=before)
    assert set(fresh.values_list("record_id", flat=True)) == {record.pk}
    changed = Score.objects.filter(pk__in=before, current=False)
    assert set(changed.values_list("record_id", flat=True)) == {record.pk}
    assert fresh.count() == changed.count() == 4
    assert set(fresh.values_list("revision", flat=True)) == {2}
    summary = Summary.objects.get(run=rubric_run)
    assert (summary.scored, summary.waiting) == (3, 0)


def test_a_decision_that_changes_no_score_makes_no_new_one(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    before = Score.objects.count()
    decide(record_of(rubric_run, "q-2"), reviewer, R1=True)
    make.score_all()
    fresh = Score.objects.count() - before
    assert fresh == 0


def test_the_board_follows_a_decision(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    board = rubric_run.version.boards.get(policy__mode="strict")
    first = board.newest_snapshot()
    decide(record_of(rubric_run, "q-2"), reviewer, R1=True, R2=False)
    make.score_all()
    second = board.newest_snapshot()
    assert first is not None and second is not None
    assert second.number == first.number + 1
    assert second.standings["standings"][0]["waiting"] == 0


def test_a_decision_taken_back_leaves_both_in_the_trail(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    decide(record, reviewer, R1=True, R2=True)
    decide(record, reviewer, R1=False)
    rows = Decision.objects.filter(record=record, criterion__key="R1").order_by("pk")
    assert [(row.value, row.current) for row in rows] == [(True, False), (False, True)]
    assert rows[1].supersedes == rows[0]
    make.score_all()
    assert ("q-2", "perfect", "scored", 0.0, False) in scores_of(rubric_run)


def test_the_same_decision_again_changes_no_decision(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-2")
    decide(record, reviewer, R1=True)
    kept = list(Decision.objects.order_by("pk").values_list("pk", "current"))
    decide(record, reviewer, R1=True)
    assert list(Decision.objects.order_by("pk").values_list("pk", "current")) == kept


def test_two_persons_who_differ_decide_nothing(rubric_run: Run) -> None:
    record = record_of(rubric_run, "q-2")
    decide(record, make.person("one", "reviewer"), R1=True, R2=True)
    make.score_all()
    decide(record, make.person("other", "reviewer"), R1=False)
    make.score_all()
    assert ("q-2", "perfect", "needs_human", None, None) in scores_of(rubric_run)


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ({"value": 1}, "takes true or false"),
        ({"value": None}, "true or false"),
        ({"state": "na"}, "does not allow N/A"),
        ({"state": "perhaps"}, "is no state"),
    ],
)
def test_a_verdict_that_is_not_on_the_scale_is_refused(
    rubric_run: Run, verdict: dict[str, Any], said: str
) -> None:
    reviewer = make.person("reviewer", "reviewer")
    record = record_of(rubric_run, "q-0")
    before = make.whole_database()
    with pytest.raises(AcademyError, match=said):
        deciding.record_decisions(
            record,
            [Verdict(criterion=criterion_of(record, "R1"), **verdict)],
            source="person",
            person=reviewer,
        )
    assert make.changed_tables(before) == []


def test_a_criterion_of_another_task_is_refused(rubric_run: Run) -> None:
    reviewer = make.person("reviewer", "reviewer")
    other = criterion_of(record_of(rubric_run, "q-1"), "R1")
    with pytest.raises(AcademyError, match="belongs to another task"):
        deciding.record_decisions(
            record_of(rubric_run, "q-0"),
            [Verdict(criterion=other, value=True)],
            source="person",
            person=reviewer,
        )


def test_nobody_edits_a_decision(rubric_run: Run) -> None:
    for statement in ("value = 'false'", "reason = 'other'", "source = 'machine'"):
        with (
            pytest.raises(IntegrityError, match="does not change"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE academy_decision SET {statement}")
