"""How many runs an account or an organisation may enter on a version."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class SubmissionLimit(models.Model):
    """The most runs that one account, or one organisation, may enter on a version.

    `days` is the length of a rolling window; without it the limit holds in all.
    """

    class Scope(models.TextChoices):
        ACCOUNT = "account", "Account"
        ORGANIZATION = "organization", "Organisation"

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="submission_limits"
    )
    scope = models.CharField(max_length=12, choices=Scope)
    most = models.PositiveIntegerField()
    days = models.PositiveSmallIntegerField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("version", "scope", "days"),
                name="one_limit_per_window",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(scope__in=("account", "organization")), name="known_limit_scope"
            ),
            models.CheckConstraint(
                condition=Q(days=None) | Q(days__gte=1), name="limit_window_has_length"
            ),
        )

    def __str__(self) -> str:
        window = f"in {self.days} days" if self.days else "in all"
        return f"{self.most} runs per {self.scope} {window}"
