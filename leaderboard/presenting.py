"""Standings as pages show them: groups, sections, axis, sentences. Nothing is ranked here."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from academy.sealing import TOO_FEW
from leaderboard.axes import axis_of
from leaderboard.choices import COLUMNS, SORTS, Choice, filter_fields, filters_of, passes
from leaderboard.measures import measured, measures_of
from leaderboard.models import Board, Snapshot
from leaderboard.movement import NOTHING, with_movement

Json = dict[str, Any]
Rows = list[Json]

SECTIONS = {
    "provisional": ("Provisional", " Some items have no value yet."),
    "incomplete": ("Incomplete", " Not enough items were submitted for a rank."),
    "listed": ("Listed, not ranked", ""),
    "reported": ("Reported", " Numbers stated by their source, without records."),
    "unscored": ("Not scored", ""),
}
PLACES = ("ranked", *SECTIONS)
EVIDENCE = {
    "people": "Only verdicts of people count where a person must decide.",
    "judge": "Judged by one named judge, not audited.",
    "judge_audited": "Judged by a named judge and audited by people.",
    "reference": "The judge's verdicts count; people decide where no judge was asked.",
}
TESTS = {
    "mcnemar": "exact McNemar",
    "t": "paired t",
    "bootstrap": "paired bootstrap",
}
INTERVALS = {
    "wilson": "Wilson",
    "t": "t of the mean",
    "clustered-t": "clustered t of the mean",
    "judge-audited": "t of the audited mean",
}
USAGE = {"cost": "cost_micros", "tokens": "tokens_out", "time": "wall_ms"}
RANKS = ("rank", "rank_low", "rank_high", "tie_group", "p_first", "p_top3")
OF_ALL_ITEMS = (
    *RANKS, "coverage", "scored", "missing", "failed",
    "waiting", "unscorable", "worst", "best", "second", *NOTHING,
)  # fmt: skip


def standings_of(snapshot: Snapshot, choice: Choice) -> Json:
    """The standings of a snapshot by the measure of a choice, with how each row moved."""
    standings = with_movement(snapshot.standings, snapshot.differences, snapshot.compared_with)
    return measured(standings, choice.measure)


def rows_context(standings: Json, choice: Choice | None = None) -> Json:
    """What the table of a board shows; its standings come from `standings_of`."""
    choice = choice or Choice()
    rows = chosen_rows(standings, choice)
    ranked = [row for row in rows if row["place"] == "ranked"]
    beside = rows_beside(standings, choice)
    tiers = any(row["details"].get("tier") for row in rows)
    shows = {name: name in choice.columns for name in COLUMNS}
    is_ranked = not (choice.slice or choice.measure)
    shows["change"] = shows["change"] and bool(standings["compared_with"]) and is_ranked
    columns = standings["columns"] if shows["second"] else []
    # Of all rows, so that a filter takes no column away and says nothing of who it hides.
    told = _told([*standings["standings"], *beside["withdrawn"], *beside["baseline"]])
    usage = [name for name in USAGE if shows["usage"] and told[name]]
    simple = [name for name in COLUMNS if name not in ("second", "usage") and shows[name]]
    return {
        "standings": standings,
        "choice": choice,
        "is_empty": not rows,
        "ranked": ranked,
        "groups": _groups(standings, ranked, choice),
        "sections": _sections(rows, beside),
        "columns": columns,
        "shows": {**shows, **{name: name in usage for name in USAGE}},
        "untold": _listed([name for name in USAGE if shows["usage"] and not told[name]], "or"),
        "tiers": tiers,
        "hides_some": standings["sealed"] and any(row["rank"] and not row["shown"] for row in rows),
        "axis": axis_of(standings),
        "test": TESTS.get(standings["test"], standings["test"]),
        "percent": f"{standings['policy']['confidence'] * 100:g}",
        "p_level": f"{1 - standings['policy']['confidence']:.3g}",
        "slice": next((s for s in standings["slices"] if s["name"] == choice.slice), None),
        "width": 5 + len(columns) + len(usage) + len(simple) + int(tiers),
    }


def _sections(rows: Rows, beside: dict[str, Rows]) -> Rows:
    """What stands below the ranked rows, each part with what it is."""
    sections: Rows = [
        {"title": title, "text": text, "rows": held}
        for place, (title, text) in SECTIONS.items()
        if (held := [row for row in rows if row["place"] == place])
    ]
    withdrawn, baselines = beside["withdrawn"], beside["baseline"]
    if withdrawn:
        text = " The runs stay readable and count as attempts."
        sections.append({"title": "Withdrawn", "text": text, "rows": withdrawn, "struck": True})
    if baselines:
        text = " Runs made to show floor and ceiling, drawn as dashed lines."
        if not any(row["kind"] == "human" for row in baselines):
            text += " No person has been measured here, so no entry is called better than people."
        sections.append({"title": "Baselines", "text": text, "rows": baselines})
    return sections


def _told(rows: Rows) -> dict[str, bool]:
    """Whether any row tells its cost, its tokens, its time."""
    return {name: any(row["usage"].get(key) for row in rows) for name, key in USAGE.items()}


def _listed(words: list[str], last: str) -> str:
    """Words as a list in a sentence."""
    return f" {last} ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def rows_beside(standings: Json, choice: Choice) -> dict[str, Rows]:
    """Withdrawn runs and baselines, which stand below a table in its own order, without ranks."""
    if not choice.keeps_order:
        return {"withdrawn": [], "baseline": []}
    held = {"withdrawn": standings.get("withdrawn", []), "baseline": standings["baselines"]}
    return {
        place: [{**row, **dict.fromkeys(RANKS), **NOTHING, "place": place} for row in rows]
        for place, rows in held.items()
    }


def _groups(standings: Json, ranked: Rows, choice: Choice) -> Rows:
    """Rows by tie group as they are drawn. What a filter hides leaves its place to nobody."""
    if not choice.keeps_order:
        return [{"rows": [row], "is_first": False, "is_shared_first": False} for row in ranked]
    first = sum(row["tie_group"] == 1 for row in standings["standings"])
    return [
        {
            "rows": held,
            "is_first": held[0]["tie_group"] == 1
            or (held[0]["tie_group"] is None and held[0]["rank"] == 1),
            "is_shared_first": held[0]["tie_group"] == 1 and first > 1,
        }
        for held in groups_of(ranked)
    ]


def groups_of(ranked: Rows) -> list[Rows]:
    """Ranked rows by tie group; without groups each row stands alone."""
    groups: list[Rows] = []
    for row in ranked:
        tied = groups and row["tie_group"] is not None
        if tied and groups[-1][0]["tie_group"] == row["tie_group"]:
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def chosen_rows(standings: Json, choice: Choice) -> Rows:
    """The rows a reader asked for, in the order asked for; unknown values come last. What is not
    ranked stands below what is, in any order. The standings are by the measure of the choice
    already."""
    rows = [row for row in standings["standings"] if passes(row, choice)]
    if choice.slice:
        held = next(s for s in standings["slices"] if s["name"] == choice.slice)
        rows = [{**row, **_cut(row, held["entries"].get(row["key"]))} for row in rows]
    direction = standings["metric"]["direction"]
    sort = choice.sort or ("score" if choice.slice or choice.measure else "")
    if not sort:
        return rows
    name = sort.removeprefix("-")
    value = SORTS[name]
    # The first click on a score shows the best first, in either direction.
    falls = (direction == "up") if name == "score" else False
    if sort.startswith("-"):
        falls = not falls
    known = [row for row in rows if value(row) is not None]
    known.sort(key=value, reverse=falls)
    listed = [*known, *(row for row in rows if value(row) is None)]
    return sorted(listed, key=lambda row: PLACES.index(row["place"]))


def _cut(row: Json, cell: Json | None) -> Json:
    """A row's numbers in a slice. A slice has no ranks; what is of all items is not shown in it."""
    names = ("score", "low", "high", "shown", "shown_low", "shown_high", "n")
    numbers = {name: cell[name] if cell else None for name in names}
    if numbers["n"] is None:
        numbers["n"] = 0
    return {**numbers, **dict.fromkeys(OF_ALL_ITEMS), "metrics": {}}


