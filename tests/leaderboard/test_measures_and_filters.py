"""A board read by another measure, and filtered by when and what entered: neither ranks anew."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from academy import entering
from academy.errors import AcademyError
from academy.models import AuditEvent, Entrant, Run, SuiteVersion
from leaderboard import boards, standings
from leaderboard.models import Board, Snapshot
from tests import factories as made
from tests.academy.formats import mypcbench_making as rubrics
from tests.leaderboard.boarding import newest, policy_of
from tests.leaderboard.conftest import kept
from tests.leaderboard.test_downloads import as_csv, as_parquet, got, names_on

pytestmark = pytest.mark.django_db

TASKS = 20
# Tasks with both criteria met, tasks with one, and what the upload says of the weights.
ENTRIES: tuple[tuple[str, int, int, str], ...] = (
    ("Alpha", 12, 0, "closed"),
    ("Beta", 10, 10, "open"),
    ("Gamma", 0, 20, ""),
    ("Delta", 1, 0, ""),
)


def entered(version: SuiteVersion, name: str, both: int, one: int, weights: str) -> Run:
    lines = [
        made.judged(f"q-{place}", place < both + one, place < both)
        for place in range(version.tasks.count())
    ]
    entrant = {"name": name, **({"weights": weights} if weights else {})}
    run_id = f"r-{next(made.numbers)}"
    document = made.line_run(*lines, suite=str(version), entrant=entrant, run_id=run_id)
    return made.run_of(made.record_files(document, version))


def filled() -> Board:
    listed = [
        made.rubric_task(f"q-{place}", difficulty="easy" if place % 2 else "hard")
        for place in range(TASKS)
    ]
    report = made.import_files({rubrics.BUCKET: listed}, rename=("paired", "1"), publish=True)
    version = made.version_of(report)
    for entry in ENTRIES:
        entered(version, *entry)
    # All that has closed by then; what a test closes later is newer.
    Run.objects.filter(version=version).update(closed_at=datetime(2026, 5, 20, 12, tzinfo=UTC))
    made.score_all()
    board: Board = version.boards.get(policy__mode="reference")
    return board


@pytest.fixture(scope="module")
def key(django_db_setup: None, django_db_blocker: Any) -> Iterator[int]:
    with kept(django_db_blocker, filled) as made_key:
        yield made_key


@pytest.fixture
def board(key: int, db: None) -> Board:
    return Board.objects.get(pk=key)


def page_of(board: Board, query: str = "") -> str:
    return got(f"/boards/{board.slug}/{query}").decode()


def document_of(board: Board, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(got(f"/boards/{board.slug}/standings.json{query}"))
    return found


def test_another_measure_takes_the_place_of_the_score_and_ranks_nobody(board: Board) -> None:
    page = page_of(board)
    assert names_on(page)[:2] == ["Alpha", "Beta"]
    assert "Ordered by Rubric %, Beta leads." in page
    assert 'href="?measure=rubric"' in page
    query = "?measure=rubric"
    page = page_of(board, query)
    assert names_on(page) == ["Beta", "Alpha", "Gamma", "Delta"]
    assert '<span class="score">75.0</span>' in page and ">50.0 %</td>" in page
    assert 'class="rank"' not in page and "Shared first place" not in page
    assert "Rubric % is shown, not ranked." in page
    turned = names_on(page_of(board, f"{query}&sort=-score"))
    assert turned == ["Delta", "Gamma", "Alpha", "Beta"]


def test_files_and_api_show_the_measure_that_the_page_shows(board: Board) -> None:
    query = "?measure=rubric"
    document = document_of(board, query)
    told = [(row["name"], row["shown"], row["rank"], row["n"]) for row in document["standings"]]
    assert told[0] == ("Beta", "75.0", None, TASKS)
    assert (document["metric"]["key"], document["chosen"]) == ("rubric", {"measure": "rubric"})
    assert document["standings"][0]["metrics"]["perfect"] == 0.5
    api = json.loads(got(f"/api/v1/boards/{board.slug}/standings/{query}"))
    assert api["standings"] == document["standings"]
    start = f"/boards/{board.slug}/standings"
    for rows in (as_csv(f"{start}.csv{query}"), as_parquet(f"{start}.parquet{query}")):
        found = [(row["name"], row["shown"], row["rank"] or None, int(row["n"])) for row in rows]
        assert found == told
        assert float(rows[0]["metric_perfect"]) == 0.5


def test_a_measure_has_the_interval_that_the_pass_stored(board: Board) -> None:
    strict = board.versions.get().boards.get(policy__mode="strict")
    rows = document_of(strict, "?measure=rubric")["standings"]
    beta = next(row for row in rows if row["name"] == "Beta")
    assert beta["low"] < 0.75 < beta["high"]
    page = page_of(strict, "?measure=rubric")
    assert f"<small>{beta['shown_low']} – {beta['shown_high']}</small>" in page
    assert ">Reference</a>" in page


def test_two_are_compared_by_another_measure_with_its_own_test(board: Board) -> None:
    start = f"/compare/?board={board.slug}&entry=alpha&entry=beta"
    assert "Difference: +10.0 points" in got(start).decode()
    page = got(f"{start}&measure=rubric").decode()
    assert "Difference: −15.0 points" in page and "paired t" in page
    swapped = f"?board={board.slug}&amp;entry=beta&amp;entry=alpha&amp;measure=rubric"
    assert swapped in page
    assert "Difference: +10.0 points" in got(f"{start}&measure=nothing").decode()


def test_a_filter_hides_rows_and_moves_no_rank(board: Board) -> None:
    run = entered(board.versions.get(), "Epsilon", 11, 0, "open")
    Run.objects.filter(pk=run.pk).update(closed_at=datetime(2026, 7, 2, tzinfo=UTC))
    made.score_all()
    page = page_of(board)
    ranks = {row["name"]: row["rank"] for row in document_of(board)["standings"]}
    assert "Since July 2026</a>" in page and "Open weights</a>" in page
    for query, names in (
        ("?since=2026-07", ["Epsilon"]),
        ("?since=2026-05-20", ["Alpha", "Epsilon", "Beta", "Gamma", "Delta"]),
        ("?since=2026-07-03", []),
        ("?weights=open", ["Epsilon", "Beta"]),
        ("?weights=closed", ["Alpha"]),
        ("?weights=open&since=2026-07", ["Epsilon"]),
    ):
        rows = document_of(board, query)["standings"]
        assert sorted(row["name"] for row in rows) == sorted(names), query
        assert {row["name"]: row["rank"] for row in rows}.items() <= ranks.items()
        listed = as_csv(f"/boards/{board.slug}/standings.csv{query}")
        shown = [row["name"] for row in rows]
        # Baselines stand beside, whatever is filtered.
        assert [row["name"] for row in listed if row["place"] != "baseline"] == shown
        assert names_on(page_of(board, query)) == [*shown, "Null baseline"]
    assert "No entry fits these filters" in page_of(board, "?since=2026-07-03")


def test_first_place_is_not_given_to_whom_a_filter_leaves(board: Board) -> None:
    assert "Shared first place." in page_of(board)
    left = page_of(board, "?like=ta")
    assert names_on(left)[:2] == ["Beta", "Delta"]
    assert "Shared first place." in left
    behind = page_of(board, "?like=m")
    assert names_on(behind)[0] == "Gamma"
    assert "Shared first place." not in behind
    assert 'class="tie g1"' not in behind and 'class="tie"' in behind


def test_nonsense_in_the_address_shows_the_whole_board_and_is_told(board: Board) -> None:
    whole = [row["name"] for row in document_of(board)["standings"]]
    for query in (
        "?since=2026-13", "?since=2026-02-30", "?since=0000-01", "?since=%D9%A2026-07",
        "?since=yesterday", "?weights=secret", "?measure=secret", "?measure=%00x",
    ):  # fmt: skip
        document = document_of(board, query)
        assert [row["name"] for row in document["standings"]] == whole, query
        assert (document["chosen"], len(document["left_out"])) == ({}, 1), query
        name = query.removeprefix("?").partition("=")[0]
        page = Client().get(f"/boards/{board.slug}/{query}").content.decode()
        assert "The address asks for what this board does not have." in page
        assert f"Left out: <code>{name}=" in page
        told = Client().get(f"/boards/{board.slug}/standings.csv{query}")
        assert told.status_code == 400 and name in told.content.decode()


def test_what_an_address_says_twice_or_by_another_name_is_told_too(board: Board) -> None:
    own = board.policy["metric"]
    for query, left_out in (
        ("?sort=name&sort=secret", ["sort=name", "sort=secret"]), ("?sort=--name", ["sort=--name"]),
        ("?col=attempts&col=secret", ["col=secret"]), ("?step=9&cost=-1", ["step=9", "cost=-1"]),
        (f"?measure={own}&step=1&like=%20al%20&cost=0", []), ("?sort=&slice=&cost=", []),
    ):  # fmt: skip
        assert document_of(board, query)["left_out"] == left_out, query


def test_an_amount_keeps_its_digits_in_every_address(board: Board) -> None:
    query = "?cost=1234567.25"
    assert document_of(board, query)["chosen"] == {"cost": "1234567.25"}
    page = Client().get(f"/boards/{board.slug}/{query}").content.decode()
    assert "At most $1234567.25 a task" in page and "e+06" not in page


def test_an_upload_tells_what_was_not_known_of_weights_and_changes_nothing_else(
    board: Board,
) -> None:
    version = board.versions.get()
    for name in ("Gamma", "Alpha"):
        entered(version, name, 3, 0, "open")
    weights = Entrant.objects.filter(slug__in=("gamma", "alpha")).order_by("slug")
    assert list(weights.values_list("weights", flat=True)) == ["closed", "open"]


def test_a_curator_says_of_weights_and_boards_follow(board: Board) -> None:
    gamma = Entrant.objects.get(slug="gamma")
    carol = made.person("carol", "curator")
    client = Client()
    client.force_login(carol)
    sent = {"action": "say_open", "_selected_action": [gamma.pk]}
    client.post("/admin/academy/entrant/", sent)
    made.score_all()
    found = document_of(board, "?weights=open")["standings"]
    assert {row["name"] for row in found} == {"Beta", "Gamma"}
    assert AuditEvent.objects.get(act="entrant.weights").actor == carol
    assert "<dd>open</dd>" in got("/entrants/gamma/").decode()
    number = newest(board).number
    assert entering.say_weights([gamma], "open") == 0
    made.score_all()
    assert newest(board).number == number
    with pytest.raises(AcademyError, match="open or closed"):
        entering.say_weights([gamma], "leaked")
    other = Client()
    other.force_login(made.person("audrey", "auditor", is_staff=True))
    assert other.post("/admin/academy/entrant/", sent).status_code == 403


def test_second_numbers_are_of_the_items_that_the_board_counts(board: Board) -> None:
    version = [board.versions.get()]
    boards.change_board(board, policy_of(board, where={"difficulty": "easy"}), version)
    made.score_all()
    found = newest(board).standings
    assert found["n"] == TASKS // 2
    # A result of the whole run is of other items.
    assert found["columns"] == []


def test_second_numbers_of_a_mean_of_attempts_are_means_too(board: Board) -> None:
    entered(board.versions.get(), "Beta", 20, 0, "open")
    boards.change_board(board, policy_of(board, attempts="mean"), [board.versions.get()])
    made.score_all()
    row = next(r for r in newest(board).standings["standings"] if r["name"] == "Beta")
    assert (row["score"], row["metrics"]["rubric"]) == (0.75, 0.875)


def test_a_snapshot_of_an_earlier_release_is_shown_without_what_it_lacks(board: Board) -> None:
    last = newest(board)
    later = ("weights", "measures", "closed_at")
    rows = [
        {name: held for name, held in row.items() if name not in later}
        for row in last.standings["standings"]
    ]
    columns = [
        {name: held for name, held in column.items() if name not in ("direction", "digits")}
        for column in last.standings["columns"]
    ]
    moved = {"key": "alpha", "entrant": "alpha", "name": "Alpha", "what": "moved", "why": "new run"}
    old = Snapshot.objects.create(
        board=board,
        number=last.number + 1,
        board_revision=1,
        inputs_digest="0" * 64,
        digest="1" * 64,
        standings={**last.standings, "standings": rows, "columns": columns},
        differences=[{**moved, "rank": 1, "rank_before": 2, "shown": "60.0", "shown_before": "5"}],
        published_at=timezone.now(),
    )
    query = "?measure=rubric&since=2026&sort=name"
    for place in ("", f"snapshots/{old.number}/"):
        page = got(f"/boards/{board.slug}/{place}{query}").decode()
        assert "Alpha" in page and "Since<small>snapshot" not in page
        assert "?measure=rubric" not in page
        got(f"/boards/{board.slug}/{place}standings.parquet?sort=name")
        document = json.loads(got(f"/boards/{board.slug}/{place}standings.json"))
        assert document["compared_with"] is None
        assert {row["movement"] for row in document["standings"]} == {None}
    assert "No entry fits" in page_of(board, "?since=2026-01")
    got("/entrants/alpha/")
    got(f"/boards/{board.slug}/snapshots/")
    entered(board.versions.get(), "Epsilon", 20, 0, "")
    made.score_all()
    following = standings.publish_snapshot(board)
    assert following is not None and following.compared_with == old.number
    assert "Since<small>snapshot" in page_of(board)
