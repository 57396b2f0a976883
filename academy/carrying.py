"""Existing runs brought to a corrected version: the same payloads, judged under the new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import connection
from django.db.models import Max
from django.utils import timezone

from academy import auditing, recognising, scheduling, tasks, work
from academy.canonical import digest
from academy.errors import AcademyError
from academy.identity import ORDINAL_BITS, REPLICATE_BITS, VARIANT_BITS
from academy.models import Criterion, Decision, InstanceRecord, Run, RunEvent, SuiteVersion, Task

LOW_BITS = REPLICATE_BITS + VARIANT_BITS
COPY_RECORDS = f"""
INSERT INTO academy_instancerecord (id, run_id, task_id, replicate, variant, status, pack_id,
    "offset", length, content_digest, steps, wall_ms, tokens_in, tokens_out, cost_micros)
SELECT (%(run)s::bigint << {ORDINAL_BITS + LOW_BITS}) | (t.ordinal::bigint << {LOW_BITS})
       | (r.id & {2**LOW_BITS - 1}), %(run)s, t.id, r.replicate, r.variant, r.status, r.pack_id,
       r."offset", r.length, r.content_digest, r.steps, r.wall_ms, r.tokens_in, r.tokens_out,
       r.cost_micros
FROM academy_instancerecord r
JOIN unnest(%(old)s::bigint[], %(new)s::bigint[]) AS pair(old, new) ON pair.old = r.task_id
JOIN academy_task t ON t.id = pair.new
WHERE r.id >= %(first)s AND r.id < %(last)s
"""
COPY_REPORTED = f"""
INSERT INTO academy_reportedscore (record_id, metric, value, correct, line, note)
SELECT (%(run)s::bigint << {ORDINAL_BITS + LOW_BITS}) | (t.ordinal::bigint << {LOW_BITS})
       | (s.record_id & {2**LOW_BITS - 1}), s.metric, s.value, s.correct, s.line, s.note