def headline(standings: Json) -> str:
    """What the board says, in one or two sentences."""
    ranked = [row for row in standings["standings"] if row["place"] == "ranked"]
    if standings["numbers_hidden"]:
        return TOO_FEW
    if not ranked:
        if not standings["standings"]:
            return "Nobody has entered yet."
        if not standings["policy"]["ranked"]:
            return "This board is not ranked. Each number stands alone."
        return "Nobody is ranked here; each entry says why."
    first = [row for row in ranked if row["tie_group"] == ranked[0]["tie_group"]]
    best = "lowest" if standings["metric"]["direction"] == "down" else "highest"
    if len(ranked) > 1 and ranked[0]["tie_group"] is None:
        return (
            f"{ranked[0]['name']} has the {best} score. There are too few items to say which "
            "entries can be told apart."
        )
    if len(first) == 1:
        return f"{ranked[0]['name']} stands first.{_fragile(standings)}"
    listed = _listed([row["name"] for row in first[1:]], "and")
    tied = [row for row in ranked if row["rank"] == 1]
    if len(tied) == len(first):
        return f"{counted(len(first))} entries share first place with equal scores."
    return (
        f"{counted(len(first))} entries share first place. {ranked[0]['name']} has the {best} "
        f"score, but on these items it cannot be told apart from {listed}.{_fragile(standings)}"
    )


