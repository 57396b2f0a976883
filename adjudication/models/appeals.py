"""Appeals against items and verdicts."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Appeal(models.Model):
    """Somebody contests an item or a verdict; outcome and reason are public.

    `consequence` says what an upheld appeal led to: the record is decided again by a third person,
    the answer key is revised, the criterion is struck in `scoring_pass`, or `version` corrects it.
    Why another pass or version was named than at first stands in `renamed_because`.
    """

    class State(models.TextChoices):
        OPEN = "open", "Open"
        UPHELD = "upheld", "Upheld"
        DISMISSED = "dismissed", "Dismissed"
        WITHDRAWN = "withdrawn", "Withdrawn"

    class Consequence(models.TextChoices):
        NONE = "", "None"
        REDECIDE = "redecide", "Decided again"
        KEY = "key", "New key revision"
        CRITERION = "criterion", "Criterion put to the vote"
        VERSION = "version", "A new version corrects it"

    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="appeals",
    )
    criterion = models.ForeignKey(
        "academy.Criterion", null=True, blank=True, on_delete=models.CASCADE, related_name="+"
    )
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    opened_as = models.CharField(max_length=10, default="entrant")
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    outcome_reason = models.TextField(blank=True)
    consequence = models.CharField(
        max_length=10, choices=Consequence, default=Consequence.NONE, blank=True
    )
    scoring_pass = models.ForeignKey(
        "academy.ScoringPass", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    version = models.ForeignKey(
        "academy.SuiteVersion", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    renamed_because = models.TextField(blank=True)
    renamed_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("record", "criterion", "opened_by"),
                condition=Q(state="open"),
                name="one_open_appeal_per_person",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(state__in=("open", "withdrawn")) | ~Q(outcome_reason=""),
                name="closed_appeal_has_a_reason",
            ),
            models.CheckConstraint(
                condition=Q(renamed_at=None, renamed_because="")
                | Q(renamed_at__isnull=False) & ~Q(renamed_because=""),
                name="correction_is_renamed_for_a_reason",
            ),
        )

    def __str__(self) -> str:
        return f"appeal {self.pk}"
