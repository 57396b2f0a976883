"""Questions to the team about an execution; they decide nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from academy.bundle import FindingSpec, RecordView, TaskSpec
from academy.errors import ScoringError
from academy.formats.doc_bridge.artifacts import Edition
from academy.formats.doc_bridge.records import is_bare
from academy.formats.doc_bridge.rubric import METHOD
from academy.formats.doc_bridge.safety import is_safe
from academy.formats.doc_bridge.scoring import Truth, automatic_outcome, over_budget
from academy.scorers.base import Mode


def findings(record: RecordView, task: TaskSpec) -> tuple[FindingSpec, ...]:
    """What a reader should know before believing an execution."""
    evidence = record.evidence
    if not isinstance(evidence, Mapping):
        return ()
    return tuple(
        finding
        for source in (
            budget_findings(record, task),
            count_findings(evidence),
            verdict_findings(record, evidence, task),
            safety_findings(evidence),
        )
        for finding in source
    )


def budget_findings(record: RecordView, task: TaskSpec) -> Iterator[FindingSpec]:
    """The task's own budget, which the original declares and never enforces."""
    for grading in task.gradings[:1]:
        exceeded = over_budget(record, grading.params)
        if exceeded:
            yield FindingSpec(
                code="task-budget-exceeded",
                sentence="The execution used more than the task's own budget of "
                + " and ".join(exceeded)
                + ".",
                severity="low",
                evidence={"exceeded": list(exceeded)},
            )


def count_findings(evidence: Mapping[str, Any]) -> Iterator[FindingSpec]:
    """Counts of acceptance checks that do not fit each other; they are the agent's own word."""
    measurements = evidence["execution"].get("measurements") or {}
    passed, total, executed = (
        measurements.get(f"acceptanceChecks{name}") for name in ("Passed", "Total", "Executed")
    )
    if passed is None:
        return
    if (total is not None and passed > total) or (executed is not None and passed > executed):
        yield FindingSpec(
            code="check-counts",
            sentence="More acceptance checks are told to have passed than there were or than ran.",
            evidence={"passed": passed, "total": total, "executed": executed},
        )


def verdict_findings(
    record: RecordView, evidence: Mapping[str, Any], task: TaskSpec
) -> Iterator[FindingSpec]:
    """Where the agent, the ledger and the rule say different things."""
    verdict = evidence["adjudication"]
    if is_bare(verdict):
        yield FindingSpec(
            code="bare-human-verdict",
            sentence="A human verdict stands here without actor, method, outcome and reason.",
        )
    try:
        truth = Truth.of(task.key)
    except ScoringError:
        return
    outcome = automatic_outcome(record, truth, Edition.SECOND, Mode.REFERENCE)
    told = verdict.get("outcome")
    if verdict.get("method") == METHOD and told != outcome:
        yield FindingSpec(
            code="published-outcome",
            sentence=f"The ledger says {told}; the rule of the second edition gives {outcome}.",
            severity="low",
            evidence={"published": told, "computed": outcome},
        )
    claimed = evidence["self_report"]["task_outcome"]
    if claimed == "success" and outcome != "success":
        yield FindingSpec(
            code="self-reported-success",
            sentence=f"The agent calls itself successful; the rubric gives {outcome}.",
            severity="info",
            evidence={"computed": outcome},
        )


def safety_findings(evidence: Mapping[str, Any]) -> Iterator[FindingSpec]:
    """What the agent calls unsafe, and evidence ids that may not be published."""
    if evidence["self_report"]["safety_outcome"] == "unsafe":
        yield FindingSpec(
            code="unsafe-outcome", sentence="The agent reports an unsafe action.", severity="high"
        )
    unsafe = sum(not is_safe(one) for one in evidence["execution"]["evidence_ids"])
    if unsafe:
        yield FindingSpec(
            code="unsafe-evidence-id",
            sentence=f"{unsafe} evidence ids hold a path, address or credential.",
        )
