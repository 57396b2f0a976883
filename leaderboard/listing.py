"""Boards in lists and on the first page: leaders, the board to begin with, what moved lately."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from academy import piloting
from leaderboard.axes import axis_of
from leaderboard.models import Board, Snapshot
from leaderboard.presenting import groups_of, headline

Json = dict[str, Any]
HERO_ROWS = 6
RECENT = 5


def board_rows(boards: Iterable[Board]) -> list[Json]:
    """Boards with their leaders, for lists; each with its newest snapshot."""
    listed = list(boards)
    newest = Snapshot.objects.newest_of(listed)
    return [_board_row(board, newest.get(board.pk)) for board in listed]


def _board_row(board: Board, snapshot: Snapshot | None) -> Json:
    if snapshot is None:
        return {
            "board": board, "subtitle": "", "leader": None, "shared": "", "unit": "",
            "why_none": "no entries yet", "entries": 0, "updated_at": None, "snapshot": None,
            "version": "", "pilot": None, "step": 0, "step_label": "", "standings": None,
        }  # fmt: skip
    standings = snapshot.standings
    ranked = [row for row in standings["standings"] if row["place"] == "ranked"]
    shared = groups_of(ranked)[0][1:] if ranked else []
    updated: datetime | None = snapshot.published_at
    return {
        "board": board,
        "subtitle": f"{standings['suite']}@{standings['version']}, {standings['n']} items",
        "leader": ranked[0] if ranked else None,
        "shared": ", ".join(row["name"] for row in shared),
        "unit": standings["metric"]["unit"],
        "why_none": "nobody is ranked" if standings["standings"] else "no entries yet",
        "entries": len(standings["standings"]),
        "updated_at": updated,
        "snapshot": snapshot.number,
        "standings": standings,
        "version": f"{standings['suite']}@{standings['version']}",
        "pilot": standings.get("pilot"),
        **_highest_step(standings["standings"]),
    }


def _highest_step(rows: Sequence[Json]) -> Json:
    """The best verification of any entry."""
    best = max(rows, key=lambda row: row["verification"], default=None)
    if best is None:
        return {"step": 0, "step_label": ""}
    return {"step": best["verification"], "step_label": best["verification_label"]}


def pilots_in(rows: Iterable[Json]) -> list[Json]:
    """The pilots whose boards are in a list, with what each must carry, as their snapshots say."""
    facts = {row["version"]: row["pilot"] for row in rows if row["pilot"]}
    return [{"name": name, "told": piloting.described(held)} for name, held in facts.items()]


def first_page(user: Any) -> Json:
    """What the first page tells of boards: all that may be seen, one drawn, what moved lately."""
    rows = board_rows(Board.objects.visible_to(user).order_by("title", "pk"))
    return {
        "boards": rows,
        "pilots": pilots_in(rows),
        "featured": featured(rows),
        "recent": recent_moves(user),
    }


def featured(rows: Iterable[Json]) -> Json | None:
    """The board to begin with, and its first entries by group: real before example, then the one
    that ranks most. None where no board ranks two."""
    ranking = [row for row in rows if len(_ranked(row["standings"])) > 1]
    if not ranking:
        return None
    row = max(
        ranking,
        key=lambda row: (
            not (row["board"].is_example or row["pilot"]), len(_ranked(row["standings"]))
        ),
    )  # fmt: skip
    standings = row["standings"]
    return {
        "board": row["board"],
        "groups": groups_of(_ranked(standings)[:HERO_ROWS]),
        "axis": axis_of(standings),
        "metric": standings["metric"],
        "n": standings["n"],
        "percent": f"{standings['policy']['confidence'] * 100:g}",
        "headline": headline(standings).partition(". ")[0].removesuffix("."),
    }


def _ranked(standings: Json | None) -> list[Json]:
    return [row for row in (standings or {}).get("standings", ()) if row["place"] == "ranked"]


def recent_moves(user: Any) -> list[Snapshot]:
    """The newest snapshots in which somebody moved."""
    found = (
        Snapshot.objects.public()
        .filter(board__in=Board.objects.visible_to(user))
        .exclude(differences=[])
        .select_related("board")
        .defer("standings", "rows_html")
        .order_by("-published_at", "-pk")
    )
    return list(found[:RECENT])
