"""Verdicts on criteria by machines, judges, imports and people: append-only."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Decision(models.Model):
    """One verdict on one criterion of one subject, by one author; nothing overwrites it.

    `probability` is the chance with which the subject came to a person: below 1 for one drawn by
    lot, 1 for one chosen by appeal or flag, empty where no sampling led to it.
    """

    class Kind(models.TextChoices):
        RECORD = "record", "Record"
        RUN = "run", "Run"
        TASK = "task", "Task"
        CRITERION = "criterion", "Criterion"

    class Source(models.TextChoices):
        MACHINE = "machine", "Machine"
        JUDGE = "judge", "Judge"
        IMPORTED = "imported", "Imported"
        PERSON = "person", "Person"
        RESOLUTION = "resolution", "Resolution"

    kind = models.CharField(max_length=10, choices=Kind)
    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="decisions",
    )
    run = models.ForeignKey(
        "academy.Run", null=True, blank=True, on_delete=models.CASCADE, related_name="decisions"
    )
    task = models.ForeignKey(
        "academy.Task", null=True, blank=True, on_delete=models.CASCADE, related_name="decisions"
    )
    criterion = models.ForeignKey(
        "academy.Criterion",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="decisions",
    )
    part = models.CharField(max_length=200, blank=True)
    source = models.CharField(max_length=10, choices=Source)
    author = models.CharField(max_length=200, blank=True)
    author_version = models.CharField(max_length=200, blank=True)
    author_digest = models.CharField(max_length=64, blank=True)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    seat = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=12, default="value")
    value = models.JSONField(null=True)
    reason = models.TextField(blank=True)
    confidence = models.FloatField(null=True, blank=True)
    suggestion_seen = models.BooleanField(default=False)
    counts = models.BooleanField(default=True)
    probability = models.FloatField(null=True, blank=True)
    supersedes = models.OneToOneField(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="superseded_by"
    )
    current = models.BooleanField(default=True)
    made_at = models.DateTimeField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(kind="record", record__isnull=False, run=None, task=None)
                | Q(kind="run", run__isnull=False, record=None, task=None)
                | Q(kind="task", task__isnull=False, record=None, run=None)
                | Q(kind="criterion", criterion__isnull=False, record=None, run=None, task=None),
                name="decision_names_its_subject",
            ),
            models.CheckConstraint(
                condition=Q(
                    state__in=("value", "na", "cannot_tell", "defective", "call_error", "withdrawn")
                ),
                name="known_decision_state",
            ),
            models.CheckConstraint(
                condition=Q(state="value", value__isnull=False) | ~Q(state="value"),
                name="decision_has_value",
            ),
            models.CheckConstraint(
                condition=Q(probability=None) | Q(probability__gt=0, probability__lte=1),
                name="decision_probability_is_a_chance",
            ),
            models.CheckConstraint(
                condition=Q(source__in=("person", "resolution"), person__isnull=False)
                | Q(source__in=("machine", "judge", "imported")),
                name="people_decide_by_name",
            ),
            models.UniqueConstraint(
                fields=("record", "criterion", "part"),
                condition=Q(kind="record", source="resolution", current=True),
                name="one_resolution_per_record_criterion",
            ),
            models.UniqueConstraint(
                fields=(
                    "record",
                    "criterion",
                    "part",
                    "source",
                    "author",
                    "author_version",
                    "author_digest",
                ),
                condition=Q(
                    kind="record", source__in=("machine", "judge", "imported"), current=True
                ),
                name="one_current_verdict_per_judge",
            ),
        )

    def __str__(self) -> str:
        return f"{self.source} decision {self.pk}"
