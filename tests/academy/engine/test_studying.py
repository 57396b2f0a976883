"""Plans say what is wanted and what came; baselines are executed, compared and approved apart."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import DatabaseError, transaction
from django.test import Client

from academy import intake, studying
from academy.errors import AcademyError
from academy.models import Baseline, Plan, Run, SuiteVersion
from academy.recording import RecordingOptions
from tests import factories as make

pytestmark = [pytest.mark.django_db, pytest.mark.data]


def command(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command(*arguments, "--json", stdout=out)
    found = json.loads(out.getvalue())
    assert isinstance(found, dict)
    return found


def test_the_full_study_wants_288_executions(full: SuiteVersion) -> None:
    told = command("plan", "study@1")
    assert (told["wanted"], len(told["executions"])) == (288, 288)
    status = told["status"]
    assert (status["wanted"], status["arrived"], status["missing"]) == (288, 0, 288)
    assert [cell["wanted"] for cell in status["strata"]] == [24] * 12
    assert told["pilot"] is None


def test_a_sample_that_cannot_be_selected_is_refused(full: SuiteVersion) -> None:
    for arguments in (("--sample", "7"), ("--sample", "0"), ("--strategy", "odd")):
        out = StringIO()
        with pytest.raises(SystemExit):
            call_command("plan", "study@1", *arguments, "--json", stdout=out)
        assert json.loads(out.getvalue())["ok"] is False


def test_a_kept_plan_has_its_executions_once(full: SuiteVersion) -> None:
    first = command("plan", "study@1", "--keep", "full study")["kept"]
    assert command("plan", "study@1", "--keep", "again")["kept"] == first
    assert Plan.objects.get(pk=first["plan"]).executions.count() == 288


def load(version: SuiteVersion, folder: Path) -> list[Run]:
    intake.import_run_path(
        folder / "phase4-public-pilot-ledger-v1.json", options=RecordingOptions(version=version)
    )
    return list(Run.objects.filter(version=version, kind="entrant").order_by("pk"))


def test_a_pilot_says_what_came_and_what_it_is(pilot: SuiteVersion, folder: Path) -> None:
    load(pilot, folder)
    plan = pilot.plans.get()
    told = command("plan", "pilot@1", "--plan", plan.name)
    assert told["status"]["wanted"] == told["status"]["arrived"] == 16
    assert (told["status"]["missing"], told["status"]["surplus"]) == (0, 0)
    whole = command("plan", "pilot@1")["status"]
    assert whole["arrived"] == 16
    assert whole["missing"] == whole["wanted"] - 16
    assert told["pilot"]["sample"] == 16
    page = Client().get("/suites/pilot/1/").content.decode()
    assert "This is a pilot, not the full study." in page
    assert "a sample of 16 executions" in page


def test_a_baseline_is_executed_compared_and_approved_by_somebody_else(
    pilot: SuiteVersion, folder: Path
) -> None:
    runs = load(pilot, folder)
    plan = pilot.plans.get()
    carol = make.person("carol", "curator")
    baseline = studying.execute_baseline(plan, runs)
    with pytest.raises(AcademyError, match="must be compared first"):
        studying.approve_baseline(baseline, by=carol, reason="looks right")
    compared = studying.compare_baseline(baseline)
    assert (compared.state, compared.comparison["with"]) == ("compared", None)
    with pytest.raises(AcademyError, match="Only a curator"):
        studying.approve_baseline(baseline, by=make.person("ria", "reviewer"), reason="x")
    with pytest.raises(AcademyError, match="needs a reason"):
        studying.approve_baseline(baseline, by=carol, reason=" ")
    runs[0].submission.account = carol  # type: ignore[union-attr]
    runs[0].submission.save()  # type: ignore[union-attr]
    with pytest.raises(AcademyError, match="is your own"):
        studying.approve_baseline(baseline, by=carol, reason="mine")
    dora = make.person("dora", "curator")
    approved = studying.approve_baseline(baseline, by=dora, reason="checked by hand")
    assert (approved.state, approved.approver) == ("approved", dora)
    with pytest.raises(DatabaseError), transaction.atomic():
        Baseline.objects.filter(pk=baseline.pk).update(record_digests={})


def test_an_approved_baseline_is_replaced_by_a_new_linked_approval(
    pilot: SuiteVersion, folder: Path
) -> None:
    runs = load(pilot, folder)
    plan = pilot.plans.get()
    dora = make.person("dora", "curator")
    approved = []
    for part in (runs[:1], runs):
        baseline = studying.compare_baseline(studying.execute_baseline(plan, part))
        approved.append(studying.approve_baseline(baseline, by=dora, reason="checked"))
    first, second = (Baseline.objects.get(pk=one.pk) for one in approved)
    assert (first.state, second.state, second.replaces) == ("replaced", "approved", first)
    assert second.comparison["same"] == len(first.record_digests)
    assert second.comparison["gone"] == []
