"""Percent errors of quantities, by the original's rules and by the strict ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.bundle import RecordView
from academy.errors import ScoringError
from academy.scorers.base import NO_DECISIONS, Mode, Verdict, VerdictStatus
from academy.scorers.percent_error import SCORERS, check

PARAMS: dict[str, Any] = {
    "pass_mark": 6.0,
    "pass_mark_unit": "percent",
    "reference_pass_mark": 6.0,
    "missing": 100.0,
    "cap": 100.0,
}
BY_MODE = {scorer.mode: scorer for scorer in SCORERS}


def q(item: str, value: Any, unit: str = "sf", room: str | None = None) -> dict[str, Any]:
    row = {"item": item, "value": value, "unit": unit}
    return row if room is None else {**row, "roomId": room}


def score(mode: Mode, truths: Any, answers: Any, **params: Any) -> Verdict:
    key = None if truths is None else {"quantities": truths}
    record = RecordView(answer={"quantities": answers})
    return BY_MODE[mode].score(record, key, NO_DECISIONS, {**PARAMS, **params})


BOTH = [
    ("exact", [q("a", 240)], [q("a", 240)], 0.0, 0.0),
    ("five percent", [q("a", 100)], [q("a", 105)], 5.0, 5.0),
    ("nothing said", [q("a", 100)], [], 100.0, 100.0),
    ("names by case and space", [q("Floor  Drain", 5)], [q(" floor drain", 5)], 0.0, 0.0),
    ("names in unicode", [q("Größe", 5)], [q("GRÖSSE", 5), q("GRÖẞE", 10)], 100.0, 100.0),
    ("a wild answer", [q("a", 1)], [q("a", 11)], 1000.0, 100.0),
    ("a deduct", [q("a", -10)], [q("a", -9)], 10.0, 10.0),
    ("zero and zero", [q("a", 0)], [q("a", 0)], 0.0, 0.0),
    ("zero and one", [q("a", 0)], [q("a", 1)], 1e11, 100.0),
    ("other unit, same number", [q("a", 240)], [q("a", 240, "sy")], 0.0, 100.0),
    ("converted area", [q("a", 240)], [q("a", 240 / 9, "sy")], 88.89, 0.0),
    ("unit that does not fit", [q("a", 240)], [q("a", 240, "lf")], 0.0, 100.0),
    ("unknown unit by name", [q("a", 0.1, "ft/px")], [q("a", 0.1, "FT/PX")], 0.0, 0.0),
    ("room instead of item", [q("a", 9, room="R1")], [q("b", 9, room="r1")], 0.0, 0.0),
    ("only answer of the unit", [q("a", 9)], [q("b", 9)], 0.0, 0.0),
    ("two answers of the unit", [q("a", 9)], [q("b", 9), q("c", 1)], 0.0, 100.0),
    ("one answer, two truths", [q("a", 10), q("b", 10)], [q("c", 10)], 0.0, 100.0),
    ("one name twice in the key", [q("a", 10), q("a", 10)], [q("a", 10)], 0.0, 50.0),
    ("first of two answers", [q("a", 10)], [q("a", 5), q("a", 10)], 50.0, 50.0),
    ("room tells two apart", [q("a", 10, room="2")], [q("a", 5, room="1"), q("a", 10, room="2")],
     50.0, 0.0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("truths", "answers", "reference", "strict"),
    [case[1:] for case in BOTH],
    ids=[case[0] for case in BOTH],
)
def test_errors_in_both_modes(truths: Any, answers: Any, reference: float, strict: float) -> None:
    assert score(Mode.REFERENCE, truths, answers).value == reference
    assert score(Mode.STRICT, truths, answers).value == pytest.approx(strict, abs=1e-9)


def test_without_a_key_nothing_can_be_known() -> None:
    for mode in Mode:
        verdict = score(mode, None, [q("a", 1)])
        assert verdict.status is VerdictStatus.UNSCORABLE
        assert verdict.value is verdict.passed is None


def test_an_empty_key_is_perfect_by_reference_and_no_key_in_strict_mode() -> None:
    assert score(Mode.REFERENCE, [], [q("a", 1)]).value == 0
    assert score(Mode.STRICT, [], [q("a", 1)]).status is VerdictStatus.UNSCORABLE


def test_a_missing_answer_is_a_score_and_not_unscorable() -> None:
    record = RecordView(answer=None)
    for scorer in SCORERS:
        verdict = scorer.score(record, {"quantities": [q("a", 1)]}, NO_DECISIONS, PARAMS)
        assert (verdict.value, verdict.credit, verdict.passed) == (100.0, 0.0, False)


def test_reference_reads_null_as_zero_and_text_as_a_number_but_strict_does_not() -> None:
    assert score(Mode.REFERENCE, [q("a", 240)], [q("a", None)]).value == 100
    assert score(Mode.REFERENCE, [q("a", 240)], [q("a", "240")]).value == 0
    assert score(Mode.STRICT, [q("a", 240)], [q("a", "240")]).value == 100
    assert score(Mode.STRICT, [q("a", 1)], [q("a", True)]).value == 100


def test_a_value_that_is_no_number_cannot_be_scored_by_reference() -> None:
    verdict = score(Mode.REFERENCE, [q("a", 240)], [q("a", "many")])
    assert verdict.status is VerdictStatus.UNSCORABLE


def test_the_tolerance_has_a_unit_in_strict_mode_only() -> None:
    marks = {"pass_mark": 0.06, "pass_mark_unit": "fraction", "reference_pass_mark": 0.06}
    truths, answers = [q("a", 100)], [q("a", 106)]
    assert score(Mode.REFERENCE, truths, answers, **marks).passed is False
    assert score(Mode.STRICT, truths, answers, **marks).passed is True


def test_the_mean_is_taken_of_errors_that_are_not_rounded() -> None:
    truths = [q("a", 240), q("b", 168), q("c", 80)]
    verdict = score(Mode.REFERENCE, truths, [q("a", 244), q("b", 165), q("c", 81)])
    assert verdict.value == 1.57
    assert verdict.measures["item_errors"] == [1.67, 1.79, 1.25]


def test_measures_never_hold_what_the_key_says() -> None:
    truths = [q("canary item", 123.456, room="canary room")]
    for mode in Mode:
        shown = str(score(mode, truths, [q("x", 120)]).measures)
        assert "canary" not in shown
        assert "123.456" not in shown


@given(
    st.lists(st.floats(min_value=0.01, max_value=1e6), min_size=1, max_size=5),
    st.lists(st.floats(min_value=-1e6, max_value=1e6), max_size=6),
)
def test_strict_errors_lie_between_nothing_and_all(
    truths: list[float], answers: list[float]
) -> None:
    verdict = score(
        Mode.STRICT,
        [q(f"t{place}", value) for place, value in enumerate(truths)],
        [q(f"t{place}", value) for place, value in enumerate(answers)],
    )
    assert verdict.value is not None
    assert verdict.credit is not None
    assert 0 <= verdict.value <= 100
    assert verdict.credit == pytest.approx(1 - verdict.value / 100)


@given(st.permutations([q("a", 1), q("b", 2), q("c", 3)]))
def test_the_order_of_answers_with_different_names_does_not_matter(answers: Any) -> None:
    truths = [q("a", 1), q("b", 2), q("c", 3)]
    for mode in Mode:
        assert score(mode, truths, answers).value == 0


@pytest.mark.parametrize(
    "change",
    [
        {"cap": 0},
        {"cap": -1},
        {"missing": None},
        {"pass_mark": "6"},
        {"pass_mark": True},
        {"pass_mark_unit": "permille"},
        {"reference_pass_mark": 10**400},
        {"more": 1},
    ],
)
def test_parameters_that_could_not_score_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ScoringError):
        check(None, {**PARAMS, **change})


def test_no_parameter_has_a_default() -> None:
    for name in PARAMS:
        lacking = {key: value for key, value in PARAMS.items() if key != name}
        with pytest.raises(ScoringError):
            check(None, lacking)


def test_a_key_that_cannot_be_read_is_refused() -> None:
    check({"quantities": [q("a", 1)]}, PARAMS)
    for key in ([], "240", {"quantities": [{"item": "a"}]}, {"quantities": [q("a", "1")]}):
        with pytest.raises(ScoringError):
            check(key, PARAMS)
