"""Scoring again: one run, many or all of a version, with progress, pause and resume."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from academy import auditing, scoring, tasks
from academy.errors import AcademyError
from academy.models import Run, RunEvent, ScoringPass


@transaction.atomic
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
        units += scoring.schedule_run(run, scoring_pass=scoring_pass)
        RunEvent.objects.create(
            run=run, state="scored again", reason=(reason or "asked for")[:500], actor=actor
        )
        auditing.note("run.rescore", f"run:{run.pk}", by=by, reason=reason)
    tasks.nudge()
    return units
