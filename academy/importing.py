"""Suite values become rows: all or nothing, the same again changes nothing, with a dry run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.utils.text import slugify

from academy import auditing, passes, planning, publishing, registry, specs, work
from academy.bundle import FileReport, SuiteSpec, SuiteUpload, TaskSpec
from academy.canonical import digest
from academy.errors import AcademyError, Problem
from academy.fitting import fitting
from academy.formats.reading import Files
from academy.models import AnswerKey, Suite, SuiteVersion, Task
from academy.populating import (
    owe_copies,
    plain,
    store_files,
    store_metric,
    store_metrics,
    store_tasks,
)
from academy.scorers.base import Mode

VERSION_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,99}")


@dataclass(frozen=True, slots=True)
class SuiteOutcome:
    """What became of one suite: created, extended or unchanged; nothing else is possible."""

    suite: str
    version: str
    outcome: str
    digest: str
    tasks: int
    criteria: int
    new_tasks: int
    state: str = "draft"
    note: str = ""
    pk: int | None = None

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        return {
            "suite": self.suite,
            "version": self.version,
            "outcome": self.outcome,
            "digest": self.digest,
            "tasks": self.tasks,
            "criteria": self.criteria,
            "new_tasks": self.new_tasks,
            "state": self.state,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class ImportReport:
    """All that an import did, or in a dry run would do."""

    format: str
    suites: tuple[SuiteOutcome, ...]
    files: tuple[FileReport, ...]
    notices: tuple[Problem, ...]
    dry_run: bool = False

    def as_json(self) -> dict[str, Any]:
        """The report as plain values."""
        return {
            "format": self.format,
            "dry_run": self.dry_run,
            "suites": [suite.as_json() for suite in self.suites],
            "files": [
                {"path": f.path, "status": str(f.status), "reason": f.reason, "suite": f.suite}
                for f in self.files
            ],
            "findings": [notice.as_row() for notice in self.notices],
            "ok": True,
        }


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """How an import is done: under which names, by whom, published at once or not.

    `attributes` are added to the version's own, such as {"evidence": {"strict": {"kind":
    "people"}}}, which says whose word counts on its boards.
    """

    rename: tuple[str, str] | None = None
    by: Any = None
    publish: bool = False
    dry_run: bool = False
    is_example: bool = False
    reason: str = "imported"
    attributes: Mapping[str, Any] = field(default_factory=dict)


class _DryRunError(Exception):
    """Rolls the transaction of a dry run back."""


def parse_name(text: str) -> tuple[str, str]:
    """SUITE@VERSION in two parts. Raises AcademyError for anything else."""
    suite, _at, version = text.partition("@")
    if not suite or slugify(suite) != suite or not VERSION_NAME.fullmatch(version):
        raise AcademyError(
            f"{text!r} is not SUITE@VERSION: a suite in lower-case letters, digits, - and _, "
            "then @ and a version of letters, digits and . _ + -."
        )
    return suite, version


def import_suites(
    upload: SuiteUpload, *, files: Files, source_digest: str, options: ImportOptions
) -> ImportReport:
    """Store every suite of an upload, or nothing. The same bytes again change nothing.

    Raises AcademyError when a known name comes with other content. A dry run goes the whole way
    and rolls back, so that its report is what the import would do.
    """
    suites = _renamed(upload.suites, options.rename)
    if not suites:
        raise AcademyError("These files hold no suite.")
    for spec in suites:
        check_suite(spec)
    outcomes: list[SuiteOutcome] = []
    try:
        with work.owing():
            _hold(suites)
            for spec in suites:
                outcomes.append(_store(spec, upload, files, source_digest, options))
            if options.dry_run:
                raise _DryRunError
    except _DryRunError:
        pass
    return ImportReport(
        format=suites[0].format,
        suites=tuple(outcomes),
        files=upload.files,
        notices=upload.notices,
        dry_run=options.dry_run,
    )


def _renamed(suites: Sequence[SuiteSpec], rename: tuple[str, str] | None) -> list[SuiteSpec]:
    if rename is not None and len(suites) > 1:
        named = ", ".join(spec.slug for spec in suites)
        raise AcademyError(f"A new name fits one suite, but these files hold {named}.")
    named_suites = []
    for spec in suites:
        slug, version = rename or (slugify(spec.slug), spec.version)
        if not slug:
            raise AcademyError(f"{spec.slug!r} gives no name for a suite; import it under another.")
        named_suites.append(
            replace(spec, slug=slug, version=version or f"d-{specs.suite_digest(spec)[:12]}")
        )
    return named_suites


def _hold(suites: Sequence[SuiteSpec]) -> None:
    """Lock the known suites until the transaction ends, and in one order: of imports of one new
    version beside each other the later ones find it there."""
    known = Suite.objects.filter(slug__in=[spec.slug for spec in suites])
    list(known.order_by("slug").select_for_update(no_key=True).values_list("pk"))


def check_suite(spec: SuiteSpec) -> None:
    """Raise AcademyError for a grading that no scorer or metric of the suite can serve."""
    metrics = {metric.key for metric in spec.metrics}
    for task in spec.tasks:
        for grading in task.gradings:
            found = [
                scorer for mode in Mode if (scorer := registry.scorer_of(grading.scorer, mode))
            ]
            if not found:
                raise AcademyError(
                    f"{task.source}: task {task.external_id} asks for the scorer "
                    f"{grading.scorer!r}, which is not installed."
                )
            if grading.metric not in metrics:
                raise AcademyError(
                    f"{task.source}: task {task.external_id} is graded by "
                    f"{grading.metric!r}, which is no metric of the suite."
                )
            for scorer in found:
                scorer.check(task.key, grading.params)


def _store(
    spec: SuiteSpec,
    upload: SuiteUpload,
    files: Files,
    source_digest: str,
    options: ImportOptions,
) -> SuiteOutcome:
    facts = {
        "format": spec.format,
        "title": spec.title,
        "description": spec.description,
        "is_example": options.is_example,
    }
    fitting(Suite(slug=spec.slug, **facts), f"suite {spec.slug[:100]!r}")
    suite, _created = Suite.objects.get_or_create(slug=spec.slug, defaults=facts)
    if suite.format != spec.format:
        raise AcademyError(
            f"The suite {suite.slug} is of format {suite.format}, not {spec.format}; "
            "import these files under another name."
        )
    content = specs.suite_digest(spec)
    known = SuiteVersion.objects.select_for_update().filter(suite=suite, name=spec.version).first()
    if known is not None and spec.mode == "collection" and known.frozen_at is None:
        return _extend(known, spec, files)
    if known is not None:
        outcome = _unchanged(known, spec, content, options)
        added = planning.keep_companions(known, spec, upload, files)
        return replace(outcome, outcome="extended", note=_added(added)) if added else outcome
    version = SuiteVersion(
        suite=suite,
        name=spec.version,
        title=spec.title,
        description=spec.description,
        mode=spec.mode,
        sealed=spec.sealed,
        digest=content,
        source_digest=source_digest,
        thresholds=plain(spec.thresholds),
        limits=plain(spec.limits),
        attributes={**plain(spec.attributes), **options.attributes},
        extra=plain(spec.extra),
        created_by=options.by,
    )
    fitting(version, f"version {spec.version[:100]!r}").save()
    store_metrics(version, spec)
    store_tasks(version, spec.tasks, first_ordinal=0, files=files)
    store_files(version, spec, upload, files)
    owe_copies(version)
    planning.store_plans(version, spec)
    passes.open_first_pass(version)
    auditing.note("suite.import", f"version:{version.pk}", by=options.by, reason=options.reason)
    note = _publish(version, options) if options.publish else ""
    return _outcome(version, spec, "created", content, len(spec.tasks), note)


def _added(paths: Sequence[str]) -> str:
    return f"{len(paths)} documents added beside the tasks: {', '.join(paths[:5])}"


def _publish(version: SuiteVersion, options: ImportOptions) -> str:
    """Publish what is ready; what is not stays a draft, with the reason."""
    try:
        publishing.publish_version(version, by=options.by, reason="published on import")
    except AcademyError as error:
        return f"stays a draft: {error}"
    return ""


def _outcome(
    version: SuiteVersion,
    spec: SuiteSpec,
    outcome: str,
    content: str,
    new_tasks: int,
    note: str = "",
) -> SuiteOutcome:
    return SuiteOutcome(
        suite=spec.slug,
        version=spec.version,
        outcome=outcome,
        digest=content,
        tasks=len(spec.tasks),
        criteria=sum(len(task.criteria) for task in spec.tasks),
        new_tasks=new_tasks,
        state=version.state,
        note=note,
        pk=version.pk,
    )


def _unchanged(
    known: SuiteVersion, spec: SuiteSpec, content: str, options: ImportOptions
) -> SuiteOutcome:
    if known.digest != content:
        changed = "; ".join(differences(known, spec)[:5])
        raise AcademyError(
            f"{known} is known with other content (digest {known.digest[:12]}, these files give "
            f"{content[:12]}): {changed}. Published names keep their content: import under a new "
            "version with --as SUITE@VERSION."
        )
    # The bytes of any revision are known bytes: a corrected key does not make its source unknown.
    stored = [(row.task.external_id, row.content) for row in _keys_with_tasks(known)]
    moved = [
        task.external_id
        for task in spec.tasks
        if task.key is not None and (task.external_id, plain(task.key)) not in stored
    ]
    if moved:
        raise AcademyError(
            f"{known} is known with other answer keys for {', '.join(moved[:5])}. "
            "A key is corrected by a new key revision, never by importing again."
        )
    note = ""
    if options.publish and known.state == SuiteVersion.State.DRAFT:
        note = _publish(known, options)
    return _outcome(known, spec, "unchanged", content, 0, note)


def _keys_with_tasks(version: SuiteVersion) -> list[AnswerKey]:
    rows = AnswerKey.objects.filter(task__version=version).select_related("task")
    return list(rows.order_by("task_id", "revision"))


def differences(known: SuiteVersion, spec: SuiteSpec) -> list[str]:
    """What distinguishes a stored version from other content under its name, in sentences."""
    stored = specs.suite_spec(known)
    before = {task.external_id: digest(specs.task_value(task)) for task in stored.tasks}
    after = {task.external_id: digest(specs.task_value(task)) for task in spec.tasks}
    told = [f"task {name} is new" for name in after if name not in before]
    told += [f"task {name} is gone" for name in before if name not in after]
    told += [
        f"task {name} changed" for name in after if name in before and before[name] != after[name]
    ]
    for name in ("mode", "sealed", "thresholds", "limits"):
        if plain(getattr(stored, name)) != plain(getattr(spec, name)):
            told.append(f"{name} changed")
    if [specs.metric_value(m) for m in stored.metrics] != [
        specs.metric_value(m) for m in spec.metrics
    ]:
        told.append("metrics changed")
    return told or ["the order of tasks changed"]


def _extend(known: SuiteVersion, spec: SuiteSpec, files: Files) -> SuiteOutcome:
    """Append tasks to an open collection; a known task with other content is refused."""
    stored = {task.external_id: task for task in known.tasks.prefetch_related("criteria", "assets")}
    new = []
    for task in spec.tasks:
        row = stored.get(task.external_id)
        if row is None:
            new.append(task)
        else:
            _add_gradings(known, row, task)
    known_metrics = set(known.metrics.values_list("key", flat=True))
    ordinal = len(known_metrics)
    for metric in spec.metrics:
        if metric.key not in known_metrics:
            store_metric(known, ordinal, metric)
            ordinal += 1
    store_tasks(known, new, first_ordinal=len(stored), files=files)
    owe_copies(known)
    if new:
        known.digest = digest(
            list(known.tasks.order_by("ordinal").values_list("digest", flat=True))
        )
        known.save(update_fields=["digest"])
    outcome = "extended" if new else "unchanged"
    return _outcome(known, spec, outcome, known.digest, len(new))


def _add_gradings(known: SuiteVersion, row: Task, spec: TaskSpec) -> None:
    """A known task of an open collection may be graded by further metrics, and by nothing else."""
    held = specs.task_spec(row, sorted(row.criteria.all(), key=lambda c: c.ordinal))
    gradings = [*held.gradings, *(g for g in spec.gradings if g not in held.gradings)]
    same = replace(spec, gradings=held.gradings)
    if plain(specs.task_value(same)) != plain(specs.task_value(held)):
        raise AcademyError(
            f"{spec.source}: task {spec.external_id} of {known} is known with other content."
        )
    if len(gradings) > len(held.gradings):
        row.gradings = [specs.grading_value(grading) for grading in gradings]
        row.digest = digest(specs.task_value(replace(held, gradings=tuple(gradings))))
        row.save(update_fields=["gradings", "digest"])
