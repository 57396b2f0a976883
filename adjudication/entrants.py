"""Who speaks for the entrant of a run: its organisation's entrants, and who sent it in."""

from __future__ import annotations

from typing import Any

from django.db.models import Q, QuerySet

from academy.models import Run
from academy.querysets import own_organizations


def own_runs(user: Any) -> QuerySet[Run]:
    """The runs for which somebody speaks."""
    if not getattr(user, "is_authenticated", False):
        return Run.objects.none()
    mine = Q(submission__account=user) | Q(entrant__organization__in=own_organizations(user))
    found: QuerySet[Run] = Run.objects.filter(mine)
    return found


def speaks_for(user: Any, run: Run) -> bool:
    """Whether somebody speaks for the entrant of a run."""
    return own_runs(user).filter(pk=run.pk).exists()
