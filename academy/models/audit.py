"""The trail: what was done by whom, and who saw what is sealed. Append-only by trigger."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class AuditEvent(models.Model):
    """One act. `sequence`, `link` and `sealed_at` are filled by sealing, in batches."""

    at = models.DateTimeField(auto_now_add=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    act = models.CharField(max_length=60)
    subject = models.CharField(max_length=200)
    reason = models.TextField(blank=True)
    details = models.JSONField(default=dict)
    sequence = models.BigIntegerField(null=True, unique=True)
    link = models.CharField(max_length=64, blank=True)
    sealed_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return f"{self.act} {self.subject}"


class Exposure(models.Model):
    """Somebody was shown something sealed."""

    at = models.DateTimeField(auto_now_add=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    task = models.ForeignKey(
        "academy.Task", null=True, on_delete=models.CASCADE, related_name="exposures"
    )
    what = models.CharField(max_length=200)
    why = models.CharField(max_length=200)

    def __str__(self) -> str:
        return f"{self.what} to {self.user_id}"
