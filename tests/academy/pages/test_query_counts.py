"""How many questions pages ask of the database does not grow with what they show."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy.models import InstanceRecord, Run, SuiteVersion
from tests import factories as make

pytestmark = pytest.mark.django_db


def queries_of(client: Client, path: str) -> int:
    """How many questions a page asks of the database."""
    cache.clear()
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert client.get(path).status_code == 200
    return len(asked)


def more_runs(version: SuiteVersion, count: int) -> None:
    for _number in range(count):
        make.takeoff_run(version, name=f"Entrant {next(make.numbers)}")
    make.score_all()


def more_suites(count: int) -> None:
    for _number in range(count):
        version = make.takeoff_version(2, slug=f"suite-{next(make.numbers)}")
        make.takeoff_run(version)
    make.score_all()


def asked_by(client: Client, paths: list[str]) -> dict[str, int]:
    """How many questions each of some pages asks, when it is not asked for the first time."""
    for path in paths:
        queries_of(client, path)
    return {path: queries_of(client, path) for path in paths}


def test_six_suites_ask_as_many_questions_as_three(client: Client) -> None:
    paths = ["/", "/suites/", "/boards/", "/runs/"]
    more_suites(3)
    few = asked_by(client, paths)
    more_suites(3)
    assert asked_by(client, paths) == few


def test_six_runs_ask_as_many_questions_as_three(client: Client, version: SuiteVersion) -> None:
    paths = ["/", "/runs/", "/suites/example/1.0/", "/boards/example-area-takeoff/"]
    more_runs(version, 3)
    few = asked_by(client, paths)
    more_runs(version, 3)
    assert asked_by(client, paths) == few


@pytest.mark.parametrize("page", ["version", "run", "record"])
def test_more_tasks_and_records_ask_no_more_questions(client: Client, page: str) -> None:
    counts = []
    for tasks in (3, 6):
        version = make.takeoff_version(tasks, slug=f"of-{tasks}")
        run = make.takeoff_run(version)
        make.score_all()
        middle = InstanceRecord.objects.of_run(run.pk).order_by("id")[1]
        path = {
            "version": f"/suites/of-{tasks}/1.0/",
            "run": f"/runs/{run.pk}/",
            "record": f"/records/{middle.pk}/",
        }[page]
        queries_of(client, path)
        counts.append(queries_of(client, path))
    assert counts[0] == counts[1]


def test_roles_are_asked_for_once_a_page(client: Client, run: Run) -> None:
    client.force_login(make.person("reviewer", "reviewer"))
    for path in ("/", f"/runs/{run.pk}/"):
        cache.clear()
        with CaptureQueriesContext(connection) as asked:
            client.get(path)
        roles = [held for held in asked if "academy_membership" in held["sql"]]
        assert (
            sum(
                '"academy_membership"."role" AS' in held["sql"]
                or held["sql"].startswith('SELECT "academy_membership"."role"')
                for held in roles
            )
            <= 1
        )
