from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from academy.intervals import wilson
from adjudication.agreement import (
    FUNCTIONS,
    Calibration,
    corrected_rate,
    equal_errors,
    judge_errors,
    judge_report,
    rogan_gladen,
)


def verdicts(counts: tuple[int, int, int, int]) -> dict[str, Any]:
    """True passes, false fails, false passes, true fails as person's and judge's lists."""
    pairs = [(True, True), (True, False), (False, True), (False, False)]
    both = [pair for pair, count in zip(pairs, counts, strict=True) for _ in range(count)]
    return {"person": [pair[0] for pair in both], "judge": [pair[1] for pair in both]}


def calibration(judged: list[bool], counts: tuple[int, int, int, int], **more: Any) -> Calibration:
    return Calibration(judged=judged, **verdicts(counts), **more)


def test_the_corrected_rate_is_the_published_one() -> None:
    assert rogan_gladen(0.80, 0.90, 0.85).point == pytest.approx(0.866667, abs=5e-7)


@settings(max_examples=50, deadline=None)
@given(st.floats(0, 1), st.floats(0.6, 1), st.floats(0.6, 1))
def test_correction_undoes_a_judges_errors(truth: float, q1: float, q0: float) -> None:
    judged = truth * q1 + (1 - truth) * (1 - q0)
    assert rogan_gladen(judged, q1, q0).point == pytest.approx(truth, abs=1e-9)


def test_the_corrected_rate_is_cut_to_a_share() -> None:
    assert rogan_gladen(0.05, 0.9, 0.9).point == 0.0
    assert rogan_gladen(0.99, 0.9, 0.9).point == 1.0


def test_a_judge_that_hardly_tells_is_refused() -> None:
    refused = rogan_gladen(0.5, 0.6, 0.5)
    assert refused.point is None
    assert refused.note == "Refused: q0 + q1 = 1.1 is not above 1.1."
    assert rogan_gladen(0.5, 0.61, 0.5).point is not None
    with pytest.raises(ValueError, match="between 0 and 1"):
        rogan_gladen(80, 0.9, 0.9)


def test_errors_of_a_judge_are_counted_with_wilson_intervals() -> None:
    errors = judge_errors(**verdicts((45, 5, 3, 27)))
    assert (errors.true_pass, errors.false_fail, errors.false_pass, errors.true_fail) == (
        *(45, 5, 3, 27),
    )
    assert (errors.sensitivity, errors.specificity) == (wilson(45, 50), wilson(27, 30))


def test_the_interval_resamples_both_sets() -> None:
    counts, judged = (450, 50, 45, 255), [True] * 80 + [False] * 20
    small = corrected_rate(calibration(judged, counts), "d")
    assert small.point == pytest.approx(0.866667, abs=5e-7)
    assert (small.n, small.note) == (100, "")
    more_judged = corrected_rate(calibration(judged * 20, counts), "d")
    fewer_pairs = corrected_rate(calibration(judged * 20, (45, 5, 5, 28)), "d")
    widths = [(i.high or 0.0) - (i.low or 0.0) for i in (small, more_judged, fewer_pairs)]
    assert widths[1] < 0.5 * widths[0]
    assert widths[2] > 1.5 * widths[1]
    assert corrected_rate(calibration(judged, counts), "d") == small


def test_the_interval_covers_the_true_rate() -> None:
    generator = np.random.default_rng(3)
    covered = 0
    for number in range(120):
        truth = generator.random(500) < 0.7
        judge = np.where(truth, generator.random(500) < 0.9, generator.random(500) < 0.2)
        pairs = Calibration(
            judged=judge[100:].tolist(), person=truth[:100].tolist(), judge=judge[:100].tolist()
        )
        interval = corrected_rate(pairs, str(number), rounds=300)
        covered += (interval.low or 0.0) <= 0.7 <= (interval.high or 1.0)
    assert 105 <= covered <= 119


