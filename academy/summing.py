"""The results of a run from its stored scores: vectors, results, counts; derived and repeatable."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from academy import measuring, registry, specs
from academy.aggregation import SCALE, ItemState, ItemVector, item_vector, run_result, slices_of
from academy.bundle import MetricSpec, ResultSpec, ScoredRecord, SuiteSpec, TaskSpec
from academy.formats.base import AggregateContext
from academy.models import (
    InstanceRecord,
    Metric,
    Run,
    RunResult,
    RunVector,
    Score,
    ScoringPass,
    Summary,
)
from academy.scorers.base import Mode

Facts = Callable[[Run, ScoringPass], Mapping[str, Any]]
Follower = Callable[[Run, ScoringPass], None]
FACTS: list[Facts] = []
FOLLOWERS: list[Follower] = []
USAGE = ("steps", "wall_ms", "tokens_in", "tokens_out", "cost_micros")


@dataclass(frozen=True, slots=True)
class Summed:
    """All that follows from the scores of one run in one pass, not stored yet."""

    run: Run
    scoring_pass: ScoringPass
    vectors: tuple[tuple[str, Mode, ItemVector], ...]
    results: tuple[tuple[Mode, ResultSpec], ...]
    counts: dict[str, int]
    usage: dict[str, Any]
    digest: str


def know(facts: Facts, follow: Follower) -> None:
    """Let an app say what it has recorded of a run (windows, …) before the run is summed up, and
    record what follows from its stored results. Apps do this when they are ready."""
    if facts not in FACTS:
        FACTS.append(facts)
    if follow not in FOLLOWERS:
        FOLLOWERS.append(follow)


def facts_of(run: Run, chosen: ScoringPass) -> dict[str, Any]:
    """What this site has recorded that a run's tiers rest on; nothing of it is the upload's."""
    found: dict[str, Any] = {"human_baseline": measuring.baselines_in(chosen)}
    for facts in FACTS:
        found.update(facts(run, chosen))
    return found


def read_scores(run: Run, chosen: ScoringPass, mode: Mode) -> list[ScoredRecord]:
    """The current scores of a run in one mode, in the order of records."""
    first, last = run.pk << 39, (run.pk + 1) << 39
    rows = (
        Score.objects.filter(
            record_id__gte=first,
            record_id__lt=last,
            scoring_pass=chosen,
            mode=str(mode),
            current=True,
        )
        .order_by("record_id", "metric__ordinal", "pk")
        .values_list(
            "record__task__external_id",
            "metric__key",
            "status",
            "record__replicate",
            "record__variant",
            "value",
            "credit",
            "passed",
            "measures",
        )
    )
    return [
        ScoredRecord(
            task_id=row[0],
            metric=row[1],
            status=row[2],
            replicate=row[3],
            variant=row[4],
            value=row[5],
            credit=row[6],
            passed=row[7],
            measures=row[8],
        )
        for row in rows
    ]


def sum_up(run: Run, chosen: ScoringPass) -> Summed:
    """Compute what follows from the scores of a run; nothing is stored."""
    suite = specs.suite_spec(run.version, keys=specs.keys_in(chosen))
    fmt = registry.format_of(suite.format)
    attributes = {**run.header, "verification": run.verification, "attempt": run.attempt}
    facts = facts_of(run, chosen)
    vectors: list[tuple[str, Mode, ItemVector]] = []
    results: list[tuple[Mode, ResultSpec]] = []
    hashed = hashlib.sha256()
    repeated: set[int] = set()
    records = list(
        InstanceRecord.objects.of_run(run.pk)
        .order_by("id")
        .values_list("task__external_id", "replicate", "variant")
    )
    for mode in Mode:
        scores = with_lost(suite, records, read_scores(run, chosen, mode), mode)
        repeated.update(score.replicate for score in scores)
        made = mode_vectors(suite, scores)
        vectors += [(key, mode, vector) for key, vector in made.items()]
        own = fmt.aggregate(
            with_missing(suite, scores),
            AggregateContext(suite=suite, mode=mode, attributes=attributes, facts=facts),
        )
        results += [(mode, result) for result in fill_in(suite, made, own)]
        for score in scores:
            hashed.update(
                f"{mode} {score.task_id} {score.replicate} {score.variant} {score.metric} "
                f"{score.status} {score.value!r}\n".encode()
            )
    return Summed(
        run,
        chosen,
        tuple(vectors),
        tuple(results),
        counts_of(run, suite, vectors),
        {**usage_of(run), "replicates": max(repeated, default=1)},
        hashed.hexdigest(),
    )


def with_lost(
    suite: SuiteSpec,
    records: Sequence[tuple[str, int, int]],
    scores: list[ScoredRecord],
    mode: Mode,
) -> list[ScoredRecord]:
    """The scores, and an unscorable one for each record whose scoring was given up: it came, so
    that it is no missing answer, and the failure is ours."""
    known = {(s.task_id, s.replicate, s.variant, s.metric) for s in scores}
    metrics = {
        task.external_id: [
            grading.metric
            for grading in task.gradings
            if registry.scorer_of(grading.scorer, mode) is not None
        ]
        for task in suite.tasks
    }
    lost = [
        ScoredRecord(
            task_id=task_id,
            metric=metric,
            status="unscorable",
            replicate=replicate,
            variant=variant,
        )
        for task_id, replicate, variant in records
        for metric in metrics[task_id]
        if (task_id, replicate, variant, metric) not in known
    ]
    return [*scores, *lost]


def mode_vectors(suite: SuiteSpec, scores: Sequence[ScoredRecord]) -> dict[str, ItemVector]:
    """One vector per metric over the tasks that are graded by it."""
    made = {}
    for metric in suite.metrics:
        task_ids = tasks_of(suite, metric.key)
        held = [score for score in scores if score.metric == metric.key]
        if task_ids and (held or any(True for _ in task_ids)):
            made[metric.key] = item_vector(task_ids, held)
    return made


def tasks_of(suite: SuiteSpec, metric: str) -> list[str]:
    """The ids of the tasks graded by a metric, in order."""
    return [
        task.external_id
        for task in suite.tasks
        if any(grading.metric == metric for grading in task.gradings)
    ]


def with_missing(suite: SuiteSpec, scores: Sequence[ScoredRecord]) -> list[ScoredRecord]:
    """The scores, and an entry with an empty status for each task and metric without a record."""
    present = {(score.task_id, score.metric) for score in scores}
    absent = [
        ScoredRecord(task_id=task.external_id, metric=grading.metric, status="")
        for task in suite.tasks
        for grading in task.gradings
        if (task.external_id, grading.metric) not in present
    ]
    return [*scores, *absent]


def fill_in(
    suite: SuiteSpec, vectors: dict[str, ItemVector], own: Sequence[ResultSpec]
) -> list[ResultSpec]:
    """The format's own results, and plain ones for metrics and slices it does not sum up."""
    said = {(result.metric, result.slice) for result in own}
    made = list(own)
    for metric in suite.metrics:
        vector = vectors.get(metric.key)
        if vector is None:
            continue
        for result in plain_results(suite, metric, vector):
            if (result.metric, result.slice) not in said:
                made.append(result)
    return made


