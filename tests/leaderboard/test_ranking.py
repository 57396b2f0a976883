from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.draws import bootstrap_weights, weights_seed
from academy.intervals import clustered_interval, t_interval, wilson
from leaderboard.entries import Entry, Policy
from leaderboard.paired import mcnemar_exact
from leaderboard.ranking import Ranking, Standing, rank

PASS = Policy(direction="up", kind="pass", missing_value=0.0, rounds=200)
ERROR = Policy(direction="down", kind="error", missing_value=100.0, range=(0.0, 100.0), rounds=200)
GRADED = Policy(direction="up", kind="graded", missing_value=0.0, range=(0.0, 1.0), rounds=200)
MEDIAN = replace(ERROR, statistic="median")

# Drawn by a second program, without NumPy, from the written definition of the stream.
CHECKED_IN = [
    ("b", 1, 1, 4, 0.3694, 0.8226),
    ("d", 2, 1, 4, 0.2713, 0.8171),
    ("a", 3, 1, 4, 0.1794, 0.7247),
    ("c", 4, 1, 4, 0.1799, 0.6356),
]

value = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 2 / 3, 0.9, 1.0])
boards = st.lists(st.lists(value, min_size=9, max_size=9), min_size=1, max_size=6)
policies = st.sampled_from([GRADED, ERROR, MEDIAN, replace(GRADED, clusters=[*range(8), 0])])


def board(columns: list[list[float]], names: str = "abcdefghij") -> list[Entry]:
    return [Entry(name, column) for name, column in zip(names, columns, strict=False)]


def by_key(ranking: Ranking) -> dict[str, Standing]:
    return {standing.key: standing for standing in ranking.standings}


def ranks(ranking: Ranking) -> dict[str, int | None]:
    return {standing.key: standing.rank for standing in ranking.standings}


def passes(successes: int, n: int) -> list[float]:
    return [1.0] * successes + [0.0] * (n - successes)


@settings(max_examples=30, deadline=None)
@given(boards, policies, st.randoms(use_true_random=False))
def test_order_of_entries_never_matters(
    columns: list[list[float]], policy: Policy, random: Any
) -> None:
    entries = board(columns)
    shuffled = entries[:]
    random.shuffle(shuffled)
    assert rank(shuffled, policy, "d") == rank(entries, policy, "d")


@settings(max_examples=30, deadline=None)
@given(boards, policies, st.permutations("abcdef"))
def test_relabelling_entrants_relabels_the_result(
    columns: list[list[float]], policy: Policy, names: list[str]
) -> None:
    before = by_key(rank(board(columns, "abcdef"), policy, "d"))
    after = by_key(rank(board(columns, "".join(names)), policy, "d"))
    renamed = dict(zip("abcdef", names, strict=True))
    assert {renamed[key]: replace(of, key=renamed[key]) for key, of in before.items()} == after


@settings(max_examples=30, deadline=None)
@given(boards, policies)
def test_a_worse_entrant_never_changes_the_ranks_above_it(
    columns: list[list[float]], policy: Policy
) -> None:
    entries = board(columns)
    before = rank(entries, policy, "d")
    for left_out in entries:
        lost = by_key(before)[left_out.key].rank
        assert lost is not None
        after = ranks(rank([e for e in entries if e is not left_out], policy, "d"))
        for key, place in after.items():
            above = ranks(before)[key]
            assert above is not None
            if above <= lost:
                assert place == above


@settings(max_examples=40, deadline=None)
@given(boards, policies)
def test_equal_scores_share_a_rank_and_better_ones_stand_higher(
    columns: list[list[float]], policy: Policy
) -> None:
    standings = rank(board(columns), policy, "d").standings
    for one in standings:
        for other in standings:
            assert one.score.point is not None
            assert other.score.point is not None
            assert one.rank is not None
            assert other.rank is not None
            if math.isclose(one.score.point, other.score.point, rel_tol=1e-12):
                assert one.rank == other.rank
                assert one.shown == other.shown
            elif (one.score.point > other.score.point) == (policy.direction == "up"):
                assert one.rank < other.rank
                assert one.shown != other.shown


