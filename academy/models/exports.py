"""Exports that are made in the background and kept for a while."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class BulkExport(models.Model):
    """A file of many rows, made once for all who ask for the same.

    `key` is over what was asked for and what the rows rest on. `audience` is set when the rows
    depend on who asked; nobody else sees such a file. Without `file` and with `finished_at` the
    file has expired; size and digest stay.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    key = models.CharField(max_length=64, unique=True)
    kind = models.CharField(max_length=40)
    subject = models.BigIntegerField()
    form = models.CharField(max_length=10)
    raw = models.BooleanField(default=False)
    audience = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    title = models.CharField(max_length=400)
    left_out = models.JSONField(default=list)
    rows = models.PositiveBigIntegerField(default=0)
    file = models.CharField(max_length=300, blank=True)
    size = models.PositiveBigIntegerField(null=True)
    sha256 = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.title} as {self.form}"
