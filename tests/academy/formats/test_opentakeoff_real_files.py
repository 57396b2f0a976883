"""The public files of the format, where the conformance data lies on this machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from academy.bundle import SuiteUpload
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.reading import Files
from tests.conformance.base import Context, oracles, run_list
from tests.conformance.opentakeoff import CHECKS, NOT_CASES

pytestmark = pytest.mark.data

BUNDLES = (
    "site/runs/reference-va-bldg28.bundle.json",
    "submissions/example-submission.bundle.json",
)


@pytest.fixture(scope="module")
def folder(conformance_data: Path) -> Path:
    return conformance_data / "opentakeoff"


@pytest.fixture(scope="module")
def tree(folder: Path) -> Files:
    return Files.of(
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
    )


@pytest.fixture(scope="module")
def upload(tree: Files) -> SuiteUpload:
    return parse_suite(tree)


def test_every_file_under_tasks_is_imported(upload: SuiteUpload) -> None:
    mine = [report for report in upload.files if report.path.startswith("tasks/")]
    assert mine
    assert {report.status.value for report in mine} == {"imported"}
    assert {suite.slug: len(suite.tasks) for suite in upload.suites} == {
        "div26-practice": 2,
        "div9-practice": 3,
        "div9-ranked": 0,
        "div9-va-bldg28": 1,
        "generalist-practice": 2,
    }


def test_every_other_file_ends_with_a_reason(tree: Files, upload: SuiteUpload) -> None:
    assert [report.path for report in upload.files] == [str(path) for path in tree]
    others = [report for report in upload.files if report.status != "imported"]
    assert all(report.reason for report in others)
    assert {report.status.value for report in others} == {"recognised"}


def test_missing_drawings_are_told_by_name(upload: SuiteUpload) -> None:
    missing = [notice.file for notice in upload.notices if notice.rule == "drawing-missing"]
    assert missing == [
        "tasks/div26/practice/e26-count-1.task.json",
        "tasks/div26/practice/e26-count-2.task.json",
        "tasks/div9/va-bldg28/va-bldg28-area.task.json",
    ]


@pytest.mark.parametrize("name", BUNDLES)
def test_both_bundles_import_for_their_suites_and_come_back(
    name: str, tree: Files, upload: SuiteUpload
) -> None:
    slug = json.loads(tree[name])["suite"]["id"]
    suite = next(suite for suite in upload.suites if suite.slug == slug)
    read = parse_run(tree.only([name]), suite)
    assert read.notices == ()
    assert [report.status.value for report in read.files] == ["imported"]
    assert FORMAT.export_run is not None
    (data,) = FORMAT.export_run(suite, read.runs[0], read.records()).values()
    assert json.loads(data) == json.loads(tree[name])


def test_every_suite_comes_back_without_loss(tree: Files, upload: SuiteUpload) -> None:
    assert FORMAT.export_suite is not None
    drawings = {str(path): tree[path] for path in tree if path.suffix == ".svg"}
    written = {
        path: data
        for suite in upload.suites
        for path, data in FORMAT.export_suite(suite, drawings).items()
    }
    assert set(written) == {report.path for report in upload.files if report.status == "imported"}
    for path, data in written.items():
        came = tree[path]
        assert data == came if path.endswith(".svg") else json.loads(data) == json.loads(came)
    again = parse_suite(Files.of(written))
    assert again.suites == upload.suites


def test_every_case_of_the_oracle_agrees(folder: Path) -> None:
    differing = {}
    for path, oracle in oracles(folder):
        for name, listed in oracle.items():
            if name not in NOT_CASES:
                tally = run_list(name, listed, CHECKS.get(name), Context(folder, oracle))
                assert tally.cases
                differing |= {
                    f"{path.stem}.{name}.{key}": why for key, why in tally.reasons.items()
                }
    assert differing == {}
