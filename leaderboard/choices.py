"""What a reader asks for in the address of a board, and the filters that a page offers."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from urllib.parse import urlencode

from leaderboard.measures import measures_of

Json = dict[str, Any]

COLUMNS = {
    "second": "Second numbers",
    "coverage": "Scored items",
    "verification": "Verification",
    "attempts": "Attempts",
    "usage": "Cost, tokens, time",
    "first": "Chance of being first",
    "bounds": "Worst and best case",
    "change": "Change since the snapshot before",
}
SHOWN_BY_DEFAULT = ("second", "coverage", "verification", "attempts", "usage", "change")
STEPS = {2: "Records supplied or better", 3: "Re-scored here or better", 4: "Reproduced"}
LONGEST = 60
WEIGHTS = {"open": "Open weights", "closed": "Closed weights"}
ADDRESSED = ("measure", "sort", "slice", "step", "since", "weights", "cost", "col")
SORTS: dict[str, Callable[[Json], Any]] = {
    "score": lambda row: row["score"],
    "name": lambda row: row["name"].casefold(),
    "coverage": lambda row: row["coverage"],
    "verification": lambda row: row["verification"],
    "attempts": lambda row: row["attempts"],
    "cost": lambda row: row["usage"].get("cost_micros", {}).get("median"),
    "tokens": lambda row: row["usage"].get("tokens_out", {}).get("median"),
    "time": lambda row: row["usage"].get("wall_ms", {}).get("median"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a reader asked for in the address; the default shows the whole board by rank.

    `since` is a month or a day, `measure` a second number to show in the place of the score. What
    is filtered hides rows and moves no rank. `left_out` are the parts of the address that this
    board does not have, as NAME=VALUE.
    """

    sort: str = ""
    slice: str = ""
    step: int = 1
    columns: tuple[str, ...] = SHOWN_BY_DEFAULT
    like: str = ""
    cost: float | None = None
    since: str = ""
    weights: str = ""
    measure: str = ""
    left_out: tuple[str, ...] = field(default=(), compare=False)

    @classmethod
    def read(cls, query: Any, standings: Mapping[str, Any]) -> Choice:
        """A choice from a query string; what is not known is left out, and told. Slices are of the
        board's own metric, so that another measure has none."""
        sort = query.get("sort", "")
        measures = {held["key"] for held in measures_of(standings)}
        measure = query.get("measure", "") if query.get("measure") in measures else ""
        known = set() if measure else {held["name"] for held in standings["slices"]}
        columns = [name for name in query.getlist("col") if name in COLUMNS]
        step = query.get("step", "1")
        made = cls(
            sort=sort if sort.removeprefix("-") in SORTS else "",
            slice=query.get("slice", "") if query.get("slice") in known else "",
            step=int(step) if step in ("1", "2", "3", "4") else 1,
            columns=tuple(columns) if columns else SHOWN_BY_DEFAULT,
            like=query.get("like", "")[:100].strip(),
            cost=_amount(query.get("cost", "")),
            since=_day(query.get("since", "")),
            weights=query.get("weights", "") if query.get("weights") in WEIGHTS else "",
            measure=measure,
        )
        said = [(name, text) for name in ADDRESSED for text in query.getlist(name) if text]
        own = ("measure", standings["metric"]["key"])
        left_out = [
            f"{name}={text}"[:LONGEST]
            for name, text in said
            if not made.has(name, text) and (name, text) != own
        ]
        return replace(made, left_out=tuple(left_out))

    def has(self, name: str, text: str) -> bool:
        """Whether a part of an address became part of the choice."""
        if name == "col":
            return text in COLUMNS
        if name == "cost":
            return _amount(text) is not None
        return text == str(getattr(self, name))

    @property
    def is_default(self) -> bool:
        """Whether the stored rows show what was asked for."""
        return self == Choice()

    @property
    def keeps_order(self) -> bool:
        """Whether ranks are shown in their order, so that tie groups can be."""
        return not (self.sort or self.slice or self.measure)

    def query(self, **changes: Any) -> str:
        """The address of a choice that differs in some fields, with "?"."""
        return "?" + urlencode(replace(self, **changes).pairs())

    def pairs(self, *without: str) -> list[tuple[str, str]]:
        """The names and values of the address, in a fixed order, perhaps without some fields."""
        names = ("measure", "sort", "slice", "like", "since", "weights")
        plain = {name: getattr(self, name) for name in names}
        found = [(name, text) for name, text in plain.items() if text and name not in without]
        if self.cost is not None and "cost" not in without:
            found.append(("cost", _plain(self.cost)))
        if self.step > 1 and "step" not in without:
            found.append(("step", str(self.step)))
        if self.columns != SHOWN_BY_DEFAULT and "columns" not in without:
            found += [("col", name) for name in self.columns]
        return found


