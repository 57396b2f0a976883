"""Whether workers are alive: told on every page where work waits."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.utils import timezone

from academy.models import Work, WorkerHeartbeat

WORKER_SILENCE = 60
SOON = timedelta(hours=1)


def workers_context() -> dict[str, Any]:
    """Whether a worker is alive, and since when none is."""
    newest = WorkerHeartbeat.objects.order_by("-seen_at").first()
    seen = newest.seen_at if newest else None
    silent = seen is None or (timezone.now() - seen).total_seconds() > WORKER_SILENCE
    # What is due much later, such as files that will expire, is nothing that waits.
    later = Q(state=Work.State.READY, due_at__gt=timezone.now() + SOON)
    owed = Work.objects.filter(state__in=("ready", "leased")).exclude(later).count()
    return {"workers": {"seen_at": seen, "is_silent": silent, "owed": owed}}
