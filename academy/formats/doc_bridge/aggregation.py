"""The result of a run in reference mode: the original's rates, intervals and efforts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from academy.bundle import JSON, ResultSpec, ScoredRecord
from academy.formats.base import AggregateContext
from academy.formats.doc_bridge.metrics import known, mean, percentile_95, total, wilson
from academy.formats.doc_bridge.tasks import ADJUDICATED_SUCCESS, AUTOMATIC_SUCCESS
from academy.scorers.base import Mode

SLICES: Final = ("category", "difficulty", "repository")
METHOD: Final = "Wilson, z = 1.96"


def compact(facts: Mapping[str, Any]) -> dict[str, JSON]:
    """The numbers of one execution that the result of a run is made of."""
    measurements = facts.get("measurements") or {}
    provider = facts.get("token_method") == "provider"
    counts = [facts.get("input_tokens"), facts.get("output_tokens")]
    return {
        "completed": facts.get("status") == "completed",
        "cited": bool(facts.get("evidence_ids")),
        "provider_tokens": total(counts) if provider and None not in counts else None,
        "duration_ms": facts.get("duration_ms"),
        "context_bytes": facts.get("context_bytes"),
        "response_bytes": facts.get("response_bytes"),
        "tool_calls": facts.get("tool_calls"),
        "checks_passed": measurements.get("acceptanceChecksPassed"),
        "checks_total": measurements.get("acceptanceChecksTotal"),
    }


def aggregate(scores: Sequence[ScoredRecord], context: AggregateContext) -> tuple[ResultSpec, ...]:
    """Shares of success over what was executed, whole and by slice.

    The original divides by the executions that have an outcome; what is not there is left out and
    counted as missing. The strict mode keeps the plain means, in which a missing one counts.
    """
    if context.mode is not Mode.REFERENCE:
        return ()
    attributes = {task.external_id: task.attributes for task in context.suite.tasks}
    results: list[ResultSpec] = []
    for metric in (ADJUDICATED_SUCCESS, AUTOMATIC_SUCCESS):
        own = [score for score in scores if score.metric == metric]
        details = efforts(own) if metric == AUTOMATIC_SUCCESS else {}
        results.append(share_result(metric, "", own, details))
        for name, members in sliced(own, attributes):
            results.append(share_result(metric, name, members, {}))
    return tuple(results)


def sliced(
    scores: Sequence[ScoredRecord], attributes: Mapping[str, Mapping[str, JSON]]
) -> Iterable[tuple[str, list[ScoredRecord]]]:
    """Scores by the value of each attribute, in order of values."""
    for attribute in SLICES:
        members: dict[str, list[ScoredRecord]] = {}
        for score in scores:
            value = attributes.get(score.task_id, {}).get(attribute)
            if value is not None:
                members.setdefault(str(value), []).append(score)
        for value in sorted(members):
            yield f"{attribute}={value}", members[value]


def share_result(
    metric: str, name: str, scores: Sequence[ScoredRecord], details: Mapping[str, JSON]
) -> ResultSpec:
    """A share of successes with its interval; without executions there is none."""
    values = known(score.value for score in scores if score.status == "scored")
    successes = int(sum(values))
    interval = wilson(successes, len(values))
    statuses = [score.status for score in scores]
    return ResultSpec(
        metric=metric,
        slice=name,
        value=successes / len(values) if values else None,
        low=interval["low"] if values else None,
        high=interval["high"] if values else None,
        method=METHOD if values else "",
        n=len(values),
        waiting=statuses.count("needs_human"),
        missing=statuses.count(""),
        unscorable=statuses.count("unscorable"),
        note="" if values else "nothing was executed",
        details=details,
    )


def efforts(scores: Sequence[ScoredRecord]) -> dict[str, JSON]:
    """Completion, evidence, tokens, times and sizes, by the original's formulas and names."""
    listed = [score.measures.get("facts") for score in scores]
    facts: list[Mapping[str, Any]] = [one for one in listed if isinstance(one, Mapping)]
    if not facts:
        return {}
    completed = sum(bool(one["completed"]) for one in facts)
    checked = [one for one in facts if one["checks_passed"] is not None and one["checks_total"]]
    passed, every = (
        total(one[name] for one in checked) for name in ("checks_passed", "checks_total")
    )
    return {
        "observationCount": len(facts),
        "completedRate": completed / len(facts),
        "completedConfidence95": wilson(completed, len(facts)),
        "evidenceCitationRate": sum(bool(one["cited"]) for one in facts) / len(facts),
        "acceptanceCheckRate": passed / every if passed is not None and every else None,
        "providerTokens": total(one["provider_tokens"] for one in facts),
        "latencyP95Ms": percentile_95(known(one["duration_ms"] for one in facts)),
        "contextBytesP95": percentile_95(known(one["context_bytes"] for one in facts)),
        "responseBytesP95": percentile_95(known(one["response_bytes"] for one in facts)),
        "averageToolCalls": mean(one["tool_calls"] for one in facts),
    }
