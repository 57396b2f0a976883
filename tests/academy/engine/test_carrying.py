"""Runs follow to a corrected version with what is the same, and say where they come from."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from academy import carrying, deciding
from academy.errors import AcademyError
from academy.models import Criterion, Decision, InstanceRecord, Run, SuiteVersion
from academy.packs import raw_record
from tests import factories as make
from tests.academy.formats import mypcbench_making as rubrics

pytestmark = pytest.mark.django_db


def rubric_edition(name: str, first: str = "Step 1", weight: float = 0.5) -> SuiteVersion:
    def task(task_id: str) -> dict[str, Any]:
        listed = [rubrics.rubric(first, weight), rubrics.rubric("Step 2", 1 - weight)]
        return rubrics.task(task_id, grading={"type": "llm_judge", "rubrics": listed})

    report = make.import_files(
        {rubrics.BUCKET: [task("q-0"), task("q-1")]}, rename=("rubrics", name), publish=True
    )
    return make.version_of(report)


@pytest.fixture
def run() -> Run:
    first = rubric_edition("1")
    made = make.run_of(
        make.record_files(
            make.line_run(
                make.judged("q-0", True, False), make.judged("q-1", True, True), suite="rubrics@1"
            ),
            first,
        )
    )
    record = InstanceRecord.objects.of_run(made.pk).order_by("id")[0]
    deciding.record_decisions(
        record,
        [deciding.Verdict(criterion=Criterion.objects.get(task=record.task, key="R1"), value=True)],
        source="person",
        person=make.person("ria", "reviewer"),
    )
    make.score_all()
    return made


def test_records_and_decisions_follow_and_no_attempt_is_spent(run: Run) -> None:
    second = rubric_edition("2", weight=0.9)
    carried = carrying.carry_run(run, second, reason="weights were wrong")
    assert (carried.records, carried.decisions, carried.undecided) == (2, 5, ())
    made = carried.run
    assert (made.kind, made.state, made.carried_from_id) == ("carried", "closed", run.pk)
    assert not Run.objects.filter(version=second, kind="entrant").exists()
    old, new = (list(InstanceRecord.objects.of_run(r.pk).order_by("id")) for r in (run, made))
    assert [raw_record(a) for a in old] == [raw_record(b) for b in new]
    assert [bytes(a.content_digest) for a in old] == [bytes(b.content_digest) for b in new]
    assert all(b.task.version_id == second.pk for b in new)
    make.score_all()
    assert made.results.filter(origin="computed", slice="").exists()


def test_a_changed_criterion_is_decided_anew(run: Run) -> None:
    second = rubric_edition("2", first="Step 1, with the receipt")
    carried = carrying.carry_run(run, second, reason="the text was wrong")
    assert set(carried.undecided) == {"q-0:R1", "q-1:R1"}
    kept = Decision.objects.filter(record__run=carried.run).values_list("criterion__key", flat=True)
    assert set(kept) == {"R2"}
    make.score_all()
    waiting = carried.run.records.filter(scores__status="needs_human", scores__mode="strict")
    assert waiting.distinct().count() == 2


def test_the_same_again_gives_the_run_that_is_there(run: Run) -> None:
    second = rubric_edition("2", weight=0.9)
    first = carrying.carry_run(run, second, reason="once")
    again = carrying.carry_run(run, second, reason="twice")
    assert (again.run.pk, again.is_new) == (first.run.pk, False)
    assert Run.objects.filter(kind="carried").count() == 1


def test_tasks_with_another_prompt_or_other_limits_stay_behind() -> None:
    first = make.takeoff_version(2, version="1.0")
    run = make.takeoff_run(first)
    changed = [
        make.takeoff_task("t-0", 100, version="2.0"),
        make.takeoff_task("t-1", 100, version="2.0", prompt="Measure otherwise."),
    ]
    second = make.takeoff_version(changed, version="2.0")
    carried = carrying.carry_run(run, second, reason="clearer")
    assert carried.left_behind == ("t-1",)
    assert carried.records == 1
    budgets = [make.takeoff_task("t-0", 100, version="3.0", budget={"maxSteps": 9, "maxWallMs": 9})]
    third = make.takeoff_version(budgets, version="3.0")
    with pytest.raises(AcademyError, match="prompt, context and limits must be equal"):
        carrying.carry_run(run, third, reason="tighter")


def test_only_closed_runs_of_the_same_suite_are_carried(run: Run) -> None:
    with pytest.raises(AcademyError, match="another version of its own suite"):
        carrying.carry_run(run, make.takeoff_version(1), reason="x")
    with pytest.raises(AcademyError, match="another version of its own suite"):
        carrying.carry_run(run, run.version, reason="x")
    Run.objects.filter(pk=run.pk).update(state="withdrawn", reason="gone")
    with pytest.raises(AcademyError, match="is withdrawn"):
        carrying.carry_run(run, rubric_edition("2", weight=0.9), reason="x")


def test_the_page_says_where_it_ran_and_under_what_it_is_judged(run: Run) -> None:
    rubric_edition("2", weight=0.9)
    out = StringIO()
    call_command("carry_run", str(run.pk), "--to", "rubrics@2", "--json", stdout=out)
    told = json.loads(out.getvalue())["carried"][0]
    assert (told["run_on"], told["judged_under"]) == ("rubrics@1", "rubrics@2")
    page = Client().get(f"/runs/{told['run']}/").content.decode()
    assert "Run on rubrics@1, judged under rubrics@2." in page
    assert f"/runs/{run.pk}/" in page
