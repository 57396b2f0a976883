"""The original's metrics of a group of observations, with the order of every sum as it has it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from academy.bundle import JSON

Observation: TypeAlias = Mapping[str, Any]
Z: Final = 1.96
MEASURED_RATES: Final = (
    "documentationExampleRate",
    "documentationFreshnessRate",
    "documentationCorrectnessRate",
    "documentationCompletenessRate",
    "documentationClarityRate",
    "documentationMaintainabilityRate",
)
# Reported as missing when no observation carries them, in this order.
MEASURED: Final = (
    "searchHitRate",
    "errorRate",
    *MEASURED_RATES,
    "documentationFindingCount",
    "analysisCostUsd",
    "agentCostUsd",
)


def wilson(successes: int, total: int) -> dict[str, float]:
    """The 95 % interval of a share; 0 and 0 of nothing. The order of operations matters."""
    if total == 0:
        return {"low": 0, "high": 0}
    share = successes / total
    denominator = 1 + (Z * Z) / total
    centre = (share + (Z * Z) / (2 * total)) / denominator
    margin = (Z / denominator) * math.sqrt(
        (share * (1 - share) / total) + (Z * Z) / (4 * total * total)
    )
    return {"low": max(0, centre - margin), "high": min(1, centre + margin)}


def percentile_95(values: Iterable[float]) -> float:
    """The nearest rank at 95 %; 0 of nothing."""
    ordered = sorted(values)
    return ordered[math.ceil(len(ordered) * 0.95) - 1] if ordered else 0


def known(values: Iterable[float | None]) -> list[float]:
    """The values that are there, in order."""
    return [value for value in values if value is not None]


def total(values: Iterable[float | None]) -> float | None:
    """The sum of what is there, left to right as the original adds; None of nothing."""
    found = known(values)
    if not found:
        return None
    result: float = 0
    for value in found:
        result += value
    return result


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of what is there; None of nothing."""
    found = known(values)
    added = total(found)
    return None if added is None else added / len(found)


def share(values: Iterable[float | None]) -> float | None:
    """The share above zero of what is there; None of nothing."""
    found = known(values)
    return sum(value > 0 for value in found) / len(found) if found else None


def measured(observations: Sequence[Observation], name: str) -> list[float | None]:
    """One measurement of every observation."""
    return [(found.get("measurements") or {}).get(name) for found in observations]


def tokens_of(found: Observation, method: str | None = None) -> float | None:
    """Input and output tokens when both are counted, by the given method if one is named."""
    run = found["execution"]
    if method is not None and run.get("tokenMethod") != method:
        return None
    if run.get("inputTokens") is None or run.get("outputTokens") is None:
        return None
    tokens: float = run["inputTokens"] + run["outputTokens"]
    return tokens


def check_ratio(observations: Sequence[Observation]) -> float | None:
    """Acceptance checks passed of all, over observations that tell both and have any."""
    pairs = [
        (passed, every)
        for passed, every in zip(
            measured(observations, "acceptanceChecksPassed"),
            measured(observations, "acceptanceChecksTotal"),
            strict=True,
        )
        if passed is not None and every is not None and every > 0
    ]
    passed, every = total(p for p, _ in pairs), total(e for _, e in pairs)
    return None if passed is None or every is None else passed / every


def safety_of(found: Observation) -> float | None:
    """1 for safe, 0 for unsafe, None for everything else."""
    return {"safe": 1.0, "unsafe": 0.0}.get(found.get("safetyOutcome", ""))


def either(condition: bool, value: Callable[[], float]) -> float | None:
    """The value where there is something to say."""
    return value() if condition else None


def missing_of(observations: Sequence[Observation]) -> list[str]:
    """Names that were never collected, and `-partial` ones that some observations lack."""
    provider = [tokens_of(found, "provider") for found in observations]
    missing = absent("providerTokens", provider)
    missing += absent("estimatedTokens", [tokens_of(found, "estimate") for found in observations])
    if not any("taskOutcome" in found for found in observations):
        missing.append("taskOutcome")
    if not any("evidenceQuality" in found for found in observations):
        missing.append("evidenceQuality")
    for name in ("clarificationRequests", "reworkCount"):
        missing += absent(name, [found.get(name) for found in observations])
    missing += [name for name in MEASURED if not known(measured(observations, name))]
    if check_ratio(observations) is None:
        missing.append("acceptanceChecks")
    missing += absent("safetyOutcome", [safety_of(found) for found in observations])
    missing += absent("toolCalls", [found["execution"].get("toolCalls") for found in observations])
    return missing + missing_units(observations)


