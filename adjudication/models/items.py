"""The subjects that wait in a queue, how many there are, and what hangs on some of them."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from adjudication.models.queues import Queue
from adjudication.querysets import ItemQuerySet


class ReviewItem(models.Model):
    """One subject with all its criteria, waiting for people; why it was chosen is kept.

    A decided item waits for a third person, who gives what the seats differ on, or what is named in
    `contested` when an appeal brought it back. A gold item has known verdicts (see `Gold`): it is
    mixed in unmarked, gets a seat for whoever meets it, and never reaches a score.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        DECIDED = "decided", "Waits for a third person"
        RESOLVED = "resolved", "Resolved"
        CLOSED = "closed", "Closed"
        GOLD = "gold", "Gold"

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
    appeal = models.ForeignKey(
        "adjudication.Appeal", null=True, blank=True, on_delete=models.CASCADE, related_name="items"
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    chosen_because = models.CharField(max_length=200, blank=True)
    probability = models.FloatField(default=1.0)
    priority = models.IntegerField(default=0)
    contested = models.JSONField(default=list, blank=True)
    escalated_at = models.DateTimeField(null=True, blank=True)
    # What a third person wrote to the reviewers when they sent the item back.
    answer = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects = ItemQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("queue", "record", "task", "criterion", "finding", "appeal"),
                condition=~Q(state="gold"),
                name="one_item_per_subject",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=("queue", "record"),
                condition=Q(state="gold"),
                name="one_gold_item_per_record",
            ),
        )
        indexes = (
            models.Index(
                fields=("queue", "priority", "id"), name="open_items", condition=Q(state="open")
            ),
            models.Index(
                fields=("queue", "priority", "id"),
                name="decided_items",
                condition=Q(state="decided"),
            ),
            models.Index(fields=("queue", "id"), name="gold_items", condition=Q(state="gold")),
        )

    def __str__(self) -> str:
        return f"item {self.pk}"


class ItemTally(models.Model):
    """How many items of a queue are in a state; kept by a trigger, so that no page counts them."""

    queue = models.ForeignKey(Queue, on_delete=models.CASCADE, related_name="tallies")
    state = models.CharField(max_length=10, choices=ReviewItem.State)
    number = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("queue", "state"), name="one_tally_per_state"),
        )

    def __str__(self) -> str:
        return f"{self.number} {self.state} in queue {self.queue_id}"


class Gold(models.Model):
    """The known verdicts of a record that is mixed in unmarked; it never reaches a score.

    A retired one is given to nobody any more; what was answered stays in the reports.
    """

    item = models.OneToOneField(ReviewItem, on_delete=models.CASCADE, related_name="gold")
    verdicts = models.JSONField()
    retired_at = models.DateTimeField(null=True, blank=True)
    retired_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    retired_because = models.TextField(blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(retired_at=None, retired_by=None, retired_because="")
                | Q(retired_at__isnull=False, retired_by__isnull=False) & ~Q(retired_because=""),
                name="gold_retires_by_somebody_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"gold at item {self.item_id}"


class FindingAnswer(models.Model):
    """What the entrant of a run answered to a finding about it; nothing of it is ever changed."""

    item = models.ForeignKey(ReviewItem, on_delete=models.CASCADE, related_name="answers")
    text = models.TextField()
    sent_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    sent_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(text=""), name="finding_answer_says_something"),
        )

    def __str__(self) -> str:
        return f"answer {self.pk}"
