"""Suites, their versions and what these hold: tasks, criteria, metrics, sealed keys, files."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from academy.querysets import SuiteQuerySet, TaskQuerySet, VersionQuerySet


class Suite(models.Model):
    """A named set of tasks over all its versions. `format` is a plug-in's key, without choices."""

    slug = models.SlugField(max_length=100, unique=True)
    format = models.SlugField(max_length=50)
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True)
    is_example = models.BooleanField(default=False)
    organization = models.ForeignKey(
        "academy.Organization", null=True, blank=True, on_delete=models.PROTECT
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = SuiteQuerySet.as_manager()

    def __str__(self) -> str:
        return self.slug


class SuiteVersion(models.Model):
    """A digested edition of a suite. Published versions never change; collections grow."""

    class Mode(models.TextChoices):
        PRACTICE = "practice", "Practice"
        RANKED = "ranked", "Ranked"
        COLLECTION = "collection", "Collection"

    class State(models.TextChoices):
        DRAFT = "draft", "Draft"
        PUBLISHED = "published", "Published"
        RETIRED = "retired", "Retired"

    suite = models.ForeignKey(Suite, on_delete=models.PROTECT, related_name="versions")
    name = models.CharField(max_length=100)
    title = models.CharField(max_length=300)
    description = models.TextField(blank=True)
    mode = models.CharField(max_length=10, choices=Mode)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    sealed = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    source_digest = models.CharField(max_length=64)
    thresholds = models.JSONField(default=dict, blank=True)
    limits = models.JSONField(default=dict, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)
    retired_at = models.DateTimeField(null=True, blank=True)
    frozen_at = models.DateTimeField(null=True, blank=True)

    objects = VersionQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("suite", "name"), name="one_version_per_name"),
            models.CheckConstraint(
                condition=Q(mode__in=("practice", "ranked", "collection")), name="known_mode"
            ),
            models.CheckConstraint(
                condition=Q(state="draft", published_at=None)
                | Q(state__in=("published", "retired"), published_at__isnull=False),
                name="published_has_time",
            ),
        )

    def __str__(self) -> str:
        return f"{self.suite.slug}@{self.name}"


class Metric(models.Model):
    """What is measured in a version, which way is better, and what a missing answer counts."""

    version = models.ForeignKey(SuiteVersion, on_delete=models.CASCADE, related_name="metrics")
    key = models.CharField(max_length=100)
    label = models.CharField(max_length=200)
    ordinal = models.PositiveSmallIntegerField(default=0)
    direction = models.CharField(max_length=4)
    kind = models.CharField(max_length=10)
    unit = models.CharField(max_length=40, blank=True)
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    item_aggregation = models.CharField(max_length=20, default="mean")
    run_aggregation = models.CharField(max_length=20, default="mean")
    missing = models.FloatField(null=True, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "key"), name="one_metric_per_key"),
            models.CheckConstraint(
                condition=Q(direction__in=("up", "down")), name="known_direction"
            ),
            models.CheckConstraint(
                condition=Q(kind__in=("pass", "graded", "error", "rating", "count")),
                name="known_metric_kind",
            ),
        )

    def __str__(self) -> str:
        return self.label


class Task(models.Model):
    """One task of a version. `gradings` name scorers; `extra` is provenance and stays inside."""

    version = models.ForeignKey(SuiteVersion, on_delete=models.CASCADE, related_name="tasks")
    ordinal = models.PositiveIntegerField()
    external_id = models.CharField(max_length=300)
    title = models.CharField(max_length=500, blank=True)
    kind = models.CharField(max_length=100, blank=True)
    prompt = models.TextField(blank=True)
    context = models.JSONField(default=dict, blank=True)
    gradings = models.JSONField(default=list, blank=True)
    attributes = models.JSONField(default=dict, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    source = models.CharField(max_length=500, blank=True)
    holdout = models.BooleanField(default=False)
    digest = models.CharField(max_length=64)
    derived_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    objects = TaskQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "ordinal"), name="one_task_per_ordinal"),
            models.UniqueConstraint(fields=("version", "external_id"), name="one_task_per_id"),
            models.CheckConstraint(
                condition=Q(ordinal__gte=0, ordinal__lt=2**24), name="ordinal_fits_record_id"
            ),
        )

    def __str__(self) -> str:
        return self.external_id