def _amount(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None


def _plain(amount: float) -> str:
    """An amount with all its digits, so that an address says again what it said."""
    return f"{amount:.15g}"


def _day(text: str) -> str:
    """A month or a day as ISO 8601 has it, or nothing."""
    if not re.fullmatch(r"\d{4}-\d\d(-\d\d)?", text, re.ASCII):
        return ""
    try:
        date.fromisoformat(first_day(text))
    except ValueError:
        return ""
    return text


def first_day(since: str) -> str:
    """The day from which a month or a day on is meant."""
    return f"{since}-01"[: len("2000-01-01")]


def passes(row: Json, choice: Choice) -> bool:
    """Whether a row is among those that a reader asked for."""
    cost = row["usage"].get("cost_micros", {}).get("median")
    return (
        row["verification"] >= choice.step
        and choice.like.casefold() in f"{row['name']} {row['settings']}".casefold()
        and (choice.cost is None or (cost is not None and cost <= choice.cost * 1e6))
        and (not choice.since or (row.get("closed_at") or "") >= choice.since)
        and (not choice.weights or row.get("weights") == choice.weights)
    )


def filter_fields(standings: Json, choice: Choice) -> Json:
    """What the form of all filters holds."""
    return {
        "steps": [
            {"step": step, "label": label, "on": step == choice.step}
            for step, label in {1: "Any", **STEPS}.items()
        ],
        "since": first_day(choice.since) if choice.since else "",
        "cost": None if choice.cost is None else _plain(choice.cost),
        "weights": [
            {"name": name, "label": label, "on": name == choice.weights}
            for name, label in {"": "Any", **WEIGHTS}.items()
        ],
        "unknown": sum(not row.get("weights") for row in standings["standings"]),
    }


def filters_of(standings: Json, choice: Choice) -> list[Json]:
    """The filters that are on, and those that would change something, as links."""
    rows = standings["standings"]
    found = []
    for step, label in STEPS.items():
        on = choice.step == step
        if on or any(row["verification"] < step for row in rows):
            found.append({"label": label, "on": on, "url": choice.query(step=1 if on else step)})
    costs = [cost for row in rows if (cost := SORTS["cost"](row)) is not None]
    on = choice.cost is not None
    if on or (costs and max(costs) > 1e6 >= min(costs)):
        amount = 1.0 if choice.cost is None else choice.cost
        url = choice.query(cost=None if on else 1.0)
        found.append({"label": f"At most ${_plain(amount)} a task", "on": on, "url": url})
    found += _since_filter(rows, choice) + _weights_filters(rows, choice)
    if choice.like:
        found.append({"label": f"“{choice.like}”", "on": True, "url": choice.query(like="")})
    return found


def _since_filter(rows: Sequence[Json], choice: Choice) -> list[Json]:
    """Entries since a time: the one asked for, or else the month of the newest entry."""
    if choice.since:
        url = choice.query(since="")
        return [{"label": f"Since {_in_words(choice.since)}", "on": True, "url": url}]
    months = sorted({row["closed_at"][:7] for row in rows if row.get("closed_at")})
    if len(months) < 2:
        return []
    url = choice.query(since=months[-1])
    return [{"label": f"Since {_in_words(months[-1])}", "on": False, "url": url}]


def _in_words(since: str) -> str:
    day = date.fromisoformat(first_day(since))
    return f"{day:%B %Y}" if len(since) == len("2000-01") else f"{day.day} {day:%B %Y}"


def _weights_filters(rows: Sequence[Json], choice: Choice) -> list[Json]:
    found = []
    held = {row.get("weights", "") for row in rows}
    for weights, label in WEIGHTS.items():
        on = choice.weights == weights
        if on or (weights == "open" and weights in held and len(held) > 1):
            url = choice.query(weights="" if on else weights)
            found.append({"label": label, "on": on, "url": url})
    return found
