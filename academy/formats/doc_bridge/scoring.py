"""Scorers of an execution: by the program, by people, and both together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from academy.bundle import JSON, RecordView
from academy.errors import ScoringError
from academy.formats.doc_bridge.aggregation import compact
from academy.formats.doc_bridge.artifacts import Edition
from academy.formats.doc_bridge.criteria import SEMANTIC
from academy.formats.doc_bridge.primitives import OUTCOMES
from academy.formats.doc_bridge.rubric import Counts, adjudicate
from academy.scorers.base import ASKS_NOBODY, Decisions, EffectiveValue, Mode, Scorer, Verdict

SUCCESS: Final = "success"
BLOCKED: Final = "blocked"
TASK_BUDGETS: Final = ("told", "enforced")
# From the best to the worst, to name what people found in one word.
GRAVITY: Final = ("success", "partial", "incomplete", "incorrect", "blocked")


@dataclass(frozen=True, slots=True)
class Truth:
    """The sealed part of a task that scorers read."""

    checks: tuple[str, ...]
    evidence: tuple[str, ...]
    asked: tuple[str, ...]

    @classmethod
    def of(cls, key: JSON) -> Truth:
        """Read a key. Raises ScoringError when it could never score anything."""
        if not isinstance(key, Mapping):
            raise ScoringError("The answer key must be an object.")
        return cls(*(texts_of(key, name) for name in ("checks", "evidence", "asked")))


def texts_of(key: Mapping[str, JSON], name: str) -> tuple[str, ...]:
    """A list of ids in a key, with at least one."""
    listed = key.get(name)
    if not isinstance(listed, list | tuple) or not listed:
        raise ScoringError(f"The answer key must list {name!r} with at least one id.")
    if not all(isinstance(item, str) and item for item in listed):
        raise ScoringError(f"The answer key must list {name!r} as ids.")
    return tuple(str(item) for item in listed)


def check(key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError when a key or parameters could never score anything."""
    Truth.of(key)
    if params.get("edition") not in (1, 2, 3):
        raise ScoringError("The parameter 'edition' must be 1, 2 or 3.")
    if params.get("task_budget") not in TASK_BUDGETS:
        raise ScoringError("The parameter 'task_budget' must be 'told' or 'enforced'.")
    for name in ("max_tokens", "max_runtime_ms"):
        value = params.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ScoringError(f"The parameter {name!r} must be a number above 0.")


def facts_of(record: RecordView) -> Mapping[str, Any]:
    """What the execution shows; the agent's own verdict on itself is not among it."""
    facts = record.evidence.get("execution") if isinstance(record.evidence, Mapping) else None
    return facts if isinstance(facts, Mapping) else {}


def automatic_outcome(record: RecordView, truth: Truth, edition: Edition, mode: Mode) -> str:
    """The deterministic outcome. Strict, a count that is no whole number is no count."""
    facts = facts_of(record)
    counts = Counts.of(facts.get("measurements"))
    if mode is Mode.STRICT and not all(
        count is None or float(count).is_integer()
        for count in (counts.passed, counts.total, counts.executed)
    ):
        return BLOCKED
    return adjudicate(
        status=str(facts.get("status", "")),
        counts=counts,
        evidence_ids=facts.get("evidence_ids") or (),
        checks=len(truth.checks),
        required=truth.evidence,
        edition=edition,
    )


def over_budget(record: RecordView, params: Mapping[str, Any]) -> list[str]:
    """Which parts of the task's own budget the execution exceeded, as far as it was counted."""
    used = record.telemetry
    known = [used.get("tokens_in"), used.get("tokens_out")]
    tokens = sum(count for count in known if count is not None)
    runtime = used.get("wall_ms") or 0
    exceeded = ["tokens"] if tokens > params["max_tokens"] else []
    return exceeded + (["runtime"] if runtime > params["max_runtime_ms"] else [])


def outcome_verdict(outcome: str, measures: Mapping[str, JSON], note: str = "") -> Verdict:
    """An outcome as a score: success or not."""
    passed = outcome == SUCCESS
    return Verdict.scored(
        float(passed),
        credit=float(passed),
        passed=passed,
        note=note or f"outcome: {outcome}",
        measures={"outcome": outcome, **measures},
    )


def score_automatic(
    mode: Mode,
    record: RecordView,
    key: JSON,
    _decisions: Decisions,
    params: Mapping[str, Any],
) -> Verdict:
    """What the program says, with the numbers that the suite result is made of."""
    truth = Truth.of(key)
    outcome = automatic_outcome(record, truth, edition_of(mode, params), mode)
    missing = [name for name in truth.evidence if name not in set(evidence_ids(record))]
    measures: dict[str, JSON] = {
        "missing_evidence": list(missing),
        "over_budget": list(over_budget(record, params)),
    }
    if mode is Mode.REFERENCE:
        measures["facts"] = compact(facts_of(record))
    return outcome_verdict(outcome, measures)


