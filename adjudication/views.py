"""Pages of review beside the bench: queues, claims, history, lists, and the practice item."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from academy import statements
from academy.errors import AcademyError
from academy.models import RecordPicture
from academy.querysets import has_role
from academy.requests import SiteRequest, asks_part
from academy.views import picture
from adjudication import claiming, item_pages, opening, own_reporting, practice, queue_pages
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.remaining import NothingFree

View = Callable[..., HttpResponse]
MOST = 2**63 - 1


def signed_in(view: View) -> View:
    """Send people to the login page, but tell a script by 403: it would put that page into this.

    Whoever sent a form comes back to the page it stood on. The same few statements serve all day,
    so the database keeps their plans.
    """
    with_login = login_required(view)

    @wraps(view)
    @statements.all_bound()
    def guarded(request: SiteRequest, *args: Any, **named: Any) -> HttpResponse:
        if request.htmx and not request.user.is_authenticated:
            return HttpResponse(status=403)
        if request.method == "POST" and not request.user.is_authenticated:
            return redirect_to_login(page_of_form(request))
        return with_login(request, *args, **named)

    return guarded


def page_of_form(request: SiteRequest) -> str:
    """The page from which a form was sent, as the browser tells it; else the page of queues."""
    came_from = request.headers.get("Referer", "")
    if url_has_allowed_host_and_scheme(came_from, {request.get_host()}):
        return urlsplit(came_from).path
    return reverse("adjudication:queues")


def number(text: str) -> int:
    """A number from a form; 0 for anything else."""
    return min(int(text), MOST) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def go(request: SiteRequest, url: str) -> HttpResponse:
    """Go on to another page, by htmx or without."""
    if request.htmx:
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
        return response
    return redirect(url)


def check_part(user: Any, *roles: str) -> None:
    """Raise Http404 for somebody without one of the roles."""
    if not has_role(user, *roles):
        raise Http404


@require_safe
@signed_in
def queue_list(request: SiteRequest) -> HttpResponse:
    """The queues, with one's own part and the item to resume."""
    check_part(request.user, "reviewer", "adjudicator", "curator", "auditor")
    context = queue_pages.queues_context(request.user, request.GET)
    return render(request, "adjudication/queue_list.html", context)


@require_POST
@signed_in
def claim(request: SiteRequest, pk: int) -> HttpResponse:
    """Take the next item of a queue, or the one that is named if it is free."""
    queue = get_object_or_404(
        Queue.objects.visible_to(request.user).select_related("version__suite"), pk=pk
    )
    role = Seat.Role.THIRD if request.POST.get("role") == Seat.Role.THIRD else Seat.Role.REVIEWER
    wanted = number(request.POST.get("item", "")) or None
    return next_seat(request, queue, prefer=wanted, role=role)


def next_seat(
    request: SiteRequest, queue: Queue, *, role: str, prefer: int | None = None
) -> HttpResponse:
    """Go to the next item, or back to the queues with the reason why there is none."""
    try:
        taken = claiming.take_next(queue, user=request.user, role=role, prefer=prefer)
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:queues"))
    if isinstance(taken, NothingFree):
        tell = messages.warning if taken.refused else messages.info
        tell(request, taken.sentence)
        return go(request, reverse("adjudication:queues"))
    return go(request, reverse("adjudication:seat", args=[taken]))


@require_safe
@signed_in
def history(request: SiteRequest) -> HttpResponse:
    """All that one handed in, the newest first."""
    check_part(request.user, "reviewer", "adjudicator")
    shown = own_reporting.own_history(request.user, page=number(request.GET.get("page", "1")) or 1)
    return render(request, "adjudication/history.html", {"history": shown})


@require_safe
@signed_in
def queue_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """The items of a queue, for those who run or watch review."""
    check_part(request.user, "adjudicator", "curator", "auditor")
    queues = Queue.objects.visible_to(request.user).select_related("version__suite")
    queue = get_object_or_404(queues, pk=pk)
    context = item_pages.queue_context(queue, request.user, request.GET)
    return render(request, "adjudication/queue_detail.html", context)


@require_safe
@signed_in
@vary_on_headers("HX-Request", "HX-Target")
def item_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """One item with all that was said of it; nothing can be decided here."""
    items = ReviewItem.objects.visible_to(request.user).select_related(*item_pages.SUBJECTS)
    item = get_object_or_404(items, pk=pk)
    context = item_pages.item_context(item, request.user, request.GET)
    part = "academy/_steps.html" if asks_part(request, "steps") else None
    return render(request, part or "adjudication/item_detail.html", context)


@require_safe
@signed_in
def item_picture(request: SiteRequest, pk: int, digest: str) -> HttpResponse:
    """The raster copy of a picture in the record of an item that this person may read."""
    items = ReviewItem.objects.visible_to(request.user).select_related(*item_pages.SUBJECTS)
    record = opening.subject_record(get_object_or_404(items, pk=pk))
    copies = RecordPicture.objects.filter(record=record).select_related("raster")
    found: RecordPicture = get_object_or_404(copies, digest=digest)
    return picture(found.raster)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
@vary_on_headers("HX-Request", "HX-Target")
def practice_item(request: SiteRequest) -> HttpResponse:
    """An invented item to learn the keys on. Nothing is stored."""
    check_part(request.user, "reviewer", "adjudicator")
    if request.method != "POST":
        context = practice.bench(query=request.GET)
        part = "academy/_steps.html" if asks_part(request, "steps") else None
        return render(request, part or "adjudication/seat_detail.html", context)
    context = practice.judged(request.POST)
    status = 422 if context["problems"] else 200
    template = (
        "adjudication/seat_detail.html" if context["problems"] else "adjudication/practised.html"
    )
    return render(request, template, context, status=status)
