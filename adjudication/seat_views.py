"""The bench of a seat and the acts on it; each act is a form and works without scripts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from academy.errors import AcademyError
from academy.models import RecordPicture, TaskAsset
from academy.querysets import has_role
from academy.requests import SiteRequest, asks_part
from academy.views import picture
from adjudication import bench, claiming, deciding, evidence, forms, opening, resolving, thirds
from adjudication.deciding import Stale
from adjudication.models import Seat
from adjudication.views import go, next_seat, number, signed_in

Act = Callable[..., Any]
LONGEST_TEXT = 5_000
# What saving and handing in need. A query over all that a bench shows takes longer to plan.
FEW_ROWS = ("item__queue__version",)


def seen_seat(request: SiteRequest, pk: int, rows: Sequence[str] = bench.SUBJECTS) -> Seat:
    """A seat that this reviewer holds or held, with these rows beside it; else 404."""
    seat: Seat = get_object_or_404(Seat.objects.select_related(*rows), pk=pk)
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


def is_third(seat: Seat) -> bool:
    """Whether a seat is the third person's."""
    return seat.role == Seat.Role.THIRD


@require_safe
@signed_in
@vary_on_headers("HX-Request", "HX-Target")
def seat_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """The bench of a seat; once submitted, one's verdicts beside the judge's."""
    seat = seen_seat(request, pk)
    if is_over(request, seat):
        context = bench.outcome_context(seat, request.user)
        return render(request, "adjudication/seat_outcome.html", context)
    if not claiming.renew(seat, user=request.user):
        if request.htmx:
            raise Http404
        return lost(request, seat)
    if asks_part(request, "steps"):
        return render(request, "academy/_steps.html", bench.steps_context(seat, request.GET))
    return bench_page(request, seat)


def bench_page(request: SiteRequest, seat: Seat, *, status: int = 200, **sent: Any) -> HttpResponse:
    """The bench of a held seat, with what was sent if it comes back."""
    if is_third(seat):
        context = thirds.third_context(seat, request.user, request.GET, **sent)
        return render(request, "adjudication/seat_third.html", context, status=status)
    context = bench.bench_context(seat, request.user, request.GET, **sent)
    return render(request, "adjudication/seat_detail.html", context, status=status)


def lost(request: SiteRequest, seat: Seat, *, status: int = 200, **sent: Any) -> HttpResponse:
    """The lease went: the words are kept and can be sent as an extra review."""
    context = bench.lost_context(seat, request.user, **sent)
    return render(request, "adjudication/seat_lost.html", context, status=status)


@require_safe
@signed_in
def seat_evidence(request: SiteRequest, pk: int) -> HttpResponse:
    """The evidence alone, for a person who decides between reviews."""
    seat = seen_seat(request, pk)
    if is_over(request, seat) or not claiming.renew(seat, user=request.user):
        return redirect("adjudication:seat", pk=seat.pk)
    context = bench.bench_context(seat, request.user, request.GET)
    context["steps_url"] = reverse("adjudication:seat", args=[seat.pk])
    return render(request, "adjudication/seat_evidence.html", context)


@require_safe
@signed_in
def seat_raw(request: SiteRequest, pk: int) -> HttpResponse:
    """The raw text of the record under review, masked, without what judges said of it."""
    seat = seen_seat(request, pk)
    if opening.subject_record(seat.item) is None or not (
        is_over(request, seat) or claiming.renew(seat, user=request.user)
    ):
        raise Http404
    context = {"seat": seat, "name": opening.name_of(seat.item)}
    return render(
        request,
        "adjudication/seat_raw.html",
        context | evidence.raw_context(seat.item, request.GET),
    )


def typed(request: SiteRequest, seat: Seat) -> forms.Content:
    """What the form holds, with the comment on the whole item."""
    content = forms.read(deciding.questions_of(seat.item), request.POST)
    return forms.with_comment(content, request.POST)


