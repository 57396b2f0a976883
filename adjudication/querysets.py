"""The questions asked of queues, items and seats."""

from __future__ import annotations

from typing import Any, Self

from django.db import models

from academy.querysets import has_role


class QueueQuerySet(models.QuerySet[Any]):
    """Queues."""

    def visible_to(self, user: Any) -> Self:
        """Queues for everybody who has a part in review."""
        if has_role(user, "reviewer", "adjudicator", "curator", "auditor"):
            return self
        return self.none()


class ItemQuerySet(models.QuerySet[Any]):
    """Review items."""

    def visible_to(self, user: Any) -> Self:
        """Items for curators and auditors, and for who holds or held a seat."""
        if has_role(user, "curator", "auditor"):
            return self
        if not has_role(user, "reviewer", "adjudicator"):
            return self.none()
        return self.filter(seats__holder=user).distinct()


class SeatQuerySet(models.QuerySet[Any]):
    """Seats."""

    def held_by(self, user: Any) -> Self:
        """Seats this person holds, leased or run out."""
        return self.filter(holder=user, state="held")