def _fragile(standings: Json) -> str:
    number = standings["fragility"]
    if not number:
        return ""
    verdicts = "changed verdict" if number == 1 else "changed verdicts"
    return f" {counted(number)} {verdicts} would swap first and second."


WORDS = (
    "Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten",
)  # fmt: skip


def counted(number: int) -> str:
    """A small number as a word at the beginning of a sentence."""
    return WORDS[number] if number < len(WORDS) else str(number)


def snapshot_context(board: Board, snapshot: Snapshot, choice: Choice) -> Json:
    """Everything on a board's page besides the rows, from one snapshot."""
    standings = snapshot.standings
    releases = releases_of(snapshot, choice)
    found = {row["method"] for row in standings["standings"] if row["score"] is not None}
    methods = sorted(found - {"", "none", None})
    return {
        "board": board,
        "snapshot": snapshot,
        "standings": standings,
        "choice": choice,
        "headline": headline(standings).partition(". "),
        "evidence": _evidence(standings),
        "interval_methods": ", ".join(INTERVALS.get(method, method) for method in methods),
        "test": TESTS.get(standings["test"], standings["test"]),
        "percent": f"{standings['policy']['confidence'] * 100:g}",
        "slice_groups": slice_groups(standings),
        "column_choices": [
            {"name": name, "label": label, "is_on": name in choice.columns}
            for name, label in COLUMNS.items()
        ],
        "filters": filters_of(standings, choice),
        "more_filters": filter_fields(standings, choice),
        "measures": _measures(standings, choice),
        "other_orders": other_orders(standings),
        "releases": releases,
    }


def _measures(standings: Json, choice: Choice) -> Rows:
    """The metrics that may stand in the place of the score, as links; none where there is one."""
    others = measures_of(standings)
    listed = [{**standings["metric"], "key": ""}, *others] if others else []
    return [
        {
            "label": held["label"],
            "on": held["key"] == choice.measure,
            "url": choice.query(measure=held["key"], sort="", slice=""),
        }
        for held in listed
    ]


def other_orders(standings: Json) -> str:
    """Who of the ranked leads by another metric, where that is not who stands first."""
    ranked = [row for row in standings["standings"] if row["place"] == "ranked"]
    told = []
    for measure in measures_of(standings):
        known = [row for row in ranked if row["metrics"].get(measure["key"]) is not None]
        if len(known) < 2 or known[0] is not ranked[0]:
            continue
        sign = 1 if measure["direction"] == "up" else -1
        values = {row["key"]: sign * row["metrics"][measure["key"]] for row in known}
        best = [row for row in known if values[row["key"]] == max(values.values())]
        if len(best) == 1 and best[0] is not ranked[0]:
            told.append(f"Ordered by {measure['label']}, {best[0]['name']} leads.")
    return " ".join(told)


def _evidence(standings: Json) -> str:
    """Whose word counts, unless the note of the policy says so already."""
    told = EVIDENCE.get(standings["policy"]["evidence"], "")
    return "" if told in standings["policy"]["note"] else told


def releases_of(snapshot: Snapshot, choice: Choice) -> Rows:
    """The newest snapshots to choose from and the one that is shown, each with the address that
    keeps the choice; the newest is the board itself."""
    query = "" if choice.is_default else choice.query()
    held: dict[int, datetime | None] = {
        told["number"]: datetime.fromisoformat(told["at"]) for told in snapshot.releases
    }
    newest = max(held)
    held.setdefault(snapshot.number, snapshot.published_at)
    return [
        {
            "number": number,
            "at": at,
            "is_newest": number == newest,
            "is_shown": number == snapshot.number,
            "query": query,
        }
        for number, at in held.items()
    ]


def slice_groups(standings: Json) -> list[Json]:
    """The slices by attribute, each with a row of cells for every entry with numbers."""
    groups: dict[str, list[Json]] = {}
    for held in standings["slices"]:
        groups.setdefault(held["attribute"], []).append(held)
    rows = [row for row in standings["standings"] if row["scored"]]
    return [
        {
            "attribute": attribute,
            "slices": held[:6],
            "more": max(0, len(held) - 6),
            "rows": [
                {"name": row["name"], "cells": [s["entries"].get(row["key"]) for s in held[:6]]}
                for row in rows[:12]
            ],
        }
        for attribute, held in groups.items()
    ]
