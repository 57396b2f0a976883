"""Writes a run of any format as a pair of version 0.3.0: what was scored, and nothing else.

Only scored items become rows, one for each metric with a pass mark; what waits for a person, was
not submitted or cannot be scored is counted beside the number and never turned into one. No
number is made of several metrics.
"""

from __future__ import annotations

import hashlib
import json
import math
import statistics
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from academy.bundle import (
    JSON,
    MetricKind,
    MetricSpec,
    RecordSpec,
    RecordView,
    ResultSpec,
    RunSpec,
    ScoredRecord,
    SuiteSpec,
    TaskSpec,
)
from academy.errors import AcademyError
from academy.formats.every_eval_ever.export_rows import RowWriter
from academy.formats.every_eval_ever.metrics import slug_of
from academy.formats.every_eval_ever.paths import UNKNOWN, path_components, samples_path
from academy.formats.every_eval_ever.versions import NEWEST

View = Callable[[bytes, TaskSpec | None], RecordView]
STATES = {"scored": "scored", "needs_human": "waiting", "unscorable": "unscorable", "": "missing"}
LEVEL = 0.95
NAMELESS = "unnamed-model"


@dataclass(frozen=True, slots=True, kw_only=True)
class Publisher:
    """Who exports, and when: what a pure function cannot know. Times are Unix seconds as text."""

    retrieved_at: str
    mode: str = "strict"
    organization: str = "Academy"
    relationship: str = "other"
    library_version: str = UNKNOWN
    references: bool = False
    details: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Pair:
    """The two files of a pair. Without a row there is no second file, and it is not declared."""

    aggregate_path: str
    aggregate: bytes
    rows_path: str
    rows: bytes

    def files(self) -> dict[str, bytes]:
        """The files by path."""
        pair = {self.aggregate_path: self.aggregate}
        return pair | ({self.rows_path: self.rows} if self.rows else {})


@dataclass(slots=True)
class Counts:
    """The items of one metric by what became of them."""

    scored: int = 0
    waiting: int = 0
    missing: int = 0
    unscorable: int = 0

    def as_texts(self) -> dict[str, str]:
        """The counts as a string map."""
        return {
            "scored": str(self.scored),
            "waiting": str(self.waiting),
            "missing": str(self.missing),
            "unscorable": str(self.unscorable),
        }


def export_pair(
    suite: SuiteSpec,
    run: RunSpec,
    records: Iterable[RecordSpec],
    scores: Sequence[ScoredRecord],
    *,
    view: View,
    publisher: Publisher,
    results: Sequence[ResultSpec] = (),
) -> Pair:
    """A run as aggregate and rows that the original's validator accepts.

    `view` opens the records of the run; `results` are the published numbers of the run, where
    they are missing the mean (median, sum) of the scored items is taken, as the metric says.
    """
    collection, developer, model, identity = folders(suite, run)
    name = uuid_of(suite, run, publisher.mode)
    path = f"data/{collection}/{developer}/{model}/{name}.json"
    evaluation = evaluation_id(suite, run, publisher.mode)
    writer = RowWriter(suite, evaluation, identity, references=publisher.references)
    rows = b"".join(rows_of(suite, records, scores, view, writer, publisher.mode))
    told = [
        result
        for metric in suite.metrics
        if (result := result_of(suite, metric, scores, results, publisher)) is not None
    ]
    aggregate = aggregate_of(suite, run, publisher, told, evaluation, identity)
    if rows:
        aggregate["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": samples_path(path),
            "hash_algorithm": "sha256",
            "checksum": hashlib.sha256(rows).hexdigest(),
            "total_rows": rows.count(b"\n"),
        }
    text = json.dumps(aggregate, indent=2, ensure_ascii=True, allow_nan=False)
    return Pair(path, f"{text}\n".encode(), samples_path(path), rows)


def folders(suite: SuiteSpec, run: RunSpec) -> tuple[str, str, str, str]:
    """Collection, developer and model as folders, and the model's id that asks for them."""
    named = (run.entrant.model or run.entrant.name).strip() or NAMELESS
    developer = run.entrant.developer.strip()
    identity = named if "/" in named else f"{developer or 'unattributed'}/{named}"
    try:
        return (*path_components(suite.slug, identity), identity)
    except AcademyError:
        # An identity that cannot name folders keeps its text; only its folders are made safe.
        maker, _, rest = identity.partition("/")
        return (
            f"suite-{slug_of(suite.slug)}",
            f"by-{slug_of(maker)}",
            f"model-{slug_of(rest)}",
            named,
        )


