"""Admin pages of queues, where curators set their policies."""

from __future__ import annotations

from django.contrib import admin

from academy.admin.reading import ReadOnlyAdmin
from academy.admin.runs import CuratedAdmin
from adjudication.models import Guideline, Queue, ReviewItem, Seat


class GuidelineInline(admin.TabularInline):  # type: ignore[type-arg]
    """Revisions of a queue's guideline."""

    model = Guideline
    extra = 0


@admin.register(Queue)
class QueueAdmin(CuratedAdmin):
    """Queues: seats, lease, undo window, pause, guideline."""

    list_display = ("title", "version", "kind", "seats_per_item", "lease_seconds", "is_paused")
    list_select_related = ("version__suite",)
    readonly_fields = ("version", "kind")
    inlines = (GuidelineInline,)
    ordering = ("title", "pk")


@admin.register(ReviewItem)
class ItemAdmin(ReadOnlyAdmin):
    """Items."""

    list_display = ("pk", "queue", "record", "state", "chosen_because", "probability")
    list_select_related = ("queue", "record")
    list_filter = ("state",)
    ordering = ("-pk",)


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    """Seats."""

    list_display = ("pk", "item", "number", "state", "holder", "lease_until", "submitted_at")
    list_select_related = ("item", "holder")
    list_filter = ("state",)
    ordering = ("-pk",)
