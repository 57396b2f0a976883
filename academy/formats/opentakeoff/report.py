"""The original's score report for one bundle, and the exit code of its score command."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from academy.bundle import JSON, AssetSpec, RecordView, ScoredRecord, SuiteSpec, TaskSpec
from academy.formats.opentakeoff.agreement import Ceiling, ceiling_of, spreads_of
from academy.formats.opentakeoff.checking import schema_errors
from academy.formats.opentakeoff.flags import (
    MS_PER_QUANTITY,
    NO_MATCHING_TASK,
    TOLERATED_ERROR,
    flags_of,
    quantities,
    reference_verdict,
)
from academy.formats.opentakeoff.integrity import Integrity, verify_bundle
from academy.formats.opentakeoff.keys import is_usable, items
from academy.formats.opentakeoff.manifests import mapping, numeric
from academy.formats.opentakeoff.metrics import METRICS
from academy.formats.opentakeoff.reference_result import Options, reference_result
from academy.formats.opentakeoff.tasks import spec_of
from academy.formats.opentakeoff.views import view_entry
from academy.scorers.base import Verdict
from academy.scorers.ecmascript import plain_sum, round_places, to_number

INVALID, REFUSED, PASSED = 2, 1, 0


@dataclass(frozen=True, slots=True)
class Scored:
    """One entry of a bundle with what the original would say of it."""

    task_id: str
    task: TaskSpec | None
    record: RecordView
    verdict: Verdict | None
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Gate:
    """The exit code of the score command, why, and the report where one was made."""

    code: int
    reasons: tuple[str, ...]
    report: Mapping[str, JSON] | None = None


def suite_from(documents: Sequence[Mapping[str, JSON]], **values: object) -> SuiteSpec:
    """A suite of task documents that nobody has checked, for a report alone."""
    tasks = []
    for document in documents:
        planset = mapping(document.get("planset"))
        asset = AssetSpec(
            ref=str(planset.get("assetRef")), sha256=str(planset.get("assetHash") or "")
        )
        tasks.append(spec_of(document, asset=asset))
    empty = SuiteSpec(
        slug="report",
        title="",
        format="opentakeoff",
        tasks=tuple(tasks),
        metrics=tuple(METRICS.values()),
    )
    return replace(empty, **values)  # type: ignore[arg-type]


def score_entries(bundle: Mapping[str, JSON], suite: SuiteSpec, options: Options) -> list[Scored]:
    """Every entry in the bundle's order; an unknown task has a flag alone."""
    known = {task.external_id: task for task in suite.tasks}
    speed = numeric(options.get("minWallMsPerQuantity"))
    tolerated = numeric(options.get("tolerantPass"))
    scored = []
    for entry in map(mapping, items(bundle.get("tasks"))):
        task_id = str(entry.get("taskId"))
        record, task = view_entry(entry), known.get(task_id)
        if task is None:
            scored.append(Scored(task_id, None, record, None, (NO_MATCHING_TASK,)))
            continue
        raised = flags_of(
            record,
            task,
            ms_per_quantity=MS_PER_QUANTITY if speed is None else speed,
            tolerated_error=TOLERATED_ERROR if tolerated is None else tolerated,
        )
        scored.append(Scored(task_id, task, record, reference_verdict(record, task), raised))
    return scored


def as_scores(scored: Sequence[Scored]) -> list[ScoredRecord]:
    """The entries of known tasks as stored scores; a task answered twice counts twice."""
    counts: dict[str, int] = {}
    rows = []
    for entry in scored:
        if entry.task is None or entry.verdict is None:
            continue
        counts[entry.task_id] = counts.get(entry.task_id, 0) + 1
        rows.append(
            ScoredRecord(
                task_id=entry.task_id,
                metric=entry.task.gradings[0].metric,
                status=entry.verdict.status.value,
                replicate=counts[entry.task_id],
                value=entry.verdict.value,
                credit=entry.verdict.credit,
                passed=entry.verdict.passed,
                measures=entry.verdict.measures,
            )
        )
    return rows


