from __future__ import annotations

import json
import math

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from academy.bundle import Direction
from academy.intervals import Interval
from leaderboard import statistics
from leaderboard.statistics import (
    FUNCTIONS,
    as_json,
    clustered_interval,
    evaluate,
    slice_scores,
    standard_error,
    t_interval,
    wilson,
)

CLUSTERED = [1, 1, 1, 0, 0, 0, 0, 1, 1, 0]
LABELS = ["a"] * 4 + ["b"] * 3 + ["c"] * 3

finite = st.floats(-1e6, 1e6, allow_subnormal=False)
samples = st.lists(finite, min_size=2, max_size=30)
graded = st.lists(
    st.integers(0, 100).map(lambda hundredths: hundredths / 100), min_size=2, max_size=30
)


def width(interval: Interval) -> float:
    assert interval.low is not None
    assert interval.high is not None
    return interval.high - interval.low


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 30, 0.0000, 0.1135),
        (8, 10, 0.4902, 0.9433),
        (58, 89, 0.5483, 0.7425),
        (89, 89, 0.9586, 1.0000),
        (0, 1, 0.0000, 0.7935),
    ],
)
def test_wilson_gives_the_published_bounds(successes: int, n: int, low: float, high: float) -> None:
    interval = wilson(successes, n)
    assert (round(interval.low or 0.0, 4), round(interval.high or 0.0, 4)) == (low, high)
    assert interval.point == successes / n


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
def test_wilson_agrees_with_statsmodels(confidence: float) -> None:
    for n in (1, 2, 7, 40, 1000):
        for successes in {0, 1, n // 3, n - 1, n}:
            expected = proportion_confint(successes, n, alpha=1 - confidence, method="wilson")
            interval = wilson(successes, n, confidence)
            assert (interval.low, interval.high) == pytest.approx(expected, abs=1e-12)


def test_a_share_of_nothing_cannot_be_said() -> None:
    assert wilson(0, 0) == Interval(None, None, None, "wilson", 0, "There are no items.")
    for successes, n in ((3, 2), (-1, 2)):
        with pytest.raises(ValueError, match="no share"):
            wilson(successes, n)
    with pytest.raises(ValueError, match="confidence"):
        wilson(1, 2, confidence=95)


@settings(max_examples=50, deadline=None)
@given(samples, st.sampled_from([0.8, 0.95]))
def test_t_interval_agrees_with_scipy(values: list[float], confidence: float) -> None:
    interval = t_interval(values, confidence)
    error = stats.sem(values)
    if len(set(values)) > 1 and error > 0:
        expected = stats.t.interval(confidence, len(values) - 1, np.mean(values), error)
        assert (interval.low, interval.high) == pytest.approx(expected, rel=1e-9, abs=1e-6)
    assert interval.point == math.fsum(values) / len(values)


def test_t_interval_is_cut_to_the_range_and_needs_two_items() -> None:
    interval = t_interval([0.9, 1.0, 1.0, 0.2], low=0.0, high=1.0)
    assert interval.high == 1.0
    assert interval.low is not None
    assert interval.low > 0
    one = t_interval([0.4])
    assert (one.point, one.low, one.high) == (0.4, None, None)
    assert "Fewer than 2 items" in one.note
    assert t_interval([]).point is None


@pytest.mark.parametrize("values", [[0.5, math.nan], [0.5, math.inf], [[0.5]]])
def test_only_finite_values_have_an_interval(values: list[float]) -> None:
    with pytest.raises(ValueError, match=r"finite|flat"):
        t_interval(values)


def test_equal_values_have_no_width_and_say_so() -> None:
    interval = t_interval([0.1] * 9)
    assert interval.low == interval.high == interval.point
    assert "no proof of certainty" in interval.note


def test_errors_of_clusters_are_the_published_ones() -> None:
    assert math.fsum(CLUSTERED) / 10 == 0.5
    assert standard_error(CLUSTERED) == pytest.approx(0.166667, abs=5e-7)
    uncorrected = standard_error(CLUSTERED, LABELS, corrected=False)
    assert uncorrected == pytest.approx(0.187083, abs=5e-7)
    assert standard_error(CLUSTERED, LABELS) == pytest.approx(0.229129, abs=5e-7)


def test_clustered_interval_has_clusters_less_one_degrees_of_freedom() -> None:
    interval = clustered_interval(CLUSTERED, LABELS)
    half = stats.t.ppf(0.975, 2) * 0.22912878
    assert (interval.low, interval.high) == pytest.approx((0.5 - half, 0.5 + half), abs=1e-6)
    cut = clustered_interval(CLUSTERED, LABELS, low=0.0, high=1.0)
    assert (cut.low, cut.high) == (0.0, 1.0)


@settings(max_examples=25, deadline=None)
@given(samples, st.data())
def test_clustered_error_agrees_with_statsmodels(values: list[float], data: st.DataObject) -> None:
    label = st.integers(0, 4)
    labels = data.draw(st.lists(label, min_size=len(values), max_size=len(values)))
    error = standard_error(values, labels)
    if len(set(labels)) < 2:
        assert error is None
        return
    fit = sm.OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": np.array(labels)}
    )
    assert error == pytest.approx(float(fit.bse[0]), rel=1e-6, abs=1e-6)


