from __future__ import annotations

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from leaderboard.statistics import (
    benjamini_hochberg,
    fragility,
    holm,
    items_needed,
    mcnemar_exact,
    paired_bootstrap,
    paired_difference,
    paired_mcnemar,
    paired_t,
    smallest_detectable_difference,
    standard_error,
)

LABELS = ["a"] * 4 + ["b"] * 3 + ["c"] * 3
A = [int(digit) for digit in "1110101101"]
B = [int(digit) for digit in "1010100100"]

finite = st.floats(-1e6, 1e6, allow_subnormal=False)
graded = st.lists(
    st.integers(0, 100).map(lambda hundredths: hundredths / 100), min_size=2, max_size=30
)


@pytest.mark.parametrize(
    ("b", "c", "p"),
    [(10, 4, 0.17957), (20, 6, 0.00936), (5, 0, 0.0625), (0, 0, 1.0), (30, 30, 1.0)],
)
def test_mcnemar_gives_the_published_p(b: int, c: int, p: float) -> None:
    assert round(mcnemar_exact(b, c), 5) == p
    assert mcnemar_exact(c, b) == mcnemar_exact(b, c)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_agrees_with_statsmodels_and_scipy(b: int, c: int) -> None:
    expected = mcnemar([[0, b], [c, 0]], exact=True).pvalue if b + c else 1.0
    assert mcnemar_exact(b, c) == pytest.approx(expected, rel=1e-9)
    if b + c:
        assert mcnemar_exact(b, c) == pytest.approx(stats.binomtest(b, b + c).pvalue, rel=1e-9)


def test_counts_below_zero_are_no_table() -> None:
    with pytest.raises(ValueError, match="counts"):
        mcnemar_exact(-1, 3)


def test_paired_error_is_the_published_one() -> None:
    result = paired_t(A, B)
    assert result.difference == pytest.approx(0.3)
    assert result.error == pytest.approx(0.152753, abs=5e-7)
    unpaired = math.hypot(standard_error(A) or 0.0, standard_error(B) or 0.0)
    assert unpaired == pytest.approx(0.223607, abs=5e-7)
    assert (result.n, result.only_first, result.only_second) == (10, 3, 0)
    assert paired_mcnemar(A, B).p == mcnemar_exact(3, 0)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(finite, finite), min_size=2, max_size=30))
def test_paired_t_agrees_with_scipy(pairs: list[tuple[float, float]]) -> None:
    first, second = ([pair[side] for pair in pairs] for side in (0, 1))
    result = paired_t(first, second)
    if (result.error or 0.0) < 1e-6:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = stats.ttest_rel(first, second)
        bounds = expected.confidence_interval()
    assert result.p == pytest.approx(expected.pvalue, rel=1e-6, abs=1e-9)
    assert (result.low, result.high) == pytest.approx(tuple(bounds), rel=1e-6, abs=1e-3)


def test_only_common_items_are_paired_and_their_number_is_told() -> None:
    result = paired_t([1.0, None, 0.5, 0.0], [0.5, 1.0, math.nan, 0.25])
    assert (result.n, result.difference) == (2, 0.125)
    nothing = paired_t([1.0, None], [None, 1.0])
    assert (nothing.difference, nothing.p, nothing.n) == (None, None, 0)
    assert "no item in common" in nothing.note
    with pytest.raises(ValueError, match="cannot be paired"):
        paired_t([1.0], [1.0, 0.0])
    with pytest.raises(ValueError, match="infinite"):
        paired_t([math.inf, 0.0], [1.0, 0.0])


def test_clustered_pairs_use_the_error_of_their_clusters() -> None:
    result = paired_difference(A, B, LABELS)
    differences = [a - b for a, b in zip(A, B, strict=True)]
    assert result.error == pytest.approx(standard_error(differences, LABELS))
    assert (result.clusters, result.test) == (3, "clustered-t")
    assert result.p == pytest.approx(2 * stats.t.sf(0.3 / (result.error or 1.0), 2))
    one = paired_difference(A, B, ["a"] * 10)
    assert (one.difference, one.p) == (pytest.approx(0.3), None)
    assert "Fewer than 2 clusters" in one.note


