"""The axis that all intervals of a board share, and the baselines drawn on it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]


def axis_of(standings: Json) -> Json:
    """The common axis of the interval column: 0 to 1, or a round one over the scores."""
    metric = standings["metric"]
    entries = standings["standings"] or standings["baselines"]
    points = [
        row[name] for row in entries for name in ("low", "score", "high") if row[name] is not None
    ]
    low, high = 0.0, 1.0
    if metric["scale"] != 100 and points:
        # Baselines far off, such as an error of 100 %, would squeeze every interval to a dot.
        low, high = min(0.0, *points), nice(max(points))
    drawn = [
        row
        for row in standings["baselines"]
        if row["score"] is not None and low <= row["score"] <= high
    ]
    return {
        "low": low,
        "high": high,
        "scale": metric["scale"],
        "refs": [row["score"] for row in drawn],
        "names": ref_names(drawn, (high - low) / 3),
    }


def ref_names(drawn: Sequence[Json], room: float) -> list[tuple[float, str]]:
    """What stands over the dashed lines: those within `room` of the first share a place."""
    found: list[tuple[float, list[str]]] = []
    for row in sorted(drawn, key=lambda row: (row["score"], row["kind"])):
        if not found or row["score"] - found[-1][0] >= room:
            found.append((row["score"], []))
        if row["kind"] not in found[-1][1]:
            found[-1][1].append(row["kind"])
    return [(at, ", ".join(kinds)) for at, kinds in found]


def nice(value: float) -> float:
    """The next round number at or above a value."""
    if value <= 0:
        return 1.0
    power = 10 ** math.floor(math.log10(value))
    return next((step * power for step in (1, 2, 4, 5, 8, 10) if step * power >= value), value)
