"""Scoring again: one run, many or all of a version, with progress, pause and resume."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet

from academy import auditing, scheduling, tasks, work
from academy.errors import AcademyError
from academy.models import Run, RunEvent, ScoringPass, SuiteVersion, Work


@work.owing()
def score_again(
    runs: Iterable[Run],
    *,
    reason: str,
    by: Any = None,
    scoring_pass: ScoringPass | None = None,
) -> int:
    """Owe the scoring of runs anew, in the published and staged pass or in the one given; gives
    how many units that are. Scores that come out the same stay as they are.

    Raises AcademyError for a retired pass, a run of another version, or one that was withdrawn
    or failed.
    """
    if scoring_pass is not None and scoring_pass.state == ScoringPass.State.RETIRED:
        raise AcademyError(
            f"Pass {scoring_pass.number} is retired, and its scores stay as they are."
        )
    actor = by if getattr(by, "is_authenticated", False) else None
    units = 0
    for run in runs:
        if scoring_pass is not None and scoring_pass.version_id != run.version_id:
            raise AcademyError(f"Run {run.pk} is not of the version of this pass.")
        if run.state not in (Run.State.OPEN, Run.State.CLOSED):
            raise AcademyError(f"Run {run.pk} is {run.state}; its scores stay as they are.")
        units += scheduling.schedule_run(run, scoring_pass=scoring_pass)
        RunEvent.objects.create(
            run=run, state="scored again", reason=(reason or "asked for")[:500], actor=actor
        )
        auditing.note("run.rescore", f"run:{run.pk}", by=by, reason=reason)
    tasks.nudge()
    return units


def chosen_runs(version: SuiteVersion, ids: Iterable[int]) -> list[Run]:
    """The runs of a version by number, or all that stand when none is named.

    Raises AcademyError for a number that is no run of the version.
    """
    wanted = set(ids)
    runs = Run.objects.filter(version=version).select_related("version").order_by("pk")
    if not wanted:
        return list(runs.filter(state__in=(Run.State.OPEN, Run.State.CLOSED)))
    found = list(runs.filter(pk__in=wanted))
    if lacking := sorted(wanted - {run.pk for run in found}):
        raise AcademyError(f"{version} has no run {lacking[0]}.")
    return found


def work_of(runs: Iterable[Run]) -> QuerySet[Work]:
    """The scoring of some runs in all passes."""
    return Work.objects.filter(run__in=list(runs), kind__in=("score", "aggregate"))


def progress(runs: Iterable[Run]) -> dict[str, int]:
    """Units of the scoring of some runs: done of all, owed, paused, failed, place in the queue."""
    rows = work_of(runs)
    counts: dict[str, int] = rows.aggregate(
        units=Count("pk"),
        done=Count("pk", filter=Q(state="done")),
        owed=Count("pk", filter=Q(state__in=("ready", "leased"))),
        paused=Count("pk", filter=Q(state="paused")),
        failed=Count("pk", filter=Q(state="failed")),
    )
    return {**counts, "ahead": work.units_ahead(rows)}


def pause(runs: Iterable[Run], *, by: Any = None, reason: str = "paused") -> int:
    """Stop the scoring of runs after the units that are being done; gives how many wait."""
    return _move(runs, Work.State.READY, Work.State.PAUSED, "run.pause", by=by, reason=reason)


def resume(runs: Iterable[Run], *, by: Any = None, reason: str = "resumed") -> int:
    """Go on with the scoring of runs; gives how many units are ready again."""
    moved = _move(runs, Work.State.PAUSED, Work.State.READY, "run.resume", by=by, reason=reason)
    tasks.nudge()
    return moved


@transaction.atomic
def _move(runs: Iterable[Run], before: str, after: str, act: str, *, by: Any, reason: str) -> int:
    moved = work.move(work_of(runs).filter(state=before), after)
    for pk, units in sorted(Counter(row.run_id for row in moved).items()):
        auditing.note(act, f"run:{pk}", by=by, reason=reason, units=units)
    return len(moved)
