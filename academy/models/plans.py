"""What a study means to execute, what it is bound to, and approved baselines."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Plan(models.Model):
    """The executions a study wants, with the hashes it rests on."""

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.PROTECT, related_name="plans"
    )
    name = models.CharField(max_length=200)
    plan_hash = models.CharField(max_length=64)
    suite_hash = models.CharField(max_length=64, blank=True)
    protocol_hash = models.CharField(max_length=64, blank=True)
    source_revision = models.CharField(max_length=100, blank=True)
    configuration_hash = models.CharField(max_length=64, blank=True)
    seed = models.CharField(max_length=100, blank=True)
    strategy = models.CharField(max_length=40, blank=True)
    sample = models.PositiveIntegerField(null=True, blank=True)
    population = models.PositiveIntegerField(default=0)
    is_pilot = models.BooleanField(default=False)
    content = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "plan_hash"), name="one_plan_per_hash"),
        )

    def __str__(self) -> str:
        return self.name


class PlannedExecution(models.Model):
    """One execution a plan wants."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="executions")
    position = models.PositiveIntegerField()
    task = models.ForeignKey("academy.Task", on_delete=models.PROTECT, related_name="+")
    model = models.CharField(max_length=200, blank=True)
    scenario = models.CharField(max_length=200, blank=True)
    replicate = models.PositiveSmallIntegerField(default=1)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("plan", "task", "model", "scenario", "replicate"),
                name="one_planned_execution",
            ),
            models.UniqueConstraint(fields=("plan", "position"), name="one_planned_position"),
        )

    def __str__(self) -> str:
        return f"execution {self.position} of plan {self.plan_id}"


class Binding(models.Model):
    """A verification run that a plan's evidence is bound to."""

    plan = models.ForeignKey(Plan, on_delete=models.CASCADE, related_name="bindings")
    verification_run = models.CharField(max_length=200)
    hashes = models.JSONField(default=dict)
    content = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("plan", "verification_run"), name="one_binding"),
        )

    def __str__(self) -> str:
        return self.verification_run


class Baseline(models.Model):
    """Records frozen by digest to compare with; executed, compared and approved apart."""

    class State(models.TextChoices):
        EXECUTED = "executed", "Executed"
        COMPARED = "compared", "Compared"
        APPROVED = "approved", "Approved"
        REPLACED = "replaced", "Replaced"

    plan = models.ForeignKey(Plan, on_delete=models.PROTECT, related_name="baselines")
    state = models.CharField(max_length=10, choices=State, default=State.EXECUTED)
    record_digests = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    comparison = models.JSONField(default=dict, blank=True)
    approver = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    reason = models.TextField(blank=True)
    replaces = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="replaced_by"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    approved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=~Q(state="approved") | (Q(approver__isnull=False) & ~Q(reason="")),
                name="approval_is_signed",
            ),
            models.UniqueConstraint(
                fields=("plan",), condition=Q(state="approved"), name="one_approved_baseline"
            ),
        )

    def __str__(self) -> str:
        return f"baseline {self.pk}"
