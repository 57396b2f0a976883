"""OpenTakeoff suites and bundles as they are read, opened and written back."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from academy.bundle import FileStatus, RecordStatus
from academy.errors import AcademyError, FormatError, Problem
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.keys import merge_keys, read_keys
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.reading import Files
from tests.academy.formats.opentakeoff_examples import (
    DRAWING,
    bundle,
    entry,
    files,
    key_pair,
    manifest,
    quantity,
    run,
    signature,
    suite,
    suite_files,
    task,
)


def rules(problems: tuple[Problem, ...]) -> list[str]:
    return sorted({problem.rule for problem in problems})


def refusal(document: Any, **kwargs: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        run(document, **kwargs)
    return caught.value


def test_a_practice_suite_carries_keys_bars_and_gradings() -> None:
    read = suite()
    assert (read.slug, read.version, read.mode, read.sealed) == (
        "example",
        "1.0",
        "practice",
        False,
    )
    assert read.thresholds["area-takeoff"] == {
        "metric": "ape",
        "apprentice": 8,
        "journeyman": 6,
        "master": "beats-baseline",
        "baseline": 2,
        "baseline_of": "Example estimator",
    }
    only = read.tasks[0]
    assert only.key == {"quantities": [{"item": "hall", "value": 240, "unit": "sf"}]}
    assert only.gradings[0].scorer == "percent_error"
    assert only.gradings[0].params == {
        "pass_mark": 6.0,
        "pass_mark_unit": "percent",
        "reference_pass_mark": 6.0,
        "missing": 100.0,
        "cap": 100.0,
    }
    assert [metric.key for metric in read.metrics] == ["ape"]
    assert read.limits == {}


def test_a_ranked_suite_without_keys_is_sealed_and_limited() -> None:
    read = suite(task(groundTruth=None), mode="ranked", keys="withheld")
    assert (read.mode, read.sealed, read.tasks[0].key) == ("ranked", True, None)
    assert read.limits == {"attempts": 3, "window_days": 7}


def test_neither_context_nor_agent_nor_rater_see_the_key() -> None:
    secret = {"quantities": [{"item": "canary", "value": 98765, "unit": "sf"}]}
    only = suite(task(groundTruth=secret)).tasks[0]
    for shown in (only.context, only.extra, FORMAT.agent_view(only), FORMAT.rater_view(only)):
        assert "canary" not in str(shown)
        assert "98765" not in str(shown)
    assert FORMAT.agent_view(only) == {
        name: value for name, value in task().items() if name != "groundTruth"
    }


def test_a_missing_drawing_is_a_warning_and_an_altered_one_an_error() -> None:
    there = parse_suite(suite_files())
    assert there.suites[0].tasks[0].assets[0].path == "hall.svg"
    assert rules(there.notices) == []
    missing = parse_suite(files(**{"a.task.json": task()}))
    assert "drawing-missing" in rules(missing.notices)
    assert missing.suites[0].tasks[0].assets[0].path == ""
    with pytest.raises(FormatError) as caught:
        parse_suite(suite_files(drawing=DRAWING + b" "))
    expected = hashlib.sha256(DRAWING).hexdigest()
    found = hashlib.sha256(DRAWING + b" ").hexdigest()
    assert f"expected {expected}, found {found}" in str(caught.value)


@pytest.mark.parametrize(
    "path", ["../x.svg", "/etc/passwd", "C:/x.svg", "a\\b.svg", "CON.json", "", "a/../../b"]
)
def test_a_path_that_leaves_the_suite_is_refused_by_name(path: str) -> None:
    planset = {**task()["planset"], "assetRef": path}
    with pytest.raises(FormatError, match="drawing-path"):
        suite(task(planset=planset))
    with pytest.raises(FormatError, match="task-path"):
        suite(tasks=[{"taskId": "hall-area", "file": path}])


def test_a_drawing_on_another_host_is_kept_as_text() -> None:
    planset = {**task()["planset"], "assetRef": "https://example.org/hall.svg"}
    read = parse_suite(suite_files(task(planset=planset)))
    assert rules(read.notices) == ["drawing-elsewhere"]
    assert read.files[1].path == "hall.svg"
    assert read.files[1].status is FileStatus.RECOGNISED


def test_every_file_of_a_tree_is_reported_once() -> None:
    tree = {f"kit/tasks/example-9/example/{path}": data for path, data in suite_files().items()} | {
        "kit/README.md": b"text",
        "kit/run.bundle.json": json.dumps(bundle()).encode(),
        "kit/site/practice/old.task.json": json.dumps(task()).encode(),
        "kit/other.bin": b"\x00",
        "kit/other.json": b"{",
        "kit/x.key.json": b"{}",
    }
    read = parse_suite(Files.of(tree))
    assert [report.path for report in read.files] == sorted(tree)
    status = {report.path.rsplit("/", 1)[1]: report.status.value for report in read.files}
    assert status == {
        "suite.json": "imported",
        "0.task.json": "imported",
        "hall.svg": "imported",
        "README.md": "recognised",
        "run.bundle.json": "recognised",
        "old.task.json": "recognised",
        "x.key.json": "recognised",
        "other.bin": "recognised",
        "other.json": "refused",
    }
    assert all(report.reason for report in read.files if report.status != "imported")


def test_all_errors_of_a_suite_are_told_at_once() -> None:
    broken = task(metric={"type": "x"}, budget={"maxSteps": 0, "maxWallMs": 1})
    with pytest.raises(FormatError) as caught:
        parse_suite(suite_files(broken, task("other", suite={"id": "y", "version": "1.0"})))
    assert [problem.pointer for problem in caught.value.problems] == [
        "/budget/maxSteps",
        "/metric/type",
        "/suite/id",
    ]
    assert all(problem.line for problem in caught.value.problems)


def test_messages_never_show_values_of_an_answer_key() -> None:
    secret = {"quantities": [{"item": "hall", "value": "canary", "unit": "sf", "canary2": 1}]}
    with pytest.raises(FormatError) as caught:
        suite(task(groundTruth=secret))
    assert '"canary"' not in str(caught.value)


def test_a_fraction_as_tolerance_is_told_and_read_by_strict_mode_alone() -> None:
    read = parse_suite(suite_files(task(metric={"type": "ape", "tolerance": 0.06})))
    params = read.suites[0].tasks[0].gradings[0].params
    assert (params["pass_mark_unit"], params["reference_pass_mark"]) == ("fraction", 0.06)
    assert rules(read.notices) == ["tolerance-unit"]
    whole = parse_suite(suite_files(task(metric={"type": "ape", "tolerance": 6})))
    assert rules(whole.notices) == []


def test_oddities_that_refuse_nothing_are_warnings() -> None:
    read = parse_suite(
        suite_files(
            task(groundTruth={}, metric={"type": "count-error"}),
            tasks=[{"file": "0.task.json", "kind": "fixture-count"}],
        )
    )
    assert rules(read.notices) == ["empty-key", "kind-and-metric", "listing-differs", "no-key"]
    unlisted = parse_suite(suite_files(tasks=[]))
    assert rules(unlisted.notices) == ["task-not-listed"]


def test_bars_that_a_manifest_does_not_know_by_metric_are_kept() -> None:
    read = suite(thresholds={"area-takeoff": {"journeyman": 4}}, baseline={})
    assert read.thresholds == {"area-takeoff": {"journeyman": 4, "metric": "ape"}}


def test_held_out_keys_fill_tasks_without_a_usable_one() -> None:
    empty, filled = task("no-key", groundTruth={}), task("has-key")
    read = suite(empty, filled, mode="ranked", keys="withheld")
    keys = read_keys(
        files(
            **{
                "deep/A.GroundTruth.json": {
                    "taskId": "no-key",
                    "quantities": [
                        {
                            "item": "hall",
                            "unit": "sf",
                            "raters": [
                                {"by": "A", "value": 10},
                                {"by": "", "value": 14},
                                {"by": "C", "value": 11},
                            ],
                        }
                    ],
                },
                "deep/b.groundtruth.json": {"taskId": "has-key", "scopeItems": ["x"]},
                "deep/c.key.json": {"taskId": "no-key"},
            }
        )
    )
    merged, merge = merge_keys(read, keys.keys)
    assert (merge.applied, merge.skipped, merge.missing) == (("no-key",), ("has-key",), ())
    key: Any = merged.tasks[0].key
    assert key["quantities"] == [{"item": "hall", "unit": "sf", "value": 11}]
    assert key["raters"] == [
        {"item": "hall", "unit": "sf", "values": [10, 14, 11], "by": ["A", "C"]}
    ]
    assert merged.tasks[1].key == filled["groundTruth"]
    statuses = [report.status.value for report in keys.files]
    assert statuses == ["imported", "imported", "refused"]


def test_keys_that_cannot_be_read_are_refused_without_showing_them() -> None:
    for document in (b"{", {"taskId": 5}, {"taskId": "t", "quantities": [{"item": "canary"}]}):
        with pytest.raises(FormatError) as caught:
            read_keys(files(**{"a.groundtruth.json": document}))
        assert "canary" not in str(caught.value)
    with pytest.raises(FormatError, match="no-keys"):
        read_keys(files(**{"a.json": {}}))


def test_a_run_is_one_record_per_entry_in_the_form_it_came_in() -> None:
    document = bundle(entry("hall-area"), entry("other-one", quantity(1)))
    read = run(document)
    records = list(read.records())
    assert [record.task_id for record in records] == ["hall-area", "other-one"]
    assert [json.loads(record.raw) for record in records] == document["tasks"]
    assert records[0].steps == 2
    assert (records[0].wall_ms, records[0].tokens_in) == (1000, None)
    assert list(read.records()) == records
    only = read.runs[0]
    assert (only.external_id, only.entrant.model) == ("run_example-000001", "example-model")
    assert only.verification == "supplied"


def test_records_know_their_lines() -> None:
    text = json.dumps(bundle(entry("one-task"), entry("two-task")), indent=1).encode()
    records = list(parse_run(Files.of({"x.bundle.json": text}), None).records())
    for record in records:
        assert record.line is not None
        # The entry begins with its brace; its id follows on the next line.
        assert record.task_id in text.decode().splitlines()[record.line]


def test_a_hash_that_does_not_match_is_refused_with_both() -> None:
    document = bundle()
    right = document["integrity"]["bundleHash"]
    document["integrity"]["bundleHash"] = "a" * 64
    error = refusal(document)
    assert f"expected {right}, found {'a' * 64}" in str(error)


def test_the_hash_covers_all_but_the_integrity_block() -> None:
    document = bundle()
    document["tasks"][0]["answer"]["quantities"][0]["value"] = 241
    assert [problem.rule for problem in refusal(document).problems] == ["bundle-hash"]


def test_an_entrants_signature_is_checked() -> None:
    document = bundle()
    document["integrity"]["signature"] = signature("entrant", document)
    document["integrity"]["publicKey"] = key_pair("entrant")[1]
    assert rules(run(document).notices) == []
    document["integrity"]["publicKey"] = key_pair("other")[1]
    assert [problem.rule for problem in refusal(document).problems] == ["signature"]
    del document["integrity"]["publicKey"]
    assert rules(run(document).notices) == ["signature-unchecked"]


def test_only_a_checked_co_signature_lifts_a_run_above_supplied() -> None:
    proctored = {"mode": "proctored", "proctor": {"proctorId": "anybody"}}
    claimed = run(bundle(attestation=proctored), suite())
    assert claimed.runs[0].verification == "supplied"
    assert rules(claimed.notices) == ["proctored-unproven"]
    signed = bundle(attestation=proctored)
    signed["integrity"]["academySignature"] = signature("academy", signed)
    assert rules(run(signed, suite()).notices) == [
        "academy-signature-unchecked",
        "proctored-unproven",
    ]
    trusted = replace(suite(), attributes={"academy_keys": [key_pair("academy")[1]]})
    assert run(signed, trusted).runs[0].verification == "reproduced"
    other = replace(suite(), attributes={"academy_keys": [key_pair("other")[1]]})
    assert [problem.rule for problem in refusal(signed, of=other).problems] == ["academy-signature"]


def test_a_key_beside_the_manifest_is_the_one_that_co_signs() -> None:
    pem = key_pair("academy")[1].encode()
    read = parse_suite(files(**{"suite.json": manifest(), "academy-public-key.pem": pem})).suites[0]
    assert read.attributes["academy_keys"] == [pem.decode()]
    with pytest.raises(FormatError, match="academy-key"):
        parse_suite(files(**{"suite.json": manifest(), "academy-public-key.pem": b"nope"}))


def test_two_answers_to_one_task_are_refused_with_both_places() -> None:
    text = str(refusal(bundle(entry(), entry("hall-area", quantity(1)))))
    assert "/tasks/0/taskId" in text
    assert "/tasks/1/taskId" in text


def test_unknown_and_omitted_tasks_are_told_and_nothing_is_dropped() -> None:
    read = run(bundle(entry("nobody-1"), entry("nobody-2")), suite())
    unknown = [problem for problem in read.notices if problem.rule == "unknown-task"]
    assert [problem.pointer for problem in unknown] == ["/tasks/0/taskId", "/tasks/1/taskId"]
    assert "task-omitted" in rules(read.notices)
    assert len(list(read.records())) == 2


def test_a_run_of_another_suite_is_refused_and_the_suite_decides_the_mode() -> None:
    other = bundle(suite={"id": "other", "version": "1.0", "mode": "practice"})
    assert "not of example 1.0" in str(refusal(other, of=suite()))
    ranked = bundle(suite={"id": "example", "version": "1.0", "mode": "ranked"})
    assert rules(run(ranked, suite()).notices) == ["mode-differs"]
    renamed = replace(suite(), slug="renamed", version="7")
    assert rules(run(bundle(), renamed).notices) == []


def test_members_that_no_hash_covers_are_refused() -> None:
    hidden = entry()
    hidden["trace"][1]["args"] = {"a": [{"__proto__": 1}]}
    text = str(refusal(bundle(hidden)))
    assert "/tasks/0/trace/1/args/a/0/__proto__" in text


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", '"nan"', "true"])
def test_values_that_are_no_finite_numbers_are_refused(text: str) -> None:
    data = json.dumps(bundle()).replace('"value": 240', f'"value": {text}').encode()
    with pytest.raises(FormatError) as caught:
        parse_run(Files.of({"x.bundle.json": data}), None)
    assert "/tasks/0/answer/quantities/0/value" in str(caught.value)


def test_numbers_past_all_doubles_are_refused() -> None:
    odd = entry()
    odd["trace"][1]["args"] = {"n": 0}
    data = json.dumps(bundle(odd)).replace('"n": 0', '"n": 1' + "0" * 400).encode()
    with pytest.raises(FormatError, match="number-range"):
        parse_run(Files.of({"x.bundle.json": data}), None)
    data = json.dumps(task()).replace('"maxSteps": 40', '"maxSteps": 1' + "0" * 400).encode()
    with pytest.raises(FormatError, match="number-range"):
        parse_suite(Files.of({"x.task.json": data}))


def test_half_characters_are_kept_in_answers_and_refused_in_names() -> None:
    odd = entry("hall-area", quantity(item="half \ud800"))
    read = run(bundle(odd))
    raw = next(read.records()).raw
    assert json.loads(raw) == odd
    assert FORMAT.export_run is not None
    written = FORMAT.export_run(suite(), read.runs[0], read.records())
    assert json.loads(next(iter(written.values()))) == bundle(odd)
    named = {"name": "half \ud800", "modelId": "m", "adapter": "mcp"}
    assert [problem.rule for problem in refusal(bundle(contestant=named)).problems] == ["text"]


def test_the_same_bundle_twice_is_one_run_and_another_of_its_id_is_refused() -> None:
    twice = parse_run(files(**{"a.bundle.json": bundle(), "b.json": bundle()}), None)
    assert [report.status.value for report in twice.files] == ["imported", "recognised"]
    assert len(twice.runs) == 1
    with pytest.raises(FormatError, match="double-run"):
        parse_run(files(**{"a.bundle.json": bundle(), "b.json": bundle(entry("other-task"))}), None)


def test_the_content_digest_covers_answer_trace_and_telemetry() -> None:
    digests = {
        next(run(bundle(changed)).records()).content_digest
        for changed in (
            entry(),
            entry("hall-area", quantity(241)),
            entry(telemetry={"steps": 3, "wallMs": 1000}),
            entry(trace=[]),
        )
    }
    assert len(digests) == 4


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
