"""Opens what is under review: the task with its key, and the record as it is shown."""

from __future__ import annotations

from django.db.models import OuterRef, Subquery
from django.db.models.functions import Coalesce

from academy import registry, specs, transcripts
from academy.bundle import RecordView, TaskSpec
from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord, Task
from academy.packs import raw_record
from academy.transcripts import Transcript
from adjudication.models import ReviewItem


def spec_of(task: Task) -> TaskSpec:
    """A task with its criteria and the newest key."""
    keys = specs.latest_keys_of([task.pk])
    return specs.task_spec(task, list(task.criteria.order_by("ordinal")), keys.get(task.pk))


def opened(item: ReviewItem) -> tuple[InstanceRecord, TaskSpec, RecordView]:
    """The record under review, its task with the key, and the record as it is shown.

    Raises AcademyError for an item about something else.
    """
    found = subject_record(item)
    if found is None:
        raise AcademyError(f"Item {item.pk} is not about a record.")
    record = InstanceRecord.objects.select_related("task", "run__entrant", "run__version__suite")
    return open_record(record.get(pk=found.pk))


def open_record(record: InstanceRecord) -> tuple[InstanceRecord, TaskSpec, RecordView]:
    """A record, its task with the key, and the record as it is shown."""
    task = spec_of(record.task)
    return record, task, transcript_of(record, task).view


def transcript_of(record: InstanceRecord, task: TaskSpec) -> Transcript:
    """The steps of a record that was opened with its task's key; apart from what pages keep."""

    def view() -> RecordView:
        return registry.open_record(record.run.form, raw_record(record), task)

    return transcripts.opened(record, view, purpose="review")


def subject_record(item: ReviewItem) -> InstanceRecord | None:
    """The record an item is about, itself or through a finding or an appeal; None for others."""
    if item.record is not None:
        return item.record
    for held in (item.finding, item.appeal):
        record: InstanceRecord | None = getattr(held, "record", None)
        if record is not None:
            return record
    return None


def subject_task(item: ReviewItem) -> Task | None:
    """The task an item is about, itself or through its record or criterion; None for others."""
    record = subject_record(item)
    if record is not None:
        return record.task
    if item.criterion is not None:
        return item.criterion.task
    return item.task


def name_of(item: ReviewItem) -> str:
    """What an item is called in lists and notices."""
    task = subject_task(item)
    return task.external_id if task is not None else unnamed(item.pk)


def unnamed(pk: int) -> str:
    """What an item is called that is about no task."""
    return f"item {pk}"


def task_name(path: str = "item__") -> Coalesce:
    """The name that `name_of` gives, for a query on rows that lead to items by `path`.

    Null for an item about no task. Looked up row by row: joining all that an item may be about
    takes longer to plan than a page of names takes to read.
    """
    records = InstanceRecord.objects.values("task__external_id")
    criteria = Criterion.objects.values("task__external_id")
    return Coalesce(
        *(
            Subquery(records.filter(pk=OuterRef(f"{path}{held}record")))
            for held in ("", "finding__", "appeal__")
        ),
        Subquery(criteria.filter(pk=OuterRef(f"{path}criterion"))),
        Subquery(Task.objects.filter(pk=OuterRef(f"{path}task")).values("external_id")),
    )