def test_one_cluster_has_a_point_only() -> None:
    interval = clustered_interval([0.1, 0.9], ["a", "a"])
    assert (interval.point, interval.low, interval.high) == (0.5, None, None)
    assert "Fewer than 2 clusters" in interval.note
    with pytest.raises(ValueError, match="cluster labels"):
        clustered_interval([0.1, 0.9], ["a"])


@settings(max_examples=50, deadline=None)
@given(graded, st.data())
def test_intervals_of_doubled_data_are_never_wider(
    values: list[float], data: st.DataObject
) -> None:
    label = st.integers(0, 4)
    labels: list[object] = list(
        data.draw(st.lists(label, min_size=len(values), max_size=len(values)))
    )
    twice = values + values
    assert width(t_interval(twice)) <= width(t_interval(values)) + 1e-12
    successes = sum(value > 0.5 for value in values)
    assert width(wilson(2 * successes, 2 * len(values))) < width(wilson(successes, len(values)))
    if len(set(labels)) > 1:
        once = width(clustered_interval(values, labels))
        assert width(clustered_interval(twice, labels + labels)) <= once + 1e-12
        anew = [*labels, *((label, "again") for label in labels)]
        assert width(clustered_interval(twice, anew)) <= once + 1e-12


def test_slices_give_the_intervals_of_their_items() -> None:
    values = np.array([[1, 0], [0, 1], [1, 1], [1, math.nan]])
    slices = [[True, True, True, False], [False] * 4, [False, False, False, True]]
    result = slice_scores(values, slices)
    assert (result.method, result.n.tolist()) == ("wilson", [[3, 3], [0, 0], [1, 0]])
    expected = wilson(2, 3)
    assert (result.low[0, 0], result.high[0, 0]) == pytest.approx((expected.low, expected.high))
    assert np.isnan(result.mean[1]).all()
    points = np.array([[0.1, 5.0], [0.4, 5.1], [0.2, 5.3]])
    by_t = slice_scores(points, [[1, 1, 1], [0, 1, 0]], low=0.0)
    for column in (0, 1):
        single = t_interval(points[:, column], low=0.0)
        assert by_t.low[0, column] == pytest.approx(single.low)
        assert by_t.high[0, column] == pytest.approx(single.high)
    assert np.isnan(by_t.low[1, 0])
    with pytest.raises(ValueError, match="do not fit"):
        slice_scores(points, [[1, 1]])


def test_every_documented_function_can_be_called_with_json() -> None:
    cases = [
        {"function": "wilson", "arguments": {"successes": 8, "n": 10}},
        {"function": "wilson", "arguments": [8, 10]},
        {"function": "holm", "arguments": {"pvalues": [0.01, 0.04]}},
        {"function": "paired_t", "arguments": {"first": [1, None, 0], "second": [0, 1, 0]}},
        {"function": "seed", "arguments": ["d", 3, 10]},
        {"function": "random_indices", "arguments": ["d", 3, 10, 4]},
        {"function": "bootstrap_weights", "arguments": ["d", 3, 2]},
        {"function": "slice_scores", "arguments": {"values": [[1], [0]], "slices": [[1, 0]]}},
        {
            "function": "rank",
            "arguments": {
                "entries": [
                    {"key": "a", "values": [1, 0, None], "states": ["scored", "scored", "failed"]},
                    {"key": "b", "values": [1, None, None]},
                ],
                "policy": {"direction": "up", "kind": "pass", "missing_value": 0},
                "seed_digest": "d",
            },
        },
    ]
    results = [evaluate(case) for case in cases]
    assert json.loads(json.dumps(results, allow_nan=False)) == results
    assert results[0] == results[1]
    ranking = results[-1]
    assert isinstance(ranking, dict)
    assert [(row["key"], row["place"], row["rank"]) for row in ranking["standings"]] == [
        ("a", "ranked", 1),
        ("b", "incomplete", None),
    ]
    with pytest.raises(ValueError, match="no documented function"):
        evaluate({"function": "eval", "arguments": []})


def test_functions_are_listed_by_name_and_offered_by_the_module() -> None:
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    apart = {"bootstrap_weights", "compare", "pair_matrix", "random_indices", "rank", "seed"}
    assert set(FUNCTIONS) - apart <= set(statistics.__all__)


def test_json_says_null_for_nan_and_refuses_infinity() -> None:
    assert as_json(np.array([1.5, math.nan])) == [1.5, None]
    assert as_json({Direction.UP: (np.int64(3), True)}) == {"up": [3, True]}
    with pytest.raises(ValueError, match="infinite"):
        as_json(math.inf)
    with pytest.raises(TypeError, match="object"):
        as_json(object())
