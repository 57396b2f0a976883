from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats import inter_rater

from adjudication.agreement import (
    FUNCTIONS,
    AgreementReport,
    Resampling,
    agreement_report,
    cohen_kappa,
    confusion_matrix,
    fleiss_kappa,
    gwet_ac1,
    gwet_ac2,
    krippendorff_alpha,
    percent_agreement,
    prevalence,
)

DRAWS = Resampling(seed_digest="queue", rounds=400)

tables = st.lists(
    st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3
).filter(lambda table: sum(map(sum, table)) > 1)
rating = st.one_of(st.none(), st.integers(0, 3))
ratings = st.lists(st.lists(rating, min_size=3, max_size=3), min_size=2, max_size=20)


def expand(table: Sequence[Sequence[int]]) -> list[list[int]]:
    return [
        [row, column]
        for row, counts in enumerate(table)
        for column, count in enumerate(counts)
        for _ in range(count)
    ]


def categories_used(units: Sequence[Sequence[Any]]) -> int:
    pairable = [[r for r in unit if r is not None] for unit in units]
    return len({r for unit in pairable if len(unit) > 1 for r in unit})


@pytest.mark.parametrize(
    ("table", "percent", "kappa", "ac1"),
    [
        ([[95, 2], [3, 0]], 0.95, -0.0246, 0.9474),
        ([[40, 5], [5, 50]], 0.90, 0.7980, 0.8020),
    ],
)
def test_two_by_two_tables_give_the_published_figures(
    table: list[list[int]], percent: float, kappa: float, ac1: float
) -> None:
    figures = [f(table).point or 0.0 for f in (percent_agreement, cohen_kappa, gwet_ac1)]
    assert [round(figure, 4) for figure in figures] == [percent, kappa, ac1]


def test_fleiss_gives_the_published_kappa() -> None:
    assert fleiss_kappa([[3, 0], [2, 1], [0, 3], [1, 2]]).point == pytest.approx(1 / 3)


def test_krippendorff_gives_the_published_alpha() -> None:
    texts = ["PP-", "PFP", "FFF", "F-F", "PPP", "P--"]
    units = [[None if letter == "-" else letter for letter in text] for text in texts]
    alpha = krippendorff_alpha(units)
    assert alpha.point == pytest.approx(0.714286, abs=5e-7)
    assert alpha.n == 5


def test_krippendorffs_own_example_at_three_levels() -> None:
    coders = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    units = [list(unit) for unit in zip(*coders, strict=True)]
    assert krippendorff_alpha(units).point == pytest.approx(0.743, abs=5e-4)
    assert krippendorff_alpha(units, "ordinal").point == pytest.approx(0.815, abs=5e-4)
    assert krippendorff_alpha(units, "interval").point == pytest.approx(0.849, abs=5e-4)


@settings(max_examples=40, deadline=None)
@given(tables, st.sampled_from(["identity", "linear", "quadratic"]))
def test_kappa_agrees_with_statsmodels(table: list[list[int]], weights: Any) -> None:
    kappa = cohen_kappa(table, weights).point
    if categories_used(expand(table)) < 2:
        assert kappa is None
        return
    options = {"identity": {}, "linear": {"wt": "linear"}, "quadratic": {"wt": "quadratic"}}
    expected = inter_rater.cohens_kappa(np.array(table), return_results=False, **options[weights])
    assert kappa == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 2), min_size=4, max_size=4), min_size=2, max_size=12))
def test_fleiss_agrees_with_statsmodels(units: list[list[int]]) -> None:
    counts = np.array([[unit.count(category) for category in range(3)] for unit in units])
    kappa = fleiss_kappa(counts).point
    if categories_used(units) < 2:
        assert kappa is None
    else:
        assert kappa == pytest.approx(inter_rater.fleiss_kappa(counts), abs=1e-9)


