"""The page of a version's scoring passes."""

from __future__ import annotations

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from academy import pass_pages
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.querysets import has_role
from academy.requests import SiteRequest


@require_http_methods(["GET", "HEAD", "POST"])
def pass_list(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """Passes and what they change; curators stage, publish, pause and go on here."""
    version = get_object_or_404(
        SuiteVersion.objects.visible_to(request.user).select_related("suite"),
        suite__slug=slug,
        name=name,
    )
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
        )
    except AcademyError as error:
        messages.error(request, str(error))
        context = pass_pages.passes_context(version, request.user, {"pass": number})
        return render(request, "academy/pass_list.html", context, status=422)
    messages.success(request, told)
    return redirect(reverse("academy:passes", args=[slug, name]))
