"""The first page draws a board and tells what moved; pages of entrants, suites and tasks."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import newest, off, row_of
from tests.leaderboard.test_vouching import decide

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client: Client) -> Callable[[str], str]:
    def got(address: str) -> str:
        response = client.get(address)
        assert response.status_code == 200, (address, response.status_code)
        return response.content.decode()

    return got


def test_an_empty_site_says_what_will_be_drawn(page: Callable[[str], str]) -> None:
    told = page("/")
    assert "No ranking yet" in told and "Nothing has moved on any board yet" in told


def test_the_first_page_draws_the_board_that_ranks_most(
    small_board: Board, judged: Board, page: Callable[[str], str]
) -> None:
    made.takeoff_run(small_board.versions.get(), off(4, of=8), name="Delta")
    made.score_all()
    told = page("/")
    drawn = told[told.index(f"The first entries of {small_board.title}") :]
    drawn = drawn[: drawn.index("</table>")]
    order = [row["name"] for row in newest(small_board).standings["standings"] if row["rank"]]
    assert re.findall(r"<tr><th>(\w+)</th><td>", drawn) == order
    assert row_of(small_board, "Delta")["shown"] in drawn
    assert "New entrant: Delta" in told


def test_the_first_page_costs_the_same_with_more_entries(
    small_board: Board, client: Client
) -> None:
    client.get("/")
    with CaptureQueriesContext(connection) as few:
        client.get("/")
    for place in range(3):
        made.takeoff_run(small_board.versions.get(), off(place, of=8), name=f"Entrant {place}")
    made.score_all()
    with CaptureQueriesContext(connection) as many:
        client.get("/")
    assert len(many) == len(few)


def test_the_history_of_an_entrant_says_what_moved_it(
    small_board: Board, page: Callable[[str], str]
) -> None:
    made.takeoff_run(small_board.versions.get(), off(8, 50, of=8), name="Alpha")
    made.score_all()
    told = page("/entrants/alpha/")
    history = told[told.index(f"History on {small_board.title}") :]
    assert "New run, attempt 2" in history
    assert "2 entries" in told
    assert page("/entrants/gamma/").count("example@1.0") >= 2


def test_a_suite_counts_tasks_and_runs_of_its_versions(
    small_board: Board, page: Callable[[str], str]
) -> None:
    told = page("/suites/example/")
    assert '<td class="n half" data-label="Tasks">8</td>' in told
    assert '<td class="n half" data-label="Runs of entrants">3</td>' in told


def test_a_task_says_where_deciders_differ_or_that_they_do_not(
    judged: Board, page: Callable[[str], str]
) -> None:
    address = "/suites/rubrics/1/tasks/0/"
    assert "no criterion of this task was decided in two ways" in page(address)
    decide(judged, range(1), agree=False)
    told = page(address)
    assert "Any two differ" in told and "attempt 1" in told
