"""Rows of a version as the plain values that formats and scorers take, and the digests of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from academy import blobs, registry
from academy.bundle import (
    AssetSpec,
    CriterionSpec,
    Direction,
    Grading,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    TaskSpec,
)
from academy.canonical import digest
from academy.models import AnswerKey, Criterion, Metric, ScoringPass, SuiteVersion, Task

# The status of a file that came after its version and was taken into it.
ADDED = "added"


def criterion_value(spec: CriterionSpec) -> dict[str, Any]:
    """What a criterion's digest covers: everything but its weight, so that weights may change."""
    return {
        "key": spec.key,
        "text": spec.text,
        "scale": spec.scale,
        "decided_by": spec.decided_by,
        "low": spec.low,
        "high": spec.high,
        "anchors": list(spec.anchors),
        "allows_na": spec.allows_na,
        "needs": list(spec.needs),
    }


def task_value(spec: TaskSpec) -> dict[str, Any]:
    """What a task's digest covers: all that agents and scorers see, without the answer key."""
    return {
        "id": spec.external_id,
        "title": spec.title,
        "kind": spec.kind,
        "prompt": spec.prompt,
        "context": dict(spec.context),
        "gradings": [grading_value(grading) for grading in spec.gradings],
        "criteria": [
            {"digest": digest(criterion_value(criterion)), "weight": criterion.weight}
            for criterion in spec.criteria
        ],
        "attributes": dict(spec.attributes),
        "holdout": spec.holdout,
        "assets": [{"ref": asset.ref, "sha256": asset.sha256} for asset in spec.assets],
    }


def grading_value(grading: Grading) -> dict[str, Any]:
    """A grading as it is stored."""
    return {
        "metric": grading.metric,
        "scorer": grading.scorer,
        "params": dict(grading.params),
    }


def metric_value(spec: MetricSpec) -> dict[str, Any]:
    """What a version's digest covers of a metric."""
    return {
        "key": spec.key,
        "label": spec.label,
        "direction": str(spec.direction),
        "kind": str(spec.kind),
        "unit": spec.unit,
        "low": spec.low,
        "high": spec.high,
        "item_aggregation": spec.item_aggregation,
        "run_aggregation": spec.run_aggregation,
        "missing": spec.missing,
    }


def suite_digest(spec: SuiteSpec) -> str:
    """The digest of an edition: a root over its tasks, metrics, thresholds and limits."""
    return digest(
        {
            "format": spec.format,
            "mode": spec.mode,
            "sealed": spec.sealed,
            "thresholds": dict(spec.thresholds),
            "limits": dict(spec.limits),
            "metrics": [metric_value(metric) for metric in spec.metrics],
            "tasks": [digest(task_value(task)) for task in spec.tasks],
        }
    )


def task_spec(task: Task, criteria: list[Criterion], key: AnswerKey | None = None) -> TaskSpec:
    """A stored task as a plain value; without `key` the truth stays sealed."""
    return TaskSpec(
        external_id=task.external_id,
        prompt=task.prompt,
        title=task.title,
        kind=task.kind,
        context=task.context,
        gradings=tuple(Grading(**grading) for grading in task.gradings),
        criteria=tuple(criterion_spec(criterion) for criterion in criteria),
        key=None if key is None else key.content,
        attributes=task.attributes,
        holdout=task.holdout,
        assets=tuple(
            AssetSpec(ref=asset.ref, sha256=asset.sha256, media_type=asset.media_type)
            for asset in task.assets.all()
        ),
        extra=task.extra,
        source=task.source,
    )


def criterion_spec(row: Criterion) -> CriterionSpec:
    """A stored criterion as a plain value."""
    return CriterionSpec(
        key=row.key,
        text=row.text,
        weight=row.weight,
        scale=row.scale,
        decided_by=row.decided_by,
        low=row.low,
        high=row.high,
        anchors=tuple(row.anchors),
        allows_na=row.allows_na,
        needs=tuple(row.needs),
        extra=row.extra,
    )


def metric_spec(row: Metric) -> MetricSpec:
    """A stored metric as a plain value."""
    return MetricSpec(
        key=row.key,
        label=row.label,
        direction=Direction(row.direction),
        kind=MetricKind(row.kind),
        unit=row.unit,
        low=row.low,
        high=row.high,
        item_aggregation=row.item_aggregation,
        run_aggregation=row.run_aggregation,
        missing=row.missing,
    )


def latest_keys(version: SuiteVersion) -> dict[int, AnswerKey]:
    """The newest answer key of every task of a version, by task id."""
    rows = AnswerKey.objects.filter(task__version=version).order_by("task_id", "revision")
    return {row.task_id: row for row in rows}


def keys_in(chosen: ScoringPass, *, task_ids: Sequence[int] | None = None) -> dict[int, AnswerKey]:
    """The answer keys of a pass by task id, of some tasks or all, in the revisions that it fixes.

    A task that was appended to a collection after the pass was opened has its first revision.
    """
    revisions = {int(task): revision for task, revision in chosen.key_revisions.items()}
    rows = AnswerKey.objects.filter(task__version=chosen.version_id)
    if task_ids is not None:
        rows = rows.filter(task_id__in=task_ids)
    grows = chosen.version.mode == SuiteVersion.Mode.COLLECTION
    return {
        row.task_id: row
        for row in rows
        if row.revision == revisions.get(row.task_id, 1 if grows else None)
    }


def latest_keys_of(task_ids: Sequence[int]) -> dict[int, AnswerKey]:
    """The newest answer key of some tasks, by task id."""
    rows = AnswerKey.objects.filter(task_id__in=task_ids).order_by("task_id", "revision")
    return {row.task_id: row for row in rows}


def suite_spec(version: SuiteVersion, *, keys: Mapping[int, AnswerKey] | None = None) -> SuiteSpec:
    """A stored version as a plain value; keys are opened only when they are given."""
    tasks = version.tasks.order_by("ordinal").prefetch_related("criteria", "assets")
    files = list(version.files.select_related("blob").defer("blob__content").order_by("path"))
    opened = keys or {}
    spec = SuiteSpec(
        slug=version.suite.slug,
        title=version.title,
        format=version.suite.format,
        version=version.name,
        description=version.description,
        mode=version.mode,
        sealed=version.sealed,
        tasks=tuple(
            task_spec(
                task,
                sorted(task.criteria.all(), key=lambda criterion: criterion.ordinal),
                opened.get(task.pk),
            )
            for task in tasks
        ),
        metrics=tuple(metric_spec(row) for row in version.metrics.order_by("ordinal")),
        thresholds=version.thresholds,
        limits=version.limits,
        attributes=version.attributes,
        extra=version.extra,
        sources=tuple(file.path for file in files if file.status != ADDED),
    )
    added = {file.path: file.blob for file in files if file.status == ADDED}
    add = registry.format_of(spec.format).add_companions if added else None
    if add is None:
        return spec
    return add(spec, {path: blobs.open_blob(blob) for path, blob in added.items()})
