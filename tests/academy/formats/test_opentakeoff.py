"""What OpenTakeoff offers beside reading: views, exports, gates, boards, claims and checks."""

from __future__ import annotations

import json

import pytest

from academy.bundle import RecordStatus
from academy.errors import AcademyError
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.parse import parse_suite
from tests.academy.formats.opentakeoff_examples import (
    DRAWING,
    bundle,
    entry,
    files,
    manifest,
    run,
    suite,
    suite_files,
    task,
)


def test_a_record_opens_as_answer_telemetry_and_events() -> None:
    message = {
        "seq": 0,
        "tOffsetMs": 5,
        "type": "model_message",
        "result": {"content": "Calibrating."},
        "tokens": {"in": 7, "out": 2},
    }
    raw = next(run(bundle(entry(trace=[message]))).records()).raw
    assert FORMAT.view is not None
    view = FORMAT.view(raw, None)
    assert view.status is RecordStatus.ANSWERED
    assert view.telemetry == {"steps": 2, "wall_ms": 1000, "tool_calls": 2, "mcp_calls": 0}
    only = view.events[0]
    assert (only.kind, only.text, only.role) == ("message", "Calibrating.", "assistant")
    assert (only.offset_ms, only.tokens_in, only.tokens_out) == (5, 7, 2)


def test_a_run_is_written_back_only_when_whole() -> None:
    read = run(bundle(entry("one-task"), entry("two-task")))
    assert FORMAT.export_run is not None
    backwards = list(read.records())[::-1]
    written = FORMAT.export_run(suite(), read.runs[0], backwards)
    assert json.loads(written["run_example-000001.bundle.json"]) == bundle(
        entry("one-task"), entry("two-task")
    )
    with pytest.raises(AcademyError, match="two-task"):
        FORMAT.export_run(suite(), read.runs[0], backwards[1:])


def test_a_suite_with_held_out_keys_is_written_back_as_it_came() -> None:
    came = {
        "suite.json": manifest(mode="ranked", keys="withheld"),
        "a.task.json": task("one-task", groundTruth={}),
        "b.task.json": task("two-task", groundTruth=None),
        "c.task.json": {
            name: value for name, value in task("tre-task").items() if name != "groundTruth"
        },
        "keys/a.groundtruth.json": {"taskId": "one-task", "scopeItems": ["x"], "secret": [1]},
        "hall.svg": DRAWING,
    }
    read = parse_suite(files(**came)).suites[0]
    assert FORMAT.export_suite is not None
    written = FORMAT.export_suite(read, {"hall.svg": DRAWING})
    assert set(written) == set(came)
    for path, value in came.items():
        found = written[path]
        assert found == value if isinstance(value, bytes) else json.loads(found) == value


def test_gate_answers_are_perfect_with_the_key_and_poor_without() -> None:
    from academy.scorers import percent_error, set_f1
    from academy.scorers.base import NO_DECISIONS

    scope = {"scopeItems": ["tile", "carpet"]}
    for document in (
        task(),
        task(kind="scope-identification", metric={"type": "scope-f1"}, groundTruth=scope),
        task(kind="fixture-count", metric={"type": "count-error"},
             groundTruth={"quantities": [{"item": "fd", "value": 5, "unit": "ea"}]}),
    ):  # fmt: skip
        only = suite(document).tasks[0]
        grading = only.gradings[0]
        score = {"percent_error": percent_error, "set_f1": set_f1}[grading.scorer].score_strictly
        answers = FORMAT.gate_answers(only)
        assert FORMAT.view is not None
        assert answers.null and answers.shotgun and answers.oracle
        credits = [
            score(FORMAT.view(raw, only), only.key, NO_DECISIONS, grading.params).credit
            for raw in (answers.null, answers.shotgun, answers.oracle)
        ]
        assert credits[0] == 0
        assert credits[1] is not None
        assert credits[1] < 0.5
        assert credits[2] == 1


def test_without_a_key_there_is_no_oracle_and_a_reason() -> None:
    answers = FORMAT.gate_answers(suite(task(groundTruth=None), mode="ranked").tasks[0])
    assert answers.oracle is None
    assert answers.reason


def test_boards_are_per_competency_and_practice_is_never_ranked() -> None:
    counts = task("heads", kind="fixture-count", metric={"type": "count-error"})
    practice = FORMAT.board_policies(suite(task(), counts))
    assert [(board.slug, board.metric, board.ranked) for board in practice] == [
        ("example-area-takeoff", "ape", False),
        ("example-fixture-count", "count-error", False),
    ]
    ranked = FORMAT.board_policies(suite(mode="ranked"))
    assert [(board.where, board.ranked) for board in ranked] == [
        ({"competency": "area-takeoff"}, True)
    ]


def test_the_originals_verdict_on_files_is_told_apart() -> None:
    wrong = bundle()
    wrong["integrity"]["bundleHash"] = "a" * 64
    found = FORMAT.compatibility(
        files(**{"a.bundle.json": wrong, "b.task.json": task(extra=1), "c.json": {"x": 1}})
    )
    assert [(problem.file, problem.rule) for problem in found] == [
        ("a.bundle.json", "original-integrity"),
        ("b.task.json", "original-schema"),
    ]


def test_claims_tell_suites_from_runs() -> None:
    assert FORMAT.claims(suite_files())
    assert not FORMAT.claims_run(suite_files())
    bundles = files(**{"x.json": bundle()})
    assert FORMAT.claims_run(bundles)
    assert not FORMAT.claims(bundles)
    schema = files(**{"x.json": {"properties": {"bundleVersion": {}}}, "suite.json": {"id": 1}})
    assert not FORMAT.claims(schema)
    assert not FORMAT.claims_run(schema)
