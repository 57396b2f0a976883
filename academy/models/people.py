"""Organisations, who belongs to them in which role, and tokens for programs."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Organization(models.Model):
    """A group that enters runs or runs reviews; conflicts of interest are looked up by it."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    """What a person may do."""

    ENTRANT = "entrant", "Entrant"
    REVIEWER = "reviewer", "Reviewer"
    ADJUDICATOR = "adjudicator", "Adjudicator"
    CURATOR = "curator", "Curator"
    AUDITOR = "auditor", "Auditor"


class Membership(models.Model):
    """A person's role in an organisation. Entrants act for it; other roles hold everywhere."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    organization = models.ForeignKey(
        Organization, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=12, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("user", "organization", "role"), name="one_membership_per_role"
            ),
            models.CheckConstraint(condition=models.Q(role__in=Role.values), name="known_role"),
        )

    def __str__(self) -> str:
        return f"{self.user} as {self.role} of {self.organization}"


class ApiToken(models.Model):
    """A key for programs; only its digest is kept."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=12)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"