def uuid_of(suite: SuiteSpec, run: RunSpec, mode: str) -> str:
    """A UUID of version 4 that is the same for every export of one run in one mode."""
    told = "\0".join((suite.slug, suite.version, run.external_id, run.entrant.name, run.arm, mode))
    digest = hashlib.sha256(told.encode("utf-8", "surrogatepass")).digest()
    return str(uuid.UUID(bytes=digest[:16], version=4))


def evaluation_id(suite: SuiteSpec, run: RunSpec, mode: str) -> str:
    """An id that does not change with the moment of the export."""
    model = (run.entrant.model or run.entrant.name).replace("/", "_")
    arm = f"/{run.arm}" if run.arm else ""
    return f"{suite.slug}@{suite.version}/{model}/{run.external_id}{arm}/{mode}"


def result_id(suite: SuiteSpec, metric: str, mode: str) -> str:
    """The id by which rows join a result."""
    return f"{suite.slug}:{metric}:{mode}"


def rows_of(
    suite: SuiteSpec,
    records: Iterable[RecordSpec],
    scores: Sequence[ScoredRecord],
    view: View,
    writer: RowWriter,
    mode: str,
) -> Iterator[bytes]:
    """A line for every scored item and metric with a pass mark."""
    told: dict[tuple[str, int, int], list[ScoredRecord]] = {}
    known = {metric.key for metric in suite.metrics}
    for score in scores:
        if is_scored(score) and score.passed is not None and score.metric in known:
            told.setdefault((score.task_id, score.replicate, score.variant), []).append(score)
    tasks = {task.external_id: task for task in suite.tasks}
    for record in records:
        listed = told.get((record.task_id, record.replicate, record.variant))
        if not listed:
            continue
        task = tasks.get(record.task_id)
        opened = view(record.raw, task)
        for score in listed:
            place = result_id(suite, score.metric, mode)
            yield writer.line(record, opened, task, score, place)


def is_scored(score: ScoredRecord) -> bool:
    """Whether a score is a number."""
    return score.status == "scored" and score.value is not None and math.isfinite(score.value)


def count(metric: str, scores: Sequence[ScoredRecord]) -> Counts:
    """The items of a metric by what became of them."""
    counts = Counts()
    for score in scores:
        if score.metric == metric:
            state = STATES.get(score.status, "unscorable")
            if state == "scored" and not is_scored(score):
                state = "unscorable"
            setattr(counts, state, getattr(counts, state) + 1)
    return counts


def value_of(metric: MetricSpec, scores: Sequence[ScoredRecord]) -> float | None:
    """The number of a run: repetitions of a task first, then the tasks, as the metric says."""
    by_task: dict[str, list[float]] = {}
    for score in scores:
        if score.metric == metric.key and is_scored(score) and score.value is not None:
            by_task.setdefault(score.task_id, []).append(score.value)
    items = [math.fsum(values) / len(values) for values in by_task.values()]
    if not items or metric.run_aggregation == "none":
        return None
    if metric.run_aggregation == "median":
        return statistics.median(items)
    total = math.fsum(items)
    return total if metric.run_aggregation == "sum" else total / len(items)


def published(metric: str, results: Sequence[ResultSpec]) -> ResultSpec | None:
    """The published number of a metric over all items."""
    return next((one for one in results if one.metric == metric and one.slice == ""), None)


def result_of(
    suite: SuiteSpec,
    metric: MetricSpec,
    scores: Sequence[ScoredRecord],
    results: Sequence[ResultSpec],
    publisher: Publisher,
) -> dict[str, JSON] | None:
    """One metric as a result, or None when it has no number."""
    given = published(metric.key, results)
    value = value_of(metric, scores) if given is None else given.value
    if value is None or not math.isfinite(value):
        return None
    counts = count(metric.key, scores)
    if given is not None:
        counts = Counts(
            given.n or counts.scored,
            given.waiting or counts.waiting,
            given.missing or counts.missing,
            given.unscorable or counts.unscorable,
        )
    details = counts.as_texts() | {"mode": publisher.mode}
    score: dict[str, JSON] = {"score": value}
    if given is not None and given.low is not None and given.high is not None:
        interval: dict[str, JSON] = {
            "lower": given.low,
            "upper": given.high,
            "confidence_level": LEVEL,
        }
        if given.method:
            interval["method"] = given.method
        score["uncertainty"] = {"confidence_interval": interval}
    return {
        "evaluation_result_id": result_id(suite, metric.key, publisher.mode),
        "evaluation_name": suite.slug,
        "source_data": source_of(suite),
        "metric_config": metric_config(metric, value, details),
        "score_details": score,
    }


