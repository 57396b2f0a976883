from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from academy.intervals import t_interval, wilson
from leaderboard.entries import Entry, ItemState, Place, Policy
from leaderboard.ranking import Ranking, Standing, rank

PASS = Policy(direction="up", kind="pass", missing_value=0.0, rounds=200)
ERROR = Policy(direction="down", kind="error", missing_value=100.0, range=(0.0, 100.0), rounds=200)
GRADED = Policy(direction="up", kind="graded", missing_value=0.0, range=(0.0, 1.0), rounds=200)
REPORTED = replace(GRADED, missing_value=None, origin="reported")


def board(columns: list[list[float]], names: str = "abcdefghij") -> list[Entry]:
    return [Entry(name, column) for name, column in zip(names, columns, strict=False)]


def by_key(ranking: Ranking) -> dict[str, Standing]:
    return {standing.key: standing for standing in ranking.standings}


def ranks(ranking: Ranking) -> dict[str, int | None]:
    return {standing.key: standing.rank for standing in ranking.standings}


def passes(successes: int, n: int) -> list[float]:
    return [1.0] * successes + [0.0] * (n - successes)


@pytest.mark.parametrize("policy", [PASS, ERROR])
def test_two_equal_entries_one_without_score_and_one_over_half_the_items(policy: Policy) -> None:
    full = passes(8, 10)
    entries = [
        Entry("half", [1.0] * 5 + [None] * 5),
        Entry("first", full),
        Entry("nothing", [None] * 10),
        Entry("second", full[::-1]),
    ]
    ranking = rank(entries, policy, "d")
    assert [(of.key, of.rank) for of in ranking.standings] == [
        ("first", 1),
        ("second", 1),
        ("half", None),
        ("nothing", None),
    ]
    standings = by_key(ranking)
    assert (standings["half"].place, standings["half"].coverage) == (Place.INCOMPLETE, 0.5)
    assert standings["half"].reason == ("5 of 10 items were submitted; a rank needs 95 % of them.")
    assert standings["nothing"].place is Place.UNSCORED
    assert standings["nothing"].score.point is None
    assert (standings["nothing"].shown, standings["nothing"].coverage) == ("", 0.0)


def test_a_missing_score_never_wins_where_lower_is_better() -> None:
    entries = [Entry("bad", [90.0] * 9), Entry("unscored", [None] * 9)]
    assert ranks(rank(entries, replace(ERROR, coverage=0.0), "d")) == {"bad": 1, "unscored": None}


def test_missing_items_count_as_the_policy_says_and_are_left_out_beside_it() -> None:
    values = [*passes(6, 8), None, None]
    states = [ItemState.SCORED] * 8 + [ItemState.FAILED, ItemState.MISSING]
    standing = rank([Entry("a", values, states)], replace(PASS, coverage=0.9), "d").standings[0]
    assert (standing.score.point, standing.second) == (0.6, 0.75)
    assert (standing.worst, standing.best) == (0.6, 0.8)
    assert (standing.scored, standing.failed, standing.missing) == (8, 1, 1)
    assert (standing.coverage, standing.rank) == (0.9, 1)
    cut = rank([Entry("a", [50.0] * 9 + [None])], replace(ERROR, coverage=0.0), "d").standings[0]
    assert (cut.score.point, cut.second, cut.worst, cut.best) == (55.0, 50.0, 55.0, 45.0)


def test_waiting_and_our_failures_make_an_entry_provisional_and_never_lower_coverage() -> None:
    states = [ItemState.SCORED] * 8 + [ItemState.WAITING, ItemState.UNSCORABLE]
    entry = Entry("a", [*passes(8, 8), None, None], states)
    standing = by_key(rank([entry, Entry("b", passes(5, 10))], PASS, "d"))["a"]
    assert (standing.place, standing.rank, standing.coverage) == (Place.PROVISIONAL, None, 1.0)
    assert standing.reason == (
        "1 of 10 items wait for a person and 1 of 10 could not be scored through no fault of the "
        "entrant."
    )
    assert (standing.score.point, standing.score.low, standing.waiting) == (1.0, None, 1)
    assert (standing.worst, standing.best, standing.unscorable) == (0.8, 1.0, 1)