@settings(max_examples=80, deadline=None)
@given(ratings, st.sampled_from(["nominal", "ordinal", "interval"]))
def test_alpha_agrees_with_the_krippendorff_package(units: list[list[Any]], level: Any) -> None:
    alpha = krippendorff_alpha(units, level)
    if categories_used(units) < 2:
        assert alpha.point is None
        assert alpha.note
        return
    numbers = np.array(units, dtype=float).T
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        expected = krippendorff.alpha(numbers, level_of_measurement=level)
    assert alpha.point == pytest.approx(expected, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(tables)
def test_ac1_and_ac2_follow_gwets_definition(table: list[list[int]]) -> None:
    counts = np.array(table, dtype=float)
    n, q = counts.sum(), 3
    if categories_used(expand(table)) < 2:
        assert gwet_ac1(table).point is None
        return
    shares = (counts.sum(axis=0) + counts.sum(axis=1)) / (2 * n)
    distance = np.abs(np.subtract.outer(np.arange(q), np.arange(q))) / (q - 1)
    for weights, figure in ((np.eye(q), gwet_ac1), (1 - distance**2, gwet_ac2)):
        observed = (weights * counts).sum() / n
        chance = weights.sum() / (q * (q - 1)) * (shares * (1 - shares)).sum()
        expected = (observed - chance) / (1 - chance)
        assert figure(table).point == pytest.approx(expected, abs=1e-9)


@settings(max_examples=30, deadline=None)
@given(ratings, st.permutations(range(3)), st.permutations([0, 1, 2, 3]))
def test_names_of_raters_and_of_nominal_categories_do_not_matter(
    units: list[list[Any]], raters: list[int], names: list[int]
) -> None:
    renamed = [
        [None if unit[rater] is None else names[unit[rater]] for rater in raters] for unit in units
    ]
    one, other = krippendorff_alpha(units).point, krippendorff_alpha(renamed).point
    assert one == pytest.approx(other) if one is not None else other is None


def test_high_prevalence_is_told_and_ac1_stands_beside() -> None:
    units = [["pass", "pass"]] * 95 + [["pass", "fail"]] * 2 + [["fail", "pass"]] * 3
    report = agreement_report(units, DRAWS)
    shown = [
        report.percent.point,
        report.kappa and report.kappa.point,
        report.ac1 and report.ac1.point,
    ]
    assert [round(figure or 0.0, 3) for figure in shown] == [0.95, -0.025, 0.947]
    assert [(share.category, share.count) for share in report.prevalence] == [
        ("fail", 5),
        ("pass", 195),
    ]
    assert any(
        note.startswith("Prevalence: 98% of the ratings are 'pass'") for note in report.notes
    )
    balanced = agreement_report([["a", "a"], ["b", "b"], ["a", "b"]] * 10, DRAWS)
    assert (balanced.ac1, balanced.notes) == (None, ())


def test_one_category_overall_is_undefined_and_not_perfect() -> None:
    report = agreement_report([["pass", "pass"]] * 40, DRAWS, scale=["fail", "pass"])
    for coefficient in (report.alpha, report.kappa, report.ac1):
        assert coefficient is not None
        assert coefficient.point is None
        assert coefficient.low is None
        assert coefficient.note.startswith("Undefined")
    assert report.percent.point == 1.0
    assert "coefficients are undefined" in report.notes[0]
    for figure in (cohen_kappa, gwet_ac1):
        assert figure([[7, 0], [0, 0]]).point is None
    assert fleiss_kappa([[3, 0], [3, 0]]).point is None


def test_fewer_than_thirty_doubly_reviewed_items_are_too_few() -> None:
    for doubly, too_few in ((29, True), (30, False)):
        units = [["a", "b"], ["a", "a"]] * 20
        report = agreement_report(units[:doubly] + [["a", None]] * 5, DRAWS)
        assert (report.units, report.doubly, report.is_too_few) == (doubly + 5, doubly, too_few)
        assert report.notes[:1] == (
            ("Too few to judge: 29 doubly reviewed items, and 30 are needed.",) if too_few else ()
        )


def applying(report: AgreementReport) -> list[str]:
    names = ("kappa", "weighted_kappa", "fleiss", "ac1", "ac2")
    return [name for name in names if getattr(report, name) is not None]


def test_each_coefficient_is_shown_where_it_applies() -> None:
    two = [[0, 1], [1, 1], [2, 2]]
    three = [[*unit, 0] for unit in two]
    assert applying(agreement_report(two, DRAWS)) == ["kappa"]
    assert applying(agreement_report(two, DRAWS, "ordinal")) == ["kappa", "weighted_kappa"]
    assert applying(agreement_report(three, DRAWS)) == ["fleiss"]
    assert applying(agreement_report([*three, [1, None, 1]], DRAWS)) == []
    mostly = [[3, 3]] * 9 + [[3, 2]]
    assert applying(agreement_report(mostly, DRAWS, "ordinal"))[-2:] == ["ac1", "ac2"]
    assert applying(agreement_report([], DRAWS)) == []
    assert agreement_report([], DRAWS).percent.note == "No unit has two ratings."


def test_intervals_are_drawn_by_record_and_repeat_themselves() -> None:
    generator = np.random.default_rng(2)
    records = [record for record in range(25) for _ in range(4)]
    agrees = np.repeat(generator.random(25) < 0.7, 4)
    first = generator.integers(0, 2, 100)
    units = [[int(a), int(a if same else 1 - a)] for a, same in zip(first, agrees, strict=True)]
    by_unit = agreement_report(units, DRAWS)
    by_record = agreement_report(
        units, Resampling(seed_digest="queue", clusters=records, rounds=400)
    )
    assert by_unit == agreement_report(units, DRAWS)
    for one, other in ((by_unit.alpha, by_record.alpha), (by_unit.percent, by_record.percent)):
        assert one.point == other.point
        assert None not in (one.low, one.high, other.low, other.high)
        assert one.low <= one.point <= one.high  # type: ignore[operator]
        assert other.high - other.low > 1.4 * (one.high - one.low)  # type: ignore[operator]
    single = Resampling(seed_digest="queue", clusters=["r"] * 100)
    assert agreement_report(units, single).alpha.note == "Fewer than 2 records: no interval."


def test_the_interval_of_percent_agreement_is_about_that_of_a_share() -> None:
    units = [[1, 1]] * 160 + [[1, 0]] * 40
    interval = agreement_report(units, Resampling(seed_digest="q")).percent
    half = 1.96 * (0.8 * 0.2 / 200) ** 0.5
    assert (interval.low, interval.high) == pytest.approx((0.8 - half, 0.8 + half), abs=0.011)


def test_units_weigh_by_the_inverse_of_their_inclusion_probability() -> None:
    units = [[1, 1]] * 10 + [[1, 0]] * 10
    inclusion = [0.1] * 10 + [0.4] * 10
    weighted = Resampling(seed_digest="q", inclusion=inclusion, rounds=50)
    assert agreement_report(units, weighted).percent.point == pytest.approx(0.8)
    assert [share.share for share in prevalence(units, inclusion=inclusion)] == pytest.approx(
        [0.1, 0.9]
    )
    even = Resampling(seed_digest="q", inclusion=[0.3] * 20, rounds=50)
    plain = Resampling(seed_digest="q", rounds=50)
    assert agreement_report(units, even).alpha.point == pytest.approx(
        agreement_report(units, plain).alpha.point
    )
    with pytest.raises(ValueError, match="inclusion probability"):
        prevalence(units, inclusion=[0.0] * 20)


def test_confusion_matrix_crosses_units_that_both_rated() -> None:
    matrix = confusion_matrix(["p", "f", "p", None], ["p", "p", "f", "p"], scale=["p", "f"])
    assert (matrix.counts, matrix.n, matrix.left_out) == (((1, 1), (1, 0)), 3, 1)
    assert confusion_matrix([], []).counts == ()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: krippendorff_alpha([["a"], ["a", "b"]]), "one place for each rater"),
        (lambda: krippendorff_alpha([["a", "z"]], scale=["a", "b"]), "not on the scale"),
        (lambda: krippendorff_alpha([["a", "b"]], "interval"), "are numbers"),
        (lambda: krippendorff_alpha([[n, n] for n in range(101)], "ordinal"), "too many"),
        (lambda: fleiss_kappa([[3, 0], [2, 0]]), "same number of ratings"),
        (lambda: fleiss_kappa([[1, 0]]), "at least 2"),
        (lambda: cohen_kappa([[1, 2, 3]]), "square table"),
        (lambda: cohen_kappa([[1, -2], [0, 1]]), "square table"),
        (lambda: confusion_matrix(["a"], []), "shorter"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_documented_functions_take_plain_arguments() -> None:
    assert list(FUNCTIONS) == sorted(FUNCTIONS)
    report = FUNCTIONS["agreement_report"](
        units=json.loads('[["a", "a"], ["a", null]]'), resampling={"seed_digest": "q"}
    )
    assert isinstance(report, AgreementReport)
    assert report.doubly == 1
