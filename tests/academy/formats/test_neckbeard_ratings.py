"""Ratings become scores and distributions, never a number over dimensions."""

from __future__ import annotations

from typing import Any

import pytest

from academy.bundle import RecordStatus, RecordView, ScoredRecord
from academy.errors import ScoringError
from academy.formats.base import AggregateContext
from academy.formats.neckbeard import FORMAT
from academy.formats.neckbeard.dimensions import DIMENSIONS
from academy.formats.neckbeard.scoring import check, score
from academy.scorers.base import EffectiveValue, Mode, Verdict, VerdictStatus
from tests.academy.formats.neckbeard_making import JOURNEY_PATH, SINGLE_PATH, journey, parse, single

PARAMS = {"criterion": "correctness", "low": 0, "high": 3, "allows_na": False}
SUITE = parse({SINGLE_PATH: single(), JOURNEY_PATH: journey()}).suites[0]


def rate(value: EffectiveValue | None, **params: Any) -> Verdict:
    decisions = {} if value is None else {"correctness": value}
    return score(RecordView(answer="done"), None, decisions, {**PARAMS, **params})


@pytest.mark.parametrize("rating", [0, 1, 2, 3])
def test_a_rating_is_its_own_value_and_nothing_passes(rating: int) -> None:
    verdict = rate(EffectiveValue(state="value", value=rating))
    assert (verdict.value, verdict.credit, verdict.passed) == (rating, None, None)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (None, VerdictStatus.NEEDS_HUMAN),
        (EffectiveValue(state="waiting"), VerdictStatus.NEEDS_HUMAN),
        (EffectiveValue(state="unknowable"), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="struck"), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="na"), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value=4), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value=-1), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value=1.5), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value=True), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value="3"), VerdictStatus.UNSCORABLE),
        (EffectiveValue(state="value", value=None), VerdictStatus.UNSCORABLE),
    ],
)
def test_what_is_no_rating_is_no_number(
    value: EffectiveValue | None, status: VerdictStatus
) -> None:
    verdict = rate(value)
    assert (verdict.status, verdict.value) == (status, None)


def test_not_applicable_is_counted_only_where_it_is_allowed() -> None:
    assert rate(EffectiveValue(state="na"), allows_na=True).measures == {"na": 1}
    assert rate(EffectiveValue(state="na")).measures == {}


def test_nothing_submitted_waits_for_nobody() -> None:
    view = RecordView(answer=None, status=RecordStatus.MISSING)
    assert score(view, None, {}, PARAMS).status is VerdictStatus.UNSCORABLE


@pytest.mark.parametrize(
    "params",
    [
        {},
        {**PARAMS, "weight": 1},
        {**PARAMS, "criterion": ""},
        {**PARAMS, "low": 3},
        {**PARAMS, "high": True},
        {**PARAMS, "allows_na": 0},
    ],
)
def test_parameters_say_all_or_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ScoringError):
        check(None, params)


def test_every_task_has_eight_dimensions_and_only_one_may_not_apply() -> None:
    for task in SUITE.tasks:
        ratings = [one for one in task.criteria if one.scale == "rating"]
        assert [one.key for one in ratings] == [one.key for one in DIMENSIONS]
        assert [one.key for one in ratings if one.allows_na] == ["security_accessibility"]
        assert all(len(one.anchors) == 4 and one.decided_by == "person" for one in ratings)
        for grading in task.gradings:
            check(task.key, grading.params)
    assert {one.missing for one in SUITE.metrics} == {None}
    assert {one.run_aggregation for one in SUITE.metrics} == {"none"}


def scored(task: str, value: float | None, replicate: int = 1, **more: Any) -> ScoredRecord:
    status = more.pop("status", "scored")
    return ScoredRecord(
        task_id=task, metric="correctness", status=status, replicate=replicate, value=value, **more
    )


def test_a_dimension_is_a_distribution_with_its_gaps_counted() -> None:
    scores = [
        scored("dry-hinge", 3.0),
        scored("dry-hinge", 1.0, 2),
        scored("walk", 1.0),
        scored("walk", None, 2, status="needs_human"),
        scored("walk", None, 3, status="unscorable", measures={"na": 1}),
        scored("walk", None, 4, status="unscorable"),
        scored("walk", None, 5, status=""),
    ]
    context = AggregateContext(suite=SUITE, mode=Mode.STRICT)
    results = {(one.metric, one.slice): one for one in FORMAT.aggregate(scores, context)}
    whole = results["correctness", ""]
    assert (whole.value, whole.n) == (1.5, 2)
    assert (whole.waiting, whole.missing, whole.unscorable) == (1, 1, 1)
    assert whole.details["distribution"] == {"0": 0, "1": 2, "2": 0, "3": 1}
    assert whole.details["not_applicable"] == 1
    assert whole.details["spread"] == pytest.approx(0.7071, abs=1e-4)
    assert results["correctness", "class=refactor"].value == 2.0
    assert results["correctness", "path=lightweight"].value == 1.0
    assert results["maintainability", ""].value is None
    assert {metric for metric, _ in results} == {one.key for one in DIMENSIONS}


def test_the_order_of_scores_changes_no_result() -> None:
    scores = [scored("dry-hinge", 2.0), scored("walk", 1.0), scored("walk", 3.0, 2)]
    context = AggregateContext(suite=SUITE, mode=Mode.STRICT)
    assert FORMAT.aggregate(scores, context) == FORMAT.aggregate(scores[::-1], context)


def test_the_board_ranks_nobody_and_shows_every_dimension() -> None:
    (board,) = FORMAT.board_policies(SUITE)
    assert not board.ranked
    assert (board.metric, *board.secondary) == tuple(one.key for one in DIMENSIONS)
    assert board.evidence == "people"


def test_a_run_that_tells_of_its_journey_is_asked_about_it() -> None:
    task = SUITE.task("walk")
    assert task is not None
    evidence = {
        "phases": [
            {"phase": "1: Intake and provenance", "state": "done"},
            {"phase": "6", "state": "skipped", "reason": "-"},
        ],
        "gates": [{"gate": "gate-4", "state": "blocked"}],
        "terminal_state": "merged",
        "routing": {
            "selected": [{"skill": "gardening"}, {"skill": "documents"}],
            "skipped": [{"skill": "documents", "reason": "none"}],
        },
    }
    found = FORMAT.findings(RecordView(answer=None, evidence=evidence), task)
    assert [one.code for one in found] == [
        "silent-phase",
        "skipped-mandatory-phase",
        "skip-without-reason",
        "blocked-gate-state",
        "routing-unknown-skill",
        "routing-in-both-lists",
        "routing-unnamed-rows",
    ]


def test_an_arm_without_labels_is_asked_nothing() -> None:
    task = SUITE.task("walk")
    assert task is not None
    assert FORMAT.findings(RecordView(answer="done", evidence={}), task) == ()
    assert FORMAT.findings(RecordView(answer="done", evidence=None), task) == ()


def test_both_modes_score_alike_since_the_original_has_no_arithmetic() -> None:
    assert {one.mode for one in FORMAT.scorers} == {Mode.REFERENCE, Mode.STRICT}
    assert len({one.score for one in FORMAT.scorers}) == 1
