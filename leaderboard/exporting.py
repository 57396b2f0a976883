"""What a board shows, as a table with typed columns and as one document: for files and the API."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from academy import piloting, tables
from academy.tables import Column, Kind, Table
from leaderboard import presenting
from leaderboard.choices import SHOWN_BY_DEFAULT, Choice
from leaderboard.models import Snapshot

Json = dict[str, Any]
Getter = Callable[[Json], Any]

ALWAYS = {
    "rank": Kind.INTEGER,
    "rank_low": Kind.INTEGER,
    "rank_high": Kind.INTEGER,
    "tie_group": Kind.INTEGER,
    "place": Kind.TEXT,
    "key": Kind.TEXT,
    "entrant": Kind.TEXT,
    "name": Kind.TEXT,
    "settings": Kind.TEXT,
    "weights": Kind.TEXT,
    "run": Kind.INTEGER,
    "closed_at": Kind.TEXT,
    "score": Kind.NUMBER,
    "low": Kind.NUMBER,
    "high": Kind.NUMBER,
    "shown": Kind.TEXT,
    "shown_low": Kind.TEXT,
    "shown_high": Kind.TEXT,
    "n": Kind.INTEGER,
}
BY_CHOICE: dict[str, dict[str, Kind]] = {
    "coverage": {
        "scored": Kind.INTEGER,
        "missing": Kind.INTEGER,
        "failed": Kind.INTEGER,
        "waiting": Kind.INTEGER,
        "unscorable": Kind.INTEGER,
        "coverage": Kind.NUMBER,
    },
    "verification": {"verification": Kind.INTEGER, "verification_label": Kind.TEXT},
    "attempts": {
        "attempt": Kind.INTEGER,
        "attempts": Kind.INTEGER,
        "attempts_withdrawn": Kind.INTEGER,
    },
    "first": {"p_first": Kind.NUMBER, "p_top3": Kind.NUMBER},
    "bounds": {"worst": Kind.NUMBER, "best": Kind.NUMBER},
    "change": {
        "movement": Kind.TEXT,
        "rank_before": Kind.INTEGER,
        "shown_before": Kind.TEXT,
        "change": Kind.NUMBER,
    },
}
# Of a document: the fields of a row that belong to a column which a reader may leave out.
FIELDS = {name: tuple(kinds) for name, kinds in BY_CHOICE.items()} | {
    "second": ("metrics", "measures"),
    "usage": ("usage",),
}
USAGE = ("cost_micros", "tokens_out", "wall_ms")
USAGE_PARTS = {"median": Kind.NUMBER, "total": Kind.INTEGER, "share": Kind.NUMBER}


def standings_table(snapshot: Snapshot, choice: Choice, address: str) -> Table:
    """The rows that the page shows for a choice, those beside the ranking last, with the columns
    of the choice. `about` names board, revision, snapshot, digest and address."""
    standings = presenting.standings_of(snapshot, choice)
    getters = _columns(standings, choice)
    about = {
        "board": snapshot.board.slug,
        "title": standings["title"],
        "revision": str(standings["revision"]),
        "snapshot": str(snapshot.number),
        "compared_with": str(snapshot.compared_with or ""),
        "snapshot_digest": snapshot.digest,
        "published_at": _published_at(snapshot) or "",
        "versions": ", ".join(f"{v['suite']}@{v['version']}" for v in standings["versions"]),
        "metric": standings["metric"]["key"],
        "address": address,
    }
    rows = (
        {column.name: get(row) for column, get in getters.items()}
        for row in _rows(standings, choice)
    )
    # A pilot says what it is in every row.
    told = piloting.pilot_sentence(standings.get("pilot"))
    return tables.marked(Table(tuple(getters), rows, about), "pilot", told)


def _rows(standings: Json, choice: Choice) -> Iterator[Json]:
    yield from presenting.chosen_rows(standings, choice)
    for rows in presenting.rows_beside(standings, choice).values():
        yield from rows


def _columns(standings: Json, choice: Choice) -> dict[Column, Getter]:
    """The columns with what each takes from a row."""
    found: dict[Column, Getter] = {
        Column(name, kind): _field(name) for name, kind in ALWAYS.items()
    }
    for name, kinds in BY_CHOICE.items():
        if name in choice.columns:
            found |= {Column(held, kind): _field(held) for held, kind in kinds.items()}
    if "second" in choice.columns:
        for held in standings["columns"]:
            column = Column(f"metric_{held['key']}", Kind.NUMBER)
            found[column] = _inside("metrics", held["key"])
    if "usage" in choice.columns:
        for name in USAGE:
            for part, kind in USAGE_PARTS.items():
                found[Column(f"{name}_{part}", kind)] = _inside("usage", name, part)
    return found | {
        Column("tier", Kind.TEXT): _inside("details", "tier"),
        Column("reason", Kind.TEXT): _reason,
    }


def _field(name: str) -> Getter:
    return lambda row: row.get(name)


def _inside(*path: str) -> Getter:
    def get(row: Json) -> Any:
        held: Any = row
        for name in path:
            held = held.get(name) if isinstance(held, Mapping) else None
        return held

    return get


def _reason(row: Json) -> str:
    return str(row.get("withdrawn_because") or row["reason"])


def document(snapshot: Snapshot, choice: Choice | None = None) -> Json:
    """What page and command show, as one document; a choice leaves rows and fields out."""
    choice = choice or Choice()
    standings = presenting.standings_of(snapshot, choice)
    beside = presenting.rows_beside(standings, choice)
    gone: set[str] = set()
    if choice.columns != SHOWN_BY_DEFAULT:
        gone = {f for name, held in FIELDS.items() if name not in choice.columns for f in held}

    def kept(rows: list[Json]) -> list[Json]:
        return [{name: row[name] for name in row if name not in gone} for row in rows]

    return {
        **standings,
        "standings": kept(presenting.chosen_rows(standings, choice)),
        "baselines": kept(beside["baseline"]),
        "withdrawn": kept(beside["withdrawn"]),
        "snapshot": snapshot.number,
        "snapshot_digest": snapshot.digest,
        "published_at": _published_at(snapshot),
        "differences": snapshot.differences,
        "chosen": dict(_grouped(choice.pairs())),
        "left_out": list(choice.left_out),
    }


def _published_at(snapshot: Snapshot) -> str | None:
    return snapshot.published_at.isoformat() if snapshot.published_at else None


def _grouped(pairs: list[tuple[str, str]]) -> Iterator[tuple[str, str | list[str]]]:
    """The parts of an address as values; what comes several times is a list."""
    columns = [value for name, value in pairs if name == "col"]
    yield from ((name, value) for name, value in pairs if name != "col")
    if columns:
        yield "col", columns
