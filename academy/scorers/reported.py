"""Takes the value that came with a record for a metric: a claim of the upload, not ours.

The reference rules take the value and whatever the upload calls correct. The strict rules take no
value outside the metric's own bounds, and call passed only what reaches a pass mark that the
grading states: what others mean by "correct" differs from tool to tool.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from academy.bundle import JSON, RecordView
from academy.errors import ScoringError
from academy.scorers.base import Decisions, Mode, Scorer, Verdict

KEY = "reported"
PARAMS = frozenset({"metric", "lower_is_better", "low", "high", "pass_mark"})
LIMITS = ("low", "high", "pass_mark")


def is_number(value: JSON) -> bool:
    """Whether a value is a finite number and no boolean."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def limit(params: Mapping[str, JSON], name: str) -> float | None:
    """A bound or mark that is stated."""
    value = params[name]
    return float(value) if isinstance(value, int | float) else None


def credit_of(value: float, params: Mapping[str, JSON]) -> float | None:
    """The place between both bounds, 1 at the better one; None where there is no such place."""
    low, high = limit(params, "low"), limit(params, "high")
    if low is None or high is None or not low <= value <= high or low == high:
        return None
    share = min(max((value - low) / (high - low), 0.0), 1.0)
    return 1.0 - share if params["lower_is_better"] else share


def passes(value: float, params: Mapping[str, JSON]) -> bool | None:
    """Whether a value reaches the pass mark; None without one."""
    mark = limit(params, "pass_mark")
    if mark is None:
        return None
    return value <= mark if params["lower_is_better"] else value >= mark


def correct_of(record: RecordView, metric: str) -> bool | None:
    """What the upload itself calls correct."""
    evidence = record.evidence if isinstance(record.evidence, Mapping) else {}
    correct = evidence.get("correct")
    said = correct.get(metric) if isinstance(correct, Mapping) else None
    return said if isinstance(said, bool) else None


def value_of(record: RecordView, params: Mapping[str, JSON]) -> float | str:
    """The reported value, or why there is none."""
    metric = str(params["metric"])
    if metric not in record.reported:
        return "no value was reported"
    value = record.reported[metric]
    if value is None or not math.isfinite(value):
        return "the value is reported as missing"
    return float(value)


def score_by_reference(
    record: RecordView, _key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The value as it was reported, wherever it lies."""
    value = value_of(record, params)
    if isinstance(value, str):
        return Verdict.unscorable(value)
    said = correct_of(record, str(params["metric"]))
    passed = said if said is not None else passes(value, params)
    return Verdict.scored(value, credit=credit_of(value, params), passed=passed)


def score_strictly(
    record: RecordView, _key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The value where it lies within the metric's bounds, passed by the stated mark alone."""
    value = value_of(record, params)
    if isinstance(value, str):
        return Verdict.unscorable(value)
    low, high = limit(params, "low"), limit(params, "high")
    if (low is not None and value < low) or (high is not None and value > high):
        return Verdict.unscorable(f"{value:g} lies outside the metric's own bounds")
    return Verdict.scored(value, credit=credit_of(value, params), passed=passes(value, params))


def check(_key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError unless exactly the known parameters are there and make sense."""
    if set(params) != PARAMS:
        wanted = ", ".join(sorted(PARAMS))
        raise ScoringError(f"reported: the parameters must be exactly {wanted}.")
    if not isinstance(params["metric"], str) or not params["metric"]:
        raise ScoringError("reported: 'metric' must name a metric.")
    if not isinstance(params["lower_is_better"], bool):
        raise ScoringError("reported: 'lower_is_better' must be true or false.")
    for name in LIMITS:
        if params[name] is not None and not is_number(params[name]):
            raise ScoringError(f"reported: {name!r} must be a finite number or null.")
    low, high = limit(params, "low"), limit(params, "high")
    if low is not None and high is not None and low > high:
        raise ScoringError("reported: 'low' must not be greater than 'high'.")


SCORERS = (
    Scorer(key=KEY, version=1, mode=Mode.REFERENCE, score=score_by_reference, check=check),
    Scorer(key=KEY, version=1, mode=Mode.STRICT, score=score_strictly, check=check),
)
