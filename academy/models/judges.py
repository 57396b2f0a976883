"""Judging by a model at an endpoint: what was asked of it, what it cost, and where it may look."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class JudgeJob(models.Model):
    """One judge in one configuration, asked about the criteria of a version's records.

    `name`, `judge_version` and `digest` are those of its decisions; the key of the endpoint is
    never kept. Cost is in millionths of a US dollar.
    """

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="judge_jobs"
    )
    name = models.CharField(max_length=200)
    judge_version = models.CharField(max_length=200)
    digest = models.CharField(max_length=64)
    endpoint = models.CharField(max_length=500)
    configuration = models.JSONField(default=dict)
    reason = models.CharField(max_length=500, blank=True)
    calls = models.PositiveIntegerField(default=0)
    decided = models.PositiveIntegerField(default=0)
    errors = models.PositiveIntegerField(default=0)
    tokens_in = models.PositiveBigIntegerField(default=0)
    tokens_out = models.PositiveBigIntegerField(default=0)
    cost_micros = models.PositiveBigIntegerField(default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("version", "name", "judge_version", "digest"), name="one_job_per_judge"
            ),
        )

    def __str__(self) -> str:
        return f"{self.name} {self.judge_version} on {self.version_id}"


class JudgeEndpoint(models.Model):
    """An endpoint to which a curator lets the records of a sealed version go."""

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="judge_endpoints"
    )
    address = models.CharField(max_length=500)
    allowed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "address"), name="one_endpoint_per_version"),
            models.CheckConstraint(condition=~models.Q(reason=""), name="endpoint_has_reason"),
        )

    def __str__(self) -> str:
        return self.address
