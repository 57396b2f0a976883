"""Pages of review: queues, the bench of a seat, and the acts on it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from academy.errors import AcademyError
from academy.models import TaskAsset
from academy.querysets import has_role
from academy.requests import SiteRequest
from academy.views import picture
from adjudication import bench, claiming, deciding, forms
from adjudication.claiming import NothingFree
from adjudication.deciding import Stale
from adjudication.models import Queue, Seat

View = Callable[..., HttpResponse]
MOST = 2**63 - 1


def signed_in(view: View) -> View:
    """Send people to the login page, but tell a script by 403: it would put that page into this."""
    with_login = login_required(view)

    @wraps(view)
    def guarded(request: SiteRequest, *args: Any, **named: Any) -> HttpResponse:
        if request.htmx and not request.user.is_authenticated:
            return HttpResponse(status=403)
        return with_login(request, *args, **named)

    return guarded


def seen_seat(request: SiteRequest, pk: int) -> Seat:
    """A seat that this reviewer holds or held; else 404."""
    seats = Seat.objects.select_related("item__queue__version__suite", "item__record__task")
    seat: Seat = get_object_or_404(seats, pk=pk)
    if not has_role(request.user, "reviewer", "adjudicator"):
        raise Http404
    if (
        seat.holder_id != request.user.pk
        and not seat.item.drafts.filter(user=request.user).exists()
    ):
        raise Http404
    return seat


def is_over(request: SiteRequest, seat: Seat) -> bool:
    """Whether this person has submitted the seat."""
    return seat.holder_id == request.user.pk and seat.state != Seat.State.HELD


@require_safe
@signed_in
def queue_list(request: SiteRequest) -> HttpResponse:
    """The queues, with one's own part and the item to resume."""
    if not has_role(request.user, "reviewer", "adjudicator", "curator", "auditor"):
        raise Http404
    return render(request, "adjudication/queue_list.html", bench.queues_context(request.user))


@require_POST
@signed_in
def claim(request: SiteRequest, pk: int) -> HttpResponse:
    """Take the next item of a queue, or the one that is named if it is free."""
    queue = get_object_or_404(Queue.objects.visible_to(request.user), pk=pk)
    return next_seat(request, queue, prefer=number(request.POST.get("item", "")) or None)


def number(text: str) -> int:
    """A number from a form; 0 for anything else."""
    return min(int(text), MOST) if text.isascii() and text.isdigit() and len(text) < 20 else 0


def next_seat(request: SiteRequest, queue: Queue, *, prefer: int | None = None) -> HttpResponse:
    """Go to the next item, or back to the queues with the reason why there is none."""
    try:
        seat = claiming.claim_next(queue, user=request.user, prefer=prefer)
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:queues"))
    if isinstance(seat, NothingFree):
        messages.info(request, seat.sentence)
        return go(request, reverse("adjudication:queues"))
    return go(request, reverse("adjudication:seat", args=[seat.pk]))


def go(request: SiteRequest, url: str) -> HttpResponse:
    """Go on to another page, by htmx or without."""
    if request.htmx:
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
        return response
    return redirect(url)


@require_safe
@signed_in
@vary_on_headers("HX-Request")
def seat_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """The bench of a seat; once submitted, one's verdicts beside the judge's."""
    seat = seen_seat(request, pk)
    if is_over(request, seat):
        return render(
            request, "adjudication/seat_outcome.html", bench.outcome_context(seat, request.user)
        )
    if not claiming.renew(seat, user=request.user):
        if request.htmx:
            raise Http404
        return lost(request, seat)
    if request.htmx and "from" in request.GET:
        return render(request, "academy/_steps.html", bench.steps_context(seat, request.GET))
    return bench_page(request, seat)


def bench_page(request: SiteRequest, seat: Seat, *, status: int = 200, **sent: Any) -> HttpResponse:
    """The bench of a held seat, with what was sent if it comes back."""
    context = bench.bench_context(seat, request.user, request.GET, **sent)
    return render(request, "adjudication/seat_detail.html", context, status=status)


def lost(request: SiteRequest, seat: Seat, *, status: int = 200, **sent: Any) -> HttpResponse:
    """The lease went: the words are kept and can be sent as an extra review."""
    context = bench.lost_context(seat, request.user, **sent)
    return render(request, "adjudication/seat_lost.html", context, status=status)


