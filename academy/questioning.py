"""Raises the findings of whole runs, as work of its own once a run is summed up."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Q

from academy import findings, leaving_out, registry, scoring, specs, storing, work
from academy.bundle import (
    EntrantSpec,
    FindingSpec,
    RecordView,
    RunSpec,
    SuiteSpec,
    TaskSpec,
)
from academy.fitting import storable
from academy.formats.base import no_run_findings
from academy.models import Finding, InstanceRecord, Run

BATCH = 500
MOST_OTHERS = 12
FOLLOWERS: list[str] = []


def follow_findings(kind: str) -> None:
    """Owe work of this kind, with {"version": id}, whenever the questions about a run are asked."""
    if kind not in FOLLOWERS:
        FOLLOWERS.append(kind)


def question_run(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "findings": what the records of a run raise together and against the field."""
    run = Run.objects.select_related("version__suite", "entrant").filter(pk=payload["run"]).first()
    if run is None or run.state not in ("open", "closed"):
        return lambda: None
    raised = list(run_findings(run))

    def write() -> None:
        if Run.objects.select_for_update(no_key=True).filter(pk=run.pk).exists():
            store(run, raised)
            for kind in FOLLOWERS:
                work.enqueue(
                    kind,
                    key=f"{kind}:{run.version_id}",
                    payload={"version": run.version_id},
                    priority=6,
                )

    return write


def run_findings(run: Run) -> Iterator[tuple[int | None, FindingSpec]]:
    """Findings of a run, each with its record or with none."""
    suite = specs.suite_spec(run.version, keys=specs.latest_keys(run.version))
    for finding in findings.declared_limits(run.limits, suite.limits):
        yield None, finding
    for finding in findings.surplus_records(
        leaving_out.task_ids(run.left_out), run.left_out.get("records", 0)
    ):
        yield None, finding
    tasks = {task.external_id: task for task in suite.tasks}
    checks = findings.RunChecks(len(tasks))
    near: dict[int, float] = {}
    for record, view in views_of(run, tasks):
        task_id = record.task.external_id
        checks.add(task_id, view)
        own = findings.similarity(view.answer, tasks[task_id].key)
        if own is not None and own >= findings.NEAR:
            near[record.pk] = own
    for finding in checks.found():
        yield None, finding
    yield from longer_records(run)
    yield from near_records(run, near, tasks)
    yield from ((None, finding) for finding in own_findings(run, suite, tasks))


def views_of(
    run: Run, tasks: Mapping[str, TaskSpec]
) -> Iterator[tuple[InstanceRecord, RecordView]]:
    """The records of a run with their opened form, in order; a damaged one is left out."""
    form = registry.format_of(run.form)
    rows = InstanceRecord.objects.of_run(run.pk).select_related("task").order_by("id")
    for record in rows.iterator(BATCH):
        view, _error = scoring.open_or_tell(form, record, tasks[record.task.external_id])
        if view is not None:
            yield record, view


def own_findings(
    run: Run, suite: SuiteSpec, tasks: Mapping[str, TaskSpec]
) -> Sequence[FindingSpec]:
    """What the suite's format asks about whole runs."""
    fmt = registry.format_of(suite.format)
    if fmt.run_findings is no_run_findings:
        return ()
    spec = RunSpec(
        entrant=EntrantSpec(name=run.entrant.name, model=run.entrant.model),
        external_id=run.external_id,
        arm=run.arm,
        scenario=run.scenario,
        verification=Run.Verification(run.verification).name.lower(),
        limits=run.limits,
        extra=run.header,
        duplicate_digest=run.duplicate_digest,
    )
    return fmt.run_findings(spec, (view for _record, view in views_of(run, tasks)))


def _field(run: Run) -> Any:
    """Records of other entrants' closed runs on the same version."""
    return InstanceRecord.objects.filter(
        run__version=run.version_id, run__state=Run.State.CLOSED, run__kind=Run.Kind.ENTRANT
    ).exclude(run__entrant=run.entrant_id)


def longer_records(run: Run) -> Iterator[tuple[int, FindingSpec]]:
    """Records far longer than those of the field on the same task."""
    own = InstanceRecord.objects.of_run(run.pk).filter(length__gte=findings.LONG_BYTES)
    long = list(own.order_by("id").values_list("pk", "task_id", "length"))
    lengths: dict[int, list[int]] = defaultdict(list)
    others = _field(run).filter(task__in={row[1] for row in long})
    for task_id, length in others.values_list("task_id", "length"):
        lengths[task_id].append(length)
    for record_id, task_id, length in long:
        finding = findings.far_longer(length, lengths[task_id])
        if finding is not None:
            yield record_id, finding


def near_records(
    run: Run, near: Mapping[int, float], tasks: Mapping[str, TaskSpec]
) -> Iterator[tuple[int, FindingSpec]]:
    """Records that repeat the reference where the field does not."""
    for record in InstanceRecord.objects.filter(pk__in=near).select_related("task").order_by("pk"):
        key = tasks[record.task.external_id].key
        shares = []
        others = _field(run).filter(task=record.task_id).select_related("run", "task")
        for other in others.order_by("-pk")[:MOST_OTHERS]:
            form = registry.format_of(other.run.form)
            view, _error = scoring.open_or_tell(form, other, tasks[other.task.external_id])
            share = findings.similarity(view.answer, key) if view is not None else None
            if share is not None:
                shares.append(share)
        finding = findings.near_reference(near[record.pk], shares)
        if finding is not None:
            yield record.pk, finding


def store(run: Run, raised: Sequence[tuple[int | None, FindingSpec]]) -> None:
    """Keep what is raised; open findings of these checks that are raised no more go."""
    wanted = {
        (record_id, finding.code, storable(finding.sentence)) for record_id, finding in raised
    }
    held = run.findings.filter(state="open")
    own = Q(record=None) | Q(code__in=storing.AGAINST_THE_FIELD)
    for row in held.filter(own):
        if (row.record_id, row.code, row.sentence) not in wanted:
            row.delete()
    Finding.objects.bulk_create(
        [storing.finding_row(run, record_id, finding) for record_id, finding in raised],
        ignore_conflicts=True,
    )
