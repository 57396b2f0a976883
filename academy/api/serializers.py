"""How versions, passes and results are written out by the API; nothing is read in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers

if TYPE_CHECKING:
    Out = serializers.Serializer[Any]
else:
    Out = serializers.Serializer


class VersionOut(Out):
    """A version of a suite."""

    suite = serializers.CharField(source="suite.slug")
    version = serializers.CharField(source="name")
    title = serializers.CharField()
    format = serializers.CharField(source="suite.format")
    mode = serializers.CharField()
    state = serializers.CharField()
    sealed = serializers.BooleanField()
    digest = serializers.CharField()
    published_at = serializers.DateTimeField(allow_null=True)
    pilot = serializers.SerializerMethodField(help_text="what a pilot must carry, else null")

    def get_pilot(self, row: Any) -> dict[str, Any] | None:
        """Population, tasks, replicates and sample of a pilot."""
        facts: dict[str, Any] | None = self.context["pilots"].get(row.pk)
        return facts


class PassOut(Out):
    """A scoring pass: what it fixes, and whether it is the one that is shown."""

    number = serializers.IntegerField()
    state = serializers.CharField()
    digest = serializers.CharField()
    scorers = serializers.DictField(child=serializers.IntegerField())
    evidence = serializers.JSONField()
    struck = serializers.SerializerMethodField(help_text="how many criteria are struck")
    reason = serializers.CharField()
    created_at = serializers.DateTimeField()
    published_at = serializers.DateTimeField(allow_null=True)

    def get_struck(self, row: Any) -> int:
        """The number of struck criteria; which they are may be sealed."""
        return len(row.struck)


class ResultOut(Out):
    """A number of a whole run in a pass. Of a sealed version it is rounded as on its page."""

    run = serializers.IntegerField(source="run_id")
    entrant = serializers.CharField(source="run.entrant.slug")
    kind = serializers.CharField(source="run.kind")
    attempt = serializers.IntegerField(source="run.attempt")
    run_version = serializers.SerializerMethodField(help_text="the version it was run on")
    judged_version = serializers.SerializerMethodField(help_text="the version it is judged under")
    metric = serializers.CharField(source="metric.key")
    mode = serializers.CharField()
    slice = serializers.CharField()
    origin = serializers.CharField()
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    n = serializers.IntegerField()
    waiting = serializers.IntegerField()
    missing = serializers.IntegerField()
    unscorable = serializers.IntegerField()
    note = serializers.CharField()
    pilot = serializers.SerializerMethodField(help_text="what a pilot says of itself, else empty")

    def get_pilot(self, row: Any) -> str:
        """The sentence without which no number of a pilot is told."""
        return str(self.context["pilot"])

    def get_run_version(self, row: Any) -> str:
        """Of a carried run the version that it was run on, else its own."""
        source = row.run.carried_from
        return str(source.version if source is not None else row.run.version)

    def get_judged_version(self, row: Any) -> str:
        """The version whose criteria and keys made the number."""
        return str(row.run.version)