def test_a_metric_without_missing_value_cannot_rank_an_incomplete_run() -> None:
    policy = Policy(direction="up", kind="rating", missing_value=None, coverage=0.5, rounds=50)
    standing = rank([Entry("a", [*passes(9, 9), None])], policy, "d").standings[0]
    assert (standing.place, standing.score.point) == (Place.INCOMPLETE, None)
    assert (standing.second, standing.worst, standing.best) == (1.0, None, None)
    assert "this metric has none for missing items" in standing.reason


def test_a_struck_item_leaves_the_denominator_of_every_entry() -> None:
    states = [ItemState.SCORED] * 9 + [ItemState.STRUCK]
    entries = [Entry("a", [*passes(9, 9), None], states), Entry("b", [*passes(8, 9), 1.0])]
    ranking = rank(entries, PASS, "d")
    assert (ranking.n, ranking.clusters) == (9, 9)
    assert by_key(ranking)["b"].score.point == 8 / 9
    assert ranks(ranking) == {"a": 1, "b": 2}
    assert "1 item is struck for every entry." in ranking.notes


def test_listed_entries_have_numbers_but_no_rank() -> None:
    reason = "Judged, not audited: 12 of 30 records."
    entries = [Entry("held", passes(10, 10), held_back=reason), Entry("b", passes(5, 10))]
    standing = by_key(rank(entries, PASS, "d"))["held"]
    assert (standing.place, standing.reason, standing.rank) == (Place.LISTED, reason, None)
    assert standing.score == wilson(10, 10)
    unranked = rank(entries, replace(PASS, ranked=False), "d")
    assert {of.place for of in unranked.standings} == {Place.LISTED}
    assert by_key(unranked)["b"].reason == "This board is not ranked."


def test_reported_values_order_their_board_and_the_records_mean_stands_beside() -> None:
    entries = [
        Entry("a", passes(5, 10), reported=0.9),
        Entry("b", passes(8, 10), reported=0.7),
        Entry("no rows", reported=0.99),
        Entry("no number", passes(9, 10)),
    ]
    ranking = rank(entries, REPORTED, "d")
    assert ranks(ranking) == {"a": 1, "b": 2, "no rows": None, "no number": None}
    standings = by_key(ranking)
    assert (standings["a"].score.point, standings["a"].shown) == (0.9, "0.900")
    assert standings["a"].computed == t_interval(passes(5, 10), low=0.0, high=1.0)
    rows = standings["no rows"]
    assert (rows.place, rows.tie_group, rows.rank_low) == (Place.REPORTED, None, None)
    assert (rows.score.point, rows.reason) == (
        0.99,
        "Reported by its source without item records.",
    )
    assert standings["no number"].place is Place.UNSCORED
    computed = by_key(rank(entries, GRADED, "d"))
    assert (computed["no rows"].place, computed["no rows"].score.point) == (Place.REPORTED, 0.99)
    assert (computed["b"].rank, computed["b"].computed) == (2, None)


def test_an_empty_board_is_no_error() -> None:
    ranking = rank([], PASS, "d")
    assert (ranking.standings, ranking.n, ranking.notes) == ((), 0, ())
    assert rank([Entry("a")], PASS, "d").standings[0].place is Place.UNSCORED


@pytest.mark.parametrize(
    ("entries", "policy", "message"),
    [
        ([Entry("a", [1.0]), Entry("a", [0.0])], PASS, "same key"),
        ([Entry("a", [1.0]), Entry("b", [1.0, 0.0])], PASS, "a has 1 items"),
        ([Entry("a", [math.inf])], PASS, "a has a scored item"),
        ([Entry("a", [None], [ItemState.SCORED])], PASS, "a has a scored item"),
        ([Entry("a", [1.0], [0, 0])], PASS, "one known state"),
        ([Entry("a", [1.0], [6])], PASS, "one known state"),
        ([Entry("a", [1.0])], replace(PASS, clusters=["x", "y"]), "2 cluster labels"),
        ([Entry("a", reported=math.nan)], REPORTED, "not finite"),
        ([Entry("a", [1e10] * 9)], GRADED, "exact"),
    ],
)
def test_entries_that_do_not_fit_are_refused(
    entries: list[Entry], policy: Policy, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        rank(entries, policy, "d")


@pytest.mark.parametrize(
    "rules",
    [
        {"direction": "UP"},
        {"kind": "perfect"},
        {"coverage": 95},
        {"confidence": 1.0},
        {"rounds": 0},
        {"range": (1.0, 0.0)},
        {"missing_value": math.nan},
    ],
)
def test_rules_that_cannot_be_are_refused(rules: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        replace(PASS, **rules)