@settings(max_examples=30, deadline=None)
@given(graded, st.data())
def test_an_entrant_compared_with_itself_differs_by_exactly_0_with_p_1(
    values: list[float], data: st.DataObject
) -> None:
    label = st.integers(0, 3)
    labels = data.draw(st.lists(label, min_size=len(values), max_size=len(values)))
    results = [paired_t(values, values), paired_bootstrap(values, values, "d", rounds=50)]
    results.append(paired_bootstrap(values, values, "d", "median", rounds=50))
    if len(set(labels)) > 1:
        results.append(paired_difference(values, values, labels))
    passes = [float(value > 0.5) for value in values]
    results.append(paired_mcnemar(passes, passes))
    assert [(result.difference, result.p) for result in results] == [(0.0, 1.0)] * len(results)


def test_mcnemar_refuses_what_neither_passes_nor_fails() -> None:
    with pytest.raises(ValueError, match="pass"):
        paired_mcnemar([0.5, 1.0], [1.0, 0.0])


def test_paired_bootstrap_comes_near_the_t_test_and_repeats_itself() -> None:
    generator = np.random.default_rng(5)
    first, second = generator.random(80), generator.random(80) * 0.9
    by_t, drawn = paired_t(first, second), paired_bootstrap(first, second, "digest")
    assert drawn == paired_bootstrap(first, second, "digest")
    assert drawn.difference == by_t.difference
    assert drawn.p == pytest.approx(by_t.p, abs=0.03)
    assert drawn.error == pytest.approx(by_t.error, rel=0.05)
    assert paired_bootstrap(first, second, "another digest") != drawn
    medians = paired_bootstrap(first, second, "digest", "median")
    assert medians.difference == pytest.approx(np.median(first) - np.median(second))


def test_bootstrap_by_cluster_divides_by_the_items_that_were_drawn() -> None:
    first, second = [1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 0.0]
    drawn = paired_bootstrap(first, second, "d", "mean", ["a", "a", "a", "b"], rounds=200)
    assert (drawn.low, drawn.high) == (0.0, 1.0)
    assert paired_bootstrap(first, second, "d", "mean", ["a"] * 4).p is None


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_adjusted_p_values_follow_their_definitions(pvalues: list[float]) -> None:
    expected = [
        min(1.0, max((sum(q >= other for q in pvalues)) * other for other in pvalues if other <= p))
        for p in pvalues
    ]
    assert holm(pvalues) == pytest.approx(expected)
    assert benjamini_hochberg(pvalues) == pytest.approx(stats.false_discovery_control(pvalues))


def test_adjusted_p_values_agree_with_statsmodels() -> None:
    generator = np.random.default_rng(1)
    for size in (1, 2, 9):
        pvalues = generator.random(size) ** 3
        assert holm(pvalues) == pytest.approx(multipletests(pvalues, method="holm")[1])
        expected = multipletests(pvalues, method="fdr_bh")[1]
        assert benjamini_hochberg(pvalues) == pytest.approx(expected)


def test_adjusting_nothing_gives_nothing_and_refuses_what_is_no_p() -> None:
    assert holm([]) == []
    for bad in ([0.5, 1.5], [math.nan]):
        with pytest.raises(ValueError, match="p-values"):
            benjamini_hochberg(bad)


def test_items_for_three_points_are_872() -> None:
    assert items_needed(0.03, 0.1) == 872
    assert smallest_detectable_difference(0.1, 872) == pytest.approx(0.03, abs=2e-5)
    assert smallest_detectable_difference(0.1, 871) > 0.03  # type: ignore[operator]
    assert smallest_detectable_difference(0.1, 0) is None
    assert items_needed(0.03, 0.1, power=0.9) == math.ceil((1.96 + 1.28) ** 2 * 0.1 / 0.0009)
    with pytest.raises(ValueError, match="difference of 0"):
        items_needed(0.0, 0.1)
    with pytest.raises(ValueError, match="variance"):
        items_needed(0.1, -1.0)


def test_fragility_of_pass_rates_is_one_more_than_the_lead() -> None:
    assert fragility([1] * 107 + [0] * 77, [1] * 102 + [0] * 82) == 6
    assert fragility([1, 0], [0, 1]) == 1
    assert fragility([0.1] * 5, [0.9] * 5, 0.0, 1.0, "down") == 5
    with pytest.raises(ValueError, match="paired"):
        fragility([1], [1, 0])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=4))
def test_fragility_is_the_fewest_changes_that_reverse_the_order(
    pairs: list[tuple[int, int]],
) -> None:
    first, second = (np.array([pair[side] for pair in pairs]) / 4 for side in (0, 1))
    if first.sum() < second.sum():
        first, second = second, first
    gains = sorted([*first, *(1 - second)], reverse=True)
    enough = [k for k in range(1, len(gains) + 1) if sum(gains[:k]) > first.sum() - second.sum()]
    assert fragility(first, second) == (enough[0] if enough else None)
