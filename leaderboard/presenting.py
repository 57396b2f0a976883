"""Standings as pages show them: groups, sections, axis, sentences. Nothing is ranked here."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from academy.models import Metric
from leaderboard.models import Board

SECTIONS = {
    "provisional": ("Provisional", " Some items have no value yet."),
    "incomplete": ("Incomplete", " Not enough items were submitted for a rank."),
    "listed": ("Listed, not ranked", ""),
    "reported": ("Reported", " Numbers stated by their source, without records."),
    "unscored": ("Not scored", ""),
}
EVIDENCE = {
    "people": "Only verdicts of people count where a person must decide.",
    "judge": "Judged by one named judge, not audited.",
    "judge_audited": "Judged by a named judge and audited by people.",
}


def rows_context(board: Board, standings: dict[str, Any]) -> dict[str, Any]:
    """What the table of a board shows."""
    rows = standings["standings"]
    ranked = [row for row in rows if row["place"] == "ranked"]
    columns = second_columns(standings)
    groups: list[list[dict[str, Any]]] = []
    for row in ranked:
        if groups and row["tie_group"] is not None and groups[-1][0]["tie_group"] == row["tie_group"]:
            groups[-1].append(row)
        else:
            groups.append([row])
    sections = [
        {
            "title": title,
            "text": text,
            "rows": [row for row in rows if row["place"] == place],
        }
        for place, (title, text) in SECTIONS.items()
        if any(row["place"] == place for row in rows)
    ]
    if standings["baselines"]:
        sections.append(
            {"title": "Baselines", "text": " Runs made to show floor and ceiling.", "rows": standings["baselines"]}
        )
    tiers = any(row["details"].get("tier") for row in rows)
    return {
        "board": board,
        "standings": standings,
        "ranked": ranked,
        "groups": groups,
        "sections": sections,
        "columns": columns,
        "tiers": tiers,
        "axis": axis_of(standings),
        "width": 10 + len(columns) + int(tiers),
    }


def second_columns(standings: dict[str, Any]) -> list[dict[str, Any]]:
    """The second numbers a board shows: metrics its policy names, and the reference figure."""
    metrics = Metric.objects.filter(
        version_id=standings["version_id"], key__in=standings["policy"]["secondary"]
    ).order_by("ordinal")
    columns = [
        {"key": m.key, "label": m.label, "kind": m.kind, "unit": m.unit, "low": m.low, "high": m.high}
        for m in metrics
    ]
    main = standings["metric"]
    if main["mode"] == "strict":
        columns.append({**main, "key": "reference", "label": "Reference", "unit": main["unit"]})
    return columns


def axis_of(standings: dict[str, Any]) -> dict[str, Any]:
    """The common axis of the interval column: the metric's range, or a round one over the scores."""
    metric = standings["metric"]
    rows = [*standings["standings"], *standings["baselines"]]
    points = [row[name] for row in rows for name in ("low", "score", "high") if row[name] is not None]
    if metric["scale"] == 100:
        low, high = 0.0, 1.0
    elif points:
        low = min(0.0, *points) if min(points) < 0 else 0.0
        high = nice(max(points))
    else:
        low, high = 0.0, 1.0
    return {
        "low": low,
        "high": high,
        "scale": metric["scale"],
        "refs": [row["score"] for row in standings["baselines"] if row["score"] is not None],
    }


def nice(value: float) -> float:
    """The next round number at or above a value."""
    if value <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 5, 8, 10) if step * power >= value)


def headline(standings: dict[str, Any]) -> str:
    """What the board says, in one or two sentences."""
    ranked = [row for row in standings["standings"] if row["place"] == "ranked"]
    if standings["numbers_hidden"]:
        return (
            "This version is sealed and has fewer than ten tasks: any number would give the "
            "answer keys away, so only tier and pass are shown."
        )
    if not ranked:
        if not standings["standings"]:
            return "Nobody has entered yet."
        return "Nobody is ranked here; each entry says why."
    first = [row for row in ranked if row["tie_group"] == ranked[0]["tie_group"]]
    if len(ranked) > 1 and ranked[0]["tie_group"] is None:
        return (
            f"{ranked[0]['name']} has the best score. There are too few items to say which "
            "entries can be told apart."
        )
    if len(first) > 1:
        names = " and ".join(filter(None, [", ".join(r["name"] for r in first[1:-1]), first[-1]["name"]]))
        said = f"{len(first)} entries share first place. {first[0]['name']} has the best score, but on these items it cannot be told apart from {names}."
    else:
        said = f"{first[0]['name']} is first."
    if standings["fragility"]:
        verb = "verdict" if standings["fragility"] == 1 else "verdicts"
        said += f" {standings['fragility']} changed {verb} would swap first and second."
    return said


def board_context(board: Board) -> dict[str, Any]:
    """Everything on a board's page, from its newest snapshot."""
    snapshot = board.newest_snapshot()
    if snapshot is None:
        return {"board": board, "standings": None}
    standings = snapshot.standings
    methods = sorted({row["method"] for row in standings["standings"] if row["method"]})
    return {
        "board": board,
        "snapshot": snapshot,
        "standings": standings,
        "headline": headline(standings),
        "evidence": EVIDENCE.get(standings["policy"]["evidence"], ""),
        "interval_methods": ", ".join(methods),
    }


def board_rows(boards: Iterable[Board]) -> list[dict[str, Any]]:
    """Boards with their leaders, for lists."""
    rows = []
    for board in boards:
        snapshot = board.newest_snapshot()
        standings = snapshot.standings if snapshot else None
        ranked = [r for r in standings["standings"] if r["place"] == "ranked"] if standings else []
        leader = ranked[0] if ranked else None
        shared = [
            row["name"]
            for row in ranked[1:]
            if row["tie_group"] is not None and row["tie_group"] == ranked[0]["tie_group"]
        ]
        rows.append(
            {
                "board": board,
                "subtitle": f"{standings['suite']}@{standings['version']}, {standings['n']} items" if standings else "",
                "leader": leader,
                "shared": ", ".join(shared),
                "unit": standings["metric"]["unit"] if standings else "",
                "why_none": "nobody is ranked" if standings and standings["standings"] else "no entries yet",
                "entries": len(standings["standings"]) if standings else 0,
                "updated_at": snapshot.published_at if snapshot else None,
                "snapshot": snapshot.number if snapshot else None,
            }
        )
    return rows
