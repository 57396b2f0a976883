"""Admin pages of boards, where curators set policies, and of what was published."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest

from academy.admin.reading import CuratedAdmin, ReadOnlyAdmin, digest_column
from academy.errors import AcademyError
from academy.querysets import has_role
from leaderboard import boards, certifying, standings, windowing
from leaderboard.forms import BoardForm, CertificateForm, ReasonForm, WindowForm
from leaderboard.models import (
    Board,
    BoardRevision,
    Certificate,
    Snapshot,
    Window,
    WindowResult,
)


@admin.register(Board)
class BoardAdmin(CuratedAdmin):
    """Boards. A change of policy or versions is a revision and owes a snapshot."""

    form = BoardForm
    list_display = ("title", "slug", "revision", "is_example")
    search_fields = ("slug", "title")
    readonly_fields = ("slug", "revision")
    filter_horizontal = ("versions",)
    ordering = ("title", "pk")
    fieldsets = (
        (None, {"fields": ("title", "slug", "revision", "description", "versions")}),
        (
            "What is ranked",
            {"fields": ("metric", "mode", "origin", "ranked", "where", "secondary")},
        ),
        ("Who ranks", {"fields": ("evidence", "audited", "verification", "coverage", "attempts")}),
        ("How", {"fields": ("confidence", "rounds", "cluster", "slices", "shown_versions")}),
        ("Publishing", {"fields": ("publishing", "note", "reason")}),
    )

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Boards come from formats; curators change them."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Published snapshots stay, and so does their board."""
        return False

    def save_model(self, request: HttpRequest, obj: Board, form: BoardForm, change: bool) -> None:
        """Title and description here; versions and policy by the service."""
        Board.objects.filter(pk=obj.pk).update(title=obj.title, description=obj.description)

    def save_related(
        self, request: HttpRequest, form: BoardForm, formsets: Any, change: bool
    ) -> None:
        """The versions are part of the policy, so the service sets both."""
        try:
            boards.change_board(
                form.instance,
                form.policy(),
                list(form.cleaned_data["versions"]),
                by=request.user,
                reason=form.cleaned_data["reason"] or "changed in the admin",
            )
        except AcademyError as error:
            self.message_user(request, str(error), messages.ERROR)


@admin.register(Snapshot)
class SnapshotAdmin(ReadOnlyAdmin):
    """Snapshots; those that wait are published here."""

    list_display = ("board", "number", "board_revision", "published_at", digest_column)
    list_select_related = ("board",)
    ordering = ("-pk",)
    exclude = ("rows_html",)
    actions = ("publish",)

    @admin.action(description="Publish the chosen snapshots", permissions=["curate"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Snapshot]) -> None:
        """Publish each chosen snapshot, or say why not."""
        for snapshot in queryset.select_related("board").order_by("number"):
            try:
                standings.publish_by_hand(
                    snapshot, by=request.user, reason="published in the admin"
                )
            except AcademyError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                told = f"Snapshot {snapshot.number} of {snapshot.board} is public."
                self.message_user(request, told, messages.SUCCESS)


@admin.register(BoardRevision)
class RevisionAdmin(ReadOnlyAdmin):
    """Earlier policies."""

    list_display = ("board", "revision", "created_at")
    list_select_related = ("board",)
    ordering = ("-pk",)


@admin.register(Window)
class WindowAdmin(CuratedAdmin):
    """Stretches of time in which entries of a board may be certified."""

    form = WindowForm
    list_display = ("board", "label", "opens_at", "closes_at")
    list_select_related = ("board",)
    autocomplete_fields = ("board",)
    ordering = ("-opens_at", "pk")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A window that holds results stays as it is."""
        is_free = obj is None or not windowing.is_used(obj)
        return is_free and super().has_change_permission(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Likewise."""
        is_free = obj is None or not windowing.is_used(obj)
        return is_free and super().has_delete_permission(request, obj)

    def save_model(self, request: HttpRequest, obj: Window, form: WindowForm, change: bool) -> None:
        """By the service; the form has checked that it may be."""
        known = Window.objects.get(pk=obj.pk) if obj.pk else None
        made = windowing.open_window(
            obj.board, obj.label, obj.opens_at, obj.closes_at, window=known, by=request.user
        )
        obj.__dict__.update(made.__dict__)


@admin.register(WindowResult)
class WindowResultAdmin(ReadOnlyAdmin):
    """What runs came to in windows, every revision."""

    list_display = ("window", "entrant", "run", "passed", "tier", "value", "revision", "current")
    list_select_related = ("window", "entrant", "run")
    list_filter = ("passed", "current")
    ordering = ("-pk",)


@admin.register(Certificate)
class CertificateAdmin(ReadOnlyAdmin):
    """Certificates: issued by a person who looked, revoked or upheld with a reason."""

    form = CertificateForm
    list_display = ("serial", "board", "run", "tier", "state", "issued_at", "expires_at")
    list_select_related = ("board", "run")
    list_filter = ("state",)
    ordering = ("-pk",)
    action_form = ReasonForm
    actions = ("revoke", "uphold")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators issue."""
        return has_role(request.user, "curator")

    def save_model(
        self, request: HttpRequest, obj: Certificate, form: CertificateForm, change: bool
    ) -> None:
        """Issue by the service; the form has checked that it may be."""
        snapshot = form.cleaned_data["board"].newest_snapshot()
        made = certifying.issue(
            snapshot,
            form.cleaned_data["entry"],
            by=request.user,
            reason=form.cleaned_data["why"],
        )
        obj.__dict__.update(made.__dict__)

    @admin.action(description="Revoke, for the reason given", permissions=["curate"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Certificate]) -> None:
        """Revoke each chosen certificate, or say why not."""
        self._move(request, queryset, Certificate.State.REVOKED)

    @admin.action(description="Uphold after review, for the reason given", permissions=["curate"])
    def uphold(self, request: HttpRequest, queryset: QuerySet[Certificate]) -> None:
        """End the review of each chosen certificate in its favour."""
        self._move(request, queryset, Certificate.State.VALID)

    def _move(self, request: HttpRequest, rows: QuerySet[Certificate], state: str) -> None:
        for certificate in rows.order_by("pk"):
            try:
                moved = certifying.change_state(
                    certificate, state, by=request.user, reason=request.POST.get("reason", "")
                )
            except AcademyError as error:
                self.message_user(request, str(error), messages.ERROR)
            else:
                told = f"{moved.serial} is {moved.get_state_display().lower()}."
                self.message_user(request, told, messages.SUCCESS)
