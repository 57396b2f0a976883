"""A board read by one of its second numbers: shown in that one's own order, and not ranked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leaderboard.digits import shown

Json = dict[str, Any]

# What is said of the board's own metric only.
OF_MAIN = (
    "rank", "rank_low", "rank_high", "tie_group", "p_first", "p_top3", "movement", "rank_before",
    "shown_before", "change", "scored", "missing", "failed", "waiting", "unscorable", "coverage",
    "worst", "best", "second", "reported", "computed", "mean_of_attempts",
    "shown_mean_of_attempts", "front",
)  # fmt: skip


def measures_of(standings: Mapping[str, Any]) -> list[Json]:
    """The second numbers that can take the place of the score, each as a metric is told.

    None of a snapshot that was made before it kept what this needs.
    """
    return [column for column in standings["columns"] if "direction" in column]


def measured(standings: Json, key: str) -> Json:
    """The standings with a second number in the place of the score, which stands among the second
    ones instead. Nothing is ranked by it; "" and what is not known leave all as it is."""
    measure = next((held for held in measures_of(standings) if held["key"] == key), None)
    if measure is None:
        return standings
    main = standings["metric"]
    metric = {**main, **measure, "statistic": "", "mode": measure.get("mode", main["mode"])}
    own = {name: main[name] for name in ("key", "label", "kind", "unit", "low", "high")}
    told: Json = {
        "metric": metric,
        "digits": measure["digits"],
        "columns": [own, *(held for held in standings["columns"] if held["key"] != key)],
        "slices": [],
        "test": "",
        "fragility": None,
        "detectable": None,
    }
    for place in ("standings", "baselines", "withdrawn"):
        told[place] = [_row(row, metric, main["key"]) for row in standings.get(place, [])]
    return {**standings, **told}


def _row(row: Json, metric: Json, main: str) -> Json:
    """A row with its numbers in a measure; its score goes to the second ones."""
    found = row.get("measures", {}).get(metric["key"], {})
    values = {
        "score": row["metrics"].get(metric["key"]),
        "low": found.get("low"),
        "high": found.get("high"),
    }
    texts = {
        name: None if value is None else shown(value, metric["digits"], metric["scale"])
        for name, value in values.items()
    }
    if values["low"] is None or values["high"] is None:
        texts["low"] = texts["high"] = None
    return {
        **row,
        **dict.fromkeys(OF_MAIN),
        **values,
        "shown": texts["score"] or "",
        "shown_low": texts["low"],
        "shown_high": texts["high"],
        "n": found.get("n", 0),
        "method": "",
        "metrics": {**row["metrics"], main: row["score"]},
    }
