"""The scorer of reported values: it takes a claim, and never makes a number of none."""

from __future__ import annotations

import math
from types import MappingProxyType
from typing import Any

import pytest

from academy.bundle import RecordView
from academy.errors import ScoringError
from academy.scorers.base import Mode, Verdict, VerdictStatus
from academy.scorers.reported import SCORERS, check

PARAMS: dict[str, Any] = {
    "metric": "accuracy",
    "lower_is_better": False,
    "low": 0.0,
    "high": 1.0,
    "pass_mark": None,
}


def judge(mode: Mode, value: float | None, said: bool | None = None, **params: Any) -> Verdict:
    scorer = next(one for one in SCORERS if one.mode is mode)
    record = RecordView(
        answer=None,
        reported=MappingProxyType({"accuracy": value}),
        evidence={"correct": {"accuracy": said}},
    )
    return scorer.score(record, None, {}, PARAMS | params)


@pytest.mark.parametrize("mode", list(Mode))
def test_a_value_is_taken_with_its_place_between_the_bounds(mode: Mode) -> None:
    assert judge(mode, 0.25) == Verdict.scored(0.25, credit=0.25)
    assert judge(mode, 0.25, lower_is_better=True).credit == 0.75
    assert judge(mode, 30.0, low=None, high=None).credit is None


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_no_value_is_no_score(mode: Mode, value: float | None) -> None:
    assert judge(mode, value).status is VerdictStatus.UNSCORABLE
    scorer = next(one for one in SCORERS if one.mode is mode)
    verdict = scorer.score(RecordView(answer="x"), None, {}, PARAMS)
    assert (verdict.status, verdict.value) == (VerdictStatus.UNSCORABLE, None)


def test_only_the_strict_rules_refuse_a_value_outside_of_its_bounds() -> None:
    assert judge(Mode.STRICT, 73.4).status is VerdictStatus.UNSCORABLE
    assert judge(Mode.REFERENCE, 73.4) == Verdict.scored(73.4)


def test_only_the_reference_rules_believe_what_others_call_correct() -> None:
    assert judge(Mode.REFERENCE, 0.0, said=True).passed is True
    assert judge(Mode.STRICT, 0.0, said=True).passed is None
    assert judge(Mode.STRICT, 1.0, said=False, pass_mark=1.0).passed is True
    assert judge(Mode.STRICT, 0.2, pass_mark=0.5, lower_is_better=True).passed is True


@pytest.mark.parametrize(
    "change",
    [
        {"metric": ""},
        {"lower_is_better": 0},
        {"low": "0"},
        {"high": math.nan},
        {"low": 2.0},
        {"pass_mark": True},
        {"surprise": 1},
    ],
)
def test_parameters_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    check(None, PARAMS)
    with pytest.raises(ScoringError):
        check(None, PARAMS | change)
