"""Boards, their published snapshots, windows of certification and certificates."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q
from django.utils import timezone

from leaderboard.querysets import BoardQuerySet, SnapshotQuerySet


class Board(models.Model):
    """A ranking over one or several versions by one policy; a change of policy is a revision.

    `proposal` names the board of a format from which it was made.
    """

    slug = models.SlugField(max_length=150, unique=True)
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True)
    versions = models.ManyToManyField("academy.SuiteVersion", related_name="boards")
    policy = models.JSONField(default=dict)
    revision = models.PositiveIntegerField(default=1)
    proposal = models.CharField(max_length=200, blank=True)
    is_example = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = BoardQuerySet.as_manager()

    def __str__(self) -> str:
        return self.title

    def newest_snapshot(self) -> Snapshot | None:
        """The newest published snapshot: what pages show."""
        return self.snapshots.public().order_by("-number").first()


class BoardRevision(models.Model):
    """An earlier policy of a board."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="revisions")
    revision = models.PositiveIntegerField()
    policy = models.JSONField()
    versions = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("board", "revision"), name="one_board_revision"),
        )

    def __str__(self) -> str:
        return f"revision {self.revision} of board {self.board_id}"


class Snapshot(models.Model):
    """A ranking as it stood: immutable, with its inputs digest and the rows as they are shown.

    `differences` are those from the public snapshot before it, `compared_with`; they and the rows
    that tell them are settled when it is published. `releases` is there where `with_releases`
    asked for it.
    """

    releases: list[dict[str, Any]]

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="snapshots")
    number = models.PositiveIntegerField()
    board_revision = models.PositiveIntegerField()
    inputs_digest = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    standings = models.JSONField()
    rows_html = models.TextField(blank=True)
    differences = models.JSONField(default=list)
    compared_with = models.PositiveIntegerField(null=True, blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SnapshotQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("board", "number"), name="one_snapshot_per_number"),
        )

    def __str__(self) -> str:
        return f"snapshot {self.number} of board {self.board_id}"


class Window(models.Model):
    """A stretch of time in which an entrant may certify or recertify."""

    board = models.ForeignKey(Board, on_delete=models.CASCADE, related_name="windows")
    label = models.CharField(max_length=100)
    opens_at = models.DateTimeField()
    closes_at = models.DateTimeField()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(closes_at__gt=models.F("opens_at")), name="window_has_length"
            ),
            models.UniqueConstraint(fields=("board", "label"), name="one_window_per_label"),
        )

    def __str__(self) -> str:
        return self.label


class WindowResult(models.Model):
    """How a run that came in during a window did, in one pass and in revisions; never edited."""

    window = models.ForeignKey(Window, on_delete=models.PROTECT, related_name="results")
    entrant = models.ForeignKey("academy.Entrant", on_delete=models.CASCADE, related_name="+")
    run = models.ForeignKey("academy.Run", on_delete=models.PROTECT, related_name="+")
    scoring_pass = models.ForeignKey(
        "academy.ScoringPass", null=True, on_delete=models.CASCADE, related_name="+"
    )
    revision = models.PositiveIntegerField(default=1)
    current = models.BooleanField(default=True)
    passed = models.BooleanField()
    tier = models.CharField(max_length=30, blank=True)
    value = models.FloatField(null=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("window", "run", "scoring_pass", "revision"),
                name="one_window_result",
                nulls_distinct=False,
            ),
            models.UniqueConstraint(
                fields=("window", "run", "scoring_pass"),
                condition=Q(current=True),
                name="one_current_window_result",
            ),
        )

    def __str__(self) -> str:
        return f"result {self.pk}"


class SigningKey(models.Model):
    """The public half of a key that signed here; old ones stay."""

    name = models.CharField(max_length=16, unique=True)
    pem = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.name


class Certificate(models.Model):
    """A signed statement about a run, issued by a board's rule after review."""

    class State(models.TextChoices):
        VALID = "valid", "Valid"
        UNDER_REVIEW = "under_review", "Under review"
        SUPERSEDED = "superseded", "Superseded"
        REVOKED = "revoked", "Revoked"

    serial = models.CharField(max_length=40, unique=True)
    board = models.ForeignKey(Board, on_delete=models.PROTECT, related_name="certificates")
    run = models.ForeignKey("academy.Run", on_delete=models.PROTECT, related_name="certificates")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.PROTECT, related_name="+")
    window = models.ForeignKey(
        Window, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    tier = models.CharField(max_length=30)
    state = models.CharField(max_length=14, choices=State, default=State.VALID)
    reason = models.TextField(blank=True)
    document = models.JSONField()
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.serial

    @property
    def doubt(self) -> str:
        """What speaks against it. The reason for which it was upheld does not."""
        return "" if self.state == self.State.VALID else self.reason