def item_rows(entry: Scored) -> JSON:
    """The original's record of each truth quantity: the truth, what stood for it, the error."""
    if entry.task is None or entry.verdict is None or entry.verdict.value is None:
        return None
    matched = entry.verdict.measures.get("matched")
    if matched is None:
        return None
    answers = [mapping(item) for item in quantities(entry.record)]
    errors = items(entry.verdict.measures.get("item_errors"))
    rows: list[JSON] = []
    truths = map(mapping, items(mapping(entry.task.key).get("quantities")))
    for truth, position, error in zip(truths, items(matched), errors, strict=True):
        pred = answers[position].get("value") if isinstance(position, int) else None
        rows.append(
            {"item": truth.get("item"), "truth": truth.get("value"), "pred": pred, "apePct": error}
        )
    return rows


def scope_row(entry: Scored) -> JSON:
    """Precision, recall and sizes of a set of names."""
    if entry.verdict is None or "precision" not in entry.verdict.measures:
        return None
    measures = entry.verdict.measures
    return {
        "precision": measures["precision"],
        "recall": measures["recall"],
        "tp": measures["hits"],
        "predN": measures["named"],
        "truthN": measures["true"],
    }


def task_row(entry: Scored) -> dict[str, JSON]:
    """One task of the report; without a key there is neither score nor pass."""
    if entry.task is None:
        metric: str | None = None
        passed: bool | None = False
    else:
        metric = entry.task.gradings[0].metric
        passed = entry.verdict.passed if entry.verdict else None
        if passed is None and entry.task.key is not None:
            passed = False
    return {
        "taskId": entry.task_id,
        "metricType": metric,
        "score": entry.verdict.value if entry.verdict else None,
        "pass": passed,
        "flags": list(entry.flags),
        "detail": {"matched": item_rows(entry), "scope": scope_row(entry)},
    }


def gather_flags(scored: Sequence[Scored]) -> list[JSON]:
    """Every flag with the tasks that have it, in the order they were first seen."""
    seen: dict[str, list[str]] = {}
    for entry in scored:
        for flag in entry.flags:
            seen.setdefault(flag, []).append(entry.task_id)
    return [{"flag": flag, "taskIds": list(task_ids)} for flag, task_ids in seen.items()]


def efficiency(scored: Sequence[Scored]) -> dict[str, JSON]:
    """What the run spent; it is shown and never scored."""
    spent = [mapping(mapping(entry.record.evidence).get("telemetry")) for entry in scored]
    count = len(spent)

    def total(name: str) -> float:
        return plain_sum(to_number(row.get(name)) for row in spent)

    def average(name: str, places: int) -> float:
        return round_places(total(name) / count, places) if count else 0.0

    return {
        "tasks": count,
        "avgSteps": average("steps", 2),
        "avgToolCalls": average("toolCalls", 2),
        "avgMcpCalls": average("mcpCalls", 2),
        "avgWallMs": average("wallMs", 0),
        "totalTokensIn": total("tokensIn"),
        "totalTokensOut": total("tokensOut"),
        "totalWallMs": total("wallMs"),
    }


def ceiling_row(ceiling: Ceiling | None) -> JSON:
    """The agreement of people, with their names: for curators, since it comes from the keys."""
    if ceiling is None:
        return None
    return {
        "nRaters": ceiling.raters,
        "raterNames": list(ceiling.names),
        "nItems": ceiling.items,
        "interEstimatorApeMedian": ceiling.median_error,
        "interEstimatorApeMean": ceiling.mean_error,
        "krippendorffAlpha": ceiling.alpha,
        "icc": ceiling.icc,
    }


def suite_row(
    scored: Sequence[Scored], suite: SuiteSpec, options: Options
) -> tuple[str, dict[str, JSON]]:
    """Competency and the suite part of the report."""
    result = reference_result(as_scores(scored), suite, options)
    found = result.details
    interval = mapping(found["interval"])
    items_count, clusters = interval.get("items", 0), interval.get("clusters", 0)
    names = ("direction", "median", "mean", "threshold", "baseline", "passed", "tier")
    row: dict[str, JSON] = {"metric": result.metric, "n": result.n}
    row |= {name: found[name] for name in names}
    row |= {
        "beatsBaseline": found["beats_baseline"],
        "efficiency": efficiency(scored),
        "ci": interval_row(interval, result.method),
        "nItems": items_count,
        "nClusters": clusters,
        "humanCeiling": ceiling_row(ceiling_of(spreads_of(task.key for task in suite.tasks))),
        "withinHumanFloor": found["within_human_floor"],
    }
    return str(found["competency"]), row