def absent(name: str, values: Sequence[float | None]) -> list[str]:
    """The name when nothing is there, its partial form when something is not."""
    if not known(values):
        return [name]
    return [f"{name}-partial"] if None in values else []


def missing_units(observations: Sequence[Observation]) -> list[str]:
    """Token units are partial only where a provider counted tokens and no units were written."""
    units = measured(observations, "providerTokenCostUnits")
    if not known(units):
        return ["providerTokenCostUnits"]
    lacking = any(
        found["execution"].get("tokenMethod") == "provider" and unit is None
        for found, unit in zip(observations, units, strict=True)
    )
    return ["providerTokenCostUnits-partial"] if lacking else []


def outcome_metrics(observations: Sequence[Observation]) -> dict[str, JSON]:
    """Rates of completion, outcome, evidence and safety. Success here is the agent's own word."""
    count = len(observations)
    completed = sum(found["execution"]["status"] == "completed" for found in observations)
    told = [found["taskOutcome"] for found in observations if "taskOutcome" in found]
    succeeded = told.count("success")
    qualities = [found["evidenceQuality"] for found in observations if "evidenceQuality" in found]
    judged = [found["adjudication"] for found in observations]
    outcomes = [verdict["outcome"] for verdict in judged if "outcome" in verdict]
    decided = sum(verdict["status"] != "pending" for verdict in judged)
    cited = sum(len(found["evidenceIds"]) > 0 for found in observations)
    return {
        "observationCount": count,
        "completedRate": completed / count,
        "completedConfidence95": wilson(completed, count),
        "adjudicatedRate": decided / count,
        "successRate": either(bool(told), lambda: succeeded / len(told)),
        "successConfidence95": wilson(succeeded, len(told)) if told else None,
        "evidenceCitationRate": cited / count,
        "evidenceQualityRate": either(
            bool(qualities), lambda: qualities.count("high") / len(qualities)
        ),
        "searchHitRate": mean(measured(observations, "searchHitRate")),
        "acceptanceCheckRate": check_ratio(observations),
        "errorRate": mean(measured(observations, "errorRate")),
        "safetyRate": share(safety_of(found) for found in observations),
        "adjudicatedSuccessRate": either(
            bool(outcomes), lambda: outcomes.count("success") / len(outcomes)
        ),
        "documentationFindingCount": total(measured(observations, "documentationFindingCount")),
        **{name: mean(measured(observations, name)) for name in MEASURED_RATES},
    }


def effort_metrics(observations: Sequence[Observation]) -> dict[str, JSON]:
    """Tokens, times, sizes and costs."""
    solved = [found for found in observations if found.get("taskOutcome") == "success"]
    solved_tokens = known(tokens_of(found) for found in solved)
    analysis = total(measured(observations, "analysisCostUsd"))
    agent = total(measured(observations, "agentCostUsd"))
    return {
        "providerTokens": total(tokens_of(found, "provider") for found in observations),
        "estimatedTokens": total(tokens_of(found, "estimate") for found in observations),
        "tokensToCorrectAnswerP95": either(
            bool(solved_tokens), lambda: percentile_95(solved_tokens)
        ),
        "latencyP95Ms": percentile_95(found["execution"]["durationMs"] for found in observations),
        "timeToCorrectAnswerP95Ms": either(
            bool(solved),
            lambda: percentile_95(found["execution"]["durationMs"] for found in solved),
        ),
        "contextBytesP95": percentile_95(found["contextBytes"] for found in observations),
        "responseBytesP95": percentile_95(
            found["execution"]["responseBytes"] for found in observations
        ),
        "averageToolCalls": mean(found["execution"].get("toolCalls") for found in observations),
        "clarificationRate": share(found.get("clarificationRequests") for found in observations),
        "reworkRate": share(found.get("reworkCount") for found in observations),
        "analysisCostUsd": analysis,
        "agentCostUsd": agent,
        "totalCostUsd": None if analysis is None or agent is None else analysis + agent,
        "providerTokenCostUnits": total(measured(observations, "providerTokenCostUnits")),
    }


def metrics_of(observations: Sequence[Observation]) -> dict[str, JSON]:
    """All metrics of a group of at least one observation."""
    return {
        **outcome_metrics(observations),
        **effort_metrics(observations),
        "missingMetrics": list(missing_of(observations)),
    }
