"""Queues, and the guidelines their reviewers go by."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from adjudication.querysets import QueueQuerySet


class Queue(models.Model):
    """Where one kind of decision about one version waits for people, and by which rules.

    `kind` is a key of `adjudication.kinds`; `policy` is read by `adjudication.policies`: sampling,
    order, blindness, gold and eligibility. `lease_seconds` is how long a seat stays held without
    activity.
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
    due_at = models.DateTimeField(null=True, blank=True)
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