@settings(max_examples=30, deadline=None)
@given(boards, policies)
def test_the_spread_holds_the_rank_and_shares_are_shares(
    columns: list[list[float]], policy: Policy
) -> None:
    standings = rank(board(columns), policy, "d").standings
    for of in standings:
        assert None not in (of.rank, of.rank_low, of.rank_high, of.p_first, of.p_top3)
        assert of.rank_low <= of.rank <= of.rank_high  # type: ignore[operator]
        assert 0 <= of.p_first <= of.p_top3 <= 1  # type: ignore[operator]
    assert sum(of.p_first or 0.0 for of in standings) > 1 - 1e-9


def test_thirds_that_add_up_to_the_same_share_a_rank() -> None:
    three_thirds = [1 / 3] * 3 + [0.0] * 6
    ranking = rank(board([three_thirds, passes(1, 9)]), replace(GRADED, replicates=3), "d")
    assert ranks(ranking) == {"a": 1, "b": 1}
    assert {of.shown for of in ranking.standings} == {"0.111"}


def test_places_after_a_shared_rank_are_skipped() -> None:
    columns = [passes(n, 10) for n in (6, 8, 8, 3)]
    assert ranks(rank(board(columns), PASS, "d")) == {"b": 1, "c": 1, "a": 3, "d": 4}


def test_too_few_clusters_leave_a_point_without_spread_or_groups() -> None:
    ranking = rank(board([passes(5, 7), passes(2, 7)]), PASS, "d")
    first = ranking.standings[0]
    assert (first.rank, first.rank_low, first.p_first, first.tie_group) == (1, None, None, None)
    assert (first.score.point, first.score.low) == (5 / 7, None)
    assert ranking.notes == ("Too few items: 7, and 8 are needed.",)
    clustered = rank(
        board([passes(5, 16)]), replace(PASS, clusters=[*"abcdefg"] * 2 + ["a"] * 2), "d"
    )
    assert "Too few clusters: 7" in clustered.standings[0].score.note
    enough = rank(board([passes(5, 8), passes(2, 8)]), PASS, "d").standings[0]
    assert enough.rank_low is not None
    assert enough.score == wilson(5, 8)


def test_intervals_follow_kind_replicates_and_clusters() -> None:
    labels = [*"aabbccddeeffgghh"]
    column = passes(7, 16)

    def score(policy: Policy) -> Any:
        return rank(board([column]), policy, "d").standings[0].score

    assert score(PASS) == wilson(7, 16)
    assert score(replace(PASS, replicates=2)) == t_interval(column, low=0.0, high=1.0)
    clustered = clustered_interval(column, labels, low=0.0, high=1.0)
    assert score(replace(PASS, clusters=labels)) == clustered
    column = passes(16, 16)
    certain = score(replace(PASS, clusters=labels))
    assert (certain.low, certain.high, certain.n) == (wilson(8, 8).low, 1.0, 16)


def test_medians_rank_and_their_interval_is_the_percentile_bootstrap() -> None:
    columns = [[float(n) for n in range(9)], [4.0] * 8 + [90.0], [3.0] * 5 + [100.0] * 4]
    ranking = rank(board(columns), MEDIAN, "d")
    assert ranks(ranking) == {"c": 1, "a": 2, "b": 2}
    weights = bootstrap_weights(weights_seed("d", 9, 200), 9, 200)
    medians = [np.median(np.repeat(columns[0], row)) for row in weights]
    score = by_key(ranking)["a"].score
    assert (score.low, score.high) == tuple(np.quantile(medians, [0.025, 0.975]))
    assert (ranking.test, ranking.fragility, ranking.detectable) == ("bootstrap", None, None)


def test_the_spread_is_that_of_all_entries_in_the_same_draws() -> None:
    generator = np.random.default_rng(3)
    columns = [(generator.random(30) < share).astype(float).tolist() for share in (0.7, 0.6, 0.5)]
    ranking = rank(board(columns), PASS, "d")
    weights = bootstrap_weights(weights_seed("d", 30, 200), 30, 200).astype(int)
    sums = weights @ np.array(columns).T
    for name, own in zip("abc", sums.T, strict=True):
        drawn = sorted(1 + (sums > own[:, None]).sum(axis=1))
        standing = by_key(ranking)[name]
        assert standing.p_first == drawn.count(1) / 200
        assert (standing.rank_low, standing.rank_high) == (drawn[4], drawn[194])


