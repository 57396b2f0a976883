"""OpenTakeoff suites and held-out keys as they are read."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest

from academy.bundle import FileStatus
from academy.errors import FormatError
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.keys import merge_keys, read_keys
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.reading import Files
from tests.academy.formats.opentakeoff_examples import (
    DRAWING,
    bundle,
    files,
    key_pair,
    manifest,
    rules,
    suite,
    suite_files,
    task,
)


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


def test_a_key_beside_the_manifest_is_the_one_that_co_signs() -> None:
    pem = key_pair("academy")[1].encode()
    read = parse_suite(files(**{"suite.json": manifest(), "academy-public-key.pem": pem})).suites[0]
    assert read.attributes["academy_keys"] == [pem.decode()]
    with pytest.raises(FormatError, match="academy-key"):
        parse_suite(files(**{"suite.json": manifest(), "academy-public-key.pem": b"nope"}))
