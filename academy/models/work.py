"""Work that is owed, as rows with a lease, and which workers are alive."""

from __future__ import annotations

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now


class Work(models.Model):
    """One unit of work that is owed. It is claimed under a lease and finished once in effect."""

    class State(models.TextChoices):
        READY = "ready", "Ready"
        LEASED = "leased", "Leased"
        DONE = "done", "Done"
        FAILED = "failed", "Failed"
        PAUSED = "paused", "Paused"

    kind = models.CharField(max_length=40)
    key = models.CharField(max_length=200, unique=True)
    payload = models.JSONField(default=dict)
    run = models.ForeignKey(
        "academy.Run", null=True, blank=True, on_delete=models.CASCADE, related_name="work"
    )
    state = models.CharField(max_length=8, choices=State, default=State.READY)
    priority = models.SmallIntegerField(default=0)
    attempts = models.PositiveSmallIntegerField(default=0)
    requested = models.PositiveIntegerField(default=1)
    due_at = models.DateTimeField(db_default=Now())
    lease_until = models.DateTimeField(null=True, blank=True)
    lease_owner = models.CharField(max_length=100, blank=True)
    error = models.TextField(blank=True)
    error_id = models.CharField(max_length=40, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "work"
        indexes = (
            models.Index(
                fields=("priority", "id"),
                name="work_due",
                condition=Q(state__in=("ready", "leased")),
            ),
        )

    def __str__(self) -> str:
        return self.key


class WorkerHeartbeat(models.Model):
    """When a worker was last seen."""

    name = models.CharField(max_length=100, primary_key=True)
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
