"""The page of a plan: wanted, arrived, missing and surplus, and the acts on baselines."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy import ending, publishing, study_pages, studying
from academy.models import Baseline, Plan, Run, SuiteVersion
from tests import factories as make
from tests.academy.engine.test_studying import load
from tests.academy.exporting_making import sample

pytestmark = [pytest.mark.django_db, pytest.mark.data]
PILOT, STUDY = "/suites/pilot/1/plan/", "/suites/study/1/plan/"


def curator(name: str = "cora") -> Client:
    client = Client()
    client.force_login(make.person(name, "curator"))
    return client


def page_of(address: str, client: Client | None = None) -> str:
    response = (client or Client()).get(address)
    assert response.status_code == 200
    return str(response.content.decode())


def figures(page: str) -> dict[str, str]:
    """The totals at the head of the page."""
    found = re.findall(r"<dt>(\w+)</dt><dd>(\d+)", page)
    return dict(found)


def totals(wanted: int, arrived: int, missing: int, surplus: int) -> dict[str, str]:
    names = ("Wanted", "Arrived", "Missing", "Surplus")
    return dict(zip(names, map(str, (wanted, arrived, missing, surplus)), strict=True))


def closed(pilot: SuiteVersion, folder: Path) -> list[Run]:
    return [ending.close_run(run, reason="all is here") for run in load(pilot, folder)]


def test_nothing_of_the_full_study_has_come_and_the_list_is_cut(full: SuiteVersion) -> None:
    version_page = page_of("/suites/study/1/")
    assert f'href="{STUDY}"' in version_page
    page = page_of(STUDY)
    assert figures(page).items() >= totals(288, 0, 288, 0).items()
    task = full.tasks.order_by("ordinal")[0]
    assert f'href="/suites/study/1/tasks/{task.ordinal}/"' in page
    assert page.count("/suites/study/1/tasks/") == study_pages.SHOWN
    assert "238 more." in page
    assert "Show all 288" in page
    whole = page_of(f"{STUDY}?plan=whole&all=1")
    assert whole.count("/suites/study/1/tasks/") == 288
    assert "Show all" not in whole


def test_what_came_is_counted_by_model_scenario_and_replicate(
    pilot: SuiteVersion, folder: Path
) -> None:
    load(pilot, folder)
    assert figures(page_of(PILOT)).items() >= totals(16, 0, 16, 0).items()
    seen = curator()
    assert figures(page_of(PILOT, seen)).items() >= totals(16, 16, 0, 0).items()
    for run in pilot.runs.filter(kind="entrant"):
        ending.close_run(run, reason="all is here")
    page = page_of(PILOT)
    assert figures(page).items() >= totals(16, 16, 0, 0).items()
    assert "Every execution that the plan wants has come." in page
    status = studying.status_of(pilot, studying.kept_plan(pilot.plans.get()))
    assert status["strata"]
    for row in status["strata"]:
        assert row["scenario"] in page
    whole = figures(page_of(f"{PILOT}?plan=whole"))
    assert int(whole["Missing"]) == int(whole["Wanted"]) - 16


def test_records_that_the_plan_does_not_want_are_listed(pilot: SuiteVersion, folder: Path) -> None:
    closed(pilot, folder)
    plan = pilot.plans.get()
    rows = studying.kept_plan(plan)["executions"][:10]
    kept = studying.keep_plan(pilot, {"executions": rows}, name="ten of them")
    page = page_of(f"{PILOT}?plan={kept.pk}")
    assert figures(page).items() >= totals(10, 10, 0, 6).items()
    assert page.count('href="/records/') == 6


def test_names_of_held_out_tasks_are_for_curators() -> None:
    version = make.version_of(make.import_files(sample("one-repository"), rename=("held", "1")))
    task = version.tasks.order_by("ordinal")[0]
    task.holdout = True
    task.save()
    publishing.publish_version(version, reason="ready")
    address = "/suites/held/1/plan/?plan=whole&all=1"
    assert task.external_id in page_of(address, curator())
    seen = page_of(address)
    assert task.external_id not in seen
    assert "held out" in seen


def test_records_that_may_not_be_opened_are_not_linked() -> None:
    row = {"task": "t", "model": "m", "scenario": "s", "replicate": 1, "record": 7}
    shown = study_pages.rows_of([row], {"t": 0}, set(), shows_all=True)["rows"][0]
    assert shown["record"] is None


def test_the_page_asks_as_much_for_many_records_as_for_none(
    pilot: SuiteVersion, folder: Path
) -> None:
    counts = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            page_of(f"{PILOT}?plan=whole")
        counts.append(len(asked))
        if not pilot.runs.exists():
            closed(pilot, folder)
    assert counts[0] == counts[1]


def test_formats_without_plans_have_no_such_page() -> None:
    make.takeoff_version(slug="drawn")
    assert Client().get("/suites/drawn/1.0/plan/").status_code == 404
    assert "Plan and what came" not in page_of("/suites/drawn/1.0/")


def test_baselines_are_executed_compared_approved_and_replaced_on_the_page(
    pilot: SuiteVersion, folder: Path
) -> None:
    runs = closed(pilot, folder)
    plan = pilot.plans.get()
    client = curator()

    def post(**given: Any) -> tuple[int, str]:
        answer = client.post(PILOT, {"plan": plan.pk, **given}, follow=True)
        return answer.status_code, answer.content.decode()

    for wrong, why in (
        ({"act": "execute", "runs": "one"}, "no number of a run"),
        ({"act": "execute", "runs": ""}, "needs at least one run"),
        ({"act": "execute", "runs": "99999"}, "There is no run 99999."),
        ({"act": "approve", "baseline": "7"}, "no such baseline"),
        ({"act": "sing"}, "no such baseline"),
    ):
        status, page = post(**wrong)
        assert (status, why in page) == (422, True), wrong
    assert not Baseline.objects.exists()
    for number, chosen in enumerate((runs[:1], runs), 1):
        _status, page = post(act="execute", runs=", ".join(str(run.pk) for run in chosen))
        baseline = Baseline.objects.get(state="executed")
        assert post(act="approve", baseline=baseline.pk, reason="early")[0] == 422
        post(act="compare", baseline=baseline.pk)
        assert post(act="approve", baseline=baseline.pk, reason=" ")[0] == 422
        _status, page = post(act="approve", baseline=baseline.pk, reason=f"checked {number}")
        assert f"Baseline {baseline.pk} is approved." in page
    first, second = Baseline.objects.order_by("pk")
    assert (first.state, second.state, second.replaces) == ("replaced", "approved", first)
    told = page_of(PILOT)
    for part in (
        "checked 1",
        "checked 2",
        "cora",
        "16 of 16 planned",
        f"baseline {first.pk}: ",
        "0 changed",
    ):
        assert part in told, part
    assert f'<small>by <a href="#baseline-{second.pk}">' in told
    assert "<form" not in told.split('id="baselines"')[1].split("</section>")[0]


def test_only_curators_act_and_a_plan_is_kept_once(full: SuiteVersion) -> None:
    stranger = Client()
    stranger.force_login(make.person("sue"))
    for client in (Client(), stranger):
        assert client.post(STUDY, {"act": "keep", "name": "mine"}).status_code == 403
    curating = curator()
    assert curating.post(STUDY, {"act": "keep", "name": " "}).status_code == 422
    for _ in range(2):
        assert curating.post(STUDY, {"act": "keep", "name": "all of it"}).status_code == 302
    assert Plan.objects.get().executions.count() == 288
