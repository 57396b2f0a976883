"""Doc Bridge: what program and people say of an execution, and what follows for a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from academy.bundle import RecordView, ScoredRecord, SuiteSpec, TaskSpec
from academy.errors import ScoringError
from academy.formats.base import AggregateContext
from academy.formats.doc_bridge import FORMAT
from academy.registry import scorer_of
from academy.scorers.base import EffectiveValue, Mode, Verdict, VerdictStatus
from tests.academy.formats.doc_bridge_making import Json, parse_suite, sample

STRICT, REFERENCE = Mode.STRICT, Mode.REFERENCE


@pytest.fixture(scope="module")
def suite() -> SuiteSpec:
    return parse_suite(sample("one-repository"))


@pytest.fixture(scope="module")
def task(suite: SuiteSpec) -> TaskSpec:
    found = suite.task("tide-tables-documentation")
    assert found is not None
    return found


def record(
    passed: float | None = 1,
    evidence: tuple[str, ...] = ("table-evidence", "reading-limit"),
    status: str = "completed",
    **measured: Any,
) -> RecordView:
    counts: Json = {"acceptanceChecksTotal": 1, "acceptanceChecksExecuted": 1}
    if passed is not None:
        counts["acceptanceChecksPassed"] = passed
    return RecordView(
        answer=None,
        telemetry={"tokens_in": 100, "tokens_out": 10, "wall_ms": 1000},
        evidence={
            "execution": {
                "status": status,
                "evidence_ids": list(evidence),
                "measurements": counts | measured,
            }
        },
    )


def said(value: str, *, source: str = "person", state: str = "value") -> EffectiveValue:
    stands = state if state in ("value", "na", "waiting", "struck") else "unknowable"
    return EffectiveValue(
        state=stands, value=value if state == "value" else None, raw_state=state, source=source
    )


def people(task: TaskSpec, value: str = "success", **others: EffectiveValue) -> Json:
    """What people say of every criterion; others by key with underscores."""
    decided: Json = {c.key: said(value) for c in task.criteria if c.decided_by == "person"}
    return decided | {key.replace("_", "-"): effective for key, effective in others.items()}


def score(
    name: str,
    mode: Mode,
    task: TaskSpec,
    view: RecordView,
    decisions: Mapping[str, EffectiveValue] | None = None,
    **changed: Any,
) -> Verdict:
    grading = next(g for g in task.gradings if g.scorer == f"doc_bridge_{name}")
    scorer = scorer_of(grading.scorer, mode)
    assert scorer is not None
    return scorer.score(view, task.key, decisions or {}, {**grading.params, **changed})


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (record(), "success"),
        (record(passed=0), "partial"),
        (record(passed=0, evidence=()), "incomplete"),
        (record(evidence=("table-evidence:note", "reading-limit")), "partial"),
        (record(evidence=("table-evidence", "table-evidence")), "partial"),
        (record(evidence=("reading-limit", "table-evidence", "more")), "success"),
        (record(passed=None), "blocked"),
        (record(passed=2), "blocked"),
        (record(acceptanceChecksExecuted=0), "blocked"),
        (record(acceptanceChecksTotal=2), "blocked"),
        (record(status="timed-out"), "blocked"),
        (RecordView(answer=None), "blocked"),
    ],
)
def test_the_program_says(task: TaskSpec, view: RecordView, expected: str) -> None:
    for mode in Mode:
        verdict = score("automatic", mode, task, view)
        assert verdict.measures["outcome"] == expected
        assert verdict.value == float(expected == "success")


def test_editions_differ_as_the_original_does(task: TaskSpec) -> None:
    unexecuted = record(acceptanceChecksExecuted=0)
    other_names = record(evidence=("a", "b"))
    given = {
        edition: [
            score("automatic", REFERENCE, task, view, edition=edition).measures["outcome"]
            for view in (unexecuted, other_names)
        ]
        for edition in (1, 2, 3)
    }
    assert given == {
        1: ["success", "success"],
        2: ["blocked", "partial"],
        3: ["success", "partial"],
    }
    strict = score("automatic", STRICT, task, other_names, edition=1)
    assert strict.measures["outcome"] == "partial"


def test_strict_half_a_check_is_no_count(task: TaskSpec) -> None:
    half = record(passed=0.5)
    assert score("automatic", REFERENCE, task, half).measures["outcome"] == "partial"
    assert score("automatic", STRICT, task, half).measures["outcome"] == "blocked"


def test_strict_success_needs_the_program_and_people(task: TaskSpec) -> None:
    cases = [
        (record(), people(task), 1.0),
        (record(), people(task, semantic_correctness=said("partial")), 0.0),
        (record(), people(task, evidence_reading_limit=said("incorrect")), 0.0),
        (record(), people(task, rubric_incorrect_1=said("", state="na")), 1.0),
        (record(), people(task, documentation_quality=said("", state="struck")), 1.0),
        (record(passed=0), people(task), 0.0),
        (record(passed=0), {}, 0.0),
        (record(status="failed"), {}, 0.0),
    ]
    for view, decisions, expected in cases:
        verdict = score("adjudicated", STRICT, task, view, decisions)
        assert verdict.status is VerdictStatus.SCORED
        assert (verdict.value, verdict.credit, verdict.passed) == (
            expected,
            expected,
            expected == 1.0,
        )


def test_strict_waits_for_people_and_says_what_nobody_can_tell(task: TaskSpec) -> None:
    waiting = people(task, semantic_correctness=said("", state="waiting"))
    unknown = people(task, semantic_correctness=said("", state="cannot_tell"))
    struck = {key: said("", state="struck") for key in people(task)}
    for name in ("adjudicated", "human"):
        assert score(name, STRICT, task, record()).status is VerdictStatus.NEEDS_HUMAN
        verdict = score(name, STRICT, task, record(), waiting)
        assert verdict.status is VerdictStatus.NEEDS_HUMAN
        assert verdict.measures["waiting"] == ["semantic-correctness"]
        assert score(name, STRICT, task, record(), unknown).status is VerdictStatus.UNSCORABLE
        verdict = score(name, STRICT, task, record(), struck)
        assert verdict.status is VerdictStatus.UNSCORABLE
        assert verdict.measures["struck"] is True


def test_people_are_asked_of_every_execution_that_is_not_blocked(task: TaskSpec) -> None:
    partial, blocked = record(passed=0), record(status="failed")
    assert score("human", STRICT, task, partial).status is VerdictStatus.NEEDS_HUMAN
    verdict = score("human", STRICT, task, blocked)
    assert (verdict.status, verdict.value) == (VerdictStatus.SCORED, 0.0)


def test_people_say_the_worst_they_found(task: TaskSpec) -> None:
    decisions = people(
        task, documentation_quality=said("partial"), rubric_incorrect_1=said("incorrect")
    )
    verdict = score("human", STRICT, task, record(), decisions)
    assert verdict.measures["outcome"] == "incorrect"


def test_reference_has_one_slot_in_which_a_judge_replaces_the_program(task: TaskSpec) -> None:
    judge = {"semantic-correctness": said("partial", source="judge")}
    failed = {"semantic-correctness": said("", source="judge", state="call_error")}
    person = {"semantic-correctness": said("partial")}
    assert score("adjudicated", REFERENCE, task, record()).value == 1.0
    assert score("adjudicated", REFERENCE, task, record(), judge).value == 0.0
    assert score("adjudicated", REFERENCE, task, record(), person).value == 1.0
    verdict = score("adjudicated", REFERENCE, task, record(), failed)
    assert verdict.status is VerdictStatus.UNSCORABLE


def test_a_judge_never_speaks_for_people(task: TaskSpec) -> None:
    judge = {"semantic-correctness": said("success", source="judge")}
    assert score("adjudicated", STRICT, task, record(), judge).status is VerdictStatus.NEEDS_HUMAN


def test_a_tasks_own_budget_is_told_or_enforced(task: TaskSpec) -> None:
    view = RecordView(
        answer=None,
        telemetry={"tokens_in": 9000, "tokens_out": 1, "wall_ms": 60001},
        evidence=record().evidence,
    )
    told = score("adjudicated", STRICT, task, view, people(task))
    enforced = score("adjudicated", STRICT, task, view, people(task), task_budget="enforced")
    reference = score("adjudicated", REFERENCE, task, view, task_budget="enforced")
    assert (told.value, enforced.value, reference.value) == (1.0, 0.0, 1.0)
    assert enforced.measures["over_budget"] == ["tokens", "runtime"]
    codes = {finding.code for finding in FORMAT.findings(full_view(view), task)}
    assert "task-budget-exceeded" in codes


def full_view(view: RecordView) -> RecordView:
    evidence = view.evidence
    assert isinstance(evidence, Mapping)
    told = {"task_outcome": "success", "safety_outcome": "safe"}
    return RecordView(
        answer=None,
        telemetry=view.telemetry,
        evidence={**evidence, "adjudication": {"status": "pending"}, "self_report": told},
    )


def test_no_scorer_reads_what_the_agent_says_of_its_success(suite: SuiteSpec) -> None:
    assert FORMAT.parse_run is not None
    assert FORMAT.view is not None
    ledger = json.loads(sample("one-run")["ledger.json"])
    for found in ledger["observations"]:
        seen = set()
        for claim in ("success", "incorrect", "blocked", None):
            told = {key: value for key, value in found.items() if key != "taskOutcome"}
            if claim is not None:
                told["taskOutcome"] = claim
            raw = json.dumps({"observation": told, "retained": {}, "source": {}}).encode()
            task = suite.task(found["task"]["taskId"])
            assert task is not None
            view = FORMAT.view(raw, task)
            seen.add(
                repr(
                    [
                        score(name, mode, task, view, people(task))
                        for name in ("automatic", "human", "adjudicated")
                        for mode in Mode
                    ]
                )
            )
        assert len(seen) == 1


@pytest.mark.parametrize(
    ("key", "params"),
    [
        (None, {}),
        ({"checks": [], "evidence": ["e"], "asked": ["a"]}, {}),
        ({"checks": ["c"], "evidence": [1], "asked": ["a"]}, {}),
        (..., {"edition": 4}),
        (..., {"edition": None}),
        (..., {"task_budget": "maybe"}),
        (..., {"max_tokens": 0}),
        (..., {"max_runtime_ms": True}),
    ],
)
def test_a_grading_that_could_never_score_is_refused(
    task: TaskSpec, key: Any, params: Json
) -> None:
    for grading in task.gradings:
        scorer = scorer_of(grading.scorer, STRICT)
        assert scorer is not None
        with pytest.raises(ScoringError):
            scorer.check(task.key if key is ... else key, {**grading.params, **params})


def test_the_reference_result_is_a_share_of_what_was_executed(suite: SuiteSpec) -> None:
    scores = [
        ScoredRecord(
            task_id=f"tide-tables-{kind}",
            metric="automatic_success",
            status="scored" if value is not None else "",
            value=value,
        )
        for kind, value in (
            ("discovery", 1.0),
            ("architecture", 0.0),
            ("documentation", 1.0),
            ("implementation", None),
        )
    ]
    results = {
        (r.metric, r.slice): r
        for r in FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=REFERENCE))
    }
    whole = results["automatic_success", ""]
    assert (whole.value, whole.n, whole.missing) == (2 / 3, 3, 1)
    assert results["automatic_success", "category=architecture"].value == 0.0
    assert results["automatic_success", "category=implementation"].value is None
    assert FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=STRICT)) == ()


def test_the_board_says_that_scenarios_are_not_ranked(suite: SuiteSpec) -> None:
    (board,) = FORMAT.board_policies(suite)
    assert (board.metric, board.mode, board.evidence) == ("adjudicated_success", STRICT, "people")
    assert "no rank across scenarios" in board.note
    assert "4 tasks on 1 repositories, 2 replicates" in board.note
