"""Queues, the items in them, seats held by people, drafts, gold, guidelines and appeals."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from adjudication.querysets import ItemQuerySet, QueueQuerySet, SeatQuerySet


class Queue(models.Model):
    """Where one kind of decision about one version waits for people, and by which rules.

    `policy` holds sampling, blindness, gold and eligibility; `lease_seconds` is how long a seat
    stays held without activity.
    """

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="queues"
    )
    kind = models.CharField(max_length=30)
    title = models.CharField(max_length=200)
    seats_per_item = models.PositiveSmallIntegerField(default=1)
    lease_seconds = models.PositiveIntegerField(default=1800)
    undo_seconds = models.PositiveIntegerField(default=10)
    policy = models.JSONField(default=dict, blank=True)
    is_paused = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = QueueQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "kind"), name="one_queue_per_kind"),
            models.CheckConstraint(
                condition=Q(seats_per_item__gte=1, seats_per_item__lte=3), name="one_to_three_seats"
            ),
        )

    def __str__(self) -> str:
        return self.title


class Guideline(models.Model):
    """What reviewers of a queue go by, in revisions."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="guidelines")
    revision = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "revision"), name="one_guideline_revision"),
        )

    def __str__(self) -> str:
        return f"guideline {self.revision} of queue {self.queue_id}"


class ReviewItem(models.Model):
    """One subject with all its criteria, waiting for people; why it was chosen is kept."""

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DECIDED = "decided", "Decided"
        RESOLVED = "resolved", "Resolved"
        CLOSED = "closed", "Closed"

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="items")
    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="review_items",
    )
    task = models.ForeignKey(
        "academy.Task", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    criterion = models.ForeignKey(
        "academy.Criterion", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    finding = models.ForeignKey(
        "academy.Finding", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    chosen_because = models.CharField(max_length=200, blank=True)
    probability = models.FloatField(default=1.0)
    priority = models.IntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("queue", "record", "task", "criterion", "finding"),
                name="one_item_per_subject",
                nulls_distinct=False,
            ),
        )
        indexes = (
            models.Index(
                fields=("queue", "priority", "id"), name="open_items", condition=Q(state="open")
            ),
        )

    def __str__(self) -> str:
        return f"item {self.pk}"


class Seat(models.Model):
    """A place at an item. Free until claimed; a lease runs out unless activity renews it."""

    class State(models.TextChoices):
        FREE = "free", "Free"
        HELD = "held", "Held"
        PENDING = "pending", "Pending"
        SUBMITTED = "submitted", "Submitted"

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="seats")
    number = models.PositiveSmallIntegerField()
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
    verdicts = models.JSONField(default=dict, blank=True)

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
                | Q(state__in=("held", "pending", "submitted"), holder__isnull=False),
                name="held_seat_has_holder",
            ),
        )
        indexes = (
            models.Index(fields=("state", "item"), name="seats_by_state"),
            models.Index(fields=("final_at",), name="pending_seats", condition=Q(state="pending")),
        )

    def __str__(self) -> str:
        return f"seat {self.number} of item {self.item_id}"


class Draft(models.Model):
    """What a reviewer has typed so far at an item; it outlives the lease."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="drafts")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    revision = models.PositiveIntegerField(default=0)
    content = models.JSONField(default=dict)
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
    """A reviewer passed over an item, with a reason; it is not offered to them again."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="skips")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    act = models.CharField(max_length=10, default="skip")
    reason = models.TextField()
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("item", "user"), name="one_skip_per_person"),
        )

    def __str__(self) -> str:
        return f"{self.act} of item {self.item_id}"


class Gold(models.Model):
    """The known verdicts of a record that is mixed in unmarked; it never reaches a score."""

    item = models.OneToOneField(ReviewItem, on_delete=models.CASCADE, related_name="gold")
    verdicts = models.JSONField()

    def __str__(self) -> str:
        return f"gold at item {self.item_id}"


class Appeal(models.Model):
    """Somebody contests an item or a verdict; outcome and reason are public."""

    record = models.ForeignKey(
        "academy.InstanceRecord", null=True, blank=True, on_delete=models.CASCADE
    )
    criterion = models.ForeignKey(
        "academy.Criterion", null=True, blank=True, on_delete=models.CASCADE
    )
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    text = models.TextField()
    state = models.CharField(max_length=10, default="open")
    outcome_reason = models.TextField(blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    def __str__(self) -> str:
        return f"appeal {self.pk}"
