from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from leaderboard.comparison import compare, pair_matrix
from leaderboard.entries import Entry, ItemState, Policy
from leaderboard.paired import mcnemar_exact, paired_bootstrap, paired_difference, paired_t

PASS = Policy(direction="up", kind="pass", missing_value=0.0, rounds=300)
GRADED = replace(PASS, kind="graded", range=(0.0, 1.0))
LABELS = [item // 3 for item in range(60)]


def entrants(count: int, passing: bool) -> list[Entry]:
    generator = np.random.default_rng(11)
    values = generator.random((count, 60)) + np.linspace(0.2, 0, count)[:, None]
    values = (values > 0.5).astype(float) if passing else values
    return [Entry(f"e{number}", row) for number, row in enumerate(values)]


def test_the_test_is_that_of_the_statistic_that_ranks() -> None:
    first, second = entrants(2, passing=True)
    by_policy = {
        "mcnemar": PASS,
        "t": replace(PASS, replicates=3),
        "clustered-t": replace(PASS, clusters=LABELS),
        "bootstrap of the median": replace(PASS, statistic="median"),
        "bootstrap of the mean": replace(PASS, test="bootstrap"),
    }
    for test, policy in by_policy.items():
        (pair,) = compare([first, second], policy, "d")
        assert pair.result.test == test
    (pair,) = compare([first, second], PASS, "d")
    assert pair.result.p == mcnemar_exact(pair.result.only_first, pair.result.only_second)
    (pair,) = compare([first, second], replace(PASS, clusters=LABELS), "d")
    assert pair.result == paired_difference(first.values, second.values, LABELS)
    (pair,) = compare([first, second], replace(PASS, test="bootstrap"), "d")
    assert pair.result == paired_bootstrap(first.values, second.values, "d", rounds=300)


def test_common_items_are_those_with_a_value_for_both() -> None:
    states = [ItemState.SCORED, ItemState.FAILED, ItemState.WAITING, ItemState.SCORED]
    first = Entry("a", [1.0, None, None, 1.0], states)
    second = Entry("b", [0.0, 1.0, 1.0, 1.0])
    (pair,) = compare([first, second], GRADED, "d")
    assert (pair.result.n, pair.only_first, pair.only_second) == (3, (0,), (1,))
    assert (pair.first_score, pair.second_score) == (2 / 3, 2 / 3)
    struck = Entry("b", [None, 1.0, 1.0, 1.0], [ItemState.STRUCK, 0, 0, 0])
    (pair,) = compare([first, struck], GRADED, "d")
    assert (pair.result.n, pair.only_first, pair.only_second) == (2, (), (1,))


def test_all_pairs_are_adjusted_for_their_number() -> None:
    four = entrants(4, passing=False)
    raw = [pair.result.p for pair in compare(four, GRADED, "d")]
    assert raw[0] == paired_t(four[0].values, four[1].values).p
    for adjustment, method in (("holm", "holm"), ("benjamini_hochberg", "fdr_bh")):
        pairs = compare(four, GRADED, "d", adjustment)  # type: ignore[arg-type]
        assert [(pair.first, pair.second) for pair in pairs] == [
            *(("e0", "e1"), ("e0", "e2"), ("e0", "e3")),
            *(("e1", "e2"), ("e1", "e3"), ("e2", "e3")),
        ]
        adjusted = [pair.p_adjusted for pair in pairs]
        assert adjusted == pytest.approx(multipletests(raw, method=method)[1])
        assert [pair.is_separable for pair in pairs] == [
            p < 0.05 for p in adjusted if p is not None
        ]


def test_a_comparison_says_what_it_can_detect_and_what_it_would_need() -> None:
    first, second = entrants(2, passing=False)
    (pair,) = compare([first, second], GRADED, "d")
    variance = float(np.var(np.asarray(first.values) - np.asarray(second.values), ddof=1))
    difference = pair.result.difference or 0.0
    assert pair.detectable == pytest.approx(2.8 * (variance / 60) ** 0.5)
    assert pair.needed == int(np.ceil(2.8**2 * variance / difference**2))


def test_an_entry_without_anything_in_common_cannot_be_compared() -> None:
    (pair,) = compare(
        [Entry("a", [1.0, None]), Entry("b", [None, None])], replace(PASS, missing_value=None), "d"
    )
    assert (pair.p_adjusted, pair.is_separable, pair.needed) == (None, None, None)
    assert "no item in common" in pair.result.note


@pytest.mark.parametrize(
    "policy",
    [
        PASS,
        GRADED,
        replace(GRADED, clusters=LABELS),
        replace(GRADED, test="bootstrap"),
        replace(GRADED, statistic="median", clusters=LABELS),
    ],
)
def test_the_matrix_of_all_pairs_holds_the_single_comparisons(policy: Policy) -> None:
    five = entrants(5, passing=policy.kind == "pass")
    matrix = pair_matrix(five, policy, "d")
    pairs = compare(five, policy, "d", "benjamini_hochberg")
    for pair in pairs:
        row, column = matrix.keys.index(pair.first), matrix.keys.index(pair.second)
        assert matrix.p[row, column] == pytest.approx(pair.result.p, rel=1e-9)
        assert matrix.p[column, row] == matrix.p[row, column]
        assert matrix.adjusted[row, column] == pytest.approx(pair.p_adjusted, rel=1e-9)
        assert matrix.difference[row, column] == pytest.approx(pair.result.difference)
    assert matrix.p.diagonal().tolist() == [1.0] * 5


def test_the_matrix_leaves_out_entries_with_items_without_value() -> None:
    waiting = Entry("w", [None] * 60, [ItemState.WAITING] * 60)
    assert pair_matrix([*entrants(2, passing=True), waiting], PASS, "d").keys == ("e0", "e1")
    with pytest.raises(ValueError, match="two clusters"):
        pair_matrix([Entry("a", [1.0])], PASS, "d")


def test_mcnemar_is_refused_for_graded_items() -> None:
    with pytest.raises(ValueError, match="McNemar"):
        compare(entrants(2, passing=False), replace(GRADED, test="mcnemar"), "d")
