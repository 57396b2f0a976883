"""Agreement, gold and judges in numbers: by hand, without a database."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from academy.intervals import wilson
from academy.judge_matrix import Judge, JudgeVerdict, PersonVerdict, judges_against_people, settled
from adjudication import calibration, concordance
from adjudication.calibration import GoldResult, gold_figures
from adjudication.concordance import Asked, Unit, agreement_on
from tests.adjudication.reports.asking import FAILURE_25, pairs
from tests.adjudication.reviews import MINUTE

MET = Asked("m", "The total is right", "met", ("met", "not met"))
RATING = Asked("r", "Clarity", "rating", (0, 1, 2, 3))


def units(answers: Any, asked: Asked = MET, inclusion: float = 1.0) -> list[Unit]:
    return [Unit(place, asked, tuple(given), inclusion) for place, given in enumerate(answers)]


def test_one_frequent_answer_gives_high_percent_low_kappa_high_ac1_and_a_note() -> None:
    found = agreement_on(MET, units(FAILURE_25), "queue")
    assert found.n == 100
    assert found.report is not None and found.report.kappa and found.report.ac1
    assert found.report.percent.point == pytest.approx(0.95)
    assert found.report.kappa.point == pytest.approx(-0.0246, abs=5e-5)
    assert found.report.ac1.point == pytest.approx(0.9474, abs=5e-5)
    assert any("Prevalence" in note for note in found.report.notes)


def test_coefficients_of_one_answer_overall_are_undefined_not_one() -> None:
    found = agreement_on(MET, units(pairs(("met", "met", 40))), "queue").report
    assert found is not None and found.kappa and found.ac1
    assert found.percent.point == 1.0
    assert [found.alpha.point, found.kappa.point, found.ac1.point] == [None, None, None]
    assert "undefined" in " ".join(found.notes)


def test_ratings_are_compared_as_ordered_and_near_misses_weigh_less() -> None:
    near = [(0, 1), (1, 2), (2, 3), (3, 2), (1, 0), (0, 0), (2, 2), (3, 3)] * 5
    far = [(0, 3), (1, 3), (2, 0), (3, 0), (1, 3), (0, 0), (2, 2), (3, 3)] * 5
    close, apart = (
        agreement_on(RATING, units(answers, RATING), "q").report for answers in (near, far)
    )
    assert close is not None and apart is not None
    assert close.weighted_kappa is not None and apart.weighted_kappa is not None
    assert close.percent.point == apart.percent.point
    assert (close.weighted_kappa.point or 0) > (apart.weighted_kappa.point or 0) + 0.5
    assert close.alpha.method == "alpha-ordinal"


def test_answers_beside_an_ordered_scale_are_left_out_and_counted() -> None:
    found = agreement_on(RATING, units([(1, 1), (2, "N/A"), ("N/A", "N/A"), (3, 2)], RATING), "q")
    assert (found.n, found.left_out) == (2, 2)


def test_quantities_have_percent_and_alpha_by_distance() -> None:
    asked = Asked("area", "area", "number")
    found = agreement_on(asked, units([(10.0, 10.0), (20.0, 20.5), (30.0, 30.0)], asked), "q")
    assert found.report is not None
    assert found.report.percent.point == pytest.approx(2 / 3)
    assert (found.report.alpha.point or 0) > 0.99


def test_questions_come_with_the_least_agreement_first() -> None:
    other = Asked("o", "The file is named", "met", ("met", "not met"))
    listed = concordance.by_question(
        [*units(pairs(("met", "met", 9))), *units(pairs(("met", "not met", 3)), other)]
    )
    assert [asked.label for asked, _units in listed] == ["The file is named", "The total is right"]


def test_resamples_get_fewer_for_many_items_and_never_below_two_hundred() -> None:
    assert [concordance.rounds_for(n) for n in (0, 30, 1000, 4000, 10**6)] == [
        2000,
        2000,
        2000,
        500,
        200,
    ]


def gold(rights: list[bool]) -> list[GoldResult]:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    return [
        GoldResult(place, place, 7, start + place * MINUTE, 3 if right else 2, 3)
        for place, right in enumerate(rights)
    ]


def test_gold_accuracy_has_a_wilson_interval_and_drift_compares_the_last_twenty() -> None:
    figures = gold_figures(gold([True] * 30 + [False] * 10 + [True] * 10))
    assert figures.n == 50
    assert (figures.accuracy.low, figures.accuracy.high) == (
        wilson(40, 50).low,
        wilson(40, 50).high,
    )
    assert (figures.recent.point, figures.recent.n) == (0.5, 20)
    assert (figures.before.point, figures.before.n) == (1.0, 30)
    assert figures.word == "lower than before"


def test_gold_items_may_come_in_any_order() -> None:
    listed = gold([True] * 25 + [False] * 5)
    assert gold_figures(listed) == gold_figures(listed[::-1])


def test_no_drift_is_told_without_items_before_the_last_twenty() -> None:
    figures = gold_figures(gold([True, False] * 5))
    assert figures.before.n == 0
    assert figures.drift.point is None
    assert figures.word == "not known yet"


def test_the_difference_of_two_shares_is_newcombes_published_one() -> None:
    found = calibration.difference(wilson(56, 70), wilson(48, 80))
    assert found.point == pytest.approx(0.2)
    assert (found.low, found.high) == (
        pytest.approx(0.0524, abs=5e-5),
        pytest.approx(0.3339, abs=5e-5),
    )


def judge_verdicts(
    judge: Judge, entrant: str, values: list[bool], start: int = 0
) -> list[JudgeVerdict]:
    return [
        JudgeVerdict(judge, entrant, start + place, 1, "met" if value else "not met")
        for place, value in enumerate(values)
    ]


def test_a_judge_is_corrected_by_what_people_found() -> None:
    judge = Judge("example-judge", "1", "a")
    values = [True] * 80 + [False] * 20
    # Of 40 checked passes people uphold 36; of 20 checked fails people pass 4.
    people = {
        (place, 1): concordance_word("met" if place < 36 or place >= 96 else "not met")
        for place in [*range(40), *range(80, 100)]
    }
    (found,) = judges_against_people(judge_verdicts(judge, "A", values), people, "v")
    assert (found.judged, found.pairs, found.unclear) == (100, 60, 0)
    assert (
        found.report.pooled_errors.false_pass,
        found.report.pooled_errors.false_fail,
    ) == (4, 4)
    q1, q0 = 36 / 40, 16 / 20
    assert found.report.pooled_rate.point == pytest.approx((0.8 + q0 - 1) / (q0 + q1 - 1))
    assert found.matrix.counts == ((36, 4), (4, 16))


def concordance_word(said: str) -> Any:
    verdicts = [PersonVerdict(record=0, criterion=1, person=1, said=said)]
    return settled(verdicts)[(0, 1)]


def test_two_judges_under_one_name_are_told_apart_by_version_and_digest() -> None:
    judges = [Judge("example-judge", "1", "a"), Judge("example-judge", "1", "b"),
              Judge("example-judge", "2", "a")]  # fmt: skip
    verdicts = [one for judge in judges for one in judge_verdicts(judge, "A", [True, False])]
    assert [found.judge for found in judges_against_people(verdicts, {}, "v")] == judges


def test_unequal_errors_of_a_judge_over_entrants_are_found() -> None:
    judge = Judge("example-judge", "1", "a")
    verdicts = [
        *judge_verdicts(judge, "Lucky", [True] * 40),
        *judge_verdicts(judge, "Honest", [True] * 20 + [False] * 20, start=100),
    ]
    people = {
        (place, 1): concordance_word("met" if place % 40 < 20 else "not met") for place in range(40)
    } | {
        (100 + place, 1): concordance_word("met" if place < 20 else "not met")
        for place in range(40)
    }
    (found,) = judges_against_people(verdicts, people, "v")
    assert found.report.equal.p is not None and found.report.equal.p < 0.001


def test_persons_who_differ_settle_nothing_until_a_resolution_does() -> None:
    split = [
        PersonVerdict(record=1, criterion=1, person=1, said="met"),
        PersonVerdict(record=1, criterion=1, person=2, said="not met"),
    ]
    assert settled(split) == {(1, 1): None}
    third = PersonVerdict(1, 1, 3, "not met", is_resolution=True, inclusion=0.1)
    word = settled([*split, third])[(1, 1)]
    assert word is not None and word.said == "not met"