@require_POST
@signed_in
def draft(request: SiteRequest, pk: int) -> HttpResponse:
    """Keep what was typed; a stale window is told so and overwrites nothing."""
    seat = seen_seat(request, pk, FEW_ROWS)
    content = typed(request, seat)
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
    """The form again, with all that was typed; without htmx the page around it.

    Whoever lost the seat of a third person gets their own words, and no more what reviewers said.
    """
    is_held = seat.holder_id == request.user.pk
    if request.htmx:
        if is_third(seat) and is_held:
            context = thirds.third_context(seat, request.user, request.GET, **sent)
            return render(request, "adjudication/_third_form.html", context, status=status)
        context = bench.form_context(seat, request.user, **sent)
        return render(request, "adjudication/_verdict_form.html", context, status=status)
    show = bench_page if is_held else lost
    return show(request, seat, status=status, **sent)


@require_POST
@signed_in
def submit(request: SiteRequest, pk: int) -> HttpResponse:
    """Hand the verdicts in and open the next item; what is missing comes back with the form.

    So does what would go over a newer draft, until that was told: `seen` is the draft of which the
    window knows.
    """
    seat = seen_seat(request, pk, FEW_ROWS)
    content = forms.read(deciding.questions_of(seat.item), request.POST)
    if is_over(request, seat):
        return handed_in(request, seat, content)
    problems = deciding.problems_of(seat, content)
    if problems:
        return incomplete(request, seat, problems)
    words = forms.with_comment(content, request.POST)
    revision = number(request.POST.get("revision", ""))
    seen = max(revision, number(request.POST.get("seen", "")))
    if deciding.is_overtaken(seat, user=request.user, content=words, revision=seen):
        return sent_back(request, seat, status=409, content=words, revision=revision)
    comment = forms.comment_of(request.POST)
    done = deciding.submit(seat, user=request.user, verdicts=content, comment=comment)
    if done.is_extra:
        messages.warning(
            request,
            "Your hold on this item had ended. Your verdict is kept as an extra review; "
            "it is shown to whoever decides, and does not count.",
        )
    return next_seat(request, seat.item.queue, role=seat.role)


def handed_in(request: SiteRequest, seat: Seat, content: forms.Content) -> HttpResponse:
    """What was handed in already, with a word on what this window says otherwise."""
    if deciding.answered(content) != seat.verdicts:
        messages.warning(
            request,
            "You had handed this item in already, in another window. What this window said "
            "otherwise is not part of it.",
        )
    return go(request, reverse("adjudication:seat", args=[seat.pk]))


def incomplete(request: SiteRequest, seat: Seat, problems: dict[str, str]) -> HttpResponse:
    """The form again, with all that was typed and what is missing; the draft keeps it too."""
    content = typed(request, seat)
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


def keep_words(request: SiteRequest, seat: Seat) -> HttpResponse | None:
    """Keep what the form has that sent an act; gives the form back when a newer draft exists."""
    if "revision" not in request.POST or is_over(request, seat):
        return None
    content = typed(request, seat)
    revision = number(request.POST["revision"])
    saved = deciding.save_draft(seat, user=request.user, content=content, revision=revision)
    if isinstance(saved, Stale):
        return sent_back(request, seat, status=409, content=content, revision=revision)
    return None


@require_POST
@signed_in
def release(request: SiteRequest, pk: int) -> HttpResponse:
    """Give the item back; the draft is kept, with what the form has that sent this."""
    seat = seen_seat(request, pk)
    if stale := keep_words(request, seat):
        return stale
    if claiming.release(seat, user=request.user):
        messages.success(request, "Released. Your draft is kept, should the item come back to you.")
    return go(request, reverse("adjudication:queues"))


