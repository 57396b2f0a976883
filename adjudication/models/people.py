"""How people come to review, and what they chose for it."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q


class Invitation(models.Model):
    """A link that makes whoever opens it a reviewer or adjudicator; only its digest is kept."""

    token_digest = models.CharField(max_length=64, unique=True)
    role = models.CharField(max_length=12, default="reviewer")
    organization = models.ForeignKey(
        "academy.Organization", on_delete=models.CASCADE, related_name="+"
    )
    note = models.CharField(max_length=200, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    accepted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    accepted_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(role__in=("reviewer", "adjudicator")), name="invited_to_review"
            ),
            models.CheckConstraint(
                condition=Q(accepted_by=None, accepted_at=None)
                | Q(accepted_by__isnull=False, accepted_at__isnull=False),
                name="accepted_by_somebody",
            ),
        )

    def __str__(self) -> str:
        return f"invitation {self.pk}"


class ReviewPreference(models.Model):
    """What a person chose for their own review: how often the digest comes."""

    class Digest(models.TextChoices):
        OFF = "off", "Never"
        DAILY = "daily", "Daily"
        WEEKLY = "weekly", "Weekly"

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="review_preference"
    )
    digest = models.CharField(max_length=10, choices=Digest, default=Digest.DAILY)
    digest_sent_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"preferences of {self.user_id}"
