"""Standings: who ranks, who shares a rank, who stands apart; the same wherever they are shown."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from pytest_django import DjangoDbBlocker

from academy import foreign
from academy.bundle import (
    Direction,
    Grading,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.importing import ImportOptions, import_suites
from academy.models import SuiteVersion
from leaderboard import standings
from leaderboard.models import Board
from tests import factories as make
from tests.leaderboard.boarding import drawn_version

pytestmark = pytest.mark.django_db

TASKS = 20


def answers(error: float, *, tasks: int = TASKS) -> dict[str, float]:
    """Answers to the first tasks, all off by so many per cent."""
    return {f"t-{place}": 100 + error for place in range(tasks)}


def rows_of(board: Board) -> dict[str, dict[str, Any]]:
    found = standings.compute(board)
    assert found is not None
    return {row["name"]: row for row in found["standings"]}


def board_of(version: SuiteVersion) -> Board:
    board: Board = version.boards.order_by("pk")[0]
    return board


@pytest.fixture(scope="module")
def made_four(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Board]:
    """The board, made once; each test changes it in a transaction of its own."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_four()
        transaction.set_rollback(True)


@pytest.fixture
def four(made_four: Board, db: None) -> Board:
    return made_four


def make_four() -> Board:
    """Two equal entries, one without an answer, one over half the items; lower is better."""
    version = drawn_version("four", TASKS)
    make.takeoff_run(version, answers(5), name="One")
    make.takeoff_run(version, answers(5), name="Other")
    contents = make.line_run(
        *(make.execution(f"t-{place}", None) for place in range(TASKS)),
        entrant={"name": "Silent"},
        suite=f"four@{version.name}",
    )
    make.record_files(contents, version)
    make.takeoff_run(version, answers(1, tasks=TASKS // 2), name="Half")
    make.score_all()
    return board_of(version)


def test_equal_entries_share_a_rank(four: Board) -> None:
    rows = rows_of(four)
    assert (rows["One"]["rank"], rows["Other"]["rank"]) == (1, 1)
    assert rows["One"]["tie_group"] == rows["Other"]["tie_group"] is not None
    assert rows["One"]["shown"] == rows["Other"]["shown"] == "5.0"


def test_an_entry_over_half_the_items_is_listed_apart_with_its_coverage(four: Board) -> None:
    row = rows_of(four)["Half"]
    assert (row["rank"], row["place"], row["coverage"]) == (None, "incomplete", 0.5)
    assert "10 of 20 items were submitted" in row["reason"]


def test_the_next_rank_after_a_shared_one_is_left_out(four: Board) -> None:
    version = four.versions.get()
    make.takeoff_run(version, answers(40), name="Third")
    make.score_all()
    assert rows_of(four)["Third"]["rank"] in (3, 4)
    ranks = sorted(row["rank"] for row in rows_of(four).values() if row["rank"])
    assert ranks == [1, 1, 3, *([4] if len(ranks) == 4 else [])]


def test_missing_answers_come_last_and_never_first_where_lower_is_better(four: Board) -> None:
    silent = rows_of(four)["Silent"]
    assert silent["place"] in ("ranked", "incomplete", "unscored")
    if silent["rank"] is not None:
        assert silent["rank"] == 3
        assert silent["score"] == 100
    order = [row["name"] for row in standings.compute(four)["standings"]]  # type: ignore[index]
    assert order.index("Silent") > order.index("Other") > -1


def graded_version(slug: str, direction: Direction) -> SuiteVersion:
    """A suite whose numbers are reported, better upward or downward, without a missing value."""
    params = {
        "metric": "score",
        "lower_is_better": direction is Direction.DOWN,
        "low": 0.0,
        "high": 1.0,
        "pass_mark": None,
    }
    spec = SuiteSpec(
        slug=slug,
        title=slug,
        format="every_eval_ever",
        version="open",
        mode="collection",
        metrics=(
            MetricSpec(
                key="score",
                label="Score",
                direction=direction,
                kind=MetricKind.GRADED,
                low=0.0,
                high=1.0,
            ),
        ),
        tasks=tuple(
            TaskSpec(
                external_id=f"t-{place}",
                prompt="?",
                gradings=(Grading(metric="score", scorer="reported", params=params),),
            )
            for place in range(8)
        ),
    )
    report = import_suites(
        SuiteUpload(suites=(spec,), files=()),
        files=make.as_files({"x.json": "{}"}),
        source_digest="0" * 64,
        options=ImportOptions(publish=True),
    )
    return make.version_of(report)


def reported_run(version: SuiteVersion, name: str, values: list[float]) -> None:
    """A run whose records came with their numbers."""
    lines = [
        {
            "task": f"t-{place}",
            "status": "answered",
            "answer": "",
            "scores": [{"metric": "score", "value": value}],
        }
        for place, value in enumerate(values)
    ]
    results = {"score": sum(values) / len(values)} if values else {}
    contents = make.line_run(
        *lines,
        entrant={"name": name},
        suite=f"{version.suite.slug}@open",
        results=results or {"score": 0.5},
    )
    make.record_files(contents, version)


@pytest.mark.parametrize("direction", [Direction.UP, Direction.DOWN])
def test_four_entries_rank_1_1_none_none_in_both_directions(direction: Direction) -> None:
    version = graded_version(f"graded-{direction}", direction)
    reported_run(version, "One", [0.8] * 8)
    reported_run(version, "Other", [0.8] * 8)
    reported_run(version, "Half", [0.8] * 4)
    reported_run(version, "Stated", [])
    make.score_all()
    rows = rows_of(board_of(version))
    ranks = {name: row["rank"] for name, row in rows.items()}
    assert ranks == {"One": 1, "Other": 1, "Half": None, "Stated": None}
    assert (rows["Half"]["place"], rows["Half"]["coverage"]) == ("incomplete", 0.5)
    assert rows["Stated"]["place"] in ("reported", "unscored", "incomplete")


def test_what_waits_for_people_is_provisional_and_listed_apart() -> None:
    version = make.rubric_version(2)
    for name, verdicts in (("Judged", (True, True)), ("Waiting", ())):
        lines = [make.judged("q-0", True, True), make.judged("q-1", *verdicts)]
        make.record_files(
            make.line_run(*lines, entrant={"name": name}, run_id=name, suite="rubrics@1"), version
        )
    make.score_all()
    board = version.boards.get(policy__mode="reference")
    rows = rows_of(board)
    assert (rows["Judged"]["rank"], rows["Judged"]["place"]) == (1, "ranked")
    assert (rows["Waiting"]["rank"], rows["Waiting"]["place"]) == (None, "provisional")
    assert rows["Waiting"]["waiting"] == 1
    assert rows["Waiting"]["coverage"] == 1.0
    page = Client().get(f"/boards/{board.slug}/").content.decode()
    assert page.index("Judged") < page.index("Provisional") < page.rindex("Waiting")


def test_practice_is_listed_and_never_ranked() -> None:
    version = drawn_version(mode="practice")
    make.takeoff_run(version, answers(1), name="Keen")
    make.score_all()
    row = rows_of(board_of(version))["Keen"]
    assert (row["rank"], row["place"]) == (None, "listed")


def test_runs_that_are_not_closed_rank_nowhere() -> None:
    version = drawn_version()
    make.record_files(make.line_run(make.execution("t-0"), closed=False), version)
    make.score_all()
    found = standings.compute(board_of(version))
    assert found is not None
    assert found["standings"] == []


def test_every_attempt_is_counted_and_the_policy_chooses_one() -> None:
    version = drawn_version()
    for error in (1, 30):
        make.takeoff_run(version, answers(error), name="Again")
    make.score_all()
    row = rows_of(board_of(version))["Again"]
    assert (row["attempts"], row["attempt"]) == (2, 2)


def test_the_order_in_which_runs_came_changes_nothing() -> None:
    entries = [("A", 3), ("B", 20), ("C", 4), ("D", 50)]
    told = []
    for number, order in enumerate((entries, entries[::-1])):
        version = drawn_version(slug=f"order-{number}")
        for name, error in order:
            make.takeoff_run(version, answers(error), name=name)
        make.score_all()
        rows = rows_of(board_of(version))
        told.append({name: (row["rank"], row["score"], row["place"]) for name, row in rows.items()})
    assert told[0] == told[1]


def test_a_worse_entry_moves_nobody_above_it(four: Board) -> None:
    before = {name: row["rank"] for name, row in rows_of(four).items()}
    make.takeoff_run(four.versions.get(), answers(90), name="Worse")
    make.score_all()
    after = {name: row["rank"] for name, row in rows_of(four).items()}
    assert after.pop("Worse") == 3
    for name in ("One", "Other", "Half"):
        assert after[name] == before[name]


def test_page_json_csv_and_command_show_the_same_ranks(four: Board) -> None:
    client = Client()
    page = client.get(f"/boards/{four.slug}/").content.decode()
    as_json = client.get(f"/boards/{four.slug}/standings.json").json()
    as_csv = list(
        csv.DictReader(
            io.StringIO(client.get(f"/boards/{four.slug}/standings.csv").content.decode())
        )
    )
    as_csv = [row for row in as_csv if row["place"] not in ("baseline", "withdrawn")]
    printed = io.StringIO()
    call_command("standings", four.slug, "--json", stdout=printed)
    command = json.loads(printed.getvalue())
    ranks = [(row["entrant"], row["rank"]) for row in as_json["standings"]]
    assert ranks == [(row["entrant"], row["rank"]) for row in command["standings"]]
    assert ranks == [(row["entrant"], int(row["rank"]) if row["rank"] else None) for row in as_csv]
    assert as_json["snapshot_digest"] == command["snapshot_digest"]
    places = [page.index(f">{row['name']}<") for row in as_json["standings"]]
    assert places == sorted(places)
    for row in as_json["standings"]:
        if row["shown"]:
            assert row["shown"] in page


FORMULAS = [
    '=HYPERLINK("http://x.test","open")', "@SUM(A1)", "+1+1", "-1+1", "\t=1", "\r=1", "\n=1",
    "\uff1d1+1",
]  # fmt: skip


@pytest.mark.parametrize("text", FORMULAS)
def test_text_that_a_spreadsheet_would_run_is_neutralised(text: str) -> None:
    assert foreign.cell(text) == "'" + text


@pytest.mark.parametrize("value", [-0.25, 0, 3, None, "-0.25", "-12", "plain"])
def test_numbers_and_plain_text_stay_as_they_are(value: Any) -> None:
    assert foreign.cell(value) == value


def test_a_file_for_spreadsheets_is_safe_and_one_for_programs_is_exact() -> None:
    version = drawn_version()
    name = FORMULAS[0]
    make.record_files(
        {"run.bundle.json": make.bundle(version, answers(2), name=name)}, version, entrant="formula"
    )
    make.score_all()
    slug = board_of(version).slug
    client = Client()
    for query, expected in (("", "'" + name), ("?raw=1", name)):
        text = client.get(f"/boards/{slug}/standings.csv{query}").content.decode()
        row = next(csv.DictReader(io.StringIO(text)))
        assert row["name"] == expected
        assert float(row["score"]) == 2.0
