from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import Direction
from leaderboard.statistics import (
    choose_attempt,
    item_means,
    ladder,
    mean_pass_at_k,
    mean_pass_hat_k,
    pareto_front,
    pass_at_k,
    pass_hat_k,
    rating_distribution,
    saturation,
    usage_summary,
    within_item_variance,
)


def test_attempts_are_averaged_inside_the_item_first() -> None:
    attempts = [[1.0, 0.0], [1.0], [], [0.0, 0.0, 1.0]]
    assert item_means(attempts) == [0.5, 1.0, None, 1 / 3]
    assert within_item_variance(attempts) == pytest.approx((0.5 + 1 / 3) / 2)
    assert within_item_variance([[1.0], []]) is None


@pytest.mark.parametrize(
    ("function", "k", "expected"),
    [(pass_at_k, 2, 0.9), (pass_hat_k, 2, 0.3), (pass_at_k, 5, 1.0), (pass_hat_k, 5, 0.0)],
)
def test_pass_k_of_three_in_five(function: object, k: int, expected: float) -> None:
    assert callable(function)
    assert function(5, 3, k) == expected


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 8), st.data())
def test_pass_k_counts_the_draws_of_k_attempts(n: int, data: st.DataObject) -> None:
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([True] * c + [False] * (n - c), k))
    assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat_k(n, c, k) == pytest.approx(sum(map(all, draws)) / len(draws))


def test_pass_k_is_undefined_with_fewer_attempts_and_says_how_many_items_that_leaves_out() -> None:
    assert pass_at_k(4, 3, 5) is None
    assert pass_hat_k(4, 3, 5) is None
    with pytest.raises(ValueError, match="impossible"):
        pass_at_k(3, 4, 1)
    at, hat = (mean([(5, 3), (5, 5), (1, 1)], 2) for mean in (mean_pass_at_k, mean_pass_hat_k))
    assert (at.point, at.n) == (0.95, 2)
    assert hat.point == 0.65
    assert "1 of 3 items have fewer than 2 scored attempts" in at.note
    assert mean_pass_at_k([(1, 1)], 2).point is None


def test_attempts_are_chosen_by_the_policy_and_the_mean_stands_beside() -> None:
    scores = [None, 0.5, 0.75, 0.75, 0.25]
    chosen = {rule: choose_attempt(scores, rule) for rule in ("first", "last", "best", "mean")}  # type: ignore[arg-type]
    assert {rule: (one.value, one.index) for rule, one in chosen.items()} == {
        "first": (0.5, 1),
        "last": (0.25, 4),
        "best": (0.75, 2),
        "mean": (0.5625, None),
    }
    assert {(one.mean, one.scored) for one in chosen.values()} == {(0.5625, 4)}
    assert choose_attempt(scores, "best", Direction.DOWN).index == 4
    assert choose_attempt([None], "best").value is None


def test_the_ladder_moves_only_by_more_than_a_step() -> None:
    assert ladder([0.50, 0.505, 0.512, 0.4], 0.01) == pytest.approx([0.5, 0.5, 0.51, 0.51])
    assert ladder([0.5, 0.45, 0.4499], 0.01, "down") == pytest.approx([0.5, 0.45, 0.45])
    with pytest.raises(ValueError, match="step"):
        ladder([0.5], 0.0)


def test_usage_that_nobody_reports_is_blank_and_never_0() -> None:
    usage = usage_summary([3.0, None, 1.0, 2.0, None])
    assert (usage.median, usage.total, usage.known, usage.n, usage.share) == (2.0, 6.0, 3, 5, 0.6)
    blank = usage_summary([None, None])
    assert (blank.median, blank.total, blank.share) == (None, None, 0.0)
    assert usage_summary([]).share is None


def test_ratings_are_counted_and_never_averaged() -> None:
    counted = rating_distribution([3, None, 0, 3], scale=[0, 1, 2, 3], waiting=2)
    assert (counted.counts, counted.n) == ((1, 0, 0, 2), 3)
    assert (counted.not_applicable, counted.waiting) == (1, 2)
    with pytest.raises(ValueError, match="not on the scale"):
        rating_distribution([4], scale=[0, 1, 2, 3])


def test_saturation_is_the_share_of_items_that_tell_nobody_apart() -> None:
    result = saturation([[1, 1, 0, 0], [1, 0, 1, 0]])
    assert (result.all_full, result.none_full, result.best_mean) == (0.25, 0.25, 0.5)
    assert saturation([]).all_full is None


def test_a_point_leaves_the_front_only_if_another_is_cheaper_and_separably_better() -> None:
    better = [[False, True, True, True], [False] * 4, [False] * 4, [False] * 4]
    assert pareto_front([1.0, 2.0, 0.5, None], better) == [True, False, True, False]
    with pytest.raises(ValueError, match="square"):
        pareto_front([1.0], [[True, False]])