def source_of(suite: SuiteSpec) -> dict[str, JSON]:
    """The suite as the source of a result."""
    named = suite.attributes.get("data_set")
    source: dict[str, JSON] = {
        "dataset_name": named if isinstance(named, str) else suite.slug,
        "source_type": "other",
        "additional_details": {
            "suite": suite.slug,
            "version": suite.version,
            "format": suite.format,
            "tasks": str(len(suite.tasks)),
        },
    }
    split, repository = suite.attributes.get("split"), suite.attributes.get("hf_repo")
    if isinstance(repository, str):
        source |= {"source_type": "hf_dataset", "hf_repo": repository}
        source |= {"hf_split": split} if isinstance(split, str) else {}
    return source


def metric_config(metric: MetricSpec, value: float, details: Mapping[str, str]) -> dict[str, JSON]:
    """A metric; its bounds are told where the number lies inside of them."""
    low = -math.inf if metric.low is None else metric.low
    high = math.inf if metric.high is None else metric.high
    config: dict[str, JSON] = {
        "metric_id": metric.key,
        "metric_name": metric.label,
        "metric_kind": "pass_rate" if metric.kind is MetricKind.PASS else metric.kind.value,
        "lower_is_better": metric.direction.value == "down",
        "additional_details": dict(details),
    }
    if metric.unit:
        config["metric_unit"] = metric.unit
    if low <= value <= high:
        config["score_type"] = "continuous"
        config["min_score"] = "-Infinity" if math.isinf(low) else low
        config["max_score"] = "Infinity" if math.isinf(high) else high
    return config


def seconds_of(moment: str) -> str:
    """An ISO time as Unix seconds; other text says nothing."""
    try:
        return repr(datetime.fromisoformat(moment).timestamp())
    except (ValueError, OverflowError, OSError):
        return ""


def details_of(
    suite: SuiteSpec,
    run: RunSpec,
    publisher: Publisher,
    results: Sequence[Mapping[str, JSON]],
) -> dict[str, str]:
    """What a reader must know of the numbers: their rules, their proof, and which are absent."""
    told = {result["evaluation_result_id"] for result in results}
    silent = [
        metric.key
        for metric in suite.metrics
        if result_id(suite, metric.key, publisher.mode) not in told
    ]
    return {
        "mode": publisher.mode,
        "verification": run.verification,
        "references": "included" if publisher.references else "withheld",
        **({"metrics_without_a_number": ", ".join(silent)} if silent else {}),
        **({"arm": run.arm} if run.arm else {}),
        **({"scenario": run.scenario} if run.scenario else {}),
        **publisher.details,
    }


def aggregate_of(
    suite: SuiteSpec,
    run: RunSpec,
    publisher: Publisher,
    results: Sequence[Mapping[str, JSON]],
    evaluation: str,
    identity: str,
) -> dict[str, JSON]:
    """The aggregate without its rows."""
    entrant = run.entrant
    aggregate: dict[str, JSON] = {
        "schema_version": NEWEST,
        "evaluation_id": evaluation,
        "retrieved_timestamp": publisher.retrieved_at,
        "source_metadata": {
            "source_name": "Academy",
            "source_type": "documentation" if run.verification == "reported" else "evaluation_run",
            "source_organization_name": publisher.organization,
            "evaluator_relationship": publisher.relationship,
            "additional_details": details_of(suite, run, publisher, results),
        },
        "eval_library": {"name": "academy", "version": publisher.library_version},
        "model_info": {
            "name": entrant.model or entrant.name or NAMELESS,
            "id": identity,
            "additional_details": {
                "deployment_type": UNKNOWN,
                "model_availability": f"{entrant.weights}_weights" if entrant.weights else UNKNOWN,
                **({"harness": entrant.harness} if entrant.harness else {}),
                **({"entrant": entrant.name} if entrant.name != identity else {}),
            },
            **({"developer": entrant.developer} if entrant.developer else {}),
        },
        "evaluation_results": list(results),
    }
    began = seconds_of(run.started_at)
    return aggregate | ({"evaluation_timestamp": began} if began else {})
