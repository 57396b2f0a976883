"""What the pages of versions, runs and records show, whole and in the parts htmx asks for."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from academy.models import InstanceRecord, Run, SuiteVersion
from tests import factories as make
from tests.academy.pages.asking import by_htmx, record_of, text

pytestmark = pytest.mark.django_db


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
