"""Weighted criteria, each met or not: the share of the weight that was met, or all of it.

The reference rules are those of a known rubric judge: binary floating point, a whole percent with
halves to even, passed from 100 percent, and whatever could not be decided counts as not met. The
strict rules never round, take nothing undecided for a failure, and leave struck criteria out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from academy.bundle import JSON, RecordStatus, RecordView
from academy.errors import ScoringError
from academy.scorers.base import Decisions, EffectiveValue, Mode, Scorer, Verdict

METRICS = ("perfect", "rubric")
NOT_RUN = EffectiveValue(state="waiting", reason="nobody has decided this criterion")
ABSENT = frozenset(
    {RecordStatus.MISSING, RecordStatus.ERROR, RecordStatus.REFUSED, RecordStatus.OVER_BUDGET}
)


@dataclass(frozen=True, slots=True)
class Tally:
    """What the reference rules make of weights and verdicts. `percent` is whole, 0 to 100."""

    fraction: float
    percent: int

    @property
    def passed(self) -> bool:
        """Whether the rounded percent is full: a tiny criterion may still have failed."""
        return self.percent >= 100


def tally(weights: Sequence[float], met: Sequence[bool]) -> Tally:
    """The met share of the weight in binary floating point, added in order, and its percent.

    Not `sum`: newer Pythons add floats with compensation, which changes the last digit.
    """
    total = share = 0.0
    for weight, counts in zip(weights, met, strict=True):
        total += weight
        share += weight if counts else 0.0
    fraction = max(0.0, min(1.0, share / (total or 1.0)))
    return Tally(fraction, round(fraction * 100))


def is_met(value: JSON) -> bool:
    """Whether a value on the scale "met" says met. Raises ScoringError for anything else."""
    if value is True or value == "met":
        return True
    if value is False or value == "not_met":
        return False
    raise ScoringError(f"{value!r} is neither met nor not met.")


def check(_key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError unless the parameters name a metric and criteria with weights."""
    if params.get("metric") not in METRICS:
        raise ScoringError(f"'metric' must be one of {', '.join(METRICS)}.")
    listed = params.get("criteria")
    if not isinstance(listed, Sequence) or isinstance(listed, str) or not listed:
        raise ScoringError("'criteria' must list at least one criterion with its weight.")
    keys = set()
    for place, item in enumerate(listed):
        key = item.get("key") if isinstance(item, Mapping) else None
        weight = item.get("weight") if isinstance(item, Mapping) else None
        if not isinstance(key, str) or not key or key in keys:
            raise ScoringError(f"criteria[{place}] needs a key of its own.")
        if isinstance(weight, bool) or not isinstance(weight, int | float):
            raise ScoringError(f"criteria[{place}] needs a number as its weight.")
        if not math.isfinite(weight) or weight <= 0:
            raise ScoringError(f"criteria[{place}] has the weight {weight!r}, not above 0.")
        keys.add(key)


def weights_of(params: Mapping[str, Any]) -> dict[str, float]:
    """Criterion key -> weight, in order."""
    return {item["key"]: float(item["weight"]) for item in params["criteria"]}


def without_evidence(record: RecordView) -> str:
    """Why nothing can have been met, or "" when there is something to look at."""
    if record.status in ABSENT:
        return f"no result to judge ({record.status})"
    evidence = record.evidence
    if not isinstance(evidence, Mapping):
        return ""
    seen = [evidence[name] for name in ("steps", "screenshots") if name in evidence]
    return "no steps and no screenshots" if len(seen) == 2 and not any(seen) else ""


def judge_failure(record: RecordView) -> str:
    """What the upload says of a judge that failed as a whole, or ""."""
    evidence = record.evidence
    failure = evidence.get("judge_failure") if isinstance(evidence, Mapping) else None
    return failure if isinstance(failure, str) else ""


def score_reference(
    record: RecordView, _key: JSON, decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """Score as the original does: cannot tell, defective and failed calls are not met."""
    reason = without_evidence(record)
    if reason:
        ended = {"ended": record.status.value}
        return Verdict.scored(0.0, credit=0.0, passed=False, note=reason, measures=ended)
    weights = weights_of(params)
    found = {key: decisions.get(key, NOT_RUN) for key in weights}
    waiting = [key for key, value in found.items() if value.state == "waiting"]
    undecided = [key for key in waiting if not found[key].raw_state]
    if undecided:
        failure = judge_failure(record)
        if failure:
            return Verdict.unscorable(f"the judge failed: {failure}")
        return Verdict.needs_human(f"undecided: {', '.join(undecided)}")
    met = [value.state == "value" and is_met(value.value) for value in found.values()]
    result = tally(list(weights.values()), met)
    measures: dict[str, JSON] = {
        "percent": result.percent,
        "fraction": round(result.fraction, 4),
        "met": sum(met),
        "criteria": len(met),
    }
    full = result.passed if params["metric"] == "perfect" else result.percent / 100
    value = float(full)
    return Verdict.scored(value, credit=value, passed=result.passed, measures=measures)


def score_strict(
    record: RecordView, _key: JSON, decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """Score what is known: waiting and unknowable criteria give no number, struck ones leave."""
    reason = without_evidence(record)
    if reason:
        ended = {"ended": record.status.value}
        return Verdict.scored(0.0, credit=0.0, passed=False, note=reason, measures=ended)
    weights = weights_of(params)
    found = {key: decisions.get(key, NOT_RUN) for key in weights}
    counted = {key: value for key, value in found.items() if value.state not in ("struck", "na")}
    measures: dict[str, JSON] = {"criteria": len(counted), "left_out": len(found) - len(counted)}
    if not counted:
        measures["struck"] = all(value.state == "struck" for value in found.values())
        return Verdict.unscorable("no criterion is left", measures)
    waiting = [key for key, value in counted.items() if value.state == "waiting"]
    if waiting:
        return Verdict.needs_human(f"waiting: {', '.join(waiting)}", measures)
    unknown = [key for key, value in counted.items() if value.state != "value"]
    if unknown:
        return Verdict.unscorable(f"cannot be known: {', '.join(unknown)}", measures)
    met = [key for key, value in counted.items() if is_met(value.value)]
    exact = {key: Fraction(repr(weights[key])) for key in counted}
    fraction = float(sum((exact[key] for key in met), Fraction(0)) / sum(exact.values()))
    passed = len(met) == len(counted)
    value = float(passed) if params["metric"] == "perfect" else fraction
    measures |= {"met": len(met), "fraction": fraction}
    return Verdict.scored(value, credit=value, passed=passed, measures=measures)


SCORERS = (
    Scorer(
        key="rubric",
        version=1,
        mode=Mode.REFERENCE,
        score=score_reference,
        check=check,
        needs_decisions=True,
    ),
    Scorer(
        key="rubric",
        version=1,
        mode=Mode.STRICT,
        score=score_strict,
        check=check,
        needs_decisions=True,
    ),
)