@require_POST
@signed_in
def draft(request: SiteRequest, pk: int) -> HttpResponse:
    """Keep what was typed; a stale window is told so and overwrites nothing."""
    seat = seen_seat(request, pk)
    content = forms.read(deciding.criteria_of(seat.item), request.POST)
    revision = number(request.POST.get("revision", ""))
    saved = deciding.save_draft(seat, user=request.user, content=content, revision=revision)
    is_stale = isinstance(saved, Stale)
    if request.htmx:
        context = {
            "draft": saved.stored if isinstance(saved, Stale) else saved,
            "is_stale": is_stale,
            "is_mine": seat.holder_id == request.user.pk,
            "seat": seat,
        }
        return render(request, "adjudication/_saved.html", context, status=409 if is_stale else 200)
    if is_stale and not is_over(request, seat):
        return sent_back(request, seat, status=409, content=content, revision=revision)
    messages.success(request, "Draft saved.")
    return redirect("adjudication:seat", pk=seat.pk)


def sent_back(request: SiteRequest, seat: Seat, *, status: int, **sent: Any) -> HttpResponse:
    """The form again, with all that was typed; without htmx the page around it."""
    if request.htmx:
        context = bench.form_context(seat, request.user, **sent)
        return render(request, "adjudication/_verdict_form.html", context, status=status)
    show = bench_page if seat.holder_id == request.user.pk else lost
    return show(request, seat, status=status, **sent)


@require_POST
@signed_in
def submit(request: SiteRequest, pk: int) -> HttpResponse:
    """Hand the verdicts in and open the next item; what is missing comes back with the form."""
    seat = seen_seat(request, pk)
    criteria = deciding.criteria_of(seat.item)
    content = forms.read(criteria, request.POST)
    if is_over(request, seat):
        return go(request, reverse("adjudication:seat", args=[seat.pk]))
    problems = deciding.check_verdicts(criteria, content)
    if problems:
        return incomplete(request, seat, content, problems)
    done = deciding.submit(seat, user=request.user, verdicts=content)
    if done.is_extra:
        messages.warning(
            request,
            "Your hold on this item had ended. Your verdict is kept as an extra review; "
            "it is shown to whoever decides, and does not count.",
        )
    return next_seat(request, seat.item.queue)


def incomplete(
    request: SiteRequest, seat: Seat, content: dict[str, Any], problems: dict[str, str]
) -> HttpResponse:
    """The form again, with all that was typed and what is missing; the draft keeps it too."""
    revision = number(request.POST.get("revision", ""))
    saved = deciding.save_draft(seat, user=request.user, content=content, revision=revision)
    if not isinstance(saved, Stale):
        revision = saved.revision
    return sent_back(
        request, seat, status=422, content=content, problems=problems, revision=revision
    )


@require_POST
@signed_in
def undo(request: SiteRequest, pk: int) -> HttpResponse:
    """Take a submission back while its window is open."""
    seat = seen_seat(request, pk)
    url = reverse("adjudication:seat", args=[seat.pk])
    if deciding.undo(seat, user=request.user):
        return go(request, f"{url}#undone")
    messages.error(request, "The time to undo is over; the verdict counts.")
    return go(request, url)


@require_POST
@signed_in
def release(request: SiteRequest, pk: int) -> HttpResponse:
    """Give the item back; the draft is kept, with what the form has that sent this."""
    seat = seen_seat(request, pk)
    if "revision" in request.POST and not is_over(request, seat):
        content = forms.read(deciding.criteria_of(seat.item), request.POST)
        revision = number(request.POST["revision"])
        saved = deciding.save_draft(seat, user=request.user, content=content, revision=revision)
        if isinstance(saved, Stale):
            return sent_back(request, seat, status=409, content=content, revision=revision)
    if claiming.release(seat, user=request.user):
        messages.success(request, "Released. Your draft is kept, should the item come back to you.")
    return go(request, reverse("adjudication:queues"))


@require_POST
@signed_in
def skip(request: SiteRequest, pk: int) -> HttpResponse:
    """Pass over the item with a reason, and open the next."""
    seat = seen_seat(request, pk)
    try:
        claiming.skip(seat, user=request.user, reason=forms.words_of(request.POST.get("why", "")))
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:seat", args=[seat.pk]))
    return next_seat(request, seat.item.queue)


@require_safe
@signed_in
def seat_asset(request: SiteRequest, pk: int, asset: int) -> HttpResponse:
    """The raster copy of a file of the task under review, for whoever holds or held the seat."""
    seat = seen_seat(request, pk)
    files = TaskAsset.objects.filter(task__records=seat.item.record_id).select_related("raster")
    found: TaskAsset = get_object_or_404(files, pk=asset)
    if found.raster is None:
        raise Http404
    return picture(found.raster)
