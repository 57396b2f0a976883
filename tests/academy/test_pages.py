"""The core's pages: who finds what, pages and their parts, and how many questions they ask."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils.html import strip_tags
from pytest_django import DjangoDbBlocker

from academy import work
from academy.models import InstanceRecord, Run, SuiteVersion
from leaderboard.models import Board
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return Client()


@pytest.fixture(scope="module")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Run]:
    """A scored run, made once; each test changes it in a transaction of its own."""
    with django_db_blocker.unblock(), transaction.atomic():
        version = make.takeoff_version(3)
        run = make.takeoff_run(version, {"t-0": 100, "t-1": 150}, name="Robo <b>Takeoff</b>")
        make.score_all()
        yield run
        transaction.set_rollback(True)


@pytest.fixture
def run(made: Run, db: None) -> Run:
    return Run.objects.select_related("entrant", "version__suite").get(pk=made.pk)


@pytest.fixture
def version(run: Run) -> SuiteVersion:
    return run.version


def record_of(run: Run) -> InstanceRecord:
    record = InstanceRecord.objects.of_run(run.pk).order_by("id").first()
    assert record is not None
    return record


def text(response: HttpResponse) -> str:
    """The words of a page, with single spaces."""
    return " ".join(strip_tags(response.content.decode()).split())


def by_htmx(client: Client, path: str, part: str) -> Any:
    return client.get(path, headers={"HX-Request": "true", "HX-Target": part})


def addresses(run: Run) -> list[str]:
    board = Board.objects.filter(versions=run.version).order_by("pk")[0]
    record = record_of(run)
    return [
        "/",
        "/suites/",
        f"/suites/{run.version.suite.slug}/",
        f"/suites/{run.version.suite.slug}/1.0/",
        "/runs/",
        f"/runs/{run.pk}/",
        f"/records/{record.pk}/",
        f"/records/{record.pk}/raw/",
        "/boards/",
        f"/boards/{board.slug}/",
        f"/boards/{board.slug}/standings.json",
        f"/boards/{board.slug}/standings.csv",
        "/healthz",
        "/login/",
    ]


def test_every_page_is_there_without_a_login(client: Client, run: Run) -> None:
    found = {path: client.get(path).status_code for path in addresses(run)}
    assert found == dict.fromkeys(found, 200)


def test_pages_answer_to_head_and_to_no_post(client: Client, run: Run) -> None:
    for path in addresses(run):
        if path == "/login/":
            continue
        assert client.head(path).status_code == 200, path
        assert client.post(path).status_code == 405, path


@pytest.mark.parametrize(
    "path",
    [
        "/suites/nobody/",
        "/suites/nobody/1.0/",
        "/suites/example/9/",
        "/runs/16000000/",
        "/runs/16000000/progress/",
        "/records/1/",
        "/records/1/raw/",
        f"/records/{2**63 - 1}/",
        f"/records/{2**70}/",
        f"/runs/{2**70}/",
        "/boards/nobody/",
        "/boards/nobody/standings.json",
        "/boards/nobody/standings.csv",
        "/nobody/",
    ],
)
def test_what_is_not_there_is_404(client: Client, run: Run, path: str) -> None:
    response = client.get(path)
    assert response.status_code == 404
    assert "text/html" in response.headers["Content-Type"]


ODD_QUERIES = [
    "?page=0",
    "?page=-1",
    "?page=nonsense",
    "?page=99999999999999999999",
    "?page=%00",
    "?after=nonsense",
    "?after=99999999999999999999999",
    "?after=%F0%9F%92%A9",
    "?after=%C2%B2",
    "?outcome=nonsense",
    "?from=-1",
    "?from=9999999999999999999999999999999",
    "?from=1&step=x&chars=-5",
]


@pytest.mark.parametrize("query", ODD_QUERIES)
def test_no_query_breaks_a_page(client: Client, run: Run, query: str) -> None:
    for path in addresses(run):
        assert client.get(path + query).status_code in (200, 304), path + query


def test_a_site_without_a_worker_says_so(client: Client, run: Run) -> None:
    make.takeoff_run(run.version, name="Waiting")
    assert "No worker is running" in text(client.get("/"))
    work.beat_heart("worker")
    assert "No worker is running" not in text(client.get("/"))


def test_a_site_whose_worker_fell_silent_says_since_when(client: Client, run: Run) -> None:
    from academy.models import WorkerHeartbeat

    work.beat_heart("worker")
    WorkerHeartbeat.objects.update(seen_at="2026-01-02T03:04:05Z")
    page = text(client.get("/"))
    assert "No worker is running since" in page
    assert "03:04" in page


def test_a_version_shows_facts_metrics_tasks_and_runs(client: Client, run: Run) -> None:
    page = text(client.get("/suites/example/1.0/"))
    assert "Measure t-1." in page
    assert "Area error" in page
    assert "lower is better" in page
    assert "a missing answer counts 100" in page
    assert "suite.json" in page
    assert f"run {run.pk}" in page


def test_a_run_shows_results_items_and_history(client: Client, run: Run) -> None:
    page = text(client.get(f"/runs/{run.pk}/"))
    assert "attempt 1 of 1" in page
    assert "50" in page
    assert "1 task missing" in page
    assert "2 records received" in page
    for task in ("t-0", "t-1"):
        assert task in page


def test_the_items_of_a_run_are_cut_by_outcome(client: Client, run: Run) -> None:
    failed = text(client.get(f"/runs/{run.pk}/?outcome=failed"))
    items = failed[failed.index("Results by task") : failed.index("Strict and reference")]
    assert "t-1" in items
    assert "t-0" not in items
    assert "Nothing here" in text(client.get(f"/runs/{run.pk}/?outcome=waiting"))


def test_the_items_of_a_run_come_in_pages(client: Client) -> None:
    version = make.takeoff_version(45, slug="long")
    run = make.takeoff_run(version)
    make.score_all()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    found = re.search(r"\?outcome=all&amp;after=(\d+)#items", page)
    assert found
    assert page.count('href="/records/') == 40
    more = client.get(f"/runs/{run.pk}/?outcome=all&after={found[1]}").content.decode()
    assert more.count('href="/records/') == 5
    assert "First page" in more


def test_htmx_gets_the_part_of_a_run_that_changes(client: Client, run: Run) -> None:
    whole = client.get(f"/runs/{run.pk}/?outcome=failed")
    part = by_htmx(client, f"/runs/{run.pk}/?outcome=failed", "items")
    assert "HX-Request" in whole.headers["Vary"]
    assert "HX-Request" in part.headers["Vary"]
    assert "<html" in whole.content.decode()
    assert "<html" not in part.content.decode()
    assert part.content.decode().strip().startswith('<section id="items"')
    squeezed = " ".join(part.content.decode().split())
    assert squeezed in " ".join(whole.content.decode().split())


@pytest.mark.parametrize("query", ["?from=0", "?", ""])
def test_htmx_gets_the_steps_of_a_record(client: Client, run: Run, query: str) -> None:
    path = f"/records/{record_of(run).pk}/{query}"
    whole, part = client.get(path), by_htmx(client, path, "steps")
    assert "HX-Request" in whole.headers["Vary"]
    assert "HX-Request" in part.headers["Vary"]
    assert "<html" not in part.content.decode()
    assert 'id="steps"' in part.content.decode()
    assert "emit_quantity" in text(part)
    assert "emit_quantity" in text(whole)


@pytest.mark.parametrize("part", ["items", "steps"])
def test_going_back_brings_the_whole_page(client: Client, run: Run, part: str) -> None:
    path = f"/runs/{run.pk}/" if part == "items" else f"/records/{record_of(run).pk}/"
    restored = client.get(
        path,
        headers={
            "HX-Request": "true", "HX-Target": part, "HX-History-Restore-Request": "true"
        },
    )  # fmt: skip
    assert "<html" in restored.content.decode()


def test_progress_is_polled_until_all_is_done(client: Client, version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    path = f"/runs/{run.pk}/progress/"
    waiting = client.get(path)
    assert waiting.status_code == 200
    assert "hx-get" in waiting.content.decode()
    assert "0 of 1 units" in text(waiting)
    make.score_all()
    done = client.get(path)
    assert done.status_code == 286
    assert "hx-get" not in done.content.decode()


def test_a_record_shows_task_answer_scores_and_neighbours(client: Client, run: Run) -> None:
    first, second = InstanceRecord.objects.of_run(run.pk).order_by("id")
    page = client.get(f"/records/{second.pk}/")
    assert "Measure t-1." in text(page)
    assert '"value": 150' in text(page).replace("&quot;", '"')
    assert "50" in text(page)
    assert f'rel="prev" href="/records/{first.pk}/"' in page.content.decode()
    assert 'rel="next"' not in page.content.decode()


def test_a_record_comes_down_as_it_came(client: Client, run: Run) -> None:
    from academy.packs import raw_record

    record = record_of(run)
    response = client.get(f"/records/{record.pk}/raw/")
    assert response.content == raw_record(record)
    assert response.headers["Content-Disposition"].startswith("attachment")
    assert response.headers["Content-Type"] == "application/json"
    assert "sandbox" in response.headers["Content-Security-Policy"]


def test_verdicts_stand_beside_their_criteria(client: Client) -> None:
    task = make.rubric_task("q-0", _world_notes=None)
    version = make.version_of(
        make.import_files({make.rubrics.BUCKET: [task]}, rename=("open", "1"), publish=True)
    )
    run = make.run_of(make.record_files(make.line_run(make.judged("q-0", True, False)), version))
    make.score_all()
    page = text(client.get(f"/records/{record_of(run).pk}/"))
    assert "Step 1 of q-0 is done" in page
    assert "example-judge" in page
    assert "not met" in page


HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "[click](javascript:alert(1))",
    '<svg onload="alert(1)">',
    "<a href='data:text/html,x'>x</a>",
    "<style>body{display:none}</style>",
    "</pre></main><script>alert(1)</script>",
]


def test_text_from_outside_is_shown_and_never_run(client: Client) -> None:
    tasks = [
        make.takeoff_task(f"t-{place}", 100, slug="hostile", title=hostile, prompt=hostile)
        for place, hostile in enumerate(HOSTILE)
    ]
    version = make.takeoff_version(tasks, slug="hostile")
    executions = [
        {
            "task": f"t-{place}",
            "status": "answered",
            "answer": hostile,
            "messages": [{"role": "assistant", "content": hostile}],
        }
        for place, hostile in enumerate(HOSTILE)
    ]
    contents = make.line_run(
        *executions, entrant={"name": HOSTILE[0], "model": HOSTILE[5]}, run_id=HOSTILE[2]
    )
    run = make.run_of(make.record_files(contents, version, entrant="hostile"))
    make.score_all()
    paths = addresses(run) + [
        f"/records/{record.pk}/" for record in InstanceRecord.objects.of_run(run.pk)
    ]
    for path in paths:
        response = client.get(path)
        if "text/html" not in response.headers["Content-Type"]:
            continue
        page = response.content.decode()
        for sign in ("<img", 'onerror="', "<svg onload", "<style>", "<script>alert", "href='data:"):
            assert sign not in page, (path, sign)
        assert 'href="javascript:' not in page


def test_characters_that_would_not_show_are_named(client: Client, version: SuiteVersion) -> None:
    line = make.execution("t-0")
    line["answer"] = "price \u202e001 and \u0000 end"
    run = make.run_of(make.record_files(make.line_run(line), version))
    make.score_all()
    page = client.get(f"/records/{record_of(run).pk}/").content.decode()
    assert "\u202e" not in page
    assert "\x00" not in page
    assert "U+202E" in page
    assert "direction control" in page


def test_examples_are_marked_on_every_page_that_shows_them(client: Client) -> None:
    version = make.version_of(
        make.import_files(
            make.takeoff_files(2, slug="marked", title="Marked"), publish=True, is_example=True
        )
    )
    document = make.bundle(version, {"t-0": 100.0, "t-1": 90.0}, name="Robot")
    run = make.run_of(make.record_files({"r.bundle.json": document}, version, is_example=True))
    make.score_all()
    for path in addresses(run):
        response = client.get(path)
        if "text/html" in response.headers["Content-Type"] and path != "/login/":
            marks = ("example content", "· example")
            assert any(mark in text(response) for mark in marks), path


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
