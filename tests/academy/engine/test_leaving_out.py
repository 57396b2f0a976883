"""Records of unknown tasks are refused, or listed and counted nowhere; all say the same of it."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from academy import exporting
from academy.errors import FormatError
from academy.models import InstanceRecord, Run, Submission, SuiteVersion, Summary
from tests import factories as make

pytestmark = pytest.mark.django_db
TOLD = "3 records of tasks that the version lacks came along and count nowhere: x-0, x-1, x-2."


@pytest.fixture
def version() -> SuiteVersion:
    return make.takeoff_version(5, mode="practice", slug="five")


def eight(version: SuiteVersion) -> dict[str, Any]:
    """A run for five tasks with eight records."""
    names = [f"t-{n}" for n in range(5)] + [f"x-{n}" for n in range(3)]
    return make.line_run(*(make.execution(name) for name in names), suite=str(version))


def recorded(version: SuiteVersion) -> Run:
    made = make.run_of(make.record_files(eight(version), version, unknown="leave_out"))
    make.score_all()
    return made


def test_by_default_they_are_refused_and_nothing_is_stored(version: SuiteVersion) -> None:
    with pytest.raises(FormatError) as refused:
        make.record_files(eight(version), version)
    assert refused.value.total == 3
    assert not Run.objects.exists()


def test_by_choice_they_are_left_out_of_every_count(version: SuiteVersion) -> None:
    run = recorded(version)
    assert InstanceRecord.objects.of_run(run.pk).count() == run.records_expected == 5
    summary = Summary.objects.get(run=run)
    assert (summary.records, summary.scored, summary.missing) == (5, 5, 0)
    assert run.left_out["records"] == 3
    assert Submission.objects.get().report["left_out"]["records"] == 3


def test_page_command_and_export_say_the_same(version: SuiteVersion, tmp_path: Path) -> None:
    run = recorded(version)
    assert TOLD in Client().get(f"/runs/{run.pk}/").content.decode()
    assert exporting.export_run(run).left_out == (TOLD,)
    assert exporting.details_of(run, exporting.published_pass(run))["left_out"] == TOLD
    downloaded = json.loads(Client().get(f"/runs/{run.pk}/scores.json").content)
    assert downloaded["left_out"] == TOLD
    assert {row["task"] for row in downloaded["rows"]} == {f"t-{n}" for n in range(5)}
    out = StringIO()
    call_command("export_run", str(run.pk), "--out", str(tmp_path / "run"), "--json", stdout=out)
    assert json.loads(out.getvalue())["left_out"] == [TOLD]
    found = run.findings.get(code="surplus-records")
    assert found.evidence["records"] == 3


def test_the_same_upload_again_tells_the_same_and_counts_nothing_twice(
    version: SuiteVersion,
) -> None:
    run = recorded(version)
    again = make.record_files(eight(version), version, unknown="leave_out")
    assert again.runs[0].outcome == "unchanged"
    assert list(again.left_out) == ["x-0", "x-1", "x-2"]
    run.refresh_from_db()
    assert run.left_out["records"] == 3


def test_pieces_add_up_and_a_repeated_piece_adds_nothing(version: SuiteVersion) -> None:
    def piece(*names: str, closed: bool = False) -> dict[str, Any]:
        lines = [make.execution(name) for name in names]
        return make.line_run(*lines, suite=str(version), closed=closed)

    first = make.record_files(piece("t-0", "x-0"), version, unknown="leave_out")
    make.record_files(piece("t-1", "x-0", "x-1"), version, unknown="leave_out")
    make.record_files(piece("t-2", "x-1", closed=True), version, unknown="leave_out")
    run = make.run_of(first)
    assert Run.objects.count() == 1
    assert run.left_out["records"] == 2
