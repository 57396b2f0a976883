"""The page of a study's plan."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from academy import study_pages
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.querysets import has_role
from academy.requests import SiteRequest


@require_http_methods(["GET", "HEAD", "POST"])
def plan_detail(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """What a study wants and what has come of it; curators keep plans and make baselines here."""
    versions = SuiteVersion.objects.visible_to(request.user).select_related("suite")
    version = get_object_or_404(versions, suite__slug=slug, name=name)
    if not study_pages.has_plans(version):
        raise Http404
    if request.method != "POST":
        context = study_pages.plan_context(version, request.user, request.GET)
        return render(request, "academy/plan_detail.html", context)
    if not has_role(request.user, "curator"):
        raise PermissionDenied
    named = request.POST.get("plan", "")
    try:
        told = study_pages.act(version, request.POST, by=request.user)
    except AcademyError as error:
        messages.error(request, str(error))
        context = study_pages.plan_context(version, request.user, {"plan": named})
        return render(request, "academy/plan_detail.html", context, status=422)
    messages.success(request, told)
    return redirect(
        reverse("academy:plan", args=[slug, name]) + (f"?plan={named}" if named else "")
    )
