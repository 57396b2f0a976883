"""A version gets its rows: metrics, tasks with criteria, first keys and files."""

from __future__ import annotations

import mimetypes
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

from academy import blobs, rasterising, specs, tasks
from academy.bundle import SuiteSpec, SuiteUpload, TaskSpec
from academy.canonical import digest
from academy.commitments import key_commitment
from academy.fitting import fitting
from academy.formats.reading import Files
from academy.models import AnswerKey, Criterion, Metric, SuiteFile, SuiteVersion, Task
from academy.models import TaskAsset as Asset


def plain(value: Any) -> Any:
    """A JSON value with lists and dicts, as the database gives it back."""
    if isinstance(value, Mapping):
        return {key: plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return value


def store_metrics(version: SuiteVersion, spec: SuiteSpec) -> None:
    """The metrics of a version, in the order of the suite."""
    for ordinal, metric in enumerate(spec.metrics):
        store_metric(version, ordinal, metric)


def store_metric(version: SuiteVersion, ordinal: int, metric: Any) -> None:
    """One metric of a version."""
    row = Metric(version=version, ordinal=ordinal, **specs.metric_value(metric))
    fitting(row, f"metric {metric.key[:100]!r}").save()


def store_tasks(
    version: SuiteVersion, tasks: Sequence[TaskSpec], *, first_ordinal: int, files: Files
) -> None:
    """Tasks with their criteria, keys and files, from an ordinal on."""
    rows = Task.objects.bulk_create(
        [
            fitting(
                Task(
                    version=version,
                    ordinal=first_ordinal + position,
                    external_id=spec.external_id,
                    title=spec.title,
                    kind=spec.kind,
                    prompt=spec.prompt,
                    context=plain(spec.context),
                    gradings=[specs.grading_value(grading) for grading in spec.gradings],
                    attributes=plain(spec.attributes),
                    extra=plain(spec.extra),
                    source=spec.source,
                    holdout=spec.holdout,
                    digest=digest(specs.task_value(spec)),
                ),
                f"{spec.source}: task {spec.external_id[:100]!r}",
            )
            for position, spec in enumerate(tasks)
        ],
        batch_size=1000,
    )
    pairs = list(zip(rows, tasks, strict=True))
    Criterion.objects.bulk_create(
        [
            fitting(
                Criterion(
                    task=row,
                    ordinal=ordinal,
                    weight=criterion.weight,
                    extra=plain(criterion.extra),
                    digest=digest(specs.criterion_value(criterion)),
                    **specs.criterion_value(criterion),
                ),
                f"{spec.source}: criterion {criterion.key[:100]!r} of task {spec.external_id!r}",
            )
            for row, spec in pairs
            for ordinal, criterion in enumerate(spec.criteria)
        ],
        batch_size=1000,
    )
    AnswerKey.objects.bulk_create(
        [first_key(row, spec.key) for row, spec in pairs if spec.key is not None], batch_size=1000
    )
    Asset.objects.bulk_create(
        [asset_row(row, asset, files) for row, spec in pairs for asset in spec.assets]
    )


def owe_copies(version: SuiteVersion) -> None:
    """Ask the workers for raster copies of the drawings that came along."""
    if rasterising.owe_copies(version):
        tasks.nudge()


def first_key(task: Task, content: Any) -> AnswerKey:
    """The first revision of a key, committed to with a salt of its own."""
    salt = secrets.token_hex(32)
    value = plain(content)
    return AnswerKey(
        task=task,
        revision=1,
        content=value,
        salt=salt,
        commitment=key_commitment(salt, value),
        note="imported",
    )


def asset_row(task: Task, asset: Any, files: Files) -> Asset:
    """A drawing or file of a task, kept when it came along."""
    media_type = asset.media_type or mimetypes.guess_type(asset.ref)[0] or ""
    blob = blobs.store_blob(files[asset.path], media_type=media_type) if asset.path else None
    row = Asset(task=task, ref=asset.ref, sha256=asset.sha256, media_type=media_type, blob=blob)
    return fitting(row, f"a file of task {task.external_id!r}")


def store_files(version: SuiteVersion, spec: SuiteSpec, upload: SuiteUpload, files: Files) -> None:
    """The source files of a suite, with what became of each."""
    told = {report.path: report for report in upload.files}
    for path in spec.sources:
        report = told.get(path)
        SuiteFile.objects.create(
            version=version,
            path=path,
            status=report.status if report else "imported",
            reason=report.reason if report else "",
            blob=blobs.store_blob(files[path], media_type=mimetypes.guess_type(path)[0] or ""),
        )