def pass_over(request: SiteRequest, pk: int, act: Act, field: str, said: str) -> HttpResponse:
    """Pass over the item by an act with a reason, and open the next."""
    seat = seen_seat(request, pk)
    if stale := keep_words(request, seat):
        return stale
    reason = forms.words_of(request.POST.get(field, ""))[:LONGEST_TEXT]
    try:
        is_done = act(seat, user=request.user, reason=reason)
    except AcademyError as error:
        messages.error(request, str(error))
        return go(request, reverse("adjudication:seat", args=[seat.pk]))
    if is_done and said:
        messages.success(request, said)
    return next_seat(request, seat.item.queue, role=seat.role)


@require_POST
@signed_in
def skip(request: SiteRequest, pk: int) -> HttpResponse:
    """Pass over the item with a reason, and open the next."""
    return pass_over(request, pk, claiming.skip, "why", "")


@require_POST
@signed_in
def defer(request: SiteRequest, pk: int) -> HttpResponse:
    """Put the item at the end of one's own list, and open the next."""
    said = "Deferred to the end of your list; your draft is kept."
    return pass_over(request, pk, claiming.defer, "defer_why", said)


@require_POST
@signed_in
def escalate(request: SiteRequest, pk: int) -> HttpResponse:
    """Hand the item up with a reason, and open the next."""
    said = "Escalated; an adjudicator looks at it."
    return pass_over(request, pk, claiming.escalate, "escalate_why", said)


@require_POST
@signed_in
def send_back(request: SiteRequest, pk: int) -> HttpResponse:
    """A third person wants one more review before deciding."""
    said = "Sent back; one more reviewer looks at it first."
    return pass_over(request, pk, resolving.send_back, "back_why", said)


def stay(request: SiteRequest, pk: int, act: Callable[[Seat], Any], said: str) -> HttpResponse:
    """Do something with a held seat and go on with it."""
    seat = seen_seat(request, pk)
    if stale := keep_words(request, seat):
        return stale
    try:
        act(seat)
    except AcademyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, said)
    return go(request, reverse("adjudication:seat", args=[seat.pk]))


@require_POST
@signed_in
def report_not_blind(request: SiteRequest, pk: int) -> HttpResponse:
    """Tell that the evidence gives its origin away; it is kept with the verdict."""
    text = forms.words_of(request.POST.get("text", ""))[:LONGEST_TEXT]
    return stay(
        request,
        pk,
        lambda seat: deciding.report_not_blind(seat, user=request.user, text=text),
        "Reported; it is kept with your verdict.",
    )


@require_POST
@signed_in
def open_suggestion(request: SiteRequest, pk: int) -> HttpResponse:
    """Look at what a judge said before one's own verdict, where the queue allows it."""
    return stay(
        request,
        pk,
        lambda seat: deciding.open_suggestion(seat, user=request.user),
        "Shown. That you looked is kept with your verdict.",
    )


@require_POST
@signed_in
def withdraw(request: SiteRequest, pk: int) -> HttpResponse:
    """Take a verdict that counts back, before the item is resolved."""
    reason = forms.words_of(request.POST.get("withdraw_why", ""))[:LONGEST_TEXT]
    return stay(
        request,
        pk,
        lambda seat: deciding.withdraw(seat, user=request.user, reason=reason),
        "Withdrawn. It stays on record, and somebody else reviews the item.",
    )


@require_safe
@signed_in
def seat_asset(request: SiteRequest, pk: int, asset: int) -> HttpResponse:
    """The raster copy of a file of the task under review, for whoever holds or held the seat."""
    seat = seen_seat(request, pk)
    task = opening.subject_task(seat.item)
    files = TaskAsset.objects.filter(task=task).select_related("raster")
    found: TaskAsset = get_object_or_404(files, pk=asset)
    if found.raster is None:
        raise Http404
    return picture(found.raster)


@require_safe
@signed_in
def seat_picture(request: SiteRequest, pk: int, digest: str) -> HttpResponse:
    """The raster copy of a picture in the transcript under review."""
    seat = seen_seat(request, pk)
    copies = RecordPicture.objects.filter(record=opening.subject_record(seat.item))
    found: RecordPicture = get_object_or_404(copies.select_related("raster"), digest=digest)
    return picture(found.raster)
