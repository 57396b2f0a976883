"""Pages of review: queues, the bench of a seat, and the acts on it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from academy.errors import AcademyError
from academy.querysets import has_role
from adjudication import bench, claiming, deciding, forms
from adjudication.claiming import NothingFree
from adjudication.deciding import Stale
from adjudication.models import Queue, Seat


def own_seat(request: HttpRequest, pk: int) -> Seat:
    """A seat that this person holds or held; else 404."""
    seats = Seat.objects.filter(holder=request.user).select_related(
        "item__queue__version__suite", "item__record__task"
    )
    seat: Seat = get_object_or_404(seats, pk=pk)
    return seat


def seen_seat(request: HttpRequest, pk: int) -> Seat:
    """A seat of one's own, or one where one has a draft although the lease went; else 404."""
    seats = Seat.objects.select_related("item__queue__version__suite", "item__record__task")
    seat: Seat = get_object_or_404(seats, pk=pk)
    if seat.holder_id == request.user.pk:
        return seat
    if not seat.item.drafts.filter(user=request.user).exists():
        raise Http404
    return seat


@require_safe
@login_required
def queue_list(request: HttpRequest) -> HttpResponse:
    """The queues, with one's own part and the item to resume."""
    if not has_role(request.user, "reviewer", "adjudicator", "curator", "auditor"):
        raise Http404
    return render(request, "adjudication/queue_list.html", bench.queues_context(request.user))


@require_POST
@login_required
def claim(request: HttpRequest, pk: int) -> HttpResponse:
    """Take the next item of a queue."""
    queue = get_object_or_404(Queue.objects.visible_to(request.user), pk=pk)
    return next_seat(request, queue)


def next_seat(request: HttpRequest, queue: Queue) -> HttpResponse:
    """Go to the next item, or back to the queues with the reason why there is none."""
    try:
        seat = claiming.claim_next(queue, user=request.user)
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:queues"))
    if isinstance(seat, NothingFree):
        messages.info(request, seat.sentence)
        return go(request, reverse("adjudication:queues"))
    return go(request, reverse("adjudication:seat", args=[seat.pk]))


def go(request: HttpRequest, url: str) -> HttpResponse:
    """Go on to another page, by htmx or without."""
    if request.htmx:
        response = HttpResponse(status=204)
        response["HX-Redirect"] = url
        return response
    return redirect(url)


@require_safe
@login_required
@vary_on_headers("HX-Request")
def seat_detail(request: HttpRequest, pk: int) -> HttpResponse:
    """The bench of a seat; once submitted, one's verdicts beside the judge's."""
    seat = seen_seat(request, pk)
    if seat.holder_id == request.user.pk and seat.state != Seat.State.HELD:
        return render(
            request, "adjudication/seat_outcome.html", bench.outcome_context(seat, request.user)
        )
    if seat.holder_id == request.user.pk:
        claiming.renew(seat, user=request.user)
    elif not request.htmx:
        return lost(request, seat)
    context = bench.bench_context(seat, request.user, request.GET)
    if request.htmx and "from" in request.GET:
        return render(request, "academy/_steps.html", context)
    return render(request, "adjudication/seat_detail.html", context)


def lost(request: HttpRequest, seat: Seat, *, status: int = 200) -> HttpResponse:
    """The lease went to somebody else: the words are kept and can be sent as an extra review."""
    draft = bench.draft_of(seat, request.user)
    criteria = deciding.criteria_of(seat.item)
    context = {
        "seat": seat,
        "item": seat.item,
        "draft": draft,
        "fields": forms.fields(criteria, draft.content if draft else {}, {}),
    }
    return render(request, "adjudication/seat_lost.html", context, status=status)


@require_POST
@login_required
def draft(request: HttpRequest, pk: int) -> HttpResponse:
    """Keep what was typed; a stale window is told so and overwrites nothing."""
    seat = seen_seat(request, pk)
    criteria = deciding.criteria_of(seat.item)
    revision = request.POST.get("revision", "0")
    saved = deciding.save_draft(
        seat,
        user=request.user,
        content=forms.read(criteria, request.POST),
        revision=int(revision) if revision.isdigit() else 0,
    )
    if request.htmx:
        is_stale = isinstance(saved, Stale)
        context = {"draft": saved.stored if is_stale else saved, "is_stale": is_stale, "seat": seat}
        return render(request, "adjudication/_saved.html", context, status=409 if is_stale else 200)
    if isinstance(saved, Stale):
        messages.error(request, "A newer draft was saved in another window; nothing was overwritten.")
    else:
        messages.success(request, "Draft saved.")
    return redirect("adjudication:seat", pk=seat.pk)


@require_POST
@login_required
def submit(request: HttpRequest, pk: int) -> HttpResponse:
    """Hand the verdicts in and open the next item; what is missing comes back with the form."""
    seat = seen_seat(request, pk)
    criteria = deciding.criteria_of(seat.item)
    content = forms.read(criteria, request.POST)
    if seat.holder_id == request.user.pk and seat.state != Seat.State.HELD:
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
    request: HttpRequest, seat: Seat, content: dict[str, Any], problems: dict[str, str]
) -> HttpResponse:
    """The form again, with all that was typed and what is missing."""
    if seat.holder_id != request.user.pk:
        return lost(request, seat, status=422)
    context = bench.bench_context(
        seat, request.user, request.GET, content=content, problems=problems
    )
    template = "adjudication/_verdict_form.html" if request.htmx else "adjudication/seat_detail.html"
    return render(request, template, context, status=422)


@require_POST
@login_required
def undo(request: HttpRequest, pk: int) -> HttpResponse:
    """Take a submission back while its window is open."""
    seat = own_seat(request, pk)
    if not deciding.undo(seat, user=request.user):
        messages.error(request, "The time to undo is over; the verdict counts.")
    return go(request, reverse("adjudication:seat", args=[seat.pk]))


@require_POST
@login_required
def release(request: HttpRequest, pk: int) -> HttpResponse:
    """Give the item back; the draft is kept."""
    seat = own_seat(request, pk)
    if claiming.release(seat, user=request.user):
        messages.success(request, "Released. Your draft is kept, should the item come back to you.")
    return go(request, reverse("adjudication:queues"))


@require_POST
@login_required
def skip(request: HttpRequest, pk: int) -> HttpResponse:
    """Pass over the item with a reason, and open the next."""
    seat = own_seat(request, pk)
    try:
        claiming.skip(seat, user=request.user, reason=request.POST.get("why", ""))
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:seat", args=[seat.pk]))
    return next_seat(request, seat.item.queue)