def evidence_ids(record: RecordView) -> tuple[str, ...]:
    """The evidence ids of an execution."""
    return tuple(facts_of(record).get("evidence_ids") or ())


def edition_of(mode: Mode, params: Mapping[str, Any]) -> Edition:
    """The rule that applies: as the grading says, but strict always that of the second edition."""
    return Edition.SECOND if mode is Mode.STRICT else Edition(params["edition"])


def word_of_people(truth: Truth, decisions: Decisions) -> Verdict:
    """What people say: success only if every criterion that applies is a success."""
    stands = {name: decisions.get(name) for name in truth.asked}
    if all(value is not None and value.state == "struck" for value in stands.values()):
        return Verdict.unscorable("every criterion was struck", {"struck": True})
    waiting = [name for name, value in stands.items() if value is None or value.state == "waiting"]
    if waiting:
        return Verdict.needs_human(
            f"{len(waiting)} of {len(stands)} criteria wait for a person",
            {"waiting": list(waiting)},
        )
    counted = {
        name: value
        for name, value in stands.items()
        if value is not None and value.state not in ("na", "struck")
    }
    unknown = [name for name, value in counted.items() if not is_outcome(value)]
    if unknown:
        return Verdict.unscorable(
            "nobody can tell: " + ", ".join(unknown), {"unknown": list(unknown)}
        )
    if not counted:
        return Verdict.unscorable("no criterion applies")
    outcomes: dict[str, JSON] = {name: str(value.value) for name, value in counted.items()}
    worst = max((str(outcome) for outcome in outcomes.values()), key=GRAVITY.index)
    return outcome_verdict(worst, {"criteria": outcomes}, f"people: {worst}")


def is_outcome(value: EffectiveValue) -> bool:
    """Whether a value that stands is one of the five outcomes."""
    return value.state == "value" and value.value in OUTCOMES


def score_human(
    mode: Mode,
    record: RecordView,
    key: JSON,
    decisions: Decisions,
    _params: Mapping[str, Any],
) -> Verdict:
    """The verdict of people; of a blocked execution nobody is asked."""
    truth = Truth.of(key)
    if automatic_outcome(record, truth, Edition.SECOND, mode) == BLOCKED:
        return outcome_verdict(BLOCKED, {ASKS_NOBODY: True}, "blocked: nobody is asked")
    return word_of_people(truth, decisions)


def adjudicated_reference(
    record: RecordView, key: JSON, decisions: Decisions, params: Mapping[str, Any]
) -> Verdict:
    """The original's single slot: a judge's outcome if there is one, else the program's."""
    judged = decisions.get(SEMANTIC)
    if judged is not None and judged.source == "judge":
        if judged.raw_state == "call_error":
            return Verdict.unscorable("the judge failed; the original leaves the outcome pending")
        if is_outcome(judged):
            return outcome_verdict(str(judged.value), {"by": "judge"})
    truth = Truth.of(key)
    outcome = automatic_outcome(record, truth, edition_of(Mode.REFERENCE, params), Mode.REFERENCE)
    return outcome_verdict(outcome, {"by": "rubric"})


def adjudicated_strict(
    record: RecordView, key: JSON, decisions: Decisions, params: Mapping[str, Any]
) -> Verdict:
    """Success only if the program and people both say so."""
    truth = Truth.of(key)
    automatic = automatic_outcome(record, truth, Edition.SECOND, Mode.STRICT)
    measures: dict[str, JSON] = {"automatic": automatic}
    if automatic != SUCCESS:
        return outcome_verdict(automatic, measures, f"automatic: {automatic}")
    exceeded = over_budget(record, params)
    if exceeded and params["task_budget"] == "enforced":
        return Verdict.scored(
            0.0,
            credit=0.0,
            passed=False,
            note="above the task's own budget of " + " and ".join(exceeded),
            measures={"outcome": automatic, "over_budget": list(exceeded), **measures},
        )
    human = word_of_people(truth, decisions)
    if human.value is None:
        return human
    return outcome_verdict(
        str(human.measures["outcome"]), {**measures, **human.measures}, human.note
    )


def scorers() -> Iterable[Scorer]:
    """The scorers of the format in both modes."""
    for mode in Mode:
        yield Scorer(
            key="doc_bridge_automatic",
            version=1,
            mode=mode,
            score=partial(score_automatic, mode),
            check=check,
        )
        yield Scorer(
            key="doc_bridge_human",
            version=2,
            mode=mode,
            score=partial(score_human, mode),
            check=check,
            needs_decisions=True,
        )
        yield Scorer(
            key="doc_bridge_adjudicated",
            version=1,
            mode=mode,
            score=adjudicated_reference if mode is Mode.REFERENCE else adjudicated_strict,
            check=check,
            needs_decisions=True,
        )


SCORERS: Final = tuple(scorers())
