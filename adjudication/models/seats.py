"""Places at items, what their holders wrote and passed over, and how far they have come."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from adjudication.models.items import ReviewItem
from adjudication.models.queues import Guideline, Queue
from adjudication.querysets import SeatQuerySet


class Seat(models.Model):
    """A place at an item. Free until claimed; a lease runs out unless activity renews it.

    The seat of a third person is a row like the others, with a role of its own. A withdrawn seat
    keeps its holder and verdicts, counts no more, and has another seat in its place.
    """

    class State(models.TextChoices):
        FREE = "free", "Free"
        HELD = "held", "Held"
        PENDING = "pending", "Pending"
        SUBMITTED = "submitted", "Submitted"
        WITHDRAWN = "withdrawn", "Withdrawn"

    class Role(models.TextChoices):
        REVIEWER = "reviewer", "Reviewer"
        THIRD = "third", "Third person"

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
    role = models.CharField(max_length=10, choices=Role, default=Role.REVIEWER)
    state = models.CharField(max_length=10, choices=State, default=State.FREE)
    holder = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="seats",
    )
    held_at = models.DateTimeField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    final_at = models.DateTimeField(null=True, blank=True)
    suggestion_seen = models.BooleanField(default=False)
    not_blind = models.TextField(blank=True)
    undone = models.PositiveSmallIntegerField(default=0)
    guideline = models.ForeignKey(
        Guideline, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    withdrawn_because = models.TextField(blank=True)
    verdicts = models.JSONField(default=dict, blank=True)
    comment = models.TextField(blank=True)

    objects = SeatQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "number"), name="one_seat_per_number"),
            models.UniqueConstraint(
                fields=("item", "holder"),
                condition=Q(holder__isnull=False),
                name="one_seat_per_person",
            ),
            models.UniqueConstraint(
                fields=("holder",),
                condition=Q(state="held"),
                name="one_open_claim",
            ),
            models.CheckConstraint(
                condition=Q(state="free", holder=None)
                | Q(state__in=("held", "pending", "submitted", "withdrawn"), holder__isnull=False),
                name="held_seat_has_holder",
            ),
        )
        indexes = (
            models.Index(fields=("final_at",), name="pending_seats", condition=Q(state="pending")),
            models.Index(fields=("holder", "submitted_at"), name="seats_of_person"),
            models.Index(
                fields=("item", "lease_until"), name="held_seats", condition=Q(state="held")
            ),
        )

    def __str__(self) -> str:
        return f"seat {self.number} of item {self.item_id}"


class Draft(models.Model):
    """What a reviewer has typed so far at an item, and what they saw of it; outlives the lease.

    A seat that goes from hand to hand has `suggestion_seen` and `not_blind` of its holder alone.
    """

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveIntegerField(default=0)
    content = models.JSONField(default=dict)
    suggestion_seen = models.BooleanField(default=False)
    not_blind = models.TextField(blank=True)
    saved_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "user"), name="one_draft_per_person"),
        )

    def __str__(self) -> str:
        return f"draft of {self.user_id} at item {self.item_id}"


class ExtraVerdict(models.Model):
    """A verdict that came after its lease was lost: kept and shown, never counted."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="extras")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    verdicts = models.JSONField(default=dict)
    sent_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"extra verdict {self.pk}"


class Skip(models.Model):
    """An item passed over: for good, to the end of one's own list, or up to the curators."""

    class Act(models.TextChoices):
        SKIP = "skip", "Skipped"
        DEFER = "defer", "Deferred"
        ESCALATE = "escalate", "Escalated"

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="skips")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    act = models.CharField(max_length=10, choices=Act, default=Act.SKIP)
    reason = models.TextField(blank=True)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "user"), name="one_skip_per_person"),
        )
        indexes = (
            models.Index(
                fields=("user", "at", "id"), name="deferred_items", condition=Q(act="defer")
            ),
        )

    def __str__(self) -> str:
        return f"{self.act} of item {self.item_id}"


class Bookmark(models.Model):
    """Where somebody's way through a queue goes on: all open items up to here are behind them.

    `version` goes up when anything may have come back before the place (see `seating`), so that
    what was looked up before is not noted after. `taken` counts the items taken.
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="+")
    role = models.CharField(max_length=10, default="reviewer")
    priority = models.IntegerField(default=-(2**31))
    item = models.BigIntegerField(default=0)
    version = models.PositiveIntegerField(default=0)
    taken = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "user", "role"), name="one_bookmark"),
        )

    def __str__(self) -> str:
        return f"place of {self.user_id} in queue {self.queue_id}"
