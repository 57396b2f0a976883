"""Admin pages of entrants, runs, work and the trail."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from academy import ending, entering, rescoring, tasks, work
from academy.admin.reading import CuratedAdmin, ReadOnlyAdmin, told
from academy.errors import AcademyError
from academy.models import (
    AuditEvent,
    Decision,
    Entrant,
    Exposure,
    Membership,
    Organization,
    Run,
    Submission,
    SubmissionLimit,
    Work,
    WorkerHeartbeat,
)


@admin.register(Organization)
class OrganizationAdmin(CuratedAdmin):
    """Organisations."""

    list_display = ("slug", "name")
    search_fields = ("slug", "name")
    ordering = ("slug",)


@admin.register(Membership)
class MembershipAdmin(CuratedAdmin):
    """Who has which role where."""

    list_display = ("user", "organization", "role")
    list_select_related = ("user", "organization")
    list_filter = ("role",)
    autocomplete_fields = ("user", "organization")
    ordering = ("pk",)


@admin.register(SubmissionLimit)
class LimitAdmin(CuratedAdmin):
    """How many runs an account or organisation may enter on a version."""

    list_display = ("version", "scope", "most", "days")
    list_select_related = ("version__suite",)
    raw_id_fields = ("version",)
    exclude = ("created_by",)
    ordering = ("-pk",)


@admin.register(Entrant)
class EntrantAdmin(ReadOnlyAdmin):
    """Entrants. Curators say of a model whether its weights are open."""

    list_display = ("slug", "name", "model", "harness", "weights", "organization")
    list_select_related = ("organization",)
    list_filter = ("weights",)
    search_fields = ("slug", "name", "model")
    ordering = ("slug",)
    actions = ("say_open", "say_closed", "say_unknown")

    @admin.action(description="Say that the weights are open", permissions=["curate"])
    def say_open(self, request: HttpRequest, queryset: QuerySet[Entrant]) -> None:
        """Anybody may have the models of the chosen entrants."""
        self._say(request, queryset, Entrant.Weights.OPEN)

    @admin.action(description="Say that the weights are closed", permissions=["curate"])
    def say_closed(self, request: HttpRequest, queryset: QuerySet[Entrant]) -> None:
        """The models of the chosen entrants are not given out."""
        self._say(request, queryset, Entrant.Weights.CLOSED)

    @admin.action(description="Say that the weights are not known", permissions=["curate"])
    def say_unknown(self, request: HttpRequest, queryset: QuerySet[Entrant]) -> None:
        """Take back what was said."""
        self._say(request, queryset, "")

    def _say(self, request: HttpRequest, rows: QuerySet[Entrant], weights: str) -> None:
        changed = entering.say_weights(rows, weights, by=request.user)
        said = told(changed, "entrant is marked", "entrants are marked")
        self.message_user(request, f"{said} The boards follow.")


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    """Runs."""

    list_display = ("pk", "entrant", "version", "kind", "attempt", "state", "created_at")
    list_select_related = ("entrant", "version__suite")
    list_filter = ("state", "kind")
    search_fields = ("entrant__slug", "version__suite__slug", "external_id")
    ordering = ("-pk",)
    actions = ("score_again", "pause", "resume", "close")

    @admin.action(description="Close the chosen open runs", permissions=["curate"])
    def close(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        """Say of each chosen run that it is complete, or tell why not."""
        for run in queryset.order_by("pk"):
            try:
                ending.close_run(run, reason="closed in the admin", by=request.user)
            except AcademyError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                self.message_user(request, f"Run {run.pk} is closed.")

    @admin.action(description="Score the chosen runs again", permissions=["curate"])
    def score_again(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        """Owe the scoring of the chosen runs in the passes that are not retired."""
        runs = queryset.select_related("version").order_by("pk")
        try:
            units = rescoring.score_again(runs, by=request.user, reason="asked for in the admin")
        except AcademyError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(
                request, told(units, "unit of work is owed", "units of work are owed")
            )

    @admin.action(description="Pause the scoring of the chosen runs", permissions=["curate"])
    def pause(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        """Let what is owed for the chosen runs wait."""
        units = rescoring.pause(queryset.order_by("pk"), by=request.user)
        self.message_user(request, told(units, "unit of work waits", "units of work wait"))

    @admin.action(description="Go on with the scoring of the chosen runs", permissions=["curate"])
    def resume(self, request: HttpRequest, queryset: QuerySet[Run]) -> None:
        """Make what was paused for the chosen runs ready again."""
        units = rescoring.resume(queryset.order_by("pk"), by=request.user)
        self.message_user(request, told(units, "unit of work goes on", "units of work go on"))


@admin.register(Submission)
class SubmissionAdmin(ReadOnlyAdmin):
    """Uploads of runs."""

    list_display = ("pk", "name", "form", "account", "state", "created_at")
    list_select_related = ("account",)
    ordering = ("-pk",)


@admin.register(Work)
class WorkAdmin(ReadOnlyAdmin):
    """Work that is owed or failed; failed work can be asked for again."""

    list_display = ("key", "kind", "state", "attempts", "error_id", "created_at", "finished_at")
    list_filter = ("state", "kind")
    search_fields = ("key", "error_id")
    ordering = ("-pk",)
    actions = ("again",)

    @admin.action(description="Do the chosen failed work again", permissions=["curate"])
    def again(self, request: HttpRequest, queryset: QuerySet[Work]) -> None:
        """Make failed work ready."""
        failed = queryset.filter(state=Work.State.FAILED)
        moved = work.move(failed, Work.State.READY, attempts=0, error="", error_id="")
        tasks.nudge()
        again = told(
            len(moved), "unit of work will be done again", "units of work will be done again"
        )
        self.message_user(request, again)


@admin.register(Decision)
class DecisionAdmin(ReadOnlyAdmin):
    """Verdicts of judges, imports and people."""

    list_display = ("pk", "criterion", "source", "author", "person", "state", "value", "current")
    list_select_related = ("criterion", "person")
    list_filter = ("source", "state", "current")
    ordering = ("-pk",)


@admin.register(WorkerHeartbeat)
class HeartbeatAdmin(ReadOnlyAdmin):
    """Workers that are alive."""

    list_display = ("name", "started_at", "seen_at")
    ordering = ("name",)


@admin.register(AuditEvent)
class AuditAdmin(ReadOnlyAdmin):
    """The trail."""

    list_display = ("at", "act", "subject", "actor", "reason")
    list_select_related = ("actor",)
    ordering = ("-pk",)


@admin.register(Exposure)
class ExposureAdmin(ReadOnlyAdmin):
    """Who saw which sealed thing when."""

    list_display = ("at", "user", "what", "why", "task")
    list_select_related = ("user", "task")
    ordering = ("-pk",)
