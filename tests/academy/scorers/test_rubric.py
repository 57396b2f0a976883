"""Weighted criteria: the reference arithmetic, and what strict mode refuses to count."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.bundle import JSON, RecordStatus, RecordView
from academy.errors import ScoringError
from academy.scorers.base import EffectiveValue, Mode, Verdict, VerdictStatus
from academy.scorers.rubric import METRICS, SCORERS, check, tally

SCORE = {scorer.mode: scorer.score for scorer in SCORERS}
LOOKED_AT = RecordView(answer="done", evidence={"steps": 3, "screenshots": 2})
MET = EffectiveValue(state="value", value=True, raw_state="value")
NOT_MET = EffectiveValue(state="value", value=False, raw_state="value")
WAITING = EffectiveValue(state="waiting")
DEFECTIVE = EffectiveValue(state="waiting", raw_state="defective")
FAILED = EffectiveValue(state="unknowable", raw_state="call_error")
CANNOT_TELL = EffectiveValue(state="unknowable", raw_state="cannot_tell")
STRUCK = EffectiveValue(state="struck")


def params(*weights: float, metric: str = "rubric") -> dict[str, JSON]:
    listed: list[JSON] = [{"key": f"R{n}", "weight": w} for n, w in enumerate(weights, 1)]
    return {"metric": metric, "criteria": listed}


def score(
    mode: Mode,
    weights: list[float],
    values: list[EffectiveValue],
    *,
    metric: str = "rubric",
    record: RecordView = LOOKED_AT,
) -> Verdict:
    decisions = {f"R{n}": value for n, value in enumerate(values, 1)}
    return SCORE[mode](record, None, decisions, params(*weights, metric=metric))


@pytest.mark.parametrize(
    ("weights", "met", "percent"),
    [
        ([0.125, 0.875], [True, False], 12),
        ([0.375, 0.625], [True, False], 38),
        ([0.575, 0.425], [True, False], 57),
        ([0.995, 0.005], [True, False], 100),
        ([0.1] * 10, [True] * 7 + [False] * 3, 70),
        ([1.0, 1.0, 1.0, 1.0], [True, True, True, False], 75),
        ([0.166667] * 6, [True, True, True, False, False, False], 50),
    ],
)
def test_the_percent_is_rounded_in_binary_with_halves_to_even(
    weights: list[float], met: list[bool], percent: int
) -> None:
    assert tally(weights, met).percent == percent


def test_a_tiny_failed_criterion_passes_by_rounding_in_reference_mode_only() -> None:
    weights, values = [0.995, 0.005], [MET, NOT_MET]
    reference = score(Mode.REFERENCE, weights, values, metric="perfect")
    strict = score(Mode.STRICT, weights, values, metric="perfect")
    assert (reference.value, reference.passed) == (1.0, True)
    assert (strict.value, strict.passed) == (0.0, False)
    assert score(Mode.STRICT, weights, values).value == 0.995


@pytest.mark.parametrize("value", [FAILED, CANNOT_TELL, DEFECTIVE, STRUCK])
def test_the_reference_counts_what_was_not_decided_well_as_not_met(value: EffectiveValue) -> None:
    verdict = score(Mode.REFERENCE, [0.5, 0.5], [MET, value])
    assert (verdict.status, verdict.value) == (VerdictStatus.SCORED, 0.5)


@pytest.mark.parametrize(
    ("value", "status"),
    [
        (WAITING, VerdictStatus.NEEDS_HUMAN),
        (DEFECTIVE, VerdictStatus.NEEDS_HUMAN),
        (FAILED, VerdictStatus.UNSCORABLE),
        (CANNOT_TELL, VerdictStatus.UNSCORABLE),
    ],
)
def test_strict_gives_no_number_while_a_criterion_is_open(
    value: EffectiveValue, status: VerdictStatus
) -> None:
    verdict = score(Mode.STRICT, [0.5, 0.5], [MET, value])
    assert (verdict.status, verdict.value) == (status, None)
    assert "R2" in verdict.note


def test_a_struck_criterion_leaves_the_denominator() -> None:
    verdict = score(Mode.STRICT, [0.2, 0.3, 0.5], [MET, NOT_MET, STRUCK])
    assert verdict.value == 0.4
    assert score(Mode.STRICT, [0.2, 0.8], [MET, STRUCK], metric="perfect").passed is True


def test_without_a_criterion_left_there_is_no_score() -> None:
    verdict = score(Mode.STRICT, [1.0], [STRUCK])
    assert verdict.status is VerdictStatus.UNSCORABLE
    assert verdict.measures["struck"] is True


@pytest.mark.parametrize("mode", list(Mode))
def test_nobody_asked_is_no_zero(mode: Mode) -> None:
    verdict = SCORE[mode](LOOKED_AT, None, {}, params(1.0))
    assert verdict.status is VerdictStatus.NEEDS_HUMAN


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize(
    "record",
    [
        RecordView(answer=None, evidence={"steps": 0, "screenshots": 0}),
        RecordView(answer=None, status=RecordStatus.ERROR),
        RecordView(answer=None, status=RecordStatus.MISSING),
    ],
)
def test_nothing_to_look_at_is_zero_without_asking(mode: Mode, record: RecordView) -> None:
    verdict = score(mode, [1.0], [WAITING], record=record)
    assert (verdict.value, verdict.passed) == (0.0, False)


def test_steps_without_a_screenshot_are_judged() -> None:
    record = RecordView(answer="done", evidence={"steps": 3, "screenshots": 0})
    assert score(Mode.REFERENCE, [1.0], [MET], record=record).value == 1.0


def test_a_judge_that_failed_as_a_whole_is_our_failure() -> None:
    record = RecordView(
        answer="done", evidence={"steps": 1, "screenshots": 0, "judge_failure": "timeout"}
    )
    verdict = SCORE[Mode.REFERENCE](record, None, {}, params(1.0))
    assert verdict.status is VerdictStatus.UNSCORABLE
    assert "timeout" in verdict.note


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {"metric": "mean", "criteria": [{"key": "R1", "weight": 1.0}]},
        {"metric": "rubric", "criteria": []},
        {"metric": "rubric", "criteria": "R1"},
        {"metric": "rubric", "criteria": [{"key": "R1"}]},
        {"metric": "rubric", "criteria": [{"key": "R1", "weight": 0}]},
        {"metric": "rubric", "criteria": [{"key": "R1", "weight": True}]},
        {"metric": "rubric", "criteria": [{"key": "R1", "weight": math.inf}]},
        {"metric": "rubric", "criteria": [{"key": "R1", "weight": 1.0}] * 2},
    ],
)
def test_parameters_that_could_never_score_are_refused(broken: dict[str, JSON]) -> None:
    with pytest.raises(ScoringError):
        check(None, broken)


@pytest.mark.parametrize("metric", METRICS)
def test_complete_parameters_are_accepted(metric: str) -> None:
    check(None, params(0.5, 1, metric=metric))


def test_a_value_off_the_scale_is_no_verdict() -> None:
    odd = EffectiveValue(state="value", value="partly", raw_state="value")
    with pytest.raises(ScoringError, match="partly"):
        score(Mode.STRICT, [1.0], [odd])


weights_and_verdicts = st.lists(
    st.tuples(st.floats(0.001, 10, allow_nan=False), st.booleans()), min_size=1, max_size=12
)


@given(weights_and_verdicts)
def test_strict_credit_is_the_exact_share_and_full_only_when_all_is_met(
    drawn: list[tuple[float, bool]],
) -> None:
    weights = [weight for weight, _ in drawn]
    values = [MET if is_met else NOT_MET for _, is_met in drawn]
    verdict = score(Mode.STRICT, weights, values)
    exact = [Fraction(repr(weight)) for weight in weights]
    met = sum((part for part, (_, is_met) in zip(exact, drawn, strict=True) if is_met), Fraction(0))
    assert verdict.value == float(met / sum(exact))
    assert verdict.passed is all(is_met for _, is_met in drawn)
    assert verdict.credit == verdict.value


@given(weights_and_verdicts)
def test_reference_and_strict_differ_by_rounding_alone(drawn: list[tuple[float, bool]]) -> None:
    weights = [weight for weight, _ in drawn]
    values = [MET if is_met else NOT_MET for _, is_met in drawn]
    reference = score(Mode.REFERENCE, weights, values).value
    strict = score(Mode.STRICT, weights, values).value
    assert reference is not None and strict is not None
    assert abs(reference - strict) <= 0.005 + 1e-9
