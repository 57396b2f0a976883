"""Writes the trail: one row per act, chained later in batches."""

from __future__ import annotations

from typing import Any

from academy.models import AuditEvent, Exposure, Task


def note(act: str, subject: str, *, by: Any = None, reason: str = "", **details: Any) -> None:
    """Put an act into the trail, in the transaction of the act itself."""
    actor = by if getattr(by, "is_authenticated", False) else None
    AuditEvent.objects.create(act=act, subject=subject, actor=actor, reason=reason, details=details)


def expose(user: Any, *, task: Task | None, what: str, why: str) -> None:
    """Note that somebody was shown something sealed."""
    Exposure.objects.create(user=user, task=task, what=what, why=why)
