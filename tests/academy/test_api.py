"""The API shows programs what the pages show people, and no more."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy import carrying, keying, passes
from academy.models import Run, RunResult, SuiteVersion
from leaderboard.models import Board
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> SuiteVersion:
    tasks = [make.takeoff_task("t-0", 100), make.takeoff_task("t-wrong", 50)]
    return make.takeoff_version(tasks)


def corrected(version: SuiteVersion, task: str) -> None:
    content = {"quantities": [{"item": task, "value": 100, "unit": "sf"}]}
    keying.revise(version, {task: content}, reason="misread")
    make.score_all()


def get(address: str, user: Any = None, status: int = 200) -> Any:
    client = Client()
    if user is not None:
        client.force_login(user)
    answer = client.get(f"/api/v1/{address}")
    assert answer.status_code == status
    return json.loads(answer.content)


def place(version: SuiteVersion) -> str:
    return f"suites/{version.suite.slug}/versions/{version.name}/"


def value_in(version: SuiteVersion, number: int) -> Any:
    rows = get(f"{place(version)}passes/{number}/results/")["results"]
    (row,) = (r for r in rows if (r["kind"], r["mode"], r["slice"]) == ("entrant", "strict", ""))
    return row["value"]


def test_retired_passes_stay_readable_with_their_results(version: SuiteVersion) -> None:
    make.takeoff_run(version, {"t-0": 100.0, "t-wrong": 100.0})
    make.score_all()
    before = value_in(version, 1)
    corrected(version, "t-wrong")
    assert [row["number"] for row in get(f"{place(version)}passes/")["results"]] == [1]
    get(f"{place(version)}passes/2/", status=404)
    passes.publish(passes.find_pass(version, 2), reason="right")
    make.score_all()
    listed = get(f"{place(version)}passes/")["results"]
    assert [(row["number"], row["state"]) for row in listed] == [
        (2, "published"),
        (1, "retired"),
    ]
    assert value_in(version, 1) == before
    assert value_in(version, 2) == 0.0 != before


def test_a_staged_pass_is_for_curators(version: SuiteVersion) -> None:
    corrected(version, "t-wrong")
    carol = make.person("carol", "curator")
    assert get(f"{place(version)}passes/2/", carol)["state"] == "staged"
    for role in ("entrant", "reviewer", "auditor"):
        get(f"{place(version)}passes/2/", make.person(role, role), status=404)


def test_the_root_leads_to_every_collection() -> None:
    index = get("")
    assert sorted(index) == ["boards", "schema", "versions"]
    for address in index.values():
        assert address.startswith("http://testserver/api/v1/")
        assert Client().get(address).status_code == 200
    paths = json.loads(Client().get("/api/v1/schema/?format=json").content)["paths"]
    collections = [path for path in paths if path.count("/") == 4 and "{" not in path]
    assert {f"http://testserver{path}" for path in collections} <= set(index.values())


def test_a_draft_is_not_there_for_strangers() -> None:
    draft = make.version_of(make.import_files(make.takeoff_files(2, slug="draft")))
    get(place(draft), status=404)
    get(f"{place(draft)}passes/", status=404)
    assert get("versions/")["results"] == []
    assert get(place(draft), make.person("carol", "curator"))["state"] == "draft"


def test_of_a_sealed_version_results_are_coarse_and_of_one_pass() -> None:
    version = make.sealed_version(12)
    make.takeoff_run(version, {f"t-{n}": 100.0 + n for n in range(12)})
    make.score_all()
    exact = RunResult.objects.get(
        run__kind="entrant", mode="strict", slice="", origin="computed", scoring_pass__number=1
    )
    rows = get(f"{place(version)}passes/1/results/")["results"]
    assert {row["slice"] for row in rows} == {""}
    (shown,) = (r for r in rows if (r["kind"], r["mode"]) == ("entrant", "strict"))
    assert shown["value"] != exact.value
    corrected(version, "t-3")
    content = {"quantities": [{"item": "t-3", "value": 77, "unit": "sf"}]}
    keying.revise(version, {"t-3": content}, reason="misread")
    make.score_all()
    passes.publish(passes.staged_pass(version), reason="right")  # type: ignore[arg-type]
    make.score_all()
    get(f"{place(version)}passes/1/results/", status=404)
    carol = make.person("carol", "curator")
    assert get(f"{place(version)}passes/1/results/", carol)["results"]


def test_of_very_few_sealed_tasks_no_number_is_told() -> None:
    version = make.sealed_version(3)
    make.takeoff_run(version)
    make.score_all()
    assert get(f"{place(version)}passes/1/results/")["results"] == []


def test_a_carried_run_names_the_version_it_was_run_on_and_stays_off_the_boards() -> None:
    older, newer = (make.rubric_version(2, version=name) for name in ("1", "2"))
    lines = [make.judged("q-0", True, True), make.judged("q-1", True, False)]
    run = make.run_of(make.record_files(make.line_run(*lines, suite="rubrics@1"), older))
    make.score_all()
    carrying.carry_run(run, newer, reason="corrected")
    make.score_all()
    rows = get(f"{place(newer)}passes/1/results/")["results"]
    found = {(r["run_version"], r["judged_version"]) for r in rows if r["kind"] == "carried"}
    assert found == {("rubrics@1", "rubrics@2")}
    boards = list(Board.objects.filter(versions=newer).order_by("pk"))
    assert boards
    for board in boards:
        snapshot = board.newest_snapshot()
        listed = [] if snapshot is None else snapshot.standings["standings"]
        assert listed == []


def test_runs_that_are_open_are_for_their_owners(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-0": 100.0, "t-wrong": 100.0})
    make.score_all()
    Run.objects.filter(pk=run.pk).update(state="open", closed_at=None)
    rows = get(f"{place(version)}passes/1/results/")["results"]
    assert run.pk not in {row["run"] for row in rows}


def test_refusals_are_problems_in_json(version: SuiteVersion) -> None:
    answer = Client().get("/api/v1/suites/nothing/versions/1/")
    assert answer.status_code == 404
    assert answer["Content-Type"] == "application/problem+json"
    assert json.loads(answer.content)["title"] == "Not Found"
    posted = Client().post(f"/api/v1/{place(version)}passes/", {}, "application/json")
    assert posted.status_code in (403, 405)
    assert posted["Content-Type"] == "application/problem+json"


def test_the_schema_names_every_address() -> None:
    schema = json.loads(Client().get("/api/v1/schema/?format=json").content)
    base = "/api/v1/suites/{slug}/versions/{name}/passes/"
    assert {base, f"{base}{{number}}/", f"{base}{{number}}/results/"} <= schema["paths"].keys()


def test_lists_take_as_many_queries_for_many_runs_as_for_few(
    version: SuiteVersion,
) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as held:
            get(f"{place(version)}passes/1/results/")
        return len(held)

    make.takeoff_run(version, {"t-0": 100.0, "t-wrong": 100.0}, name="One")
    make.score_all()
    few = queries()
    for place_ in range(4):
        make.takeoff_run(version, {"t-0": 100.0, "t-wrong": 100.0}, name=f"More {place_}")
    make.score_all()
    assert queries() == few
