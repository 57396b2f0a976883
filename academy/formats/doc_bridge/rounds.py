"""The report of the original: groups of observations per round, and two rounds compared."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from academy.bundle import JSON
from academy.errors import AcademyError
from academy.formats.doc_bridge.hashing import ALGORITHM, ALGORITHM_KEY, HASH_KEY, content_hash
from academy.formats.doc_bridge.metrics import MEASURED_RATES, Observation, metrics_of

QUALITY: Final = (
    "successRate",
    "adjudicatedSuccessRate",
    "evidenceCitationRate",
    "evidenceQualityRate",
)
# A fall of any of these is a regression; these and QUALITY are told in this order.
GUARDED: Final = (*QUALITY, "safetyRate", "acceptanceCheckRate")
EFFICIENCY: Final = (
    "providerTokens",
    "estimatedTokens",
    "tokensToCorrectAnswerP95",
    "latencyP95Ms",
    "timeToCorrectAnswerP95Ms",
    "contextBytesP95",
    "responseBytesP95",
    "clarificationRate",
    "reworkRate",
    "analysisCostUsd",
    "agentCostUsd",
    "totalCostUsd",
    "providerTokenCostUnits",
)
COMPARED: Final = (
    "completedRate",
    "successRate",
    "evidenceCitationRate",
    "evidenceQualityRate",
    "searchHitRate",
    "acceptanceCheckRate",
    "errorRate",
    "safetyRate",
    "adjudicatedSuccessRate",
    "documentationFindingCount",
    *MEASURED_RATES,
    *EFFICIENCY,
)
# What a side without observations counts as: a share of nothing is 0, an unknown is unknown.
NOTHING: Final[Mapping[str, Any]] = {
    "observationCount": 0,
    "completedRate": 0,
    "evidenceCitationRate": 0,
    "latencyP95Ms": 0,
    "contextBytesP95": 0,
    "responseBytesP95": 0,
    "missingMetrics": (),
}
WORSE: Final = 1.05
BETTER: Final = 0.95
SMALL_SAMPLE: Final = "Samples smaller than two observations are inconclusive."
# Part of the hashed report, so word for word.
LIMITATIONS: Final = (
    "Missing observation fields remain not-analyzed and are excluded from their metric "
    "denominator.",
    "A lower token or latency value is not an improvement when correctness, evidence quality, "
    "or rework regresses.",
    "Small samples are labeled inconclusive; this report does not establish causality from "
    "historical observations.",
)
# The order of the signs that occur, by the rules of the original's locale.
COLLATION: Final = {
    sign: place for place, sign in enumerate("_-:./|0123456789abcdefghijklmnopqrstuvwxyz")
}


def collated(text: str) -> tuple[tuple[int, int], ...]:
    """A sort key in locale order; signs that the format does not allow come last."""
    return tuple((COLLATION.get(sign, len(COLLATION)), ord(sign)) for sign in text)


def round_of(found: Observation) -> str:
    """The round of an observation."""
    return str(found.get("round", "unassigned"))


def groups_of(found: Observation) -> tuple[tuple[str, str], ...]:
    """The eight groups that an observation is counted in."""
    task = found["task"]
    return (
        ("task", task["taskId"]),
        ("repository", task["repositoryId"]),
        ("category", task["category"]),
        ("difficulty", task.get("difficulty", "unassigned")),
        ("model", found["model"]["id"]),
        ("scenario", found["scenario"]["id"]),
        ("replicate", str(int(task["replicate"]))),
        ("aggregate", "all"),
    )


def chosen_rounds(
    observations: Sequence[Observation], options: Mapping[str, Any]
) -> tuple[str | None, str | None]:
    """The two rounds that are compared: as asked, else `baseline` or the first, and the last."""
    every = sorted({round_of(found) for found in observations})
    baseline = options.get("baselineRound")
    if baseline is None:
        baseline = "baseline" if "baseline" in every else next(iter(every), None)
    current = options.get("currentRound")
    if current is None:
        others = [name for name in every if name != baseline]
        current = others[-1] if others else None
    return baseline, current


def chosen_observations(
    observations: Sequence[Observation],
    baseline: str | None,
    current: str | None,
    options: Mapping[str, Any],
) -> list[Observation]:
    """All observations, or with run ids only those of the two rounds and runs."""
    baseline_run, current_run = options.get("baselineRunId"), options.get("currentRunId")
    if not baseline_run and not current_run:
        return list(observations)
    if baseline == current:
        runs = {run for run in (baseline_run, current_run) if run is not None}
        return [
            found
            for found in observations
            if round_of(found) == baseline and found["runId"] in runs
        ]
    wanted = {current: current_run, baseline: baseline_run}
    return [
        found
        for found in observations
        if round_of(found) in wanted and wanted[round_of(found)] in (None, found["runId"])
    ]


def grouped(observations: Iterable[Observation]) -> list[dict[str, JSON]]:
    """The metrics of every group of every round, in locale order."""
    members: dict[tuple[str, str, str], list[Observation]] = {}
    for found in observations:
        for scope, key in groups_of(found):
            members.setdefault((scope, key, round_of(found)), []).append(found)
    ordered = sorted(members, key=lambda place: collated(":".join(place)))
    return [
        {
            "scope": scope,
            "key": key,
            "round": name,
            "metrics": metrics_of(members[scope, key, name]),
        }
        for scope, key, name in ordered
    ]


def compared_value(metrics: Mapping[str, Any], name: str) -> float | None:
    """A value for comparison; withheld when its own name is listed as missing or partial."""
    if name in metrics["missingMetrics"] or f"{name}-partial" in metrics["missingMetrics"]:
        return None
    value: float | None = metrics.get(name)
    return value


def change(baseline: float | None, current: float | None) -> dict[str, JSON]:
    """One value on both sides."""
    both = baseline is not None and current is not None
    difference = current - baseline if both else None  # type: ignore[operator]
    relative = difference / baseline if difference is not None and baseline else None
    return {
        "baseline": baseline,
        "current": current,
        "absoluteChange": difference,
        "relativeChange": relative,
    }


def pairs_of(metrics: Mapping[str, Any], names: Iterable[str]) -> list[tuple[str, float, float]]:
    """Names with both values, where both are known."""
    return [
        (name, metrics[name]["baseline"], metrics[name]["current"])
        for name in names
        if metrics[name]["baseline"] is not None and metrics[name]["current"] is not None
    ]


def compare(
    place: tuple[str, str],
    sides: tuple[Mapping[str, Any] | None, Mapping[str, Any] | None],
    rounds: tuple[str | None, str | None],
) -> dict[str, JSON]:
    """One group in two rounds. Differences decide only from two observations on both sides."""
    before, after = (NOTHING if side is None else side["metrics"] for side in sides)
    sizes = (before["observationCount"], after["observationCount"])
    metrics = {
        name: change(compared_value(before, name), compared_value(after, name)) for name in COMPARED
    }
    small = min(sizes) < 2
    regressions: list[str] = []
    if not small:
        regressions = [name for name, old, new in pairs_of(metrics, GUARDED) if new < old]
        regressions += [
            name for name, old, new in pairs_of(metrics, EFFICIENCY) if new > old * WORSE
        ]
    return {
        "scope": place[0],
        "key": place[1],
        "baselineRound": rounds[0] or "unassigned",
        "currentRound": rounds[1] or "unassigned",
        "baselineSampleSize": sizes[0],
        "currentSampleSize": sizes[1],
        "metrics": metrics,
        "status": status_of(None in sides, small, regressions, metrics),
        "regressions": list(regressions),
        "limitations": [SMALL_SAMPLE] if small else [],
    }


def status_of(
    one_sided: bool, small: bool, regressions: Sequence[str], metrics: Mapping[str, Any]
) -> str:
    """The word for a comparison."""
    if one_sided or not pairs_of(metrics, COMPARED):
        return "not-analyzed"
    if small:
        return "inconclusive"
    if regressions:
        return "regressed"
    improved = any(new < old * BETTER for _, old, new in pairs_of(metrics, EFFICIENCY)) or any(
        new > old for _, old, new in pairs_of(metrics, QUALITY)
    )
    return "improved" if improved else "unchanged"


def comparisons_of(
    groups: Sequence[Mapping[str, Any]], baseline: str | None, current: str | None
) -> list[dict[str, JSON]]:
    """Every group that one of the two rounds has."""
    by_place = {(group["scope"], group["key"], group["round"]): group for group in groups}
    places = {
        (group["scope"], group["key"]) for group in groups if group["round"] in (baseline, current)
    }
    return [
        compare(
            place,
            (by_place.get((*place, baseline)), by_place.get((*place, current))),
            (baseline, current),
        )
        for place in sorted(places, key=lambda place: collated(":".join(place)))
    ]


def report_of(
    observations: Sequence[Observation], options: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """The whole report with its content hash.

    Options: `baselineRound`, `currentRound`, `baselineRunId`, `currentRunId`.
    """
    asked = {key: value for key, value in (options or {}).items() if value is not None}
    baseline, current = chosen_rounds(observations, asked)
    chosen = chosen_observations(observations, baseline, current, asked)
    groups = grouped(chosen)
    report: dict[str, Any] = {
        "type": "controlled-study-metrics",
        "schemaVersion": 1,
        "metricsVersion": "v1",
        ALGORITHM_KEY: ALGORITHM,
        "observationCount": len(chosen),
        "rounds": sorted({round_of(found) for found in chosen}),
        "baselineRound": baseline,
        "currentRound": current,
        **{key: asked[key] for key in ("baselineRunId", "currentRunId") if key in asked},
        "groups": groups,
        "comparisons": comparisons_of(groups, baseline, current),
        "limitations": list(LIMITATIONS),
    }
    return {**report, HASH_KEY: content_hash(report)}


def report(raws: Iterable[bytes], options: Mapping[str, JSON]) -> JSON:
    """The report on stored records, in the order in which they are given.

    Raises AcademyError for an option that is none of those of `report_of`.
    """
    known = ("baselineRound", "currentRound", "baselineRunId", "currentRunId")
    unknown = sorted(set(options) - set(known))
    if unknown:
        raise AcademyError(f"A report has no option {unknown[0]!r}; known are {', '.join(known)}.")
    return report_of([json.loads(raw)["observation"] for raw in raws], options)