class Criterion(models.Model):
    """One thing about a task that a machine, a judge or a person decides."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="criteria")
    ordinal = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=200)
    text = models.TextField()
    weight = models.FloatField(default=1.0)
    scale = models.CharField(max_length=20)
    decided_by = models.CharField(max_length=10)
    low = models.IntegerField(null=True, blank=True)
    high = models.IntegerField(null=True, blank=True)
    anchors = models.JSONField(default=list, blank=True)
    allows_na = models.BooleanField(default=False)
    needs = models.JSONField(default=list, blank=True)
    extra = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=64)
    derived_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("task", "key"), name="one_criterion_per_key"),
            models.CheckConstraint(
                condition=Q(decided_by__in=("machine", "judge", "person")), name="known_decider"
            ),
        )

    def __str__(self) -> str:
        return self.key


class AnswerKey(models.Model):
    """Sealed truth of a task in one revision; the commitment fixes it in public unseen."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="keys")
    revision = models.PositiveIntegerField()
    content = models.JSONField(null=True)
    salt = models.CharField(max_length=64)
    commitment = models.CharField(max_length=64)
    note = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("task", "revision"), name="one_key_per_revision"),
        )

    def __str__(self) -> str:
        return f"key {self.revision} of {self.task_id}"


class KeyConfirmation(models.Model):
    """A person's word that the consensus of several raters in a key is the truth."""

    key = models.OneToOneField(AnswerKey, on_delete=models.CASCADE, related_name="confirmation")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    reason = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(condition=~Q(reason=""), name="confirmation_has_reason"),
        )

    def __str__(self) -> str:
        return f"confirmation of {self.key}"


class ReferenceTable(models.Model):
    """A table that a format's checks compare with, kept in revisions."""

    format = models.SlugField(max_length=50)
    name = models.CharField(max_length=100)
    revision = models.PositiveIntegerField(default=1)
    content = models.JSONField()
    digest = models.CharField(max_length=64)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("format", "name", "revision"), name="one_table_per_revision"
            ),
        )

    def __str__(self) -> str:
        return f"{self.format}/{self.name} {self.revision}"


class Blob(models.Model):
    """Bytes kept once under their SHA-256: sources of suites, drawings, small files.

    `content` is one zstd frame of the bytes.
    """

    digest = models.CharField(max_length=64, primary_key=True)
    size = models.BigIntegerField()
    media_type = models.CharField(max_length=100, blank=True)
    content = models.BinaryField()

    def __str__(self) -> str:
        return self.digest[:12]


class SuiteFile(models.Model):
    """One file of the upload a version was made from, and what became of it."""

    version = models.ForeignKey(SuiteVersion, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    status = models.CharField(max_length=12)
    reason = models.TextField(blank=True)
    blob = models.ForeignKey(Blob, on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("version", "path"), name="one_file_per_path"),
        )

    def __str__(self) -> str:
        return self.path


class TaskAsset(models.Model):
    """A drawing or file that a task refers to; `blob` is empty when it did not come along."""

    task = models.ForeignKey(Task, on_delete=models.CASCADE, related_name="assets")
    ref = models.CharField(max_length=500)
    sha256 = models.CharField(max_length=64, blank=True)
    media_type = models.CharField(max_length=100, blank=True)
    blob = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    raster = models.ForeignKey(
        Blob, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("task", "ref"), name="one_asset_per_ref"),)

    def __str__(self) -> str:
        return self.ref
