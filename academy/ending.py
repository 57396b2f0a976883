"""Runs end: closed when all of their pieces are in, failed through us, or withdrawn."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from academy import auditing, measuring, tasks, work
from academy.errors import AcademyError
from academy.models import Run, RunEvent


def close_run(run: Run, *, reason: str, by: Any = None) -> Run:
    """Say that no piece of an open run is missing any more; from then on it stands on its boards.

    Raises AcademyError for a run that has ended otherwise.
    """
    with work.owing():
        held: Run = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
        if held.state not in (Run.State.OPEN, Run.State.CLOSED):
            raise AcademyError(f"Run {run.pk} is {held.state}; it cannot be closed.")
        if held.state == Run.State.OPEN and held.closed_at is None:
            held.closed_at = timezone.now()
            held.save(update_fields=["closed_at"])
        return _end(run, Run.State.CLOSED, reason, by)


def fail_run(run: Run, *, reason: str, by: Any = None) -> Run:
    """End a run that failed through us: it ranks no more, and costs its entrant no attempt."""
    return _end(run, Run.State.FAILED, reason, by)


def withdraw_run(run: Run, *, reason: str, by: Any = None) -> Run:
    """Take a run off the boards. It stays as a tombstone, and counts as an attempt."""
    return _end(run, Run.State.WITHDRAWN, reason, by)


@work.owing()
def _end(run: Run, state: Run.State, reason: str, by: Any) -> Run:
    if not reason.strip():
        raise AcademyError("A run ends with a reason.")
    locked: Run = Run.objects.select_for_update(of=("self",), no_key=True).get(pk=run.pk)
    if locked.state == state:
        return locked
    if locked.state not in (Run.State.OPEN, Run.State.CLOSED):
        raise AcademyError(f"Run {run.pk} is {locked.state} already.")
    locked.state, locked.reason = state, reason[:500]
    locked.save(update_fields=["state", "reason"])
    actor = by if getattr(by, "is_authenticated", False) else None
    RunEvent.objects.create(run=locked, state=str(state), reason=reason[:500], actor=actor)
    auditing.note(f"run.{state}", f"run:{run.pk}", by=by, reason=reason)
    measuring.follow_end(locked)
    work.version_changed(locked.version_id)
    tasks.nudge()
    return locked
