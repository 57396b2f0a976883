"""The original's board file: one row per model, track and competency, and how a run changes it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from academy.bundle import JSON
from academy.formats.opentakeoff.keys import items
from academy.formats.opentakeoff.manifests import mapping, numeric
from academy.formats.opentakeoff.metrics import MIXED

Row = Mapping[str, JSON]
IDENTITY = ("modelId", "track", "competency")


def row_of(
    report: Mapping[str, JSON],
    bundle: Mapping[str, JSON],
    *,
    competencies: Sequence[JSON] = (),
    certificate_id: str = "",
) -> dict[str, JSON]:
    """The row that a passing run asks for.

    `medianApe` holds whatever the suite's score is. A run counts as certified by its own word:
    this is the original's hole, and the reason why our boards are not made from this file.
    """
    suite, contestant = mapping(report.get("suite")), mapping(bundle.get("contestant"))
    only = competencies[0] if len(competencies) == 1 else None
    proctored = mapping(bundle.get("attestation")).get("mode") == "proctored"
    row: dict[str, JSON] = {
        "modelId": contestant.get("modelId"),
        "contestant": contestant.get("name"),
        "track": bundle.get("track"),
        "competency": report.get("competency") or only or MIXED,
        "tier": suite.get("tier") or "apprentice",
        "medianApe": suite.get("median"),
        "nRanked": suite.get("n"),
        "attestation": "certified" if proctored else "self_reported",
    }
    if contestant.get("contact"):
        row["url"] = contestant["contact"]
    if certificate_id:
        row["certId"] = certificate_id
    return row


def identity(row: Row) -> tuple[JSON, ...]:
    """What makes two rows the same entry."""
    return tuple(row.get(name) for name in IDENTITY)


def movement(old: Row, new: Row) -> str:
    """Up for a smaller number, also where more would be better."""
    before, after = numeric(old.get("medianApe")), numeric(new.get("medianApe"))
    if before is None or after is None or after == before:
        return "flat"
    return "up" if after < before else "down"


def place(rows: Sequence[Row], new: Row) -> list[dict[str, JSON]]:
    """The rows with a run in its place, all sorted together and ranked.

    A worse run replaces a better one, and what the new row does not say stays of the old one.
    """
    kept = [dict(row) for row in rows]
    old = next((row for row in kept if identity(row) == identity(new)), None)
    if old is None:
        kept.append({**new, "movement": "new"})
    else:
        moved = movement(old, new)
        old.update(new)
        old["movement"] = moved
    kept.sort(key=by_number)
    for rank, row in enumerate(kept, start=1):
        row["rank"] = rank
    return kept


def by_number(row: Row) -> float:
    """Ascending by the number, whatever it measures; none is last."""
    number = numeric(row.get("medianApe"))
    return math.inf if number is None else number


def update_board(board: Mapping[str, JSON], new: Row, *, updated_at: str) -> dict[str, JSON]:
    """The board file after a passing ranked run; the time is given, never read."""
    rows = [mapping(row) for row in items(board.get("rows"))]
    return {**board, "rows": list(place(rows, new)), "updatedAt": updated_at}
