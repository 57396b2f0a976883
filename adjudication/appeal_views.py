"""Pages of appeals: the public list, one appeal, and the form by which a record is contested."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord
from academy.querysets import has_role
from academy.requests import SiteRequest
from academy.views import visible_run
from adjudication import appeal_pages, appealing, correcting
from adjudication.forms import words_of
from adjudication.models import Appeal
from adjudication.views import number, signed_in


def seen_appeal(request: SiteRequest, pk: int) -> Appeal:
    """The appeal, if this person may read it; else 404."""
    found: Appeal = get_object_or_404(appealing.visible_appeals(request.user), pk=pk)
    return found


@require_safe
def appeal_list(request: SiteRequest) -> HttpResponse:
    """All appeals with their outcomes."""
    context = appeal_pages.list_context(request.user, request.GET)
    return render(request, "adjudication/appeal_list.html", context)


@require_safe
def appeal_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """One appeal: what it says, its outcome with the reason, and what followed."""
    appeal = seen_appeal(request, pk)
    context = appeal_pages.appeal_context(appeal, request.user)
    return render(request, "adjudication/appeal_detail.html", context)


@require_safe
def run_appeals(request: SiteRequest, pk: int) -> HttpResponse:
    """The appeals on a run, and for its entrant the way to contest a record of it."""
    context = appeal_pages.run_context(visible_run(request, pk), request.user, request.GET)
    return render(request, "adjudication/appeal_run.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def record_appeal(request: SiteRequest, pk: int) -> HttpResponse:
    """Contest a record or one criterion on it."""
    record = appealing.contestable(request.user, pk)
    if record is None:
        raise Http404
    if request.method != "POST":
        context = appeal_pages.form_context(record, request.user)
        return render(request, "adjudication/appeal_form.html", context)
    if not request.user.is_authenticated:
        return redirect_to_login(request.path)
    text = words_of(request.POST.get("text", ""))
    chosen = request.POST.get("criterion", "")
    try:
        criterion = named_criterion(record, request, chosen)
        made = appealing.open_appeal(record, criterion=criterion, text=text, by=request.user)
    except AcademyError as error:
        context = appeal_pages.form_context(
            record, request.user, text=text, criterion=chosen, problem=str(error)
        )
        return render(request, "adjudication/appeal_form.html", context, status=422)
    messages.success(request, "Your appeal is open. Its outcome and the reason will stand here.")
    return redirect("adjudication:appeal", pk=made.pk)


def named_criterion(record: InstanceRecord, request: SiteRequest, chosen: str) -> Criterion | None:
    """The criterion that a form names; none for the record as a whole.

    Raises AcademyError for one that cannot be contested here.
    """
    if not chosen:
        return None
    wanted = number(chosen)
    for criterion in appeal_pages.criteria_of(record, request.user):
        if criterion.pk == wanted:
            return criterion
    raise AcademyError("Choose one of the criteria, or the record as a whole.")


@require_POST
@signed_in
def withdraw(request: SiteRequest, pk: int) -> HttpResponse:
    """Take one's own appeal back."""
    appeal = seen_appeal(request, pk)
    try:
        appealing.withdraw(appeal, by=request.user)
    except AcademyError as error:
        return refused(request, appeal, str(error))
    messages.success(request, "Your appeal is taken back.")
    return redirect("adjudication:appeal", pk=appeal.pk)


@require_POST
@signed_in
def name_pass(request: SiteRequest, pk: int) -> HttpResponse:
    """Name the pass that uses the corrected key, which closes the appeal; curators only."""
    appeal = seen_appeal(request, pk)
    if not has_role(request.user, "curator"):
        raise Http404
    try:
        wanted, why = number(request.POST.get("pass", "")), words_of(request.POST.get("why", ""))
        chosen = correcting.name_pass(appeal, wanted, by=request.user, reason=why)
    except AcademyError as error:
        return refused(request, appeal, str(error))
    messages.success(request, f"The appeal is upheld; pass {chosen.number} uses the new key.")
    return redirect("adjudication:appeal", pk=appeal.pk)


@require_POST
@signed_in
def name_version(request: SiteRequest, pk: int) -> HttpResponse:
    """Name the version that corrects it, which closes the appeal; curators only."""
    appeal = seen_appeal(request, pk)
    if not has_role(request.user, "curator"):
        raise Http404
    try:
        wanted, why = number(request.POST.get("version", "")), words_of(request.POST.get("why", ""))
        chosen = correcting.name_version(appeal, wanted, by=request.user, reason=why)
    except AcademyError as error:
        return refused(request, appeal, str(error))
    messages.success(request, f"The appeal is upheld; {chosen} corrects it.")
    return redirect("adjudication:appeal", pk=appeal.pk)


def refused(request: SiteRequest, appeal: Appeal, why: str) -> HttpResponse:
    """The page again, with why what was asked for was not done."""
    fresh = seen_appeal(request, appeal.pk)
    context = appeal_pages.appeal_context(fresh, request.user, problem=why)
    context["why"] = words_of(request.POST.get("why", ""))
    return render(request, "adjudication/appeal_detail.html", context, status=422)