def test_tie_groups_are_anchored_at_their_best_entry_with_holm_restarted() -> None:
    sums = {"a": 100, "b": 90, "c": 87, "d": 70, "e": 68}
    entries = [Entry(key, passes(n, 120)) for key, n in sums.items()]
    ranking = rank(entries, PASS, "d")
    assert ranking.test == "mcnemar"
    first = sorted(mcnemar_exact(100 - n, 0) for n in (90, 87, 70, 68))
    assert first[-1] < 0.05, "b is separable from a"
    assert {of.key: of.tie_group for of in ranking.standings} == {
        "a": 1,
        "b": 2,
        "c": 2,
        "d": 3,
        "e": 3,
    }


def test_holms_correction_keeps_entries_in_a_group_that_single_tests_would_separate() -> None:
    best = passes(40, 60)
    fewer = [[0.0] * 6 + best[6:], best[:6] + [0.0] * 6 + best[12:], passes(5, 60)]
    assert mcnemar_exact(6, 0) < 0.05 < 2 * mcnemar_exact(6, 0)
    ranking = rank(board([best, *fewer]), PASS, "d")
    assert [of.tie_group for of in ranking.standings] == [1, 1, 1, 2]


def test_a_spread_that_would_miss_its_own_rank_is_widened_to_hold_it() -> None:
    shared_first = np.eye(50).tolist()
    standings = rank([Entry(f"{n:02}", c) for n, c in enumerate(shared_first)], PASS, "d").standings
    assert {of.rank for of in standings} == {1}
    assert max(of.p_first or 0.0 for of in standings) < 0.2
    assert min(of.p_first or 0.0 for of in standings) < 0.025
    assert {of.rank_low for of in standings} == {1}


def test_groups_do_not_depend_on_which_of_two_equal_leaders_comes_first_by_name() -> None:
    left, right = passes(20, 40), passes(20, 40)[::-1]
    third = passes(12, 40)
    groups = []
    for names in ("abc", "bac"):
        ranking = by_key(rank(board([left, right, third], names), PASS, "d"))
        groups.append([ranking[name].tie_group for name in names])
    assert groups[0] == groups[1]


def test_scores_are_shown_with_the_digits_at_which_unequal_ranks_differ() -> None:
    columns = [passes(501, 1000), passes(500, 1000), passes(500, 1000)[::-1]]
    ranking = rank(board(columns), replace(PASS, digits=1, scale=100), "d")
    assert [of.shown for of in ranking.standings] == ["50.1", "50.0", "50.0"]
    coarse = rank(board(columns), replace(PASS, digits=0, scale=100), "d")
    assert (coarse.digits, coarse.standings[0].shown) == (1, "50.1")


def test_scores_closer_than_the_integers_that_rank_share_a_rank_and_look_equal() -> None:
    close = rank(board([[0.5 + 3e-7] + [0.5] * 8, [0.5] * 9]), GRADED, "d")
    assert ranks(close) == {"a": 1, "b": 1}
    assert [of.shown for of in close.standings] == ["0.500", "0.500"]
    fine = rank(board([[0.5 + 3e-7] + [0.5] * 8, [0.5] * 9]), replace(GRADED, digits=8), "d")
    assert [of.shown for of in fine.standings] == ["0.50000000", "0.50000000"]
    apart = rank(board([[0.5 + 6e-7] + [0.5] * 8, [0.5] * 9]), GRADED, "d")
    assert ranks(apart) == {"a": 1, "b": 2}
    assert [of.shown for of in apart.standings] == ["0.5000001", "0.5000000"]


def test_the_whole_ranking_of_one_seed_is_checked_in() -> None:
    columns = [[((7 * i + 3 * e) % 11) / 10 for i in range(20)] for e in range(4)]
    ranking = rank(board(columns), replace(GRADED, rounds=10_000), "0" * 64)
    assert [
        (of.key, of.rank, of.rank_low, of.rank_high, of.p_first, of.p_top3)
        for of in ranking.standings
    ] == CHECKED_IN
    assert ranking.seed == weights_seed("0" * 64, 20, 10_000).hex()


def test_fragility_and_the_detectable_difference_are_of_the_first_two() -> None:
    ranking = rank(board([passes(107, 184), passes(102, 184), passes(20, 184)]), PASS, "d")
    assert ranking.fragility == 6
    differences = np.array(passes(107, 184)) - np.array(passes(102, 184))
    error = float(np.std(differences, ddof=1)) / math.sqrt(184)
    assert ranking.detectable == pytest.approx(2.8 * error)
    assert rank(board([passes(3, 9)]), PASS, "d").fragility is None
