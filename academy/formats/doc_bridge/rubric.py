"""What a program says of one execution: the task evaluator and the deterministic adjudication."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from academy.bundle import JSON
from academy.formats.doc_bridge.artifacts import DEFAULT_EDITION, Edition

METHOD: Final = "deterministic-rubric-v1"
# Stored word for word, since they are hashed with the observation.
REASON: Final = (
    "Independent bounded evaluation of execution status, acceptance metrics, "
    "and exact required evidence coverage."
)


@dataclass(frozen=True, slots=True)
class Counts:
    """What an execution says of its own acceptance checks; None where it says nothing."""

    passed: float | None
    total: float | None
    executed: float | None

    @classmethod
    def of(cls, measurements: Mapping[str, Any] | None) -> Counts:
        """The counts among the measurements of an observation."""
        known = measurements or {}
        return cls(
            known.get("acceptanceChecksPassed"),
            known.get("acceptanceChecksTotal"),
            known.get("acceptanceChecksExecuted"),
        )


def evaluate(
    checks: int,
    evidence: int,
    *,
    passed: float,
    present: float,
    blocked: bool = False,
    incorrect: bool = False,
) -> str:
    """The outcome of a task with so many checks and evidence requirements.

    Counts above the task's own, below zero or fractional are partial, never success.
    """
    if blocked:
        return "blocked"
    if incorrect:
        return "incorrect"
    if passed == checks and present == evidence:
        return "success"
    if passed == 0 and present == 0:
        return "incomplete"
    return "partial"


def evaluate_task(checks: int, evidence: int, given: Mapping[str, Any]) -> dict[str, JSON]:
    """The evaluator in the original's words: its input again, with the status."""
    status = evaluate(
        checks,
        evidence,
        passed=given["acceptanceChecksPassed"],
        present=given["evidenceItemsPresent"],
        blocked=bool(given.get("blocked")),
        incorrect=bool(given.get("incorrect")),
    )
    return {**given, "status": status}


def adjudicate(
    *,
    status: str,
    counts: Counts,
    evidence_ids: Sequence[str],
    checks: int,
    required: Sequence[str],
    edition: Edition = DEFAULT_EDITION,
) -> str:
    """The outcome by the rule of an edition.

    The first edition counts evidence ids of any name; the second also wants every check
    executed; the third forgot that again. None of them ever says incorrect.
    """
    passed, total, executed = counts.passed, counts.total, counts.executed
    blocked = status != "completed" or passed is None or total != checks
    if edition is Edition.SECOND and not blocked:
        blocked = executed != checks or (passed or 0) > (executed or 0)
    if edition is Edition.FIRST:
        present = len(evidence_ids)
    else:
        present = len(set(required) & set(evidence_ids))
    return evaluate(checks, len(required), passed=passed or 0, present=present, blocked=blocked)
