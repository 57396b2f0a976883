"""Doc Bridge: what a suite shows to whom, which documents are refused, and how criteria are met."""

from __future__ import annotations

import json
from typing import Any

import pytest

from academy.bundle import SuiteSpec
from academy.canonical import canonical_json
from academy.errors import FormatError
from academy.formats.doc_bridge import FORMAT, scorecard, shapes
from academy.formats.doc_bridge.expectations import cases_of, is_hit, verdict_on
from academy.formats.doc_bridge.tasks import native_suite
from academy.formats.reading import Files
from tests.academy.formats.doc_bridge_making import Json, parse_suite, sample


@pytest.fixture(scope="module")
def suite() -> SuiteSpec:
    return parse_suite(sample("one-repository"))


def test_a_suite_hides_its_rubric_from_agents_and_shows_it_to_raters(suite: SuiteSpec) -> None:
    for task in suite.tasks:
        shown = canonical_json(FORMAT.agent_view(task)).decode()
        open_parts = canonical_json([task.title, dict(task.extra), dict(task.attributes)]).decode()
        key: Any = task.key
        for lines in key["native"]["rubric"].values():
            assert not any(line in shown + open_parts for line in lines)
        assert FORMAT.rater_view(task)["rubric"]
        needs = {need for criterion in task.criteria for need in criterion.needs}
        assert needs <= set(FORMAT.rater_view(task))


def test_people_are_asked_what_no_check_decides(suite: SuiteSpec) -> None:
    asked = {
        task.kind: [c.key for c in task.criteria if c.decided_by == "person"]
        for task in suite.tasks
    }
    rubric = [f"rubric-{o}-1" for o in ("success", "partial", "incorrect", "incomplete", "blocked")]
    meaning, documentation = "semantic-correctness", "documentation-quality"
    assert asked["architecture"] == [meaning, *rubric]
    assert asked["discovery"] == [meaning, documentation, *rubric]
    assert asked["documentation"] == [meaning, documentation, "evidence-reading-limit", *rubric]


def test_a_rubric_line_with_a_check_is_not_for_people() -> None:
    task = parse_suite(sample("rubric-with-checks")).tasks[0]
    keys = [criterion.key for criterion in task.criteria]
    assert "rubric-success-1" not in keys
    assert "rubric-success-2" in keys


def test_a_wrong_document_beside_a_sound_suite_is_refused_alone() -> None:
    contents = sample("one-repository")
    plan = json.loads(contents["study/run-plan.json"])
    plan["runId"] = "another-run"
    assert FORMAT.parse_suite is not None
    upload = FORMAT.parse_suite(
        Files.of({**contents, "study/run-plan.json": json.dumps(plan).encode()})
    )
    reports = {report.path: report for report in upload.files}
    assert reports["study/run-plan.json"].status == "refused"
    assert "content hash" in reports["study/run-plan.json"].reason
    assert len(upload.suites) == 1


def test_two_suites_of_one_name_are_refused() -> None:
    data = sample("one-repository")["study/task-suite.json"]
    with pytest.raises(FormatError, match=r"is also in a/task-suite\.json"):
        parse_suite({"a/task-suite.json": data, "b/task-suite.json": data})


def test_a_native_suite_comes_back_key_for_key(suite: SuiteSpec) -> None:
    original = json.loads(sample("one-repository")["study/task-suite.json"])
    assert native_suite(suite) == original


def test_several_suites_that_differ_are_told_apart() -> None:
    contents = {**sample("one-repository"), **sample("rubric-with-checks")}
    assert FORMAT.parse_suite is not None
    upload = FORMAT.parse_suite(Files.of(contents))
    assert [(s.slug, s.version, s.attributes["edition"]) for s in upload.suites] == [
        ("task-suite", "example-1", 2),
        ("task-suite", "example-3", 3),
    ]


def test_checks_run_on_after_a_defect_only_where_the_original_runs_them() -> None:
    shape = shapes.closed(
        {"n": shapes.integer(shapes.above(0)), "t": shapes.text(*shapes.length(1, 2))}
    )
    cases: list[tuple[Json, list[tuple[str, str]]]] = [
        ({"n": -1.5, "t": "a"}, [("invalid_type", "n")]),
        ({"n": -1, "t": "abc"}, [("too_small", "n"), ("too_big", "t")]),
        ({"n": True, "t": []}, [("invalid_type", "n"), ("invalid_type", "t"), ("too_small", "t")]),
        ({"n": 2.0, "t": "ab", "z": 1}, [("unrecognized_keys", "")]),
        ({"n": 2**60, "t": "a"}, [("too_big", "n")]),
    ]
    for value, expected in cases:
        assert [(i.code, i.dotted) for i in shapes.issues_of(shape, value)[1]] == expected


def test_the_scorecard_is_ready_only_when_every_required_criterion_passes() -> None:
    both = scorecard.success_status([0.97, None], 0.95)
    criteria = [
        scorecard.Criterion("success", "correctness", both),
        scorecard.Criterion("cost", "cost", scorecard.status_against(None, 0)),
        scorecard.Criterion("examples", "correctness", "partial", required=False),
    ]
    assert scorecard.dimensions_of(criteria) == {
        "correctness": "not-analyzed",
        "cost": "not-analyzed",
    }
    assert not scorecard.is_ready(criteria)
    assert scorecard.is_ready([scorecard.Criterion("a", "b", "pass"), criteria[2]])
    assert not scorecard.is_ready([])


def test_expectations_hit_within_three_and_fail_where_nothing_is_resolved() -> None:
    task = native_suite(parse_suite(sample("rubric-with-checks")))["tasks"][0]
    (case,) = cases_of(task, {"tide-tables": {"tide-reader": ["reader"]}})
    assert is_hit(case, ["x", "y", "reader"])
    assert not is_hit(case, ["x", "y", "z", "reader"])
    (unresolved,) = cases_of(task, {})
    assert not is_hit(unresolved, ["reader"])
    assert verdict_on(task, [True]) == "passed"
    assert verdict_on(task, []) == "failed"
    assert verdict_on({"id": "t"}, []) == "unchecked"


def test_local_expectations_are_checked_and_never_kept() -> None:
    contents = sample("one-repository")
    suite_hash = json.loads(contents["study/task-suite.json"])["contentHash"]
    told = {"tide-tables": {"tide-reader": ["src/reader"]}}
    sound = {"scope": "local", "suiteHash": suite_hash, "repositories": told}
    wrong = {**sound, "repositories": {"tide-tables": {"tide-reader": []}}}
    assert FORMAT.parse_suite is not None
    for document, status in ((sound, "recognised"), (wrong, "refused")):
        files = Files.of({**contents, "local.json": json.dumps(document).encode()})
        upload = FORMAT.parse_suite(files)
        assert {r.path: str(r.status) for r in upload.files}["local.json"] == status
        assert "src/reader" not in repr(upload.suites)
