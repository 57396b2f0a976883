"""Scoring again: one run, several or all by one act, seen and stopped on pages, in the admin and by
command."""

from __future__ import annotations

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from academy import rescoring
from academy.errors import AcademyError
from academy.models import Run, Score, SuiteVersion, Work, WorkerHeartbeat
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> SuiteVersion:
    return make.takeoff_version(3, mode="practice", slug="again")


@pytest.fixture
def runs(version: SuiteVersion) -> list[Run]:
    made = [make.takeoff_run(version, name=f"Entrant {n}") for n in range(3)]
    make.score_all()
    return made


@pytest.fixture
def carol() -> Client:
    person = make.person("carol", "curator")
    person.is_staff = True
    person.save()
    client = Client()
    client.force_login(person)
    return client


def owed_runs() -> set[int | None]:
    return set(Work.objects.filter(kind="score", state="ready").values_list("run", flat=True))


def test_a_curator_scores_chosen_runs_again_on_the_page_of_passes(
    version: SuiteVersion, runs: list[Run], carol: Client
) -> None:
    address = f"/suites/again/{version.name}/passes/"
    chosen = f"{runs[0].pk}, {runs[2].pk}"
    given = {"act": "again", "reason": "to be sure", "runs": chosen}
    assert carol.post(address, given).status_code == 302
    assert owed_runs() == {runs[0].pk, runs[2].pk}
    page = carol.get(address).content.decode()
    assert "2 owed" in page
    assert 'hx-trigger="every 3s"' in page
    make.score_all()
    page = carol.get(address).content.decode()
    assert 'hx-trigger="every 3s"' not in page
    assert carol.post(address, {**given, "runs": ""}).status_code == 302
    assert owed_runs() == {run.pk for run in runs}
    assert carol.post(address, {**given, "runs": "999999"}).status_code == 422
    assert carol.post(address, {**given, "runs": "one"}).status_code == 422
    assert Client().post(address, given).status_code == 403


def test_one_run_is_scored_again_paused_and_resumed_on_its_page(
    runs: list[Run], carol: Client
) -> None:
    address = f"/runs/{runs[0].pk}/scoring/"
    assert Client().post(address, {"act": "again"}).status_code == 403
    assert "Score again" not in Client().get(f"/runs/{runs[0].pk}/").content.decode()
    assert carol.post(address, {"act": "again", "reason": "to be sure"}).status_code == 302
    assert carol.post(address, {"act": "pause"}).status_code == 302
    assert owed_runs() == set()
    make.score_all()
    page = carol.get(f"/runs/{runs[0].pk}/").content.decode()
    assert "1 unit paused by a curator" in page
    assert carol.post(address, {"act": "resume"}).status_code == 302
    before = list(Score.objects.values_list("pk", "revision"))
    make.score_all()
    assert list(Score.objects.values_list("pk", "revision")) == before
    page = carol.get(f"/runs/{runs[0].pk}/").content.decode()
    assert "paused" not in page
    assert "to be sure" in page
    assert "by carol" in page
    assert "by carol" not in Client().get(f"/runs/{runs[0].pk}/").content.decode()


def test_the_admin_scores_again_pauses_and_goes_on(runs: list[Run], carol: Client) -> None:
    def act(name: str) -> str:
        chosen = [run.pk for run in runs]
        given: Any = {"action": name, "_selected_action": chosen}
        return carol.post("/admin/academy/run/", given, follow=True).content.decode()

    assert "3 units of work are owed" in act("score_again")
    assert "3 units of work wait" in act("pause")
    assert "3 units of work go on" in act("resume")


def test_the_command_tells_pauses_and_resumes(version: SuiteVersion, runs: list[Run]) -> None:
    def command(*words: str) -> Any:
        out = StringIO()
        call_command("rescore", str(version), *words, "--json", stdout=out)
        return json.loads(out.getvalue())

    assert command()["progress"]["owed"] == 3
    assert command("--pause", "--run", str(runs[0].pk))["progress"]["paused"] == 1
    told = command("--status")["progress"]
    assert (told["owed"], told["paused"]) == (2, 1)
    assert command("--resume")["units"] == 1


def test_a_run_of_another_version_is_no_run_of_this_one(
    version: SuiteVersion, runs: list[Run]
) -> None:
    other = make.takeoff_version(1, mode="practice", slug="other")
    with pytest.raises(AcademyError, match=f"has no run {runs[0].pk}"):
        rescoring.chosen_runs(other, [runs[0].pk])


def test_a_page_tells_the_place_in_the_queue_and_since_when_no_worker_runs(
    version: SuiteVersion, runs: list[Run]
) -> None:
    rescoring.score_again(runs, reason="to be sure")
    page = Client().get(f"/runs/{runs[2].pk}/").content.decode()
    assert "2 units of other work come first" in page
    assert "No worker is running" in page
    WorkerHeartbeat.objects.create(
        name="gone", started_at="2026-01-01T08:00:00Z", seen_at="2026-01-01T09:30:00Z"
    )
    page = Client().get(f"/runs/{runs[2].pk}/").content.decode()
    assert "No worker is running since" in page
    assert "1 Jan 2026, 09:30 UTC" in page
    now = timezone.now()
    WorkerHeartbeat.objects.create(name="alive", started_at=now, seen_at=now)
    assert "No worker is running" not in Client().get(f"/runs/{runs[2].pk}/").content.decode()
