"""How a board says what moved since the snapshot before, and how a reader gets to others."""

from __future__ import annotations

import json

import pytest
from django.db import IntegrityError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from leaderboard import boards, standings
from leaderboard.models import Board, Snapshot
from tests import factories as made
from tests.leaderboard.boarding import let_rest, newest, off, policy_of, row_of
from tests.leaderboard.test_downloads import as_csv, as_parquet, got

pytestmark = pytest.mark.django_db
HEADING = "Since<small>snapshot "


def moved_on(board: Board) -> Snapshot:
    """Alpha does worse in another attempt, Delta is new, Beta stays: one snapshot more."""
    version = board.versions.get()
    made.takeoff_run(version, off(8, 50, of=8), name="Alpha")
    made.takeoff_run(version, off(4, of=8), name="Delta")
    made.score_all()
    return newest(board)


def row_on(page: str, name: str) -> str:
    """The row of an entry in the table of a page."""
    table = page[page.index('aria-label="Leaderboard"') :]
    return next(row for row in table.split("<tr")[1:] if f">{name}</a>" in row)


def test_each_row_says_how_it_moved_since_the_snapshot_before(small_board: Board) -> None:
    first = newest(small_board)
    before = row_of(small_board, "Alpha")
    moved_on(small_board)
    after = row_of(small_board, "Alpha")
    page = got(f"/boards/{small_board.slug}/").decode()
    assert f'snapshots/{first.number}/">Since<small>snapshot {first.number}</small></a>' in page
    change = float(after["shown"]) - float(before["shown"])
    # Less is better here, so that a higher score is the worse one.
    assert f'<span class="down">+{change:.1f}</span>' in row_on(page, "Alpha")
    assert f"was rank {before['rank']}" in row_on(page, "Alpha")
    assert '<span class="tag acc">new</span>' in row_on(page, "Delta")


def test_the_first_snapshot_has_nothing_to_compare_with(small_board: Board) -> None:
    page = got(f"/boards/{small_board.slug}/snapshots/1/").decode()
    assert HEADING not in page
    document = json.loads(got(f"/boards/{small_board.slug}/snapshots/1/standings.json"))
    assert document["compared_with"] is None
    assert {row["movement"] for row in document["standings"]} == {None}


@pytest.mark.parametrize("query", ["", "?sort=name", "?col=change", "?col=usage"])
def test_files_say_the_same_and_leave_out_what_the_page_leaves_out(
    small_board: Board, query: str
) -> None:
    first = newest(small_board).number
    moved_on(small_board)
    address = f"/boards/{small_board.slug}/"
    page = got(f"{address}{query}").decode()
    document = json.loads(got(f"{address}standings.json{query}"))
    api = json.loads(got(f"/api/v1/boards/{small_board.slug}/standings/{query}"))
    lines = as_csv(f"{address}standings.csv{query}")
    typed = as_parquet(f"{address}standings.parquet{query}")
    assert document["compared_with"] == first
    assert api["standings"] == document["standings"]
    if query == "?col=usage":
        assert HEADING not in page
        assert "movement" not in document["standings"][0]
        assert "movement" not in lines[0] and "movement" not in typed[0]
        return
    told = {row["key"]: row for row in document["standings"]}
    assert (told["delta"]["movement"], told["delta"]["change"]) == ("new", None)
    assert (told["alpha"]["movement"], told["gamma"]["movement"]) == ("moved", "same")
    assert told["gamma"]["change"] == 0
    for line, row in zip(lines, typed, strict=True):
        if line["key"] in told and line["place"] not in ("baseline", "withdrawn"):
            change = told[line["key"]]["change"]
            assert row["change"] == change
            assert line["change"] == ("" if change is None else str(change))
            assert row["shown_before"] == told[line["key"]]["shown_before"]


def test_scores_under_another_policy_are_not_subtracted(small_board: Board) -> None:
    boards.change_board(
        small_board, policy_of(small_board, confidence=0.9), list(small_board.versions.all())
    )
    moved_on(small_board)
    page = got(f"/boards/{small_board.slug}/").decode()
    assert HEADING in page
    row = row_on(page, "Alpha")
    assert "was rank" in row and 'class="down"' not in row
    told = {held["key"]: held for held in newest(small_board).differences}
    assert (told["alpha"]["rank_before"], told["alpha"]["change"]) == (1, None)


def test_rows_of_a_snapshot_that_waited_tell_what_moved_since_the_one_then_public(
    small_board: Board,
) -> None:
    public = newest(small_board).number
    Board.objects.filter(pk=small_board.pk).update(
        policy={**small_board.policy, "publishing": "by_hand"}
    )
    moved_on(small_board)
    waiting = small_board.snapshots.order_by("-number")[0]
    published = standings.publish_by_hand(waiting)
    assert f"{HEADING}{public}</small>" in published.rows_html
    assert f"{HEADING}{public}</small>" in got(f"/boards/{small_board.slug}/").decode()
    with pytest.raises(IntegrityError), transaction.atomic():
        Snapshot.objects.filter(pk=published.pk).update(rows_html="other")


def test_a_reader_may_choose_a_snapshot_and_keeps_what_was_chosen(small_board: Board) -> None:
    first = newest(small_board).number
    last = moved_on(small_board).number
    address = f"/boards/{small_board.slug}/"
    page = got(f"{address}?sort=name").decode()
    assert f'href="{address}?sort=name" aria-current="true">{last}, current</a>' in page
    assert f'href="{address}snapshots/{first}/?sort=name">{first}</a>' in page
    old = got(f"{address}snapshots/{first}/?sort=name").decode()
    assert f'href="{address}snapshots/{first}/?sort=name" aria-current="true">{first}</a>' in old
    assert f'href="{address}?sort=name">{last}, current</a>' in old
    assert f'<code id="address" class="digest">{address}snapshots/{first}/?sort=name</code>' in old


def test_an_earlier_snapshot_is_told_anew_once_there_is_another_to_choose(
    small_board: Board,
) -> None:
    address = f"/boards/{small_board.slug}/snapshots/1/"
    let_rest(small_board)
    tag = Client().get(address)["ETag"]
    assert Client().get(address, headers={"If-None-Match": tag}).status_code == 304
    moved_on(small_board)
    assert Client().get(address, headers={"If-None-Match": tag}).status_code == 200
    with CaptureQueriesContext(connection) as caught:
        Client().get(address)
    assert len(caught) == 2
