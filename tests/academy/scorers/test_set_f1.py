"""F1 of named things, by the original's rules and by the strict ones."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.bundle import RecordView
from academy.errors import ScoringError
from academy.scorers.base import NO_DECISIONS, Mode, Verdict, VerdictStatus
from academy.scorers.set_f1 import SCORERS, check

PARAMS: dict[str, Any] = {
    "answer_list": "quantities",
    "answer_field": "item",
    "key_list": "scopeItems",
    "pass_mark": 0.85,
    "pass_mark_unit": "fraction",
    "reference_pass_mark": 0.85,
}
BY_MODE = {scorer.mode: scorer for scorer in SCORERS}


def score(mode: Mode, truth: Any, named: list[Any], **params: Any) -> Verdict:
    answer = {"quantities": [{"item": name, "value": 1, "unit": "ea"} for name in named]}
    key = None if truth is None else {"scopeItems": truth}
    record = RecordView(answer=answer)
    return BY_MODE[mode].score(record, key, NO_DECISIONS, {**PARAMS, **params})


CASES = [
    ("all", ["a", "b"], ["b", "a"], 1.0),
    ("none right", ["a", "b"], ["c"], 0.0),
    ("nothing named", ["a"], [], 0.0),
    ("one of three", ["a", "b", "c"], ["a"], 0.5),
    ("one too many", ["a", "b"], ["a", "b", "c"], 0.8),
    ("doubles and case collapse", ["a"], ["A", " a ", "a"], 1.0),
    ("blanks are dropped", ["a"], ["a", "", "  "], 1.0),
    ("unicode", ["Größe"], ["größe"], 1.0),
    ("no-break space", ["floor drain"], ["floor\u00a0drain"], 1.0),
]


@pytest.mark.parametrize(
    ("truth", "named", "value"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_f1_is_the_same_in_both_modes(truth: Any, named: Any, value: float) -> None:
    for mode in Mode:
        verdict = score(mode, truth, named)
        assert verdict.value == pytest.approx(value)
        assert verdict.credit == verdict.value


def test_reference_rounds_to_four_places_and_strict_does_not() -> None:
    truth = ["a", "b", "c", "d"]
    assert score(Mode.REFERENCE, truth, ["a", "b", "x"]).value == 0.5714
    assert score(Mode.STRICT, truth, ["a", "b", "x"]).value == pytest.approx(4 / 7)


def test_an_empty_truth_is_perfect_by_reference_and_no_key_in_strict_mode() -> None:
    assert score(Mode.REFERENCE, [], ["a"]).value == 1
    assert score(Mode.STRICT, [], ["a"]).status is VerdictStatus.UNSCORABLE
    assert score(Mode.STRICT, [" "], ["a"]).status is VerdictStatus.UNSCORABLE


def test_without_a_key_nothing_can_be_known() -> None:
    for mode in Mode:
        assert score(mode, None, ["a"]).status is VerdictStatus.UNSCORABLE


def test_higher_is_better_at_the_pass_mark() -> None:
    truth = ["a", "b"]
    assert score(Mode.STRICT, truth, ["a", "b"]).passed is True
    assert score(Mode.STRICT, truth, ["a", "b", "c"]).passed is False
    marks = {"pass_mark": 80, "pass_mark_unit": "percent", "reference_pass_mark": 80}
    assert score(Mode.STRICT, truth, ["a", "b", "c"], **marks).passed is True
    assert score(Mode.REFERENCE, truth, ["a", "b"], **marks).passed is False


def test_measures_never_hold_names_of_the_key() -> None:
    for mode in Mode:
        assert "canary" not in str(score(mode, ["canary"], ["a"]).measures)


@given(st.sets(st.text(max_size=4), max_size=6), st.sets(st.text(max_size=4), max_size=6))
def test_f1_lies_between_nothing_and_one_and_is_symmetric(a: set[str], b: set[str]) -> None:
    one, other = score(Mode.STRICT, sorted(a), sorted(b)), score(Mode.STRICT, sorted(b), sorted(a))
    if one.value is not None and other.value is not None:
        assert 0 <= one.value <= 1
        assert one.value == pytest.approx(other.value)


@pytest.mark.parametrize(
    "change",
    [{"key_list": ""}, {"answer_field": None}, {"pass_mark": "x"}, {"pass_mark_unit": "f1"}],
)
def test_parameters_that_could_not_score_are_refused(change: dict[str, Any]) -> None:
    check({"scopeItems": []}, PARAMS)
    with pytest.raises(ScoringError):
        check(None, {**PARAMS, **change})


def test_a_key_that_is_no_object_is_refused() -> None:
    with pytest.raises(ScoringError):
        check(["a"], PARAMS)
