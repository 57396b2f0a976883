"""Admin pages of suites and their versions: what is stored, and the acts of curators."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import path
from django.urls.resolvers import URLPattern

from academy import auditing, confirming, passes, publishing
from academy.admin.importing import suite_import
from academy.admin.reading import ReadOnlyAdmin, digest_column, told
from academy.errors import AcademyError
from academy.models import AnswerKey, ScoringPass, Suite, SuiteVersion, Task


@admin.register(Suite)
class SuiteAdmin(ReadOnlyAdmin):
    """Suites, with the import page."""

    list_display = ("slug", "title", "format", "is_example", "created_at")
    search_fields = ("slug", "title")
    list_filter = ("is_example",)
    ordering = ("slug",)

    def get_urls(self) -> list[URLPattern]:
        """The import page comes before the pages of rows."""
        view = self.admin_site.admin_view(suite_import)
        return [path("import/", view, name="academy_suite_import"), *super().get_urls()]


@admin.register(SuiteVersion)
class VersionAdmin(ReadOnlyAdmin):
    """Versions; a draft is published here."""

    list_display = ("__str__", "mode", "state", "sealed", digest_column, "published_at")
    list_filter = ("state", "mode", "sealed")
    list_select_related = ("suite",)
    search_fields = ("suite__slug", "name")
    ordering = ("-pk",)
    actions = ("publish",)

    @admin.action(description="Publish the chosen drafts", permissions=["curate"])
    def publish(self, request: HttpRequest, queryset: QuerySet[SuiteVersion]) -> None:
        """Publish each chosen version, or say why not."""
        for version in queryset.select_related("suite").order_by("pk"):
            try:
                publishing.publish_version(
                    version, by=request.user, reason="published in the admin"
                )
            except AcademyError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                self.message_user(request, f"{version} is published.")


@admin.register(Task)
class TaskAdmin(ReadOnlyAdmin):
    """Tasks, with their keys one page further."""

    list_display = ("external_id", "version", "ordinal", "kind", "holdout")
    list_select_related = ("version__suite",)
    list_filter = ("holdout",)
    search_fields = ("external_id", "title")
    ordering = ("-version_id", "ordinal")


@admin.register(AnswerKey)
class KeyAdmin(ReadOnlyAdmin):
    """Sealed keys. Opening one is noted as an exposure."""

    list_display = ("task", "revision", "commitment", "created_at")
    list_select_related = ("task",)
    search_fields = ("task__external_id",)
    ordering = ("-pk",)
    exclude = ("salt",)
    actions = ("confirm",)

    @admin.action(description="Confirm the consensus of raters", permissions=["curate"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[AnswerKey]) -> None:
        """Confirm each chosen key that several raters made, or say why not."""
        keys = queryset.select_related("task__version__suite").order_by("pk")
        try:
            made = confirming.confirm(keys, by=request.user, reason="confirmed in the admin")
        except AcademyError as error:
            self.message_user(request, str(error), messages.ERROR)
        else:
            self.message_user(request, told(made, "key is confirmed", "keys are confirmed"))

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> AnswerKey | None:
        """The key, after noting who looks at it."""
        key: AnswerKey | None = super().get_object(request, object_id, from_field)
        if key is not None:
            auditing.expose(request.user, task=key.task, what="answer key", why="admin")
        return key


@admin.register(ScoringPass)
class PassAdmin(ReadOnlyAdmin):
    """Scoring passes."""

    list_display = ("version", "number", "state", digest_column, "published_at")
    list_select_related = ("version__suite",)
    ordering = ("-pk",)
    actions = ("publish", "pause", "resume")

    @admin.action(description="Publish the chosen staged passes", permissions=["curate"])
    def publish(self, request: HttpRequest, queryset: QuerySet[ScoringPass]) -> None:
        """Publish each chosen pass, or say why not."""
        for chosen in queryset.select_related("version").order_by("pk"):
            try:
                passes.publish(chosen, by=request.user, reason="published in the admin")
            except AcademyError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                self.message_user(request, f"Pass {chosen.number} is published.")

    @admin.action(description="Pause the scoring of the chosen passes", permissions=["curate"])
    def pause(self, request: HttpRequest, queryset: QuerySet[ScoringPass]) -> None:
        """Let the units of the chosen passes wait."""
        units = sum(passes.pause(chosen, by=request.user) for chosen in queryset.order_by("pk"))
        self.message_user(request, told(units, "unit of work waits", "units of work wait"))

    @admin.action(description="Go on with the scoring of the chosen passes", permissions=["curate"])
    def resume(self, request: HttpRequest, queryset: QuerySet[ScoringPass]) -> None:
        """Make the units that were paused ready again."""
        units = sum(passes.resume(chosen, by=request.user) for chosen in queryset.order_by("pk"))
        self.message_user(request, told(units, "unit of work goes on", "units of work go on"))
