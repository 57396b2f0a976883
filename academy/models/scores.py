"""What scorers said, in passes, and what follows from it; nobody edits a score."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

STATUSES = ("scored", "needs_human", "unscorable")


class ScoringPass(models.Model):
    """One release of scorers and keys for a version."""

    class State(models.TextChoices):
        STAGED = "staged", "Staged"
        PUBLISHED = "published", "Published"
        RETIRED = "retired", "Retired"

    version = models.ForeignKey(
        "academy.SuiteVersion", on_delete=models.CASCADE, related_name="passes"
    )
    number = models.PositiveIntegerField()
    state = models.CharField(max_length=10, choices=State, default=State.STAGED)
    scorers = models.JSONField(default=dict)
    key_revisions = models.JSONField(default=dict)
    struck = models.JSONField(default=list)
    evidence = models.JSONField(default=dict)
    digest = models.CharField(max_length=64)
    reason = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    published_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name_plural = "scoring passes"
        constraints = (
            models.UniqueConstraint(fields=("version", "number"), name="one_pass_per_number"),
            models.UniqueConstraint(
                fields=("version",), condition=Q(state="published"), name="one_published_pass"
            ),
        )

    def __str__(self) -> str:
        return f"pass {self.number} of {self.version_id}"


class Score(models.Model):
    """The verdict on one metric of one record in one mode and pass, in revisions."""

    record = models.ForeignKey(
        "academy.InstanceRecord", on_delete=models.CASCADE, related_name="scores", db_index=False
    )
    metric = models.ForeignKey("academy.Metric", on_delete=models.PROTECT, related_name="+")
    mode = models.CharField(max_length=10)
    scoring_pass = models.ForeignKey(
        ScoringPass, on_delete=models.CASCADE, related_name="scores", db_index=False
    )
    revision = models.PositiveIntegerField(default=1)
    current = models.BooleanField(default=True)
    scorer = models.CharField(max_length=60)
    scorer_version = models.PositiveIntegerField()
    status = models.CharField(max_length=12)
    value = models.FloatField(null=True)
    credit = models.FloatField(null=True)
    passed = models.BooleanField(null=True)
    measures = models.JSONField(default=dict)
    note = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("record", "metric", "mode", "scoring_pass", "revision"),
                name="score_identity",
            ),
            models.UniqueConstraint(
                fields=("record", "metric", "mode", "scoring_pass"),
                condition=Q(current=True),
                name="one_current_score",
            ),
            models.CheckConstraint(condition=Q(status__in=STATUSES), name="known_score_status"),
            models.CheckConstraint(
                condition=Q(status="scored", value__isnull=False)
                | Q(value=None, credit=None, passed=None),
                name="only_scored_has_numbers",
            ),
            models.CheckConstraint(
                condition=Q(credit=None) | Q(credit__gte=0, credit__lte=1),
                name="credit_between_0_and_1",
            ),
            models.CheckConstraint(
                condition=Q(value=None) | Q(value__gt=float("-1e308"), value__lt=float("1e308")),
                name="score_is_finite",
            ),
        )

    def __str__(self) -> str:
        return f"score of record {self.record_id}"


class RunResult(models.Model):
    """A number for a whole run: reported by the upload or computed from scores."""

    run = models.ForeignKey("academy.Run", on_delete=models.CASCADE, related_name="results")
    metric = models.ForeignKey("academy.Metric", on_delete=models.PROTECT, related_name="+")
    mode = models.CharField(max_length=10)
    scoring_pass = models.ForeignKey(
        ScoringPass, null=True, on_delete=models.CASCADE, related_name="results"
    )
    slice = models.CharField(max_length=200, blank=True)
    origin = models.CharField(max_length=10)
    value = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    method = models.CharField(max_length=100, blank=True)
    n = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0)
    missing = models.PositiveIntegerField(default=0)
    unscorable = models.PositiveIntegerField(default=0)
    note = models.CharField(max_length=500, blank=True)
    details = models.JSONField(default=dict)
    created_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("run", "metric", "mode", "scoring_pass", "slice", "origin"),
                name="one_result",
                nulls_distinct=False,
            ),
            models.CheckConstraint(
                condition=Q(origin__in=("reported", "computed")), name="known_origin"
            ),
        )

    def __str__(self) -> str:
        return f"{self.metric_id} of run {self.run_id}"


class HumanBaseline(models.Model):
    """The best complete result of the recorded human runs of a version in a pass, in revisions.

    Without a value no human run stands any more. `runs` names all runs that were looked at.
    """

    scoring_pass = models.ForeignKey(ScoringPass, on_delete=models.CASCADE, related_name="humans")
    metric = models.ForeignKey("academy.Metric", on_delete=models.PROTECT, related_name="+")
    slice = models.CharField(max_length=200, blank=True)
    revision = models.PositiveIntegerField(default=1)
    value = models.FloatField(null=True)
    run = models.ForeignKey(
        "academy.Run", null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    runs = models.JSONField(default=list)
    current = models.BooleanField(default=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("scoring_pass", "metric", "slice", "revision"), name="one_human_revision"
            ),
            models.UniqueConstraint(
                fields=("scoring_pass", "metric", "slice"),
                condition=Q(current=True),
                name="one_current_human_baseline",
            ),
            models.CheckConstraint(
                condition=Q(value=None, run=None) | Q(value__isnull=False, run__isnull=False),
                name="human_baseline_has_its_run",
            ),
        )

    def __str__(self) -> str:
        return f"human baseline {self.pk}"


class RunVector(models.Model):
    """Per-task values of a run in task order: int64 of round(x·2²⁰), and one state byte each."""

    run = models.ForeignKey("academy.Run", on_delete=models.CASCADE, related_name="vectors")
    metric = models.ForeignKey("academy.Metric", on_delete=models.PROTECT, related_name="+")
    mode = models.CharField(max_length=10)
    scoring_pass = models.ForeignKey(ScoringPass, on_delete=models.CASCADE, related_name="+")
    values = models.BinaryField()
    states = models.BinaryField()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("run", "metric", "mode", "scoring_pass"), name="one_vector"
            ),
        )

    def __str__(self) -> str:
        return f"vector of run {self.run_id}"


class Summary(models.Model):
    """Counts of one run in one pass, kept beside the scores so that pages need not count."""

    run = models.ForeignKey("academy.Run", on_delete=models.CASCADE, related_name="summaries")
    scoring_pass = models.ForeignKey(ScoringPass, on_delete=models.CASCADE, related_name="+")
    records = models.PositiveIntegerField(default=0)
    scored = models.PositiveIntegerField(default=0)
    waiting = models.PositiveIntegerField(default=0)
    unscorable = models.PositiveIntegerField(default=0)
    missing = models.PositiveIntegerField(default=0)
    usage = models.JSONField(default=dict)
    digest = models.CharField(max_length=64, blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = (models.UniqueConstraint(fields=("run", "scoring_pass"), name="one_summary"),)

    def __str__(self) -> str:
        return f"summary of run {self.run_id}"


class Finding(models.Model):
    """A question about a run or record that a check raised; it never accuses and never deletes."""

    run = models.ForeignKey("academy.Run", on_delete=models.CASCADE, related_name="findings")
    record = models.ForeignKey(
        "academy.InstanceRecord",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="findings",
    )
    code = models.CharField(max_length=60)
    sentence = models.TextField()
    severity = models.CharField(max_length=10)
    steps = models.JSONField(default=list)
    evidence = models.JSONField(null=True)
    state = models.CharField(max_length=12, default="open")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("run", "record", "code", "sentence"),
                name="one_finding",
                nulls_distinct=False,
            ),
        )

    def __str__(self) -> str:
        return self.code
