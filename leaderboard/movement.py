"""How each entry moved since the snapshot before, beside its row wherever a board is shown."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

Json = dict[str, Any]

NOTHING = {"movement": None, "rank_before": None, "shown_before": None, "change": None}
MEASURE = ("key", "mode", "statistic", "unit", "scale", "direction")


def change_of(before: Json, after: Json, known: Json, row: Json) -> float | None:
    """How much a score as it is shown went up or down, in the unit it is shown in.

    `before` and `after` are the standings of which `known` and `row` are the rows. None without a
    number on one side, and where the two were not measured alike: another metric, policy or
    version. What is sealed is compared as rounded as it is shown.
    """
    if not (known["shown"] and row["shown"]) or _measure(before) != _measure(after):
        return None
    return float(Decimal(row["shown"]) - Decimal(known["shown"]))


def _measure(standings: Json) -> list[Any]:
    metric = standings["metric"]
    told = [metric.get(name) for name in MEASURE]
    return [*told, standings["revision"], standings["version_digest"], standings["n"]]


def with_movement(standings: Json, differences: Sequence[Json], since: int | None) -> Json:
    """The standings with `compared_with`, the snapshot before, and how each row moved since then.

    `movement` is "new", "moved" or "same"; beside it stand `rank_before`, `shown_before` and
    `change`. Without a snapshot before all are None. The rows that are given stay as they are.
    """
    if not since:
        rows = [{**row, **NOTHING} for row in standings["standings"]]
        return {**standings, "compared_with": None, "standings": rows}
    moved = {held["key"]: held for held in differences if held["what"] != "gone"}
    rows = [{**row, **_moved(row, moved.get(row["key"]))} for row in standings["standings"]]
    return {**standings, "compared_with": since, "standings": rows}


def _moved(row: Json, change: Json | None) -> Json:
    if change is None:
        number = 0.0 if row["shown"] else None
        return {
            "movement": "same",
            "rank_before": row["rank"],
            "shown_before": row["shown"],
            "change": number,
        }
    return {
        "movement": change["what"],
        "rank_before": change["rank_before"],
        "shown_before": change["shown_before"],
        "change": change.get("change"),
    }
