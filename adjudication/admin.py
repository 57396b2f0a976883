"""Admin pages of queues, where curators set their rules, and of the items and seats in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import path, reverse
from django.urls.resolvers import URLPattern
from django.utils.html import format_html
from django.views.decorators.http import require_POST

from academy.admin.reading import CuratedAdmin, ReadOnlyAdmin
from academy.errors import AcademyError
from academy.querysets import has_role
from adjudication import assigning, claiming, golding, kinds, steering
from adjudication.admin_forms import (
    GoldForm,
    GoldRecordForm,
    QueueAddForm,
    QueueForm,
    ReasonForm,
)
from adjudication.forms import words_of
from adjudication.models import Gold, Guideline, Queue, ReviewItem, Seat

if TYPE_CHECKING:
    BaseInline = admin.TabularInline[Any, Any]
else:
    BaseInline = admin.TabularInline


class GuidelineInline(BaseInline):
    """The revisions of a queue's guideline; a new one is written above."""

    model = Guideline
    extra = 0
    can_delete = False
    readonly_fields = ("revision", "text", "created_at")
    ordering = ("-revision",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Curators read."""
        return has_role(request.user, "curator")

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """By the field of the queue."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What was in force stays as it was."""
        return False


@admin.register(Queue)
class QueueAdmin(CuratedAdmin):
    """Queues: made from a preset, then every rule as a field, pause, date and guideline."""

    list_display = (
        "title", "version", "kind", "seats_per_item", "is_paused", "due_at", "items_link",
    )  # fmt: skip
    list_select_related = ("version__suite",)
    list_filter = ("kind", "is_paused")
    search_fields = ("title", "version__suite__slug")
    readonly_fields = ("version", "kind", "items_link")
    ordering = ("title", "pk")
    fieldsets = (
        (None, {"fields": ("version", "kind", "items_link", "title", "is_paused", "due_at")}),
        (
            "Which records come",
            {
                "fields": (
                    "waiting",
                    "everything",
                    "share",
                    "minimum",
                    "seed",
                    "differing",
                    "flagged",
                )
            },
        ),
        (
            "How they are decided",
            {
                "fields": (
                    "seats_per_item",
                    "second_seat",
                    "order",
                    "is_blind",
                    "suggestion",
                    "gold_every",
                    "reviewers",
                    "lease_seconds",
                    "undo_seconds",
                    "appeals_by",
                )
            },
        ),
        ("Guideline", {"fields": ("guideline",)}),
    )

    def get_form(
        self, request: HttpRequest, obj: Any = None, change: bool = False, **named: Any
    ) -> Any:
        """To begin with, what it decides and a preset; then every rule."""
        return super().get_form(
            request, obj, change=change, form=QueueForm if obj else QueueAddForm, **named
        )

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """The fields of the form that is shown."""
        if obj is None:
            return ((None, {"fields": QueueAddForm.Meta.fields}),)
        return super().get_fieldsets(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        """What a queue decides is fixed once it is made."""
        return () if obj is None else self.readonly_fields

    def get_inlines(self, request: HttpRequest, obj: Any) -> Any:
        """Earlier guidelines, where there may be any."""
        return [] if obj is None else [GuidelineInline]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """What people decided stays; a queue is paused instead."""
        return False

    @admin.display(description="Items")
    def items_link(self, queue: Queue) -> str:
        """Where the items of the queue are listed, and where gold is added and retired."""
        return format_html(
            '<a href="{}?queue__id__exact={}">Items</a>, <a href="{}">gold</a>',
            reverse("admin:adjudication_reviewitem_changelist"),
            queue.pk,
            reverse("admin:adjudication_queue_gold", args=[queue.pk]),
        )

    def save_model(self, request: HttpRequest, obj: Queue, form: Any, change: bool) -> None:
        """By the services, which note it in the trail."""
        given = form.cleaned_data
        try:
            if change:
                stored = Queue.objects.get(pk=obj.pk)
                steering.change_queue(stored, by=request.user, **form.facts())
                if given["guideline"]:
                    steering.revise_guideline(stored, given["guideline"], by=request.user)
                return
            made = assigning.make_queue(
                given["version"],
                given["kind"],
                preset=given["preset"],
                title=given["title"] or None,
                by=request.user,
                due_at=given["due_at"],
            )
        except AcademyError as error:
            self.message_user(request, str(error), messages.ERROR)
            return
        obj.__dict__.update(made.__dict__)
        assigning.owe_filling(made.version_id)

    def get_urls(self) -> list[URLPattern]:
        """The page on which gold items are added and retired."""
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/gold/", view(self.gold), name="adjudication_queue_gold"),
            path(
                "<int:pk>/gold/<int:item>/retire/",
                view(require_POST(self.retire)),
                name="adjudication_queue_retire",
            ),
            *super().get_urls(),
        ]

    def gold(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Choose a record, then say its right verdicts."""
        queue = get_object_or_404(Queue.objects.select_related("version__suite"), pk=pk)
        if not has_role(request.user, "curator"):
            return HttpResponse(status=403)
        chosen = GoldRecordForm(request.GET or None, queue=queue)
        if not chosen.is_bound or not chosen.is_valid():
            status = 422 if chosen.is_bound else 200
            return self.gold_page(request, queue, {"chosen": chosen}, status=status)
        record = chosen.cleaned_data["record"]
        known = Gold.objects.filter(item__queue=queue, item__record=record).first()
        item = ReviewItem(queue=queue, record=record, state=ReviewItem.State.GOLD)
        form = GoldForm(
            request.POST or None,
            questions=kinds.kind_of(item).questions(item),
            known=known.verdicts if known else None,
        )
        if request.method == "POST" and form.is_valid():
            try:
                golding.add_gold(queue, record, form.verdicts(), by=request.user)
            except AcademyError as error:
                form.add_error(None, str(error))
            else:
                messages.success(request, f"Record {record.pk} is a gold item of {queue.title}.")
                return redirect("admin:adjudication_queue_gold", queue.pk)
        context = {"chosen": chosen, "record": record, "form": form}
        return self.gold_page(request, queue, context, status=422 if form.errors else 200)

    def retire(self, request: HttpRequest, pk: int, item: int) -> HttpResponse:
        """Retire a gold item, for the reason given."""
        queue = get_object_or_404(Queue.objects.select_related("version__suite"), pk=pk)
        found = get_object_or_404(queue.items, pk=item)
        if not has_role(request.user, "curator"):
            return HttpResponse(status=403)
        reason = words_of(request.POST.get("reason", ""))
        try:
            golding.retire_gold(found, reason=reason, by=request.user)
        except AcademyError as error:
            context = {"chosen": GoldRecordForm(queue=queue), "wrong": found.pk, "why": str(error)}
            return self.gold_page(request, queue, context, status=422)
        messages.success(request, f"Item {found.pk} is retired as gold.")
        return redirect("admin:adjudication_queue_gold", queue.pk)

    def gold_page(
        self, request: HttpRequest, queue: Queue, context: dict[str, Any], *, status: int
    ) -> HttpResponse:
        """The page with one of its two forms, and the gold items there are."""
        context |= {"queue": queue, "uses": golding.gold_in(queue)}
        return render(request, "admin/gold_add.html", context, status=status)


@admin.register(ReviewItem)
class ItemAdmin(ReadOnlyAdmin):
    """Items; a resolved one becomes gold in one step, and a gold one is retired."""

    list_display = (
        "pk", "queue", "record", "task", "state", "chosen_because", "probability", "priority",
        "escalated_at", "gold__retired_at",
    )  # fmt: skip
    list_select_related = ("queue", "record", "task", "gold")
    list_filter = ("state", "queue")
    show_full_result_count = False
    ordering = ("-pk",)
    action_form = ReasonForm
    actions = ("make_gold", "retire_gold")

    @admin.action(description="Make the chosen resolved items gold", permissions=["curate"])
    def make_gold(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        """Their records come up unmarked from now on, with what was decided as right."""
        for item in queryset.select_related("queue__version", "record").order_by("pk"):
            try:
                golding.gold_from(item, by=request.user)
            except AcademyError as error:
                self.message_user(request, f"Item {item.pk}: {error}", messages.ERROR)
            else:
                self.message_user(request, f"The record of item {item.pk} is gold now.")

    @admin.action(
        description="Retire the chosen gold items, for the reason given", permissions=["curate"]
    )
    def retire_gold(self, request: HttpRequest, queryset: QuerySet[ReviewItem]) -> None:
        """Nobody gets them any more; what was answered stays."""
        reason = words_of(request.POST.get("reason", ""))
        for item in queryset.order_by("pk"):
            try:
                golding.retire_gold(item, reason=reason, by=request.user)
            except AcademyError as error:
                self.message_user(request, f"Item {item.pk}: {error}", messages.ERROR)
            else:
                self.message_user(request, f"Item {item.pk} is retired as gold.")


@admin.register(Seat)
class SeatAdmin(ReadOnlyAdmin):
    """Seats; one that somebody holds can be taken back for others."""

    list_display = (
        "pk", "item", "number", "role", "state", "holder", "lease_until", "submitted_at",
    )  # fmt: skip
    list_select_related = ("item", "holder")
    list_filter = ("state", "role")
    show_full_result_count = False
    ordering = ("-pk",)
    actions = ("take_back",)

    @admin.action(description="Take the chosen seats back", permissions=["curate"])
    def take_back(self, request: HttpRequest, queryset: QuerySet[Seat]) -> None:
        """Free seats that are held; what their holders wrote is kept."""
        seats = queryset.select_related("holder", "item__queue").order_by("pk")
        reason = "taken back in the admin"
        freed = sum(claiming.reassign(seat, by=request.user, reason=reason) for seat in seats)
        self.message_user(request, f"{freed} seat{'' if freed == 1 else 's'} free again.")
