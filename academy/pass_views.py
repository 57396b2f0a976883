"""The page of a version's scoring passes."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST
from django.views.decorators.vary import vary_on_headers

from academy import pass_pages, rescoring
from academy.errors import AcademyError
from academy.models import Run, SuiteVersion
from academy.querysets import has_role
from academy.requests import SiteRequest


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def pass_list(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """Passes and what they change; curators stage, publish, pause and go on here."""
    version = get_object_or_404(
        SuiteVersion.objects.visible_to(request.user).select_related("suite"),
        suite__slug=slug,
        name=name,
    )
    if request.htmx:
        context = pass_pages.table_context(version, request.user, request.GET)
        # Polling ends with this status when nothing moves.
        status = 200 if context["is_moving"] else 286
        return render(request, "academy/_pass_table.html", context, status=status)
    if request.method != "POST":
        context = pass_pages.passes_context(version, request.user, request.GET)
        return render(request, "academy/pass_list.html", context)
    if not has_role(request.user, "curator"):
        raise PermissionDenied
    number = request.POST.get("pass", "")
    act = request.POST.get("act", "")
    try:
        if act not in pass_pages.ACTS:
            raise AcademyError("Choose what is to be done.")
        told = pass_pages.act(
            version,
            act,
            number=int(number) if number.isdecimal() and len(number) < 9 else None,
            reason=request.POST.get("reason", ""),
            by=request.user,
            runs=request.POST.get("runs", ""),
        )
    except AcademyError as error:
        messages.error(request, str(error))
        context = pass_pages.passes_context(version, request.user, {"pass": number})
        return render(request, "academy/pass_list.html", context, status=422)
    messages.success(request, told)
    return redirect(reverse("academy:passes", args=[slug, name]))


@require_POST
def run_scoring(request: SiteRequest, pk: int) -> HttpResponse:
    """A curator scores one run again, or lets its scoring wait or go on."""
    runs = Run.objects.visible_to(request.user).select_related("version__suite")
    run = get_object_or_404(runs, pk=pk)
    if not has_role(request.user, "curator"):
        raise PermissionDenied
    reason = request.POST.get("reason", "") or "asked for on the page of the run"
    acts: dict[str, Callable[..., int]] = {
        "again": rescoring.score_again,
        "pause": rescoring.pause,
        "resume": rescoring.resume,
    }
    act = acts.get(request.POST.get("act", ""))
    try:
        if act is None:
            raise AcademyError("Choose what is to be done.")
        units = act([run], by=request.user, reason=reason)
    except AcademyError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{units} units of work.")
    return redirect("academy:run", pk=pk)
