"""What a sealed version says of its entrants, on every address: so little that no key follows."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from academy import sealing
from academy.models import InstanceRecord, Run
from leaderboard import standings
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import judged_board, newest, row_of

finite = st.floats(0, 1000, allow_nan=False)


@settings(max_examples=200)
@given(finite, finite, finite, st.integers(1, 1000))
def test_a_coarse_number_says_no_more_than_the_first_digit_of_its_interval(
    one: float, two: float, three: float, tasks: int
) -> None:
    low, value, high = sorted((one, two, three))
    found = sealing.coarse(value, low, high, tasks)
    if tasks < 10 or not high > low:
        assert found is None
        return
    assert found is not None
    step = 10.0**-found.decimals
    assert step <= (high - low) / 2 * (1 + 1e-9) < 10 * step * (1 + 1e-9)
    assert abs(found.value - value) <= step / 2 * (1 + 1e-6)


def test_no_interval_means_no_number() -> None:
    assert sealing.coarse(1.67, None, None, 50) is None
    assert sealing.coarse(1.67, 1.67, 1.67, 50) is None
    assert sealing.coarse(None, 0.0, 1.0, 50) is None


def sealed_takeoff(tasks: int) -> Board:
    version = made.sealed_version(tasks)
    for name, area in (("Alpha", 101.67), ("Beta", 104.31)):
        made.takeoff_run(version, {f"t-{place}": area for place in range(tasks)}, name=name)
    made.score_all()
    board: Board = version.boards.order_by("pk").get()
    return board


def addresses(board: Board) -> list[str]:
    run = Run.objects.filter(kind="entrant").order_by("pk").first()
    assert run is not None
    version = board.versions.get()
    suite = f"/suites/{version.suite.slug}/"
    start = f"/boards/{board.slug}/"
    number = newest(board).number
    keys = [row["key"] for row in newest(board).standings["standings"][:2]]
    return [
        "/", "/boards/", suite, f"{suite}{version.name}/", f"{suite}{version.name}/tasks/0/",
        start, f"{start}?sort=-score", f"{start}standings.json", f"{start}standings.csv?raw=1",
        f"{start}standings.md", f"{start}embed/", f"{start}badge.svg?entry={keys[0]}",
        f"{start}snapshots/", f"{start}snapshots/{number}/",
        f"{start}snapshots/{number}/standings.json",
        f"/compare/?board={board.slug}&entry={keys[0]}&entry={keys[1]}",
        f"/entrants/{run.entrant.slug}/", f"/runs/{run.pk}/", f"/search/?q={run.entrant.slug}",
    ]  # fmt: skip


@pytest.mark.django_db
@pytest.mark.parametrize("tasks", [3, 12])
def test_no_address_tells_an_error_of_a_sealed_version(tasks: int) -> None:
    board = sealed_takeoff(tasks)
    entrant = Client()
    entrant.force_login(made.person("owner", "entrant"))
    for address in addresses(board):
        for client in (Client(), entrant):
            response = client.get(address)
            assert response.status_code == 200, address
            # 1.67 and 4.31 per cent of a true area of 100 would give every key away.
            assert not re.search(r"1\.67|4\.31|1\.670|0\.0167", response.content.decode()), address
    if tasks < 10:
        assert newest(board).standings["numbers_hidden"]
        assert row_of(board, "Alpha")["score"] is None
    assert "only tier and pass" in Client().get(f"/boards/{board.slug}/").content.decode() or (
        tasks >= 10
    )


@pytest.mark.django_db
def test_a_sealed_board_of_enough_tasks_shows_coarse_numbers_and_true_ranks() -> None:
    board = judged_board(sealed=True)
    row = row_of(board, "Alpha")
    # 36 of 40 with a Wilson interval of 0.77 to 0.96: half of it begins at the first decimal's 9.
    assert (row["score"], row["shown"]) == (0.9, "90")
    assert row["rank"] == 1 and row["n"] == 40
    standing = newest(board).standings
    assert standing["slices"] == [] and standing["fragility"] is None
    assert standing["columns"] == [] and standing["detectable"] is None
    for held in standing["standings"]:
        for name in ("second", "worst", "best", "p_first", "p_top3", "mean_of_attempts"):
            assert held[name] is None
        assert held["scores_digest"] == "" and held["metrics"] == {}


@pytest.mark.django_db
def test_comparing_on_a_sealed_version_tells_neither_items_nor_counts() -> None:
    board = judged_board(sealed=True)
    page = Client().get(f"/compare/?board={board.slug}&entry=alpha&entry=gamma").content.decode()
    assert "This version is sealed." in page
    assert "Difference: +70 points" in page and "separable" in page
    for closed in ("where they differ</h2><", "28 : 0", "difficulty", "McNemar table", "p = "):
        assert closed not in page
    assert not re.search(r'href="/records/', page)


@pytest.mark.django_db
def test_a_number_that_is_left_out_says_why() -> None:
    board = sealed_takeoff(12)
    page = Client().get(f"/boards/{board.slug}/").content.decode()
    assert "left out where it has no width" in page
    start = f"/compare/?board={board.slug}&entry=alpha&entry=beta"
    compared = Client().get(start).content.decode()
    assert sealing.NO_INTERVAL in compared and "fewer than ten" not in compared
    assert "– %" not in Client().get("/").content.decode()


@pytest.mark.django_db
def test_a_sealed_version_is_read_by_one_measure_only() -> None:
    board = sealed_takeoff(12)
    address = f"/boards/{board.slug}/"
    for measure in ("reference", "ape"):
        found = Client().get(f"{address}standings.json?measure={measure}").json()
        assert (found["chosen"], found["columns"]) == ({}, [])
        assert all(row["metrics"] == row["measures"] == {} for row in found["standings"])
        assert "?measure=" not in Client().get(f"{address}?measure={measure}").content.decode()
    compared = f"/compare/?board={board.slug}&entry=alpha&entry=beta"
    assert "&amp;measure=" not in Client().get(f"{compared}&measure=reference").content.decode()


@pytest.mark.django_db
def test_a_retired_version_opens_its_numbers() -> None:
    board = judged_board(sealed=True)
    board.versions.update(state="retired")
    standings.publish_snapshot(board)
    assert row_of(board, "Alpha")["shown"] == "90.0"
    assert newest(board).standings["slices"] != []


@pytest.mark.django_db
def test_a_curator_reads_single_results_of_a_sealed_task_and_nobody_else() -> None:
    board = sealed_takeoff(12)
    address = "/suites/sealed/1.0/tasks/0/"
    curator, reviewer = Client(), Client()
    curator.force_login(made.person("curator", "curator"))
    reviewer.force_login(made.person("reviewer", "reviewer"))
    assert "1.67" in curator.get(address).content.decode()
    for client in (Client(), reviewer):
        page = client.get(address).content.decode()
        assert "Results on single tasks are sealed." in page
        assert "1.67" not in page
    assert InstanceRecord.objects.filter(run__version__in=board.versions.all()).exists()


@pytest.mark.django_db
def test_no_value_of_a_sealed_version_is_finer_than_its_interval() -> None:
    board = judged_board(sealed=True)
    document: dict[str, Any] = json.loads(
        Client().get(f"/boards/{board.slug}/standings.json").content
    )
    for row in [*document["standings"], *document["baselines"]]:
        for name in ("score", "low", "high"):
            assert row[name] is None or round(row[name], 2) == row[name]