def test_a_resample_in_which_the_judge_tells_nothing_could_mean_any_rate() -> None:
    interval = corrected_rate(calibration([True] * 10 + [False] * 90, (3, 2, 1, 4)), "d")
    assert (interval.low, interval.high) == (0.0, 1.0)


def test_records_hang_together() -> None:
    judged, counts = [True, False] * 50, (40, 10, 8, 42)
    alone = corrected_rate(calibration(judged, counts), "d")
    records = [number // 10 for number in range(100)]
    together = corrected_rate(
        calibration(sorted(judged), counts, judged_records=records, records=records), "d"
    )
    assert together.point == alone.point
    assert (together.high or 0.0) - (together.low or 0.0) > (alone.high or 0.0) - (alone.low or 0.0)
    single = corrected_rate(calibration(judged, counts, records=["r"] * 100), "d")
    assert (single.low, single.note) == (None, "Fewer than 2 records: no interval.")


def test_sampled_pairs_weigh_by_their_inclusion_probability() -> None:
    pairs = verdicts((10, 10, 0, 20))
    inclusion = [0.1] * 10 + [0.3] * 10 + [0.2] * 20
    weighted = corrected_rate(Calibration(judged=[True, False], **pairs, inclusion=inclusion), "d")
    assert weighted.point == pytest.approx(0.5 / 0.75)


@pytest.mark.parametrize(
    ("judged", "counts", "reason"),
    [
        ([], (5, 1, 1, 5), "no verdict"),
        ([True], (5, 1, 0, 0), "both a pass and a fail"),
        ([True], (0, 0, 0, 0), "both a pass and a fail"),
        ([True], (5, 5, 5, 5), "Refused: q0 + q1 = 1"),
    ],
)
def test_without_a_working_judge_there_is_no_rate(
    judged: list[bool], counts: tuple[int, int, int, int], reason: str
) -> None:
    interval = corrected_rate(calibration(judged, counts), "d")
    assert (interval.point, interval.low) == (None, None)
    assert reason in interval.note


def test_few_pairs_are_too_few_to_judge() -> None:
    interval = corrected_rate(calibration([True, False], (9, 1, 1, 9)), "d", rounds=50)
    assert interval.note == "Too few to judge: 20 doubly reviewed items, and 30 are needed."


def test_equal_errors_add_the_chi_squares_of_both_kinds() -> None:
    rows = [(40, 10, 6, 30), (30, 20, 12, 40)]
    result = equal_errors([judge_errors(**verdicts(row)) for row in rows])
    passes = stats.chi2_contingency([row[:2] for row in rows], correction=False)
    fails = stats.chi2_contingency([row[2:] for row in rows], correction=False)
    assert result.statistic == pytest.approx(passes.statistic + fails.statistic)
    assert (result.degrees, result.note) == (2, "")
    assert result.p == pytest.approx(stats.chi2.sf(result.statistic, 2))
    same = equal_errors([judge_errors(**verdicts(rows[0]))] * 3)
    assert same.p == 1.0
    assert equal_errors([]).p is None
    rough = equal_errors([judge_errors(**verdicts((3, 1, 1, 3)))] * 2)
    assert rough.note == "Some expected counts are below 5: rough."


def test_the_report_is_for_each_entrant_and_pooled() -> None:
    judged = [True] * 8 + [False] * 2
    report = judge_report(
        {
            "b": calibration(judged, (20, 2, 1, 9), records=list(range(32))),
            "a": calibration(judged, (18, 2, 2, 10), inclusion=[0.5] * 32),
        },
        "d",
        rounds=100,
    )
    assert list(report.rates) == ["a", "b"]
    assert report.pooled_errors.true_pass == 38
    assert report.pooled_rate.n == 20
    assert report.equal.degrees == 2
    assert report.rates["a"].point is not None


def test_corrected_rates_take_plain_arguments() -> None:
    plain = {"judged": [1, 0], "person": [1, 0] * 20, "judge": [1, 0] * 20}
    result = FUNCTIONS["corrected_rate"](plain, "d")
    assert getattr(result, "point", None) == 0.5
