"""Adjudication's tables: one module per cluster."""

from __future__ import annotations

from adjudication.models.appeals import Appeal
from adjudication.models.items import FindingAnswer, Gold, ItemTally, ReviewItem
from adjudication.models.people import Invitation, ReviewPreference
from adjudication.models.queues import Guideline, Queue
from adjudication.models.seats import Bookmark, Draft, ExtraVerdict, Seat, Skip

__all__ = [
    "Appeal",
    "Bookmark",
    "Draft",
    "ExtraVerdict",
    "FindingAnswer",
    "Gold",
    "Guideline",
    "Invitation",
    "ItemTally",
    "Queue",
    "ReviewItem",
    "ReviewPreference",
    "Seat",
    "Skip",
]
