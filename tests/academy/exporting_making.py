"""Runs that are exported, and how their addresses are asked."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from academy import deciding
from academy.deciding import Verdict
from academy.formats.reading import Files
from academy.models import Run
from tests import factories as make
from tests.academy.test_formats import ROOT

SECRET = 70123.0


def get(client: Client, name: str, run: Run, *parts: Any) -> HttpResponse:
    """Ask for an address of a run by its name."""
    answer: HttpResponse = client.get(reverse(f"academy:{name}", args=[run.pk, *parts]))
    return answer


def scored_run(slug: str = "example") -> Run:
    """A scored run of three tasks."""
    run = make.takeoff_run(make.takeoff_version(3, slug=slug))
    make.score_all()
    return run


def open_task(task_id: str) -> dict[str, Any]:
    """A rubric task without sealed notes."""
    task = make.rubric_task(task_id)
    return {name: held for name, held in task.items() if not name.startswith("_")}


def some_runs() -> list[Run]:
    """A scored run of each kind of suite that the builders make."""
    report = make.import_files(
        {make.rubrics.BUCKET: [open_task("q-0"), open_task("q-1")]},
        rename=("rubrics", "1"),
        publish=True,
        attributes={"evidence": {"strict": {"kind": "people"}}},
    )
    rubrics = make.version_of(report)
    lines = [make.judged("q-0", True, False), make.judged("q-1", True, True)]
    judged = make.run_of(
        make.record_files({"run.jsonl": [make.header(suite=str(rubrics)), *lines]}, rubrics)
    )
    measured = make.takeoff_run(make.takeoff_version(3), {"t-0": 100.0, "t-1": 250.0})
    decide(judged, "q-0", make.person("example-reviewer", "reviewer"))
    make.score_all()
    return [judged, measured]


def decide(run: Run, task: str, person: Any) -> None:
    """A person says of a record that everything is met."""
    record = run.records.select_related("task").get(task__external_id=task)
    criteria = record.task.criteria.order_by("ordinal")
    verdicts = [Verdict(criterion=criterion, value=True) for criterion in criteria]
    deciding.record_decisions(record, verdicts, source="person", person=person)


def sample(case: str) -> Files:
    """The files of an accepted Doc Bridge sample."""
    folder = ROOT / "doc_bridge/samples/accept" / case
    return Files.of(
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    )