def plain_results(suite: SuiteSpec, metric: MetricSpec, vector: ItemVector) -> list[ResultSpec]:
    """The plain result over all tasks of a metric and over each slice by a short attribute."""
    ids = set(tasks_of(suite, metric.key))
    graded = [task for task in suite.tasks if task.external_id in ids]
    made = [run_result(metric, vector, range(len(vector.values)))]
    names = slicing_attributes(graded)
    for name, positions in slices_of(vector, [task.attributes for task in graded], names).items():
        if len(name) <= 200 and 0 < len(positions) < len(graded):
            made.append(run_result(metric, vector, positions, slice_name=name))
    return made


MOST_SLICES = 20


def slicing_attributes(tasks: Sequence[TaskSpec]) -> list[str]:
    """The attributes worth cutting by: short values, few of them, and some task shares one."""
    values: dict[str, list[str]] = {}
    for task in tasks:
        for name, value in task.attributes.items():
            if isinstance(value, str | int | bool):
                values.setdefault(name, []).append(str(value))
            elif isinstance(value, list | tuple):
                values.setdefault(name, []).extend(str(part) for part in value)
    return sorted(
        name
        for name, held in values.items()
        if len(set(held)) <= MOST_SLICES and len(set(held)) < len(held)
    )


def counts_of(
    run: Run, suite: SuiteSpec, vectors: Sequence[tuple[str, Mode, ItemVector]]
) -> dict[str, int]:
    """Counts over the tasks of the strict mode's metrics, each task once, by its worst state."""
    worst: dict[str, ItemState] = {}
    order = (
        ItemState.SCORED,
        ItemState.STRUCK,
        ItemState.FAILED,
        ItemState.MISSING,
        ItemState.UNSCORABLE,
        ItemState.WAITING,
    )
    rank = {state: place for place, state in enumerate(order)}
    for key, mode, vector in vectors:
        if mode is Mode.STRICT:
            for task_id, state in zip(tasks_of(suite, key), vector.states, strict=True):
                held = worst.get(task_id, ItemState.SCORED)
                worst[task_id] = max(held, state, key=rank.__getitem__)
    states = list(worst.values())
    return {
        "records": InstanceRecord.objects.of_run(run.pk).count(),
        "scored": states.count(ItemState.SCORED),
        "waiting": states.count(ItemState.WAITING),
        "unscorable": states.count(ItemState.UNSCORABLE),
        "missing": states.count(ItemState.MISSING),
    }