FROM academy_reportedscore s
JOIN academy_instancerecord r ON r.id = s.record_id
JOIN unnest(%(old)s::bigint[], %(new)s::bigint[]) AS pair(old, new) ON pair.old = r.task_id
JOIN academy_task t ON t.id = pair.new
WHERE r.id >= %(first)s AND r.id < %(last)s
"""
FOLLOWING = (
    "source",
    "author",
    "author_version",
    "author_digest",
    "person_id",
    "state",
    "value",
    "reason",
    "confidence",
    "suggestion_seen",
    "counts",
    "probability",
    "part",
    "made_at",
)


@dataclass(frozen=True, slots=True)
class Carried:
    """What was carried over: the new run, and what could not follow."""

    run: Run
    records: int
    decisions: int
    left_behind: tuple[str, ...]
    undecided: tuple[str, ...]
    is_new: bool = True

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        source = self.run.carried_from
        return {
            "run": self.run.pk,
            "carried_from": None if source is None else source.pk,
            "run_on": None if source is None else str(source.version),
            "judged_under": str(self.run.version),
            "records": self.records,
            "decisions": self.decisions,
            "tasks_left_behind": list(self.left_behind),
            "criteria_to_decide_again": list(self.undecided),
            "is_new": self.is_new,
        }


def condition(task: Task, version: SuiteVersion) -> str:
    """The digest of what an execution of a task depended on: prompt, context, files and limits."""
    assets = sorted((asset.ref, asset.sha256) for asset in task.assets.all())
    return digest(
        {
            "prompt": task.prompt,
            "context": without_edition(task.context, version),
            "assets": [list(asset) for asset in assets],
            "limits": version.limits,
        }
    )


def without_edition(context: Mapping[str, Any], version: SuiteVersion) -> dict[str, Any]:
    """A context without the entry that only names the edition it is from, as in
    `{"suite": {"id": ..., "version": ...}}`: a correction has another name by its nature."""
    return {
        name: value
        for name, value in context.items()
        if not (
            isinstance(value, Mapping)
            and set(value) <= {"id", "version", "mode"}
            and value.get("version") == version.name
        )
    }


def same_tasks(old: SuiteVersion, new: SuiteVersion) -> tuple[dict[int, int], list[str]]:
    """Tasks of two versions that ask the same under the same limits, and the ids of the others."""
    known = {task.external_id: task for task in new.tasks.prefetch_related("assets")}
    pairs: dict[int, int] = {}
    others = []
    for task in old.tasks.order_by("ordinal").prefetch_related("assets"):
        twin = known.get(task.external_id)
        if twin is not None and condition(task, old) == condition(twin, new):
            pairs[task.pk] = twin.pk
        else:
            others.append(task.external_id)
    return pairs, others


@work.owing()
def carry_run(run: Run, to_version: SuiteVersion, *, reason: str, by: Any = None) -> Carried:
    """Bring a closed run to another version of its suite. No attempt is spent.

    Only records of tasks whose prompt, context and limits are the same come along; decisions
    follow criteria that are the same but for their weight. The same again gives the run that is
    there. Raises AcademyError when nothing can be carried.
    """
    source = (
        Run.objects.select_for_update(of=("self",), no_key=True)
        .select_related("version__suite")
        .get(pk=run.pk)
    )
    known = (
        Run.objects.filter(carried_from=source, version=to_version)
        .select_related("version__suite", "carried_from__version__suite")
        .first()
    )
    if known is not None:
        count = InstanceRecord.objects.of_run(known.pk).count()
        return Carried(known, count, 0, (), (), is_new=False)
    refuse_to_carry(source, to_version)
    pairs, others = same_tasks(source.version, to_version)
    held = InstanceRecord.objects.of_run(source.pk)
    if not held.filter(task__in=pairs).exists():
        raise AcademyError(
            f"No task of {source.version} that run {source.pk} answered is the same in "
            f"{to_version}: prompt, context and limits must be equal."
        )
    made = _new_run(source, to_version)
    _copy(source, made, pairs)
    decisions, undecided = _copy_decisions(source, made, pairs)
    made.records_expected = InstanceRecord.objects.of_run(made.pk).count()
    made.digest = recognising.run_digest(made)
    made.state, made.closed_at = Run.State.CLOSED, timezone.now()
    made.save(update_fields=["records_expected", "digest", "state", "closed_at"])
    told = f"run on {source.version}, judged under {to_version}: {reason}"[:500]
    actor = by if getattr(by, "is_authenticated", False) else None
    RunEvent.objects.create(run=made, state="carried", reason=told, actor=actor)
    auditing.note("run.carry", f"run:{made.pk}", by=by, reason=reason, carried_from=source.pk)
    scheduling.schedule_run(made)
    tasks.nudge()
    answered = set(held.values_list("task__external_id", flat=True).distinct())
    return Carried(
        made,
        made.records_expected,
        decisions,
        tuple(name for name in others if name in answered),
        tuple(undecided),
    )


def refuse_to_carry(run: Run, to_version: SuiteVersion) -> None:
    """Raise AcademyError for a run that cannot be carried to a version at all."""
    if run.version.suite_id != to_version.suite_id or run.version_id == to_version.pk:
        raise AcademyError(f"Run {run.pk} can be carried to another version of its own suite only.")
    if to_version.state == SuiteVersion.State.RETIRED:
        raise AcademyError(f"{to_version} is retired; nothing is judged under it any more.")
    if run.state != Run.State.CLOSED:
        raise AcademyError(f"Run {run.pk} is {run.state}; only closed runs are carried.")
    if run.kind not in (Run.Kind.ENTRANT, Run.Kind.HUMAN, Run.Kind.CARRIED):
        raise AcademyError(f"Run {run.pk} is a {run.kind} run; every version makes its own.")


def _new_run(source: Run, to_version: SuiteVersion) -> Run:
    earlier = Run.objects.filter(
        version=to_version, entrant=source.entrant_id, kind=Run.Kind.CARRIED
    )
    attempt = (earlier.aggregate(newest=Max("attempt"))["newest"] or 0) + 1
    made: Run = Run.objects.create(
        version=to_version,
        entrant_id=source.entrant_id,
        submission_id=source.submission_id,
        kind=Run.Kind.CARRIED,
        form=source.form,
        external_id=source.external_id,
        attempt=attempt,
        arm=source.arm,
        scenario=source.scenario,
        verification=min(source.verification, Run.Verification.SUPPLIED),
        limits=source.limits,
        header=source.header,
        duplicate_digest=source.duplicate_digest,
        carried_from=source,
    )
    return made


def _copy(source: Run, made: Run, pairs: Mapping[int, int]) -> None:
    """Copy the rows of records and reported scores; the payloads stay in their packs."""
    values: dict[str, Any] = {
        "run": made.pk,
        "old": list(pairs),
        "new": list(pairs.values()),
        "first": source.pk << 39,
        "last": (source.pk + 1) << 39,
    }
    with connection.cursor() as cursor:
        cursor.execute(COPY_RECORDS, values)
        cursor.execute(COPY_REPORTED, values)


def _copy_decisions(source: Run, made: Run, pairs: Mapping[int, int]) -> tuple[int, list[str]]:
    """Let decisions follow criteria that are the same; gives how many did, and which did not."""
    old = {row.pk: row for row in Criterion.objects.filter(task__in=pairs)}
    new = {(row.task_id, row.key): row for row in Criterion.objects.filter(task__in=pairs.values())}
    same = {
        pk: twin.pk
        for pk, row in old.items()
        if (twin := new.get((pairs[row.task_id], row.key))) and twin.digest == row.digest
    }
    undecided: dict[str, None] = {}
    copied = []
    ids = _new_ids(source, made, pairs)
    rows = Decision.objects.filter(
        record_id__gte=source.pk << 39, record_id__lt=(source.pk + 1) << 39, current=True
    ).select_related("criterion__task")
    for row in rows.order_by("pk"):
        if row.record_id not in ids or row.criterion is None:
            continue
        if row.criterion_id not in same:
            undecided[f"{row.criterion.task.external_id}:{row.criterion.key}"] = None
            continue
        copied.append(
            Decision(
                kind=Decision.Kind.RECORD,
                record_id=ids[row.record_id],
                criterion_id=same[row.criterion_id],
                **{name: getattr(row, name) for name in FOLLOWING},
            )
        )
    Decision.objects.bulk_create(copied, batch_size=1000)
    return len(copied), list(undecided)


def _new_ids(source: Run, made: Run, pairs: Mapping[int, int]) -> dict[int, int]:
    ordinals = dict(Task.objects.filter(pk__in=pairs.values()).values_list("pk", "ordinal"))
    rows = InstanceRecord.objects.of_run(source.pk).filter(task__in=pairs)
    return {
        pk: made.pk << 39 | ordinals[pairs[task]] << LOW_BITS | pk & 2**LOW_BITS - 1
        for pk, task in rows.values_list("pk", "task_id")
    }
