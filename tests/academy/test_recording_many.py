"""An upload of many runs asks once for what they share."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from academy.models import Entrant, EntrantAlias, Run, RunEvent, RunResult, Work
from academy.recording import RecordingReport
from tests import factories as make
from tests.academy.formats.every_eval_ever_making import UUID, aggregate, result

pytestmark = pytest.mark.django_db
# A run, its file with bytes and digest, its result, its digest, its line in the trail, its number.
QUERIES_PER_RUN = 10


def aggregates(first: int, count: int) -> dict[str, Any]:
    """Files with the result of one model each, all on the same data set."""
    made = {}
    for number in range(first, first + count):
        path = f"data/ports/example/model-{number}/{number:08d}{UUID[8:]}.json"
        model = {"id": f"example/model-{number}", "name": f"Model {number}"}
        made[path] = aggregate(
            result(score=number / 100),
            evaluation_id=f"ports/example_model-{number}/1750000000",
            model_info={**aggregate()["model_info"], **model},
        )
    return made


def record(first: int, count: int) -> tuple[RecordingReport, int]:
    """The report of an upload, and how many queries it took."""
    with CaptureQueriesContext(connection) as queries:
        report = make.record_files(aggregates(first, count))
    return report, len(queries)


def test_a_further_run_of_a_first_import_costs_few_queries() -> None:
    record(0, 1)
    few, queries_of_few = record(10, 3)
    many, queries_of_many = record(20, 13)
    assert {run.outcome for run in (*few.runs, *many.runs)} == {"created"}
    assert queries_of_many - queries_of_few <= 10 * QUERIES_PER_RUN


def test_each_run_of_a_large_upload_is_stored_whole() -> None:
    report, _queries = record(0, 5)
    runs = Run.objects.filter(pk__in=[run.run for run in report.runs]).order_by("pk")
    assert [run.entrant.model for run in runs] == [f"example/model-{n}" for n in range(5)]
    assert {(run.attempt, run.state, bool(run.submission_id)) for run in runs} == {
        (1, "closed", True)
    }
    told = RunEvent.objects.filter(run=runs[4]).order_by("pk")
    assert [event.state for event in told] == ["open", "closed"]
    values = RunResult.objects.filter(run__in=runs, origin="reported").order_by("run")
    assert list(values.values_list("value", flat=True)) == [0, 0.01, 0.02, 0.03, 0.04]
    assert Work.objects.filter(kind="aggregate", run__in=runs).count() == 5
    assert {run.outcome for run in record(0, 5)[0].runs} == {"unchanged"}
    assert Run.objects.count() == 5


def test_runs_of_one_upload_find_each_others_entrants_by_slug_and_alias() -> None:
    version = make.takeoff_version(1, publish=False)
    Entrant.objects.create(slug="known", name="Known").aliases.create(name="Second Name")
    names = ("New One", "Second Name", "new one", "Known")
    files = {
        f"{name}.jsonl": [make.header(entrant={"name": name}, run_id=name), make.execution("t-0")]
        for name in names
    }
    report = make.record_files(files, version)
    assert sorted(run.entrant for run in report.runs) == ["known", "known", "new-one", "new-one"]
    assert set(EntrantAlias.objects.values_list("name", flat=True)) == {"Second Name", "New One"}
