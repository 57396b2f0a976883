"""Entrants, what they upload, their runs and the records of these."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Mod

from academy.querysets import EntrantQuerySet, RecordQuerySet, RunQuerySet

RUN_SHIFT = 39


class Entrant(models.Model):
    """A model with its harness and settings, as it enters; blank `weights` are not known."""

    class Weights(models.TextChoices):
        OPEN = "open", "Open weights"
        CLOSED = "closed", "Closed weights"

    slug = models.SlugField(max_length=100, unique=True)
    name = models.CharField(max_length=200)
    model = models.CharField(max_length=200, blank=True)
    developer = models.CharField(max_length=200, blank=True)
    harness = models.CharField(max_length=200, blank=True)
    weights = models.CharField(max_length=6, choices=Weights, blank=True)
    settings = models.JSONField(default=dict, blank=True)
    is_example = models.BooleanField(default=False)
    organization = models.ForeignKey(
        "academy.Organization", null=True, blank=True, on_delete=models.PROTECT
    )
    created_at = models.DateTimeField(auto_now_add=True)

    objects = EntrantQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(weights__in=("", "open", "closed")), name="weights_known_or_blank"
            ),
        )

    def __str__(self) -> str:
        return self.name


class EntrantAlias(models.Model):
    """Another name of an entrant: found on import, masked in review."""

    entrant = models.ForeignKey(Entrant, on_delete=models.CASCADE, related_name="aliases")
    name = models.CharField(max_length=200)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("entrant", "name"), name="one_alias_per_name"),
        )

    def __str__(self) -> str:
        return self.name


class Submission(models.Model):
    """One upload of runs by an account: what limits count."""

    class State(models.TextChoices):
        RECEIVED = "received", "Received"
        IMPORTED = "imported", "Imported"
        REFUSED = "refused", "Refused"

    account = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    organization = models.ForeignKey(
        "academy.Organization", null=True, blank=True, on_delete=models.PROTECT
    )
    form = models.SlugField(max_length=50)
    name = models.CharField(max_length=300, blank=True)
    source_digest = models.CharField(max_length=64, db_index=True)
    idempotency_key = models.CharField(max_length=100, null=True, blank=True)  # noqa: DJ001
    part = models.PositiveIntegerField(default=1)
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    report = models.JSONField(default=dict, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("account", "idempotency_key"),
                condition=Q(idempotency_key__isnull=False),
                name="one_submission_per_key",
            ),
        )

    def __str__(self) -> str:
        return f"submission {self.pk}"


class SubmissionFile(models.Model):
    """One file of an upload of runs, its place in the kept source and what became of it."""

    submission = models.ForeignKey(Submission, on_delete=models.CASCADE, related_name="files")
    path = models.CharField(max_length=500)
    status = models.CharField(max_length=12)
    reason = models.TextField(blank=True)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("submission", "path"), name="one_submission_file_per_path"
            ),
        )

    def __str__(self) -> str:
        return self.path


class Run(models.Model):
    """One run of an entrant on a version. Only closed runs of kind entrant rank."""

    class Kind(models.TextChoices):
        ENTRANT = "entrant", "Entrant"
        HUMAN = "human", "Human"
        NULL = "null", "Null"
        SHOTGUN = "shotgun", "Shotgun"
        ORACLE = "oracle", "Oracle"
        CARRIED = "carried", "Carried"

    class State(models.TextChoices):
        OPEN = "open", "Open"
        CLOSED = "closed", "Closed"
        FAILED = "failed", "Failed"
        WITHDRAWN = "withdrawn", "Withdrawn"

    class Verification(models.IntegerChoices):
        REPORTED = 1, "Reported"
        SUPPLIED = 2, "Records supplied"
        RESCORED = 3, "Re-scored here"
        REPRODUCED = 4, "Reproduced"

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.PROTECT, related_name="runs"
    )
    entrant = models.ForeignKey(Entrant, on_delete=models.PROTECT, related_name="runs")
    submission = models.ForeignKey(
        Submission, null=True, blank=True, on_delete=models.PROTECT, related_name="runs"
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.ENTRANT)
    form = models.SlugField(max_length=50)
    external_id = models.CharField(max_length=300, blank=True)
    attempt = models.PositiveIntegerField(default=1)
    arm = models.CharField(max_length=100, blank=True)
    scenario = models.CharField(max_length=200, blank=True)
    verification = models.PositiveSmallIntegerField(
        choices=Verification, default=Verification.SUPPLIED
    )
    state = models.CharField(max_length=10, choices=State, default=State.OPEN)
    reason = models.CharField(max_length=500, blank=True)
    limits = models.JSONField(default=dict, blank=True)
    header = models.JSONField(default=dict, blank=True)
    digest = models.CharField(max_length=64, blank=True)
    duplicate_digest = models.CharField(max_length=64, blank=True, db_index=True)
    started_at = models.CharField(max_length=60, blank=True)
    records_expected = models.PositiveIntegerField(default=0)
    left_out = models.JSONField(default=dict, blank=True)
    is_final = models.BooleanField(default=False)
    carried_from = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    closed_at = models.DateTimeField(null=True, blank=True)

    objects = RunQuerySet.as_manager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("version", "entrant", "kind", "attempt"), name="one_run_per_attempt"
            ),
            models.CheckConstraint(condition=Q(id__gte=1, id__lt=2**24), name="run_fits_record_id"),
            models.CheckConstraint(
                condition=Q(state__in=("open", "closed")) | ~Q(reason=""),
                name="ended_run_has_reason",
            ),
            models.CheckConstraint(
                condition=Q(verification__gte=1, verification__lte=4), name="known_verification"
            ),
        )

    def __str__(self) -> str:
        return f"run {self.pk}"


class RunEvent(models.Model):
    """A change of a run's state: who, when, why."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="events")
    state = models.CharField(max_length=20)
    reason = models.CharField(max_length=500, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.state} of run {self.run_id}"


