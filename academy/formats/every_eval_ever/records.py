"""Turns aggregates into headers of runs and groups of rows into records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

from academy.bundle import (
    JSON,
    EntrantSpec,
    RecordSpec,
    RecordStatus,
    ReportedSpec,
    RunSpec,
    SuiteRef,
)
from academy.formats.every_eval_ever.documents import Document
from academy.formats.every_eval_ever.metrics import Result, row_gap
from academy.formats.every_eval_ever.rows import Group, Row, raw_of
from academy.formats.every_eval_ever.scanning import Scan
from academy.formats.every_eval_ever.values import (
    as_list,
    as_map,
    as_number,
    as_text,
    as_whole,
    shown,
    shown_value,
)

NAME_LENGTH = 200
SOURCE = (
    "source_name",
    "source_type",
    "source_organization_name",
    "evaluator_relationship",
)
SCAFFOLDS = ("agent_scaffold", "scaffold", "agent", "harness")
# In what Inspect's converter writes, this number is the time spent waiting.
NO_LATENCY = ("inspect", "inspect_ai")
# What is not known is said as "unknown".
WEIGHTS = {"open_weights": "open", "closed_weights": "closed"}


def when(said: str) -> str:
    """A time as ISO 8601 from Unix seconds as text, other text as it is."""
    try:
        return datetime.fromtimestamp(float(said), tz=UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        return shown(said[:64])


def entrant_of(record: Mapping[str, JSON]) -> EntrantSpec:
    """Who was tested: the model's id, with the scaffold around it where one is named."""
    model = as_map(record.get("model_info"))
    details = as_map(model.get("additional_details"))
    identity = as_text(model.get("id")) or as_text(model.get("name"))
    scaffold = next((shown(as_text(details[name])) for name in SCAFFOLDS if details.get(name)), "")
    library = shown(as_text(as_map(record.get("eval_library")).get("name")))
    settings: dict[str, JSON] = {}
    for name in ("inference_platform", "inference_engine"):
        if model.get(name):
            settings[name] = shown_value(model[name])
    arguments = [
        as_map(as_map(as_map(item).get("generation_config")).get("generation_args"))
        for item in as_list(record.get("evaluation_results"))
    ]
    common = shared(arguments)
    if common:
        settings["generation_args"] = common
    label = as_text(model.get("name"))
    return EntrantSpec(
        name=(f"{identity} ({scaffold})" if scaffold else identity)[:NAME_LENGTH],
        model=identity[:NAME_LENGTH],
        developer=(as_text(model.get("developer")) or identity.partition("/")[0])[:NAME_LENGTH],
        harness=(scaffold or (library if library != "unknown" else ""))[:NAME_LENGTH],
        settings=settings,
        aliases=(label[:NAME_LENGTH],) if label and label != identity and not scaffold else (),
        weights=WEIGHTS.get(as_text(details.get("model_availability")), ""),
    )


def shared(settings: Sequence[Mapping[str, JSON]]) -> dict[str, JSON]:
    """The numbers and switches that all results have in common; plans and prompts stay behind."""
    if not settings:
        return {}
    return {
        name: value
        for name, value in settings[0].items()
        if isinstance(value, bool | int | float)
        and all(name in other and other[name] == value for other in settings)
    }


def run_of(
    document: Document,
    results: Sequence[Result],
    suite: SuiteRef,
    *,
    supplied: bool,
    scan: Scan | None,
    part: str = "",
) -> RunSpec:
    """The header of the run of one data set. The aggregate's own text is kept for the way back."""
    record = document.record
    values = {result.metric.key: result.score for result in results if result.score is not None}
    times = [
        as_text(as_map(item).get("evaluation_timestamp")) for item in (record, *results_of(record))
    ]
    external = f"{document.evaluation_id}#{part}" if part else document.evaluation_id
    extra = provenance_of(document, results)
    if document.rows and supplied:
        extra["rows"] = document.rows
    if scan is not None and scan.recipes:
        extra["sample_hash"] = dict(sorted(scan.recipes.items()))
    return RunSpec(
        entrant=entrant_of(record),
        external_id=external[:300],
        suite=suite,
        started_at=when(next((time for time in times if time), "")),
        verification="supplied" if supplied else "reported",
        results=MappingProxyType(values),
        extra=extra,
        duplicate_digest=document.digest,
    )


