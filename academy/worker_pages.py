"""Whether workers are alive: told on every page where work waits."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from academy.models import Work, WorkerHeartbeat

WORKER_SILENCE = 60


def workers_context() -> dict[str, Any]:
    """Whether a worker is alive, and since when none is."""
    newest = WorkerHeartbeat.objects.order_by("-seen_at").first()
    seen = newest.seen_at if newest else None
    silent = seen is None or (timezone.now() - seen).total_seconds() > WORKER_SILENCE
    owed = Work.objects.filter(state__in=("ready", "leased")).count()
    return {"workers": {"seen_at": seen, "is_silent": silent, "owed": owed}}
