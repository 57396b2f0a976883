"""Observations as records, and stored records opened again."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from academy.bundle import (
    JSON,
    DecisionSpec,
    RecordSpec,
    RecordStatus,
    RecordView,
    ReportedSpec,
    TaskSpec,
)
from academy.canonical import digest
from academy.formats.doc_bridge.companions import binds
from academy.formats.doc_bridge.criteria import AUTOMATIC, SEMANTIC
from academy.formats.doc_bridge.hashing import ALGORITHM_KEY, HASH_KEY
from academy.formats.doc_bridge.rubric import METHOD
from academy.formats.doc_bridge.tasks import ADJUDICATED_SUCCESS

STATUSES: Final[Mapping[str, RecordStatus]] = {
    "completed": RecordStatus.ANSWERED,
    "failed": RecordStatus.ERROR,
    "timed-out": RecordStatus.OVER_BUDGET,
    "unavailable": RecordStatus.ERROR,
    "invalid-output": RecordStatus.ERROR,
    "budget-exceeded": RecordStatus.OVER_BUDGET,
}
JUDGE_PREFIX: Final = "adjudicator"
# Where an observation keeps what its plan and its binding say, by their plain names.
RETAINED: Final[Mapping[str, str]] = {
    "suite_hash": "taskSuiteHash",
    "protocol_hash": "protocolHash",
    "source_revision": "sourceRevisionHash",
    "configuration_hash": "configurationHash",
}


@dataclass(frozen=True, slots=True)
class Provenance:
    """The plan and the binding behind an observation, where they are known."""

    plan: Mapping[str, Any] | None = None
    verification_run_id: str | None = None

    @classmethod
    def of(
        cls, plan: Mapping[str, Any] | None, bindings: Iterable[Mapping[str, Any]]
    ) -> Provenance:
        """The plan, and the run id of the first binding that vouches for its state."""
        if plan is None:
            return cls()
        vouching = [binding for binding in bindings if binds(binding, plan)]
        return cls(plan, vouching[0]["verificationRunId"] if vouching else None)


def retained(observation: Mapping[str, Any], provenance: Provenance) -> dict[str, JSON]:
    """What every record keeps of where it comes from; null is what nobody could say."""
    plan = provenance.plan or {}
    return {
        **{ours: plan.get(theirs) for ours, theirs in RETAINED.items()},
        "plan_hash": observation["planHash"],
        "model": observation["model"]["id"],
        "scenario": observation["scenario"]["id"],
        "replicate": observation["task"]["replicate"],
        "verification_run_id": provenance.verification_run_id,
    }


def raw_of(
    observation: Mapping[str, Any], provenance: Provenance, source: Mapping[str, JSON]
) -> bytes:
    """The stored form: the observation as it came, what it retains, and where it stood."""
    document = {
        "observation": observation,
        "retained": retained(observation, provenance),
        "source": source,
    }
    return json.dumps(document, separators=(",", ":"), allow_nan=False).encode("ascii")


def content_of(observation: Mapping[str, Any]) -> str:
    """The digest of an execution without judgements.

    A judge leaves its verdict, its own measurements and so other hashes; none of these counts. A
    judge that overwrote a measurement of the agent gives another digest, and is refused.
    """
    content = {
        key: value
        for key, value in observation.items()
        if key not in ("adjudication", "measurements", HASH_KEY, ALGORITHM_KEY)
    }
    content["measurements"] = {
        name: value
        for name, value in observation.get("measurements", {}).items()
        if not name.startswith(JUDGE_PREFIX)
    }
    return digest(content)


def record_of(
    observation: Mapping[str, Any],
    *,
    run: int,
    variant: int,
    provenance: Provenance,
    file: str,
    index: int,
    line: int | None,
) -> RecordSpec:
    """One observation as a record. Replicates are counted from 1, the original counts from 0."""
    execution = observation["execution"]
    return RecordSpec(
        task_id=observation["task"]["taskId"],
        raw=raw_of(observation, provenance, {"file": file, "index": index}),
        run=run,
        replicate=int(observation["task"]["replicate"]) + 1,
        variant=variant,
        status=STATUSES[execution["status"]],
        steps=whole(execution.get("toolCalls")),
        wall_ms=whole(execution["durationMs"]),
        tokens_in=whole(execution.get("inputTokens")),
        tokens_out=whole(execution.get("outputTokens")),
        cost=observation.get("measurements", {}).get("agentCostUsd"),
        reported=reported_of(observation["adjudication"], line),
        decisions=decisions_of(observation["adjudication"]),
        content_digest=content_of(observation),
        file=file,
        line=line,
    )


def whole(value: float | None) -> int | None:
    """A count as a whole number; 288.0 is one."""
    return None if value is None else int(value)


def reported_of(verdict: Mapping[str, Any], line: int | None) -> tuple[ReportedSpec, ...]:
    """The outcome that the ledger tells, as a claim of the upload."""
    outcome = verdict.get("outcome")
    if outcome is None:
        return ()
    success = outcome == "success"
    return (
        ReportedSpec(
            metric=ADJUDICATED_SUCCESS,
            value=float(success),
            correct=success,
            line=line,
            note=f"{verdict['status']}: {outcome}",
        ),
    )


def decisions_of(verdict: Mapping[str, Any]) -> tuple[DecisionSpec, ...]:
    """The verdict in the one slot of an observation.

    The program's goes to its own criterion, a judge's to the meaning. A judge that failed is a
    failed call. A person's word needs actor, method, outcome and reason; a bare one decides
    nothing and stays in the record.
    """
    status, method = verdict["status"], verdict.get("method", "")
    if status == "pending":
        return (judged(verdict, None, "call_error"),) if verdict.get("actor") else ()
    if status == "automated":
        if method == METHOD:
            return (
                DecisionSpec(
                    criterion=AUTOMATIC,
                    value=verdict["outcome"],
                    source="machine",
                    author=verdict["actor"],
                    author_version=method,
                    reason=verdict.get("reason", ""),
                ),
            )
        return (judged(verdict, verdict["outcome"], "value"),)
    if is_bare(verdict):
        return ()
    return (judged(verdict, verdict["outcome"], "value", source="person"),)


def is_bare(verdict: Mapping[str, Any]) -> bool:
    """Whether a human verdict lacks what makes it one."""
    return verdict["status"].startswith("human-") and not all(
        verdict.get(name) for name in ("actor", "method", "outcome", "reason")
    )


def judged(
    verdict: Mapping[str, Any], value: JSON, state: str, *, source: str = "judge"
) -> DecisionSpec:
    """A verdict on meaning with its author, configuration and reasons."""
    codes = verdict.get("reasonCodes") or []
    return DecisionSpec(
        criterion=SEMANTIC,
        value=value,
        state=state,
        source=source,
        author=verdict.get("actor", ""),
        author_version=verdict.get("method", ""),
        author_digest=verdict.get("configurationHash", ""),
        reason=verdict.get("reason") or ", ".join(codes),
        confidence=verdict.get("confidence"),
    )


def view(raw: bytes, _task: TaskSpec | None) -> RecordView:
    """A stored record for scorers and pages.

    What the agent says of its own success stands apart, under `self_report`; no scorer reads it.
    """
    document = json.loads(raw)
    observation = document["observation"]
    execution = observation["execution"]
    telemetry = {
        "steps": execution.get("toolCalls"),
        "wall_ms": execution["durationMs"],
        "tokens_in": execution.get("inputTokens"),
        "tokens_out": execution.get("outputTokens"),
        "cost": observation.get("measurements", {}).get("agentCostUsd"),
    }
    outcome = observation["adjudication"].get("outcome")
    return RecordView(
        answer={"evidence_ids": observation["evidenceIds"]},
        status=STATUSES[execution["status"]],
        telemetry={name: value for name, value in telemetry.items() if value is not None},
        reported={} if outcome is None else {ADJUDICATED_SUCCESS: float(outcome == "success")},
        evidence=evidence_of(observation, document["retained"]),
    )


def evidence_of(observation: Mapping[str, Any], kept: Mapping[str, JSON]) -> dict[str, JSON]:
    """All that is known of an execution, under plain names."""
    execution = observation["execution"]
    return {
        **kept,
        "run_id": observation["runId"],
        "round": observation.get("round"),
        "observed_at": observation["observedAt"],
        "content_hash": observation[HASH_KEY],
        "model_details": observation["model"],
        "scenario_details": observation["scenario"],
        "variant": observation["task"]["variantId"],
        "execution": {
            "status": execution["status"],
            "error_code": execution.get("errorCode"),
            "exit_code": execution["exitCode"],
            "duration_ms": execution["durationMs"],
            "response_bytes": execution["responseBytes"],
            "input_tokens": execution.get("inputTokens"),
            "output_tokens": execution.get("outputTokens"),
            "token_method": execution.get("tokenMethod"),
            "tool_calls": execution.get("toolCalls"),
            "context_bytes": observation["contextBytes"],
            "evidence_ids": observation["evidenceIds"],
            "measurements": observation.get("measurements"),
        },
        "adjudication": observation["adjudication"],
        "self_report": {
            "task_outcome": observation.get("taskOutcome"),
            "evidence_quality": observation.get("evidenceQuality"),
            "safety_outcome": observation.get("safetyOutcome"),
            "clarification_requests": observation.get("clarificationRequests"),
            "rework_count": observation.get("reworkCount"),
        },
    }