def provenance_of(document: Document, results: Sequence[Result]) -> dict[str, JSON]:
    """What is kept of an aggregate: where it came from, what it says, and its own text."""
    record = document.record
    source = as_map(record.get("source_metadata"))
    told: dict[str, JSON] = {
        "schema_version": document.version,
        "source": {name: source[name] for name in SOURCE if name in source},
        "retrieved": when(as_text(record.get("retrieved_timestamp"))),
        "eval_library": record.get("eval_library"),
        "not_scored": {result.metric.key: result.gap for result in results if result.gap},
        "uncertainty": {
            result.metric.key: uncertainty
            for result in results
            if (uncertainty := uncertainty_of(record, result.index))
        },
    }
    shown_told = {name: shown_value(held) for name, held in told.items()}
    return {"path": document.path, "document": document.text, **shown_told}


def results_of(record: Mapping[str, JSON]) -> Sequence[JSON]:
    """The results of an aggregate."""
    return as_list(record.get("evaluation_results"))


def uncertainty_of(record: Mapping[str, JSON], index: int) -> JSON:
    """What an aggregate says of the uncertainty of one result."""
    details = as_map(as_map(results_of(record)[index]).get("score_details"))
    return details.get("uncertainty")


def status_of(row: Mapping[str, JSON]) -> RecordStatus:
    """How an execution ended."""
    if as_text(row.get("error")):
        return RecordStatus.ERROR
    said = as_list(as_map(row.get("output")).get("raw"))
    return RecordStatus.ANSWERED if said or as_list(row.get("messages")) else RecordStatus.MISSING


def reported_of(row: Row) -> ReportedSpec:
    """The score that a line tells. Without a result it is kept under the name the line gives."""
    evaluation = as_map(row.value.get("evaluation"))
    score = as_number(evaluation.get("score"))
    result = row.joined.result
    correct = evaluation.get("is_correct")
    if result is None:
        name = as_text(row.value.get("evaluation_result_id"))
        metric = f"?{name or as_text(row.value.get('evaluation_name'))}"[:NAME_LENGTH]
        note = "no result of the aggregate tells what this measures"
    else:
        metric, note = result.metric.key, "" if score is None else row_gap(result, score)
    return ReportedSpec(
        metric=metric,
        value=None if note and result is not None else score,
        correct=correct if isinstance(correct, bool) else None,
        line=row.number,
        note=note,
    )


def record_of(group: Group, run: int, scan: Scan) -> RecordSpec:
    """One execution: the lines of it as one record with a reported score for each metric."""
    row = group.rows[0].value
    usage, evaluation = as_map(row.get("token_usage")), as_map(row.get("evaluation"))
    library = as_text(as_map(scan.document.record.get("eval_library")).get("name"))
    latency = as_number(as_map(row.get("performance")).get("latency_ms"))
    reported = {one.metric: one for one in reversed([reported_of(row) for row in group.rows])}
    beside: dict[str, JSON] = {}
    for line in group.rows:
        beside |= scan.trajectories.beside(line.value)
    return RecordSpec(
        task_id=group.key.task,
        raw=raw_of(group.rows, beside),
        run=run,
        replicate=group.key.replicate,
        status=status_of(row),
        steps=as_whole(evaluation.get("num_turns")),
        wall_ms=None if latency is None or library in NO_LATENCY else round(latency),
        tokens_in=as_whole(usage.get("input_tokens")),
        tokens_out=as_whole(usage.get("output_tokens")),
        reported=tuple(reversed(reported.values())),
        content_digest=group.digest,
        file=scan.document.rows,
        line=group.rows[0].number,
    )


def records_of(scan: Scan, first: int, slugs: Sequence[str]) -> Iterator[RecordSpec]:
    """Every record of a document; `first` is the position of the run of its first data set."""
    for group in scan.groups():
        at = slugs.index(group.key.slug) if group.key.slug else 0
        yield record_of(group, first + at, scan)
