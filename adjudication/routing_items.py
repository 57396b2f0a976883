"""Routing goes to people: of each task that asks for it, and of each record that has its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from academy import registry, specs, work
from academy.bundle import TaskSpec
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run, SuiteVersion, Work
from academy.packs import raw_record
from adjudication import assigning
from adjudication.kinds import NewItem
from adjudication.models import Queue
from adjudication.record_kinds import ROUTING

WORK = "routing_items"
SCALE = "fit"
OF_TASK = "routing that the task expects"
OF_RECORD = "routing that the run recorded"
BATCH = 200


def asks_for_routing(version: SuiteVersion) -> bool:
    """Whether a version that is out has tasks whose routing people review."""
    return version.state == SuiteVersion.State.PUBLISHED and routed_tasks(version).exists()


def routed_tasks(version: SuiteVersion) -> Any:
    """The tasks of a version with criteria about routing."""
    return version.tasks.filter(criteria__scale=SCALE).distinct()


def routing_subjects(queue: Queue) -> Iterator[NewItem]:
    """The tasks themselves; records are looked at by work of their own, once for each run."""
    version = queue.version
    if version.state == SuiteVersion.State.PUBLISHED:
        for pk in routed_tasks(version).order_by("ordinal", "pk").values_list("pk", flat=True):
            yield NewItem(task=pk, because=OF_TASK)
    for run in version.runs.filter(state=Run.State.CLOSED).order_by("pk"):
        owe_look(run)


def owe_look(run: Run) -> None:
    """Owe a look at the records of a run, once for what the run holds."""
    key = f"{WORK}:{run.pk}"
    if not Work.objects.filter(key=key, payload__digest=run.digest).exists():
        payload = {"run": run.pk, "digest": run.digest}
        work.enqueue(WORK, key=key, payload=payload, run_id=run.pk, priority=6)


def look_at_run(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "routing_items": the records of a run that recorded a routing become items."""
    run = Run.objects.select_related("version__suite").filter(pk=payload["run"]).first()
    found = [] if run is None else list(records_with_routing(run))

    def write() -> None:
        if run is None:
            return
        queue = run.version.queues.filter(kind=ROUTING).first()
        if queue is not None and Run.objects.filter(pk=run.pk, state=Run.State.CLOSED).exists():
            assigning.add_items(
                queue, [NewItem(record=record, because=OF_RECORD) for record in found]
            )

    return write


def records_with_routing(run: Run) -> Iterator[int]:
    """The records of a run that say how the work was routed."""
    tasks = {
        row.pk: specs.task_spec(row, list(row.criteria.order_by("ordinal")), None)
        for row in routed_tasks(run.version)
    }
    suite_format = registry.format_of(run.version.suite.format)
    records = InstanceRecord.objects.of_run(run.pk).filter(task__in=tasks).exclude(status="missing")
    for record in records.order_by("id").iterator(chunk_size=BATCH):
        if has_routing(suite_format, run, record, tasks[record.task_id]):
            yield record.pk


def has_routing(suite_format: Any, run: Run, record: InstanceRecord, task: TaskSpec) -> bool:
    """Whether a record says how its work was routed; one that cannot be opened says nothing."""
    try:
        view = registry.open_record(run.form, raw_record(record), task)
    except AcademyError:
        return False
    return bool(suite_format.run_routing(view, task))