class Pack(models.Model):
    """A piece of kept bytes, as one zstd frame that opens alone.

    The packs of a file, in order, decompress to the uploaded bytes exactly; they are cut at line
    ends. The packs of a run hold records whose own form is no piece of a file, a line each.
    """

    file = models.ForeignKey(
        SubmissionFile, null=True, blank=True, on_delete=models.CASCADE, related_name="packs"
    )
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="packs"
    )
    number = models.PositiveIntegerField()
    start = models.BigIntegerField(default=0)
    size = models.PositiveIntegerField()
    digest = models.CharField(max_length=64)
    content = models.BinaryField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("file", "run", "number"), name="one_pack_per_number", nulls_distinct=False
            ),
            models.CheckConstraint(
                condition=Q(file__isnull=True, run__isnull=False)
                | Q(file__isnull=False, run__isnull=True),
                name="pack_of_file_or_run",
            ),
        )

    def __str__(self) -> str:
        return f"pack {self.number}"


class InstanceRecord(models.Model):
    """One execution of one task. The id packs run, ordinal, replicate and variant (`identity`).

    The row is columns only; the record itself lies in its pack at offset, length. The table is
    partitioned by ranges of the id.
    """

    id = models.BigIntegerField(primary_key=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="records", db_index=False)
    task = models.ForeignKey(
        "academy.Task", on_delete=models.PROTECT, related_name="records", db_index=False
    )
    replicate = models.PositiveSmallIntegerField()
    variant = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=12)
    pack = models.ForeignKey(Pack, on_delete=models.PROTECT, related_name="+", db_index=False)
    offset = models.PositiveIntegerField()
    length = models.PositiveIntegerField()
    content_digest = models.BinaryField(max_length=32)
    steps = models.IntegerField(null=True)
    wall_ms = models.BigIntegerField(null=True)
    tokens_in = models.BigIntegerField(null=True)
    tokens_out = models.BigIntegerField(null=True)
    cost_micros = models.BigIntegerField(null=True)

    objects = RecordQuerySet.as_manager()

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=Q(replicate__gte=1, replicate__lt=2**10, variant__lt=2**5),
                name="record_parts_fit",
            ),
            models.CheckConstraint(
                condition=Q(status__in=("answered", "missing", "error", "refused", "over_budget")),
                name="known_record_status",
            ),
            models.CheckConstraint(
                condition=Q(id__gte=F("run") * 2**RUN_SHIFT)
                & Q(id__lt=(F("run") + 1) * 2**RUN_SHIFT),
                name="record_id_names_run",
            ),
            models.CheckConstraint(
                condition=Q(variant=Mod(F("id"), 2**5)), name="record_id_names_variant"
            ),
        )

    def __str__(self) -> str:
        return f"record {self.id}"


class ReportedScore(models.Model):
    """A score that came with a record, as it was said."""

    record = models.ForeignKey(InstanceRecord, on_delete=models.CASCADE, related_name="reported")
    metric = models.CharField(max_length=200)
    value = models.FloatField(null=True)
    correct = models.BooleanField(null=True)
    line = models.PositiveIntegerField(null=True)
    note = models.CharField(max_length=300, blank=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("record", "metric"), name="one_reported_score_per_metric"
            ),
        )

    def __str__(self) -> str:
        return f"{self.metric} of record {self.record_id}"


class RecordPicture(models.Model):
    """The raster copy of a picture in the transcript of a record, by the digest of its bytes."""

    record = models.ForeignKey(InstanceRecord, on_delete=models.CASCADE, related_name="pictures")
    digest = models.CharField(max_length=64)
    raster = models.ForeignKey("academy.Blob", on_delete=models.PROTECT, related_name="+")

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("record", "digest"), name="one_copy_per_picture_of_record"
            ),
        )

    def __str__(self) -> str:
        return f"picture of record {self.record_id}"
