"""The questions asked of boards."""

from __future__ import annotations

from typing import Any, Self

from django.db import models

from academy.querysets import sees_drafts


class BoardQuerySet(models.QuerySet[Any]):
    """Boards."""

    def visible_to(self, user: Any) -> Self:
        """Boards over at least one version that this person may see."""
        if sees_drafts(user):
            return self
        return self.filter(versions__state__in=("published", "retired")).distinct()
