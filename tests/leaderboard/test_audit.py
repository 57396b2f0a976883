from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leaderboard.audit import audited_values, judge_audited

verdicts = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=2, max_size=20)


def test_the_point_is_the_judges_mean_plus_the_weighted_differences() -> None:
    result = judge_audited([1, 1, 0, 1], [0, None, 1, None], [0.5, 0.5, 1.0, None])
    assert result.judge_mean == 0.75
    assert result.correction == (-1 / 0.5 + 1 / 1.0) / 4
    assert result.score.point == 0.5
    assert (result.n, result.audited, result.is_enough) == (4, 2, False)


def test_sure_items_add_nothing_to_the_error_of_the_audit() -> None:
    judge, person = [1, 1, 0, 1, 0], [0, None, 1, None, 0]
    chosen = judge_audited(judge, person, [1.0, 0.1, 1.0, 0.1, 1.0])
    assert chosen.audit_error == 0.0
    drawn = judge_audited(judge, person, [0.5, 0.1, 1.0, 0.1, 1.0])
    assert drawn.audit_error == pytest.approx(math.sqrt(0.5 * (1 / 0.5) ** 2) / 5)


@settings(max_examples=40, deadline=None)
@given(verdicts)
def test_both_errors_make_up_the_error_behind_the_interval(
    items: list[tuple[bool, bool, bool]],
) -> None:
    judge = [float(says) for says, _, _ in items]
    person = [float(truth) if seen else None for _, truth, seen in items]
    result = judge_audited(judge, person, [0.4] * len(items), low=None, high=None)
    values = audited_values(judge, person, [0.4] * len(items))
    assert result.score.point == pytest.approx(values.mean())
    assert result.item_error is not None
    assert result.audit_error is not None
    whole = float(np.std(values, ddof=1)) / math.sqrt(len(values))
    assert math.hypot(result.item_error, result.audit_error) >= whole - 1e-12
    if result.item_error > 0:
        assert math.hypot(result.item_error, result.audit_error) == pytest.approx(whole)


@settings(max_examples=30, deadline=None)
@given(verdicts)
def test_an_audit_of_everything_is_what_people_said(
    items: list[tuple[bool, bool, bool]],
) -> None:
    person = [float(truth) for _, truth, _ in items]
    result = judge_audited([float(says) for says, _, _ in items], person, [1.0] * len(items))
    assert result.score.point == pytest.approx(sum(person) / len(person))
    assert result.audit_error == 0.0


def test_the_interval_covers_the_truth_of_a_biased_judge() -> None:
    generator = np.random.default_rng(7)
    n, rate, probability, covered, points = 400, 0.6, 0.15, 0, []
    for _ in range(200):
        truth = generator.random(n) < rate
        judge = np.where(generator.random(n) < 0.2, True, truth).astype(float)
        seen = generator.random(n) < probability
        person = [float(t) if s else None for t, s in zip(truth, seen, strict=True)]
        score = judge_audited(judge, person, [probability] * n).score
        points.append(score.point or 0.0)
        covered += (score.low or 0.0) <= rate <= (score.high or 0.0)
    assert abs(float(np.mean(points)) - rate) < 0.01
    assert 183 <= covered <= 198


def test_clusters_widen_the_error() -> None:
    judge = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    nobody, chances = [None] * 6, [0.1] * 6
    single = judge_audited(judge, nobody, chances).item_error
    clustered = judge_audited(judge, nobody, chances, ["a"] * 3 + ["b"] * 3).item_error
    assert clustered is not None
    assert single is not None
    assert clustered > single
    assert judge_audited(judge, nobody, chances, ["a"] * 6).score.low is None


def test_thirty_audited_items_are_enough() -> None:
    for audited, enough in ((29, False), (30, True)):
        person = [1.0] * audited + [None] * (40 - audited)
        assert judge_audited([1.0] * 40, person, [0.5] * 40).is_enough is enough
    assert judge_audited([], [], []).score.point is None


def test_an_estimate_outside_the_range_is_cut_to_it() -> None:
    result = judge_audited([1.0, 1.0, 0.0], [None, None, 1.0], [None, None, 0.1])
    assert result.score.point == result.score.high == 1.0


@pytest.mark.parametrize("probability", [None, 0.0, 1.5, -0.1])
def test_a_decided_item_needs_its_probability(probability: float | None) -> None:
    with pytest.raises(ValueError, match="item 1 was decided"):
        judge_audited([1, 0], [None, 1], [0.5, probability])


def test_lists_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="one entry for each item"):
        judge_audited([1, 0], [None], [0.5, 0.5])