def interval_row(interval: Mapping[str, JSON], method: str) -> JSON:
    """The interval of the report; None without items."""
    if not interval:
        return None
    row: dict[str, JSON] = {
        "point": interval["point"],
        "level": interval["level"],
        "method": method,
        "nItems": interval["items"],
        "nClusters": interval["clusters"],
        "lower": interval["lower"],
        "upper": interval["upper"],
    }
    return {**row, "note": interval["note"]} if interval["note"] else row


def integrity_row(verdict: Integrity) -> dict[str, JSON]:
    """The integrity part of the report."""
    return {
        "valid": verdict.ok,
        "hashMatch": verdict.hash_match,
        "signatureValid": verdict.signature_valid,
        "reason": verdict.reason,
    }


def score_report(bundle: Mapping[str, JSON], suite: SuiteSpec, options: Options) -> dict[str, JSON]:
    """The report of the original for any bundle, whether it keeps to the schema or not.

    `options` are those of `reference_result`, `minWallMsPerQuantity` and `tolerantPass`.
    """
    scored = score_entries(bundle, suite, options)
    competency, whole = suite_row(scored, suite, options)
    named = mapping(bundle.get("suite"))
    return {
        "reportVersion": "1.0",
        "generatedFor": {
            "track": bundle.get("track"),
            "suiteId": named.get("id"),
            "suiteVersion": named.get("version"),
            "suiteMode": named.get("mode"),
            "runId": bundle.get("runId"),
            "bundleHash": mapping(bundle.get("integrity")).get("bundleHash"),
        },
        "attestation": mapping(bundle.get("attestation")).get("mode"),
        "competency": competency,
        "metric": whole["metric"],
        "perTask": [task_row(entry) for entry in scored],
        "suite": whole,
        "flags": gather_flags(scored),
        "integrity": integrity_row(verify_bundle(bundle)),
    }


def lacking_keys(bundle: Mapping[str, JSON], suite: SuiteSpec) -> list[str]:
    """The submitted tasks of the suite that have no usable key."""
    submitted = [str(mapping(entry).get("taskId")) for entry in items(bundle.get("tasks"))]
    unkeyed = {task.external_id for task in suite.tasks if not is_usable(task.key)}
    return [task_id for task_id in submitted if task_id in unkeyed]


def gate(bundle: JSON, suite: SuiteSpec, options: Options, *, report_only: bool = False) -> Gate:
    """What the score command of the original would answer.

    2 for a bundle that breaks the schema; 1 for a ranked run without its keys (by the bundle's
    own word, as in the original), a wrong hash or signature, a missed bar or any flag; else 0.
    """
    document = mapping(bundle)
    broken = schema_errors("run-bundle", bundle)
    if broken:
        return Gate(INVALID, tuple(f"{row.pointer}: {row.message}" for row in broken))
    ranked = mapping(document.get("suite")).get("mode") == "ranked"
    lacking = lacking_keys(document, suite) if ranked else []
    if lacking and not report_only:
        return Gate(REFUSED, (f"no answer key for {', '.join(lacking)}",))
    made = score_report(document, suite, options)
    reasons = []
    integrity, whole = mapping(made["integrity"]), mapping(made["suite"])
    if not integrity["valid"]:
        reasons.append(str(integrity["reason"]))
    if not whole["passed"]:
        reasons.append(f"the suite's bar {whole['threshold']} is not met")
    reasons += [str(mapping(flag)["flag"]) for flag in items(made["flags"])]
    code = REFUSED if reasons and not report_only else PASSED
    return Gate(code, tuple(reasons), made)
