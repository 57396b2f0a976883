"""Pages for those who curate a version: its answer keys and its judges."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from academy import judge_pages, key_pages
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.querysets import has_role
from academy.requests import SiteRequest


def curated_version(request: SiteRequest, slug: str, name: str, *roles: str) -> SuiteVersion:
    """The version, for people of these roles; for anybody else the page is not there."""
    if not has_role(request.user, *roles):
        raise Http404
    versions = SuiteVersion.objects.visible_to(request.user).select_related("suite")
    found: SuiteVersion = get_object_or_404(versions, suite__slug=slug, name=name)
    return found


@require_http_methods(["GET", "HEAD", "POST"])
def key_list(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """The answer keys of a version; curators confirm here what several raters made together."""
    version = curated_version(request, slug, name, "curator")
    if request.method != "POST":
        context = key_pages.keys_context(version, request.user, request.GET)
        return render(request, "academy/key_list.html", context)
    try:
        told = key_pages.confirm(version, request.POST, by=request.user)
    except AcademyError as error:
        messages.error(request, str(error))
        context = key_pages.keys_context(version, request.user, {})
        return render(request, "academy/key_list.html", context, status=422)
    messages.success(request, told)
    return redirect("academy:keys", slug=slug, name=name)


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def judge_list(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """The judges of a version with progress and cost; curators start, pause and go on here."""
    version = curated_version(request, slug, name, "curator", "auditor")
    if request.method == "POST":
        return _act_on_judges(request, version)
    if request.htmx:
        context = judge_pages.jobs_context(version, request.user)
        # Polling ends with this status when nothing moves.
        status = 200 if context["is_moving"] else 286
        return render(request, "academy/_judge_jobs.html", context, status=status)
    context = judge_pages.judges_context(version, request.user, request.GET)
    return render(request, "academy/judge_list.html", context)


def _act_on_judges(request: SiteRequest, version: SuiteVersion) -> HttpResponse:
    if not has_role(request.user, "curator"):
        raise PermissionDenied
    job = request.POST.get("job", "")
    try:
        told = judge_pages.act(
            version,
            request.POST.get("act", ""),
            job=int(job) if job.isdecimal() and len(job) < 9 else None,
            given=request.POST,
            by=request.user,
        )
    except AcademyError as error:
        messages.error(request, str(error))
        context = judge_pages.judges_context(version, request.user, {})
        return render(request, "academy/judge_list.html", context, status=422)
    messages.success(request, told)
    return redirect("academy:judges", slug=version.suite.slug, name=version.name)