def usage_of(run: Run) -> dict[str, Any]:
    """Total and median of steps, times, tokens and cost, with the share that carries them."""
    rows = list(InstanceRecord.objects.of_run(run.pk).order_by("id").values_list(*USAGE))
    usage: dict[str, Any] = {}
    for place, name in enumerate(USAGE):
        carried = [row[place] for row in rows if row[place] is not None]
        if carried:
            usage[name] = {
                "total": sum(carried),
                "median": float(np.median(np.array(carried, dtype=np.float64))),
                "share": len(carried) / len(rows),
            }
    return usage


def encode(vector: ItemVector) -> tuple[bytes, bytes]:
    """The vector as stored: int64 of round(x·2²⁰) and one byte per state."""
    numbers = [0 if value is None else round(value * SCALE) for value in vector.values]
    limit = 2**63 - 1
    clipped = [max(-limit, min(limit, number)) for number in numbers]
    return np.array(clipped, dtype="<i8").tobytes(), bytes(int(s) for s in vector.states)


def decode(values: bytes, states: bytes) -> ItemVector:
    """A stored vector; values carry the precision of 2⁻²⁰."""
    numbers = np.frombuffer(values, dtype="<i8")
    held = tuple(ItemState(byte) for byte in bytes(states))
    return ItemVector(
        tuple(
            float(number) / SCALE if state is ItemState.SCORED else None
            for number, state in zip(numbers, held, strict=True)
        ),
        held,
    )


def decode_arrays(
    values: bytes, states: bytes
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.uint8]]:
    """A stored vector as arrays, NaN where the state is not SCORED: for many of them at once."""
    codes = np.frombuffer(states, dtype=np.uint8)
    numbers = np.frombuffer(values, dtype="<i8").astype(np.float64) / SCALE
    numbers[codes != ItemState.SCORED] = np.nan
    return numbers, codes


def store(summed: Summed) -> None:
    """Replace the computed results of a run in a pass. The same scores give the same rows."""
    run, chosen = summed.run, summed.scoring_pass
    metrics = {metric.key: metric for metric in Metric.objects.filter(version=run.version_id)}
    Run.objects.select_for_update(no_key=True).get(pk=run.pk)
    RunVector.objects.filter(run=run, scoring_pass=chosen).delete()
    for key, mode, vector in summed.vectors:
        values, states = encode(vector)
        RunVector.objects.create(
            run=run,
            metric=metrics[key],
            mode=str(mode),
            scoring_pass=chosen,
            values=values,
            states=states,
        )
    RunResult.objects.filter(run=run, scoring_pass=chosen, origin="computed").delete()
    RunResult.objects.bulk_create(
        [
            result_row(run, chosen, metrics[result.metric], mode, result)
            for mode, result in summed.results
        ]
    )
    Summary.objects.update_or_create(
        run=run,
        scoring_pass=chosen,
        defaults={**summed.counts, "usage": summed.usage, "digest": summed.digest},
    )
    if run.kind == Run.Kind.HUMAN:
        measuring.measure(chosen)
    for follow in FOLLOWERS:
        follow(run, chosen)
    if summed.counts["records"] and run.verification < Run.Verification.RESCORED:
        Run.objects.filter(pk=run.pk).update(verification=Run.Verification.RESCORED)


def result_row(
    run: Run, chosen: ScoringPass, metric: Metric, mode: Mode, result: ResultSpec
) -> RunResult:
    """A result as a row that is not stored yet."""
    return RunResult(
        run=run,
        metric=metric,
        mode=str(mode),
        scoring_pass=chosen,
        slice=result.slice,
        origin="computed",
        value=result.value,
        low=result.low,
        high=result.high,
        method=result.method,
        n=result.n,
        waiting=result.waiting,
        missing=result.missing,
        unscorable=result.unscorable,
        note=result.note[:500],
        details=dict(result.details),
    )
