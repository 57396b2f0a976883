"""Uploads of curators that are read and imported in the background."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models


class BulkImport(models.Model):
    """An upload of suites or runs: read in a dry run, confirmed by a person, then imported.

    `choices` is what the person chose, `report` what the dry run or the import said, `problems`
    the reasons of a refusal, of which there are `problems_total`. `done` bytes are read of `total`,
    which many forms read more than once. The file goes when the import is done, refused or a day
    old.
    """

    class Kind(models.TextChoices):
        SUITES = "suites", "Suites"
        RUNS = "runs", "Runs"

    class Stage(models.TextChoices):
        READING = "reading", "Being read"
        READ = "read", "Waits for you"
        IMPORTING = "importing", "Being imported"
        DONE = "done", "Imported"
        REFUSED = "refused", "Refused"
        FAILED = "failed", "Failed through us"
        EXPIRED = "expired", "No longer kept"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=10, choices=Kind)
    stage = models.CharField(max_length=10, choices=Stage, default=Stage.READING)
    name = models.CharField(max_length=300)
    file = models.CharField(max_length=400, blank=True)
    size = models.PositiveBigIntegerField()
    choices = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    problems = models.JSONField(default=list)
    problems_total = models.PositiveIntegerField(default=0)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"import of {self.name}"
