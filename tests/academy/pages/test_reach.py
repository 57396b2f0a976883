"""Pages are there for everybody, whatever is asked, and show nothing that runs."""

from __future__ import annotations

import pytest
from django.test import Client

from academy import work
from academy.models import InstanceRecord, Run, SuiteVersion
from tests import factories as make
from tests.academy.pages.asking import addresses, record_of, text

pytestmark = pytest.mark.django_db


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
        # A file is refused rather than given as another one than was asked for.
        fine = (200, 304, 400) if "/standings." in path else (200, 304)
        assert client.get(path + query).status_code in fine, path + query


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
