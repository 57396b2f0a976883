"""The scoring of runs is owed: in units of records, per pass, and summed up at the end.

Nothing here sends messages: whoever owes the work asks for workers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.conf import settings
from django.db import connection

from academy import registry, work
from academy.canonical import digest
from academy.models import Run, ScoringPass, Work

UNITS = """
SELECT run, unit, min(id), max(id) FROM (
    SELECT asked.run, record.id,
           (row_number() OVER (PARTITION BY asked.run ORDER BY record.id) - 1) / %s AS unit
    FROM unnest(%s::bigint[]) AS asked(run) JOIN academy_instancerecord AS record
      ON record.id >= asked.run << 39 AND record.id < (asked.run + 1) << 39
) AS placed GROUP BY run, unit ORDER BY run, unit
"""
GATE_KINDS = frozenset({Run.Kind.NULL, Run.Kind.SHOTGUN, Run.Kind.ORACLE})


def schedule_run(run: Run, *, scoring_pass: ScoringPass | None = None) -> int:
    """Owe the scoring of every record of a run, in units; gives how many units.

    Without a pass it is owed in the published one, and in one that is staged.
    """
    return schedule_runs([run]) if scoring_pass is None else schedule_in([run], scoring_pass)


def schedule_runs(runs: Sequence[Run]) -> int:
    """Owe the scoring of every record of some runs in the published and staged passes of their
    versions; gives how many units that are."""
    by_version = defaultdict(list)
    for run in runs:
        by_version[run.version_id].append(run)
    live = ScoringPass.objects.filter(version__in=by_version).exclude(state="retired")
    return sum(
        schedule_in(by_version[chosen.version_id], chosen) for chosen in live.order_by("number")
    )


def schedule_pass(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "schedule": the scoring of every standing run of a version in a pass is owed."""
    chosen = ScoringPass.objects.filter(pk=payload["pass"]).first()

    def write() -> None:
        if chosen is None or chosen.state == ScoringPass.State.RETIRED:
            return
        runs = Run.objects.filter(version=chosen.version_id, state__in=("open", "closed"))
        schedule_in(list(runs.order_by("pk")), chosen)

    return write


def schedule_in(runs: Sequence[Run], chosen: ScoringPass) -> int:
    """Owe the scoring of every record of some runs in one pass, in units; gives how many."""
    ids = [run.pk for run in runs]
    with connection.cursor() as cursor:
        cursor.execute(UNITS, [settings.ACADEMY_WORK_UNIT, ids])
        units = cursor.fetchall()
    for run_id, number, first, last in units:
        work.enqueue(
            "score",
            key=f"score:{chosen.pk}:{run_id}:{number}",
            payload={"pass": chosen.pk, "run": run_id, "first": first, "last": last},
            run_id=run_id,
        )
    for run_id in sorted(set(ids) - {unit[0] for unit in units}):
        owe_sum(run_id, chosen.pk)
    return len(units)


def schedule_records(run_id: int, record_ids: Sequence[int]) -> None:
    """Owe the scoring of single records in every pass that is not retired."""
    passes = ScoringPass.objects.filter(version__runs=run_id).exclude(state="retired")
    for pass_id in passes.values_list("pk", flat=True):
        for record_id in record_ids:
            work.enqueue(
                "score",
                key=f"score:{pass_id}:record:{record_id}",
                payload={
                    "pass": pass_id,
                    "run": run_id,
                    "first": record_id,
                    "last": record_id,
                },
                run_id=run_id,
                priority=-5,
            )


def owe_release() -> None:
    """Owe, once for each set of installed scorers, that passes follow their release."""
    versions = {f"{key}/{mode}": s.version for (key, mode), s in registry.all_scorers().items()}
    key = f"release:{digest(versions)}"
    if not Work.objects.filter(key=key).exists():
        work.enqueue("release", key=key, payload={}, priority=4)


def owe_sum(run_id: int, pass_id: int) -> None:
    """Owe the summing up of a run in a pass."""
    work.enqueue(
        "aggregate",
        key=f"aggregate:{pass_id}:{run_id}",
        payload={"pass": pass_id, "run": run_id},
        run_id=run_id,
        priority=-1,
    )


def owe_questions(run: Run, chosen: ScoringPass) -> None:
    """Owe what is asked about a whole run, once for the records that it holds.

    It rests on what came in and not on scores, so that one pass is enough for it.
    """
    if chosen.state != ScoringPass.State.PUBLISHED or run.kind in GATE_KINDS:
        return
    key = f"findings:{run.pk}"
    if not Work.objects.filter(key=key, payload__digest=run.digest).exists():
        payload = {"run": run.pk, "digest": run.digest}
        work.enqueue("findings", key=key, payload=payload, run_id=run.pk, priority=6)


def sum_after_failure(payload: Mapping[str, Any]) -> None:
    """A unit was given up: its records are our failure, and the run is summed up with that."""
    owe_sum(payload["run"], payload["pass"])
