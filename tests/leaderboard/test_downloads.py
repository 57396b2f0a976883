"""CSV, JSON, Parquet and the API show what the page shows for the same address."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import Any

import pyarrow
import pytest
from django.core.management import call_command
from django.test import Client
from drf_spectacular.generators import SchemaGenerator
from pyarrow import parquet

from leaderboard import standings
from leaderboard.models import Board, Snapshot
from tests import factories as made
from tests.leaderboard.boarding import filled_board, newest, off

pytestmark = pytest.mark.django_db
API = "/api/v1/boards"


def got(address: str, client: Client | None = None) -> bytes:
    response = (client or Client()).get(address)
    assert response.status_code == 200, (address, response.status_code)
    return bytes(response.content)


def as_parquet(address: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parquet.read_table(pyarrow.BufferReader(got(address))).to_pylist()
    return found


def as_csv(address: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(got(address).decode(), newline="")))


def names_on(page: str) -> list[str]:
    table = page[page.index('aria-label="Leaderboard"') : page.index("</table>")]
    return re.findall(r'<a class="ttl"[^>]*>(.*?)</a>', table)


QUERIES = (
    "", "?sort=-name", "?like=beta", "?step=4", "?slice=difficulty%3Deasy",
    "?slice=difficulty%3Dhard&sort=name",
)  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_every_form_has_the_rows_of_the_page_in_its_order(judged: Board, query: str) -> None:
    start = f"/boards/{judged.slug}/"
    expected = names_on(got(f"{start}{query}").decode())
    number = newest(judged).number
    for place in (start, f"{start}snapshots/{number}/"):
        assert [row["name"] for row in as_csv(f"{place}standings.csv{query}")] == expected
        assert [row["name"] for row in as_parquet(f"{place}standings.parquet{query}")] == expected
        document = json.loads(got(f"{place}standings.json{query}"))
        shown = [*document["standings"], *document["withdrawn"], *document["baselines"]]
        assert [row["name"] for row in shown] == expected
    for address in (f"{API}/{judged.slug}/standings/", f"{API}/{judged.slug}/snapshots/{number}/"):
        document = json.loads(got(f"{address}{query}"))
        shown = [*document["standings"], *document["withdrawn"], *document["baselines"]]
        assert [row["name"] for row in shown] == expected


def test_what_is_not_ranked_stands_below_in_every_form_and_order(small_board: Board) -> None:
    made.takeoff_run(small_board.versions.get(), {"t-0": 100.0}, name="Alpine")
    made.score_all()
    start = f"/boards/{small_board.slug}/"
    for query, expected in (
        ("?sort=name", ["Alpha", "Beta", "Gamma", "Alpine"]),
        ("?sort=-name", ["Gamma", "Beta", "Alpha", "Alpine"]),
    ):
        assert names_on(got(f"{start}{query}").decode()) == expected
        assert [row["name"] for row in as_csv(f"{start}standings.csv{query}")] == expected
        assert [row["name"] for row in as_parquet(f"{start}standings.parquet{query}")] == expected


def test_numbers_are_the_same_in_every_form_and_typed_in_parquet(judged: Board) -> None:
    start = f"/boards/{judged.slug}/"
    document = json.loads(got(f"{start}standings.json"))
    rows = [*document["standings"], *document["baselines"]]
    tables = as_parquet(f"{start}standings.parquet"), as_csv(f"{start}standings.csv")
    for row, typed, text in zip(rows, *tables, strict=True):
        for name in ("rank", "rank_low", "rank_high", "tie_group", "n", "scored", "run"):
            assert typed[name] == row[name]
            assert type(typed[name]) in (int, type(None))
            assert text[name] == ("" if row[name] is None else str(row[name]))
        for name in ("score", "low", "high", "coverage"):
            assert typed[name] == row[name]
            assert float(text[name]) == row[name]
        assert typed["shown"] == text["shown"] == row["shown"]
    assert json.loads(got(f"{API}/{judged.slug}/standings/"))["standings"] == document["standings"]
    printed = io.StringIO()
    call_command("standings", judged.slug, "--json", stdout=printed)
    assert json.loads(printed.getvalue())["standings"] == document["standings"]


def test_a_parquet_file_says_what_it_is(judged: Board) -> None:
    address = f"/boards/{judged.slug}/standings.parquet?sort=-name"
    response = Client().get(address)
    assert response["Content-Type"] == "application/vnd.apache.parquet"
    about = parquet.read_schema(pyarrow.BufferReader(response.content)).metadata
    snapshot = newest(judged)
    assert about[b"board"].decode() == judged.slug
    assert about[b"revision"] == b"1"
    assert about[b"snapshot"].decode() == str(snapshot.number)
    assert about[b"snapshot_digest"].decode() == snapshot.digest
    assert (
        about[b"address"]
        .decode()
        .endswith(f"/boards/{judged.slug}/snapshots/{snapshot.number}/?sort=-name")
    )


def test_columns_of_the_address_are_honoured_in_every_form(judged: Board) -> None:
    start = f"/boards/{judged.slug}/"
    for query, there, gone in (
        ("?col=coverage", "scored", "verification"),
        ("?col=verification", "verification", "scored"),
        ("?col=bounds", "worst", "scored"),
        ("?col=first", "p_first", "scored"),
    ):
        for rows in (
            as_csv(f"{start}standings.csv{query}"),
            as_parquet(f"{start}standings.parquet{query}"),
            json.loads(got(f"{start}standings.json{query}"))["standings"],
        ):
            assert there in rows[0] and gone not in rows[0] and "rank" in rows[0]
    (rubric,) = [name for name in as_csv(f"{start}standings.csv")[0] if "rubric" in name]
    assert rubric == "metric_rubric"


def test_baselines_and_withdrawn_runs_have_no_rank_in_any_form(small_board: Board) -> None:
    start = f"/boards/{small_board.slug}/"
    document = json.loads(got(f"{start}standings.json"))
    assert document["baselines"]
    assert {row["rank"] for row in document["baselines"]} == {None}
    beside = [row for row in as_csv(f"{start}standings.csv") if row["place"] == "baseline"]
    assert len(beside) == len(document["baselines"])
    assert {row["rank"] for row in beside} == {""}


def test_failure_12_text_is_neutralised_for_spreadsheets_and_kept_for_programs() -> None:
    board = filled_board("formulas", tasks=8)
    name = '=HYPERLINK("http://x.test","open")'
    made.takeoff_run(board.versions.get(), off(0, of=8), name=name)
    made.score_all()
    start = f"/boards/{board.slug}/"
    names = {row["name"] for row in as_csv(f"{start}standings.csv")}
    assert "'" + name in names and name not in names
    for rows in (
        as_csv(f"{start}standings.csv?raw=1"),
        as_parquet(f"{start}standings.parquet"),
        json.loads(got(f"{start}standings.json"))["standings"],
        json.loads(got(f"{API}/{board.slug}/standings/"))["standings"],
    ):
        assert name in {row["name"] for row in rows}
    assert "<script" not in got(f"{start}badge.svg?entry={name}").decode()


def test_failure_24_equal_scores_share_a_rank_and_the_unscored_have_none_in_any_form() -> None:
    board = filled_board("four", tasks=8)
    version = board.versions.get()
    for name in ("Same", "Again"):
        made.takeoff_run(version, off(0, of=8), name=name)
    made.takeoff_run(version, {f"t-{place}": 100.0 for place in range(4)}, name="Half")
    made.score_all()
    start = f"/boards/{board.slug}/"
    for rows in (
        json.loads(got(f"{start}standings.json"))["standings"],
        as_parquet(f"{start}standings.parquet"),
        json.loads(got(f"{API}/{board.slug}/standings/"))["standings"],
        as_csv(f"{start}standings.csv"),
    ):
        held = {row["name"]: row for row in rows}
        assert str(held["Same"]["rank"]) == str(held["Again"]["rank"]) == "1"
        assert held["Half"]["rank"] in (None, "")
        assert float(held["Half"]["coverage"]) == 0.5
    page = got(start).decode()
    assert names_on(page).index("Half") > names_on(page).index("Gamma")


def test_the_api_lists_boards_and_snapshots_and_says_what_is_wrong_as_a_problem(
    small_board: Board,
) -> None:
    listed = json.loads(got(f"{API}/"))["results"]
    held = next(row for row in listed if row["slug"] == small_board.slug)
    assert held["newest_snapshot"] == newest(small_board).number
    assert held["versions"] == ["example@1.0"]
    assert json.loads(got(f"{API}/{small_board.slug}/")) == held
    shots = json.loads(got(f"{API}/{small_board.slug}/snapshots/"))["results"]
    assert [row["number"] for row in shots] == sorted((r["number"] for r in shots), reverse=True)
    for address in (
        "none/",
        "none/standings/",
        "none/snapshots/",
        f"{small_board.slug}/snapshots/99/",
    ):
        response = Client().get(f"{API}/{address}")
        assert response.status_code == 404
        assert response["Content-Type"] == "application/problem+json"
        assert json.loads(response.content)["status"] == 404
    assert Client().post(f"{API}/{small_board.slug}/standings/").status_code in (403, 405)


def test_what_waits_or_is_a_draft_is_in_no_form(small_board: Board) -> None:
    Board.objects.filter(pk=small_board.pk).update(
        policy={**small_board.policy, "publishing": "by_hand"}
    )
    small_board.refresh_from_db()
    waiting = standings.publish_snapshot(small_board)
    assert waiting is not None and waiting.published_at is None
    number = waiting.number
    for end in ("standings.csv", "standings.parquet", "standings.json"):
        address = f"/boards/{small_board.slug}/snapshots/{number}/{end}"
        assert Client().get(address).status_code == 404
    assert Client().get(f"{API}/{small_board.slug}/snapshots/{number}/").status_code == 404
    draft = made.takeoff_version(3, slug="draft", publish=False)
    from leaderboard import boards

    (hidden,) = boards.ensure_boards(draft)
    for address in (f"{API}/{hidden.slug}/", f"{API}/{hidden.slug}/standings/"):
        assert Client().get(address).status_code == 404
    assert hidden.slug not in got(f"{API}/").decode()
    assert Client().get(f"/exports/board/{hidden.pk}/").status_code == 404


def test_the_schema_names_the_endpoints_and_their_parameters() -> None:
    paths = SchemaGenerator().get_schema(public=True)["paths"]
    standing = next(held for path, held in paths.items() if path.endswith("/{slug}/standings/"))
    names = {parameter["name"] for parameter in standing["get"]["parameters"]}
    assert {"slug", "sort", "slice", "step", "like", "cost", "col"} <= names
    assert {"get"} == set(standing)


def test_differences_are_from_the_public_snapshot_before(small_board: Board) -> None:
    board = small_board
    first = newest(board)
    Board.objects.filter(pk=board.pk).update(policy={**board.policy, "publishing": "by_hand"})
    version = board.versions.get()
    for name in ("Delta", "Epsilon"):
        made.takeoff_run(version, off(4, of=8), name=name)
        made.score_all()
    waiting = list(Snapshot.objects.filter(board=board, published_at=None).order_by("number"))
    assert len(waiting) >= 2
    last = standings.publish_by_hand(waiting[-1])
    assert last.compared_with == first.number
    new = {held["name"] for held in last.differences if held["what"] == "new"}
    assert new == {"Delta", "Epsilon"}
    page = got(f"/boards/{board.slug}/").decode()
    assert f"Since snapshot {first.number}<" in page


def test_a_slice_shows_nothing_that_is_of_all_items(judged: Board) -> None:
    rows = as_parquet(
        f"/boards/{judged.slug}/standings.parquet?slice=difficulty%3Deasy&col=first&col=bounds&col=second"
    )
    for row in rows:
        assert row["n"] == 20
        for name in ("rank", "p_first", "worst", "best", "metric_rubric"):
            assert row[name] is None
    page = got(f"/boards/{judged.slug}/?slice=difficulty%3Deasy").decode()
    assert '<tbody class="tie' not in page
