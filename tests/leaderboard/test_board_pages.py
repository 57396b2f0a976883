"""The pages of boards: what they show, what they cost, who sees them."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from django.core.cache import caches
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from academy.models import Entrant, Run
from leaderboard import standings
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import let_rest, newest, off, row_of

pytestmark = pytest.mark.django_db


def text_of(address: str, client: Client | None = None) -> str:
    response = (client or Client()).get(address)
    assert response.status_code == 200, (address, response.status_code)
    return response.content.decode()


def order_of(page: str, names: tuple[str, ...] = ("Alpha", "Beta", "Gamma")) -> list[str]:
    table = page[page.index('aria-label="Leaderboard"') :]
    return sorted(names, key=lambda name: table.index(f">{name}</a>"))


def queries(address: str, **headers: str) -> tuple[int, Any]:
    with CaptureQueriesContext(
        connection,
    ) as caught:
        response = Client().get(address, headers=headers)
    return len(caught), response


def test_a_board_takes_two_queries_and_one_when_nothing_changed(small_board: Board) -> None:
    board = small_board
    address = f"/boards/{board.slug}/"
    let_rest(board)
    caches["pages"].clear()
    count, response = queries(address)
    assert (response.status_code, count) == (200, 2)
    count, kept = queries(address)
    assert (kept.content, kept["ETag"], count) == (response.content, response["ETag"], 1)
    count, again = queries(address, if_none_match=response["ETag"])
    assert (again.status_code, again["ETag"], count) == (304, response["ETag"], 1)
    assert again.content == b""
    made.takeoff_run(board.versions.get(), off(1, of=8), name="Delta")
    made.score_all()
    _count, changed = queries(address, if_none_match=response["ETag"])
    assert changed.status_code == 200
    assert "Delta" in changed.content.decode()


def test_a_page_is_kept_for_nobody_who_signed_in(small_board: Board) -> None:
    address = f"/boards/{small_board.slug}/"
    signed_in = Client()
    signed_in.force_login(made.person("rita", "reviewer"))
    mine = signed_in.get(address).content.decode()
    public = Client().get(address)
    assert "Sign out" in mine
    assert "Sign out" not in public.content.decode()
    assert public.cookies == {}
    assert "Sign out" in signed_in.get(address).content.decode()


def test_a_board_is_shown_while_the_cache_server_does_not_answer(
    small_board: Board, settings: Any
) -> None:
    unreachable = {**settings.CACHES["default"], "LOCATION": "redis://127.0.0.1:1/0"}
    settings.CACHES = {**settings.CACHES, "default": unreachable}
    assert "Alpha" in text_of(f"/boards/{small_board.slug}/")


def test_a_new_title_is_shown_at_once(small_board: Board) -> None:
    address = f"/boards/{small_board.slug}/"
    before = Client().get(address)
    Board.objects.filter(pk=small_board.pk).update(title="Another title")
    after = Client().get(address, headers={"If-None-Match": before["ETag"]})
    assert "Another title" in after.content.decode()


def test_the_number_of_queries_does_not_grow_with_the_entries(small_board: Board) -> None:
    board = small_board
    for place in range(3):
        made.takeoff_run(board.versions.get(), off(place, of=8), name=f"Entrant {place}")
    made.score_all()
    assert queries(f"/boards/{board.slug}/")[0] == 2
    assert queries(f"/boards/{board.slug}/?sort=name")[0] == 2


def test_a_board_says_when_newer_results_are_worked_on(small_board: Board) -> None:
    board = small_board
    address = f"/boards/{board.slug}/"
    assert "Newer results are being worked on" not in text_of(address)
    made.takeoff_run(board.versions.get(), off(1, of=8), name="Delta")
    assert "Newer results are being worked on" in text_of(address)
    made.score_all()
    assert "Newer results are being worked on" not in text_of(address)


def test_sort_and_filters_live_in_the_address(judged: Board) -> None:
    board = judged
    address = f"/boards/{board.slug}/"
    assert order_of(text_of(address)) == ["Alpha", "Beta", "Gamma"]
    assert order_of(text_of(f"{address}?sort=-name")) == ["Gamma", "Beta", "Alpha"]
    assert order_of(text_of(f"{address}?sort=-score")) == ["Gamma", "Beta", "Alpha"]
    page = text_of(f"{address}?like=beta")
    assert ">Beta</a>" in page and ">Alpha</a>" not in page[page.index("Leaderboard") :]
    assert "No entry fits these filters" in text_of(f"{address}?step=4")
    assert ">Rubric" in text_of(address) or "Rubric" in text_of(address)
    narrow = text_of(f"{address}?col=coverage")
    assert "Cost / task" not in narrow and "Scored" in narrow
    text_of(f"{address}?sort=nothing&step=x&slice=nothing&cost=abc&col=nothing&like=%00")


def test_a_slice_shows_scores_without_ranks(judged: Board) -> None:
    board = judged
    held = newest(board).standings["slices"]
    assert {row["name"]: row["n"] for row in held if row["attribute"] == "difficulty"} == {
        "difficulty=easy": 20,
        "difficulty=hard": 20,
    }
    page = text_of(f"/boards/{board.slug}/?slice=difficulty%3Deasy")
    assert "A slice is shown, not ranked." in page
    assert 'class="rank"' not in page
    easy = next(row for row in held if row["name"] == "difficulty=easy")
    assert easy["entries"]["alpha"]["shown"] in page
    assert easy["entries"]["alpha"]["score"] == pytest.approx(18 / 20)


def test_page_json_csv_markdown_badge_and_command_show_the_same(judged: Board) -> None:
    board = judged
    address = f"/boards/{board.slug}/"
    page = text_of(address)
    document = json.loads(text_of(f"{address}standings.json"))
    lines = [
        line
        for line in csv.DictReader(io.StringIO(text_of(f"{address}standings.csv")))
        if line["place"] != "baseline"
    ]
    table = text_of(f"{address}standings.md")
    printed = io.StringIO()
    call_command("standings", board.slug, "--json", stdout=printed)
    assert json.loads(printed.getvalue())["standings"] == document["standings"]
    for row, line in zip(document["standings"], lines, strict=True):
        assert (line["rank"], line["shown"]) == (str(row["rank"]), row["shown"])
        assert float(line["score"]) == row["score"]
        spread = f"{row['rank']} ({row['rank_low']}–{row['rank_high']})"
        if row["rank_low"] == row["rank_high"]:
            spread = f"{row['rank']} ({row['rank_low']})"
        assert f"| {spread} | {row['name']} | {row['shown']} |" in table
        assert f'<span class="score">{row["shown"]}</span>' in page
        drawn = text_of(f"{address}badge.svg?entry={row['key']}")
        assert f"{row['shown']} %, rank {spread}" in drawn


def test_text_from_outside_is_neutralised_in_every_file(small_board: Board) -> None:
    board = small_board
    name = '=HYPERLINK("http://x.test")|<script>alert(1)</script>'
    made.takeoff_run(board.versions.get(), off(0, of=8), name=name)
    made.score_all()
    address = f"/boards/{board.slug}/"
    assert "<script>alert" not in text_of(address) + text_of(f"{address}embed/")
    assert "<script>alert" not in text_of(f"{address}badge.svg?entry={row_of(board, name)['key']}")
    assert "'=HYPERLINK" in text_of(f"{address}standings.csv")
    assert "'=HYPERLINK" not in text_of(f"{address}standings.csv?raw=1")
    assert "\\|\\<script\\>" in text_of(f"{address}standings.md")


def test_a_badge_of_an_unknown_or_unranked_entry_says_so(small_board: Board) -> None:
    board = small_board
    assert "no such entry" in text_of(f"/boards/{board.slug}/badge.svg?entry=nobody")
    made.takeoff_run(board.versions.get(), {"t-0": 100}, name="Half")
    made.score_all()
    assert "not ranked" in text_of(f"/boards/{board.slug}/badge.svg?entry=half")


def test_incomplete_entries_baselines_and_withdrawn_runs_stand_apart(small_board: Board) -> None:
    board = small_board
    made.takeoff_run(board.versions.get(), {"t-0": 100}, name="Half")
    made.score_all()
    Run.objects.filter(entrant__name="Gamma").update(state="withdrawn", reason="by its owner")
    standings.publish_snapshot(board)
    page = text_of(f"/boards/{board.slug}/")
    for part in ("Incomplete.", "1 of 8 items were submitted", "Withdrawn.", "by its owner"):
        assert part in page
    assert "Baselines." in page and "Dashed lines: baselines." in page
    Run.objects.filter(kind="oracle").update(state="withdrawn", reason="replaced by another key's")
    standings.publish_snapshot(board)
    withdrawn = [row["name"] for row in newest(board).standings["withdrawn"]]
    assert withdrawn == ["Gamma"]
    assert "replaced by another" not in text_of(f"/boards/{board.slug}/")


def test_cost_against_score_is_drawn_twice_with_its_numbers(judged: Board) -> None:
    board = judged
    for name, cost in (("Alpha", 3_000_000), ("Beta", 400_000), ("Gamma", 20_000)):
        run = Run.objects.get(entrant__name=name, version__boards=board)
        run.records.update(cost_micros=cost)
        summary = run.summaries.get()
        summary.usage["cost_micros"] = {"median": cost, "total": cost * 40, "share": 0.5}
        summary.save()
    standings.publish_snapshot(board)
    page = text_of(f"/boards/{board.slug}/")
    assert page.count("only-lg") == 1 and page.count("only-sm") == 1
    assert "$3.00" in page and "50 % known" in page
    assert "on it" in page and 'class="front" d="M' in page
    nobody = text_of(f"/boards/{board.slug}/?like=nobody")
    assert "Cost / task" in nobody and "No entry tells its cost" not in nobody
    front = {row["name"]: row["front"] for row in newest(board).standings["standings"]}
    # Beta is cheaper than Alpha and not separably worse; Gamma is the cheapest of all.
    assert front == {"Alpha": True, "Beta": True, "Gamma": True}
    drawn = Client().get(f"/boards/{board.slug}/snapshots/{newest(board).number}/cost.svg")
    assert drawn["Content-Type"] == "image/svg+xml"
    assert b"xmlns=" in drawn.content


def test_a_dear_entry_that_is_separably_worse_leaves_the_front(judged: Board) -> None:
    board = judged
    for name, cost in (("Alpha", 100_000), ("Beta", 400_000), ("Gamma", 900_000)):
        summary = Run.objects.get(entrant__name=name, version__boards=board).summaries.get()
        summary.usage["cost_micros"] = {"median": cost, "total": cost * 40, "share": 1.0}
        summary.save()
    standings.publish_snapshot(board)
    front = {row["name"]: row["front"] for row in newest(board).standings["standings"]}
    assert front == {"Alpha": True, "Beta": True, "Gamma": False}


def test_pass_rates_say_how_few_verdicts_would_swap_the_first_two(judged: Board) -> None:
    board = judged
    assert newest(board).standings["fragility"] == 4
    assert "Four changed verdicts would swap first and second." in text_of(f"/boards/{board.slug}/")


def test_snapshots_keep_their_addresses_and_say_what_moved(small_board: Board) -> None:
    board = small_board
    first = newest(board).number
    made.takeoff_run(board.versions.get(), off(8, 50, of=8), name="Alpha")
    made.score_all()
    old = text_of(f"/boards/{board.slug}/snapshots/{first}/")
    assert "An earlier snapshot." in old
    assert (
        json.loads(text_of(f"/boards/{board.slug}/snapshots/{first}/standings.json"))["snapshot"]
        == first
    )
    listed = text_of(f"/boards/{board.slug}/snapshots/")
    assert "New run, attempt 2" in listed
    assert Client().get(f"/boards/{board.slug}/snapshots/99/").status_code == 404


def test_a_snapshot_that_waits_is_not_shown_to_anybody(small_board: Board) -> None:
    board = small_board
    Board.objects.filter(pk=board.pk).update(policy={**board.policy, "publishing": "by_hand"})
    board.refresh_from_db()
    waiting = standings.publish_snapshot(board)
    assert waiting is not None and waiting.published_at is None
    address = f"/boards/{board.slug}/snapshots/{waiting.number}/"
    assert Client().get(address).status_code == 404
    assert Client().get(f"{address}standings.json").status_code == 404


def test_only_the_embedded_table_may_stand_in_other_sites(small_board: Board) -> None:
    board = small_board
    page = Client().get(f"/boards/{board.slug}/")
    embedded = Client().get(f"/boards/{board.slug}/embed/")
    assert page["X-Frame-Options"] == "DENY"
    assert "frame-ancestors 'none'" in page["Content-Security-Policy"]
    assert "X-Frame-Options" not in embedded
    assert "frame-ancestors *" in embedded["Content-Security-Policy"]
    assert "csrf" not in embedded.content.decode()


def test_boards_of_drafts_are_404_for_strangers_on_every_address() -> None:
    from leaderboard import boards

    draft = made.takeoff_version(8, slug="draft", publish=False)
    (board,) = boards.ensure_boards(draft)
    for end in ("", "standings.json", "standings.csv", "badge.svg", "embed/", "snapshots/"):
        assert Client().get(f"/boards/{board.slug}/{end}").status_code == 404
    assert Client().get(f"/compare/?board={board.slug}&entry=a&entry=b").status_code == 404


def test_an_entrant_shows_runs_standings_and_history(small_board: Board) -> None:
    board = small_board
    made.takeoff_run(board.versions.get(), off(8, 50, of=8), name="Alpha")
    made.score_all()
    page = text_of("/entrants/alpha/")
    assert "History on" in page and board.title in page
    assert page.count('href="/runs/') >= 2
    Entrant.objects.create(slug="silent", name="Silent")
    assert Client().get("/entrants/silent/").status_code == 404


def test_the_method_page_computes_its_reference_values() -> None:
    page = text_of("/method/")
    for value in ("0.4902 – 0.9433", "p = 0.17957", "p = 0.00936", "872", "2^20"):
        assert value in page, value
    assert "judge_audited" in page


@pytest.mark.usefixtures("small_board")
def test_search_finds_boards_entrants_suites_and_tasks_with_slips() -> None:
    assert "/entrants/alpha/" in text_of("/search/?q=alpha")
    assert "/boards/example-area-takeoff/" in text_of("/search/?q=area+takeof")
    assert "/suites/example/" in text_of("/search/?q=example")
    assert "/suites/example/1.0/tasks/3/" in text_of("/search/?q=t-3")
    assert "Nothing fits" in text_of("/search/?q=zzzzzz")
    for odd in ("", "%00", "'", '"', "a%25b", "%F0%9F%98%80", "x" * 500, "a OR -b &amp; |"):
        text_of(f"/search/?q={odd}")


def test_search_keeps_drafts_and_held_out_tasks_to_curators() -> None:
    draft = made.takeoff_version(
        [made.takeoff_task("t-secret", 100, slug="draft", prompt="Measure the heliotrope.")],
        slug="draft",
        publish=False,
    )
    assert "t-secret" not in text_of("/search/?q=heliotrope")
    curator = Client()
    curator.force_login(made.person("curator", "curator"))
    assert "t-secret" in text_of("/search/?q=heliotrope", curator)
    assert Client().get(f"/suites/draft/{draft.name}/tasks/0/").status_code == 404


def test_the_column_that_gives_the_order_has_an_arrow(judged: Board) -> None:
    address = f"/boards/{judged.slug}/"
    assert "Perfect % ↓</a>" in text_of(address)
    assert "Entry ↑</a>" in text_of(f"{address}?sort=name")
    assert "Entry ↓</a>" in text_of(f"{address}?sort=-name")


def test_baselines_are_named_over_their_lines(judged: Board) -> None:
    from leaderboard import axes

    row = {"low": 0.0, "high": 0.1, "score": 0.02}
    metric = {"scale": 100}
    held = [
        {**row, "kind": kind, "score": score}
        for kind, score in (("null", 0.0), ("shotgun", 0.02), ("oracle", 0.98), ("null", 0.01))
    ]
    axis = axes.axis_of({"metric": metric, "standings": [row], "baselines": held})
    assert axis["names"] == [(0.0, "null, shotgun"), (0.98, "oracle")]
    standing = newest(judged).standings
    if standing["baselines"]:
        assert standing["baselines"][0]["kind"] in text_of(f"/boards/{judged.slug}/?sort=name")


def test_an_embedded_and_a_downloaded_board_say_which_snapshot_they_are(judged: Board) -> None:
    number = newest(judged).number
    page = text_of(f"/boards/{judged.slug}/?sort=name")
    assert f'href="/boards/{judged.slug}/standings.parquet?sort=name"' in page
    old = text_of(f"/boards/{judged.slug}/snapshots/{number}/?sort=name")
    assert f'href="/boards/{judged.slug}/snapshots/{number}/standings.csv?sort=name"' in old
