"""Imports that curators ask for: uploading runs, and watching what becomes of an upload."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods
from django.views.decorators.vary import vary_on_headers

from academy import bulk_importing
from academy.errors import AcademyError
from academy.forms import RunImportForm, keep_sent
from academy.models import BulkImport
from academy.querysets import has_role
from academy.requests import SiteRequest
from academy.worker_pages import workers_context

MOVING = (BulkImport.Stage.READING, BulkImport.Stage.IMPORTING)
NEWEST = 20


def refuse_strangers(request: SiteRequest) -> None:
    """For anybody but curators these pages are not there."""
    if not has_role(request.user, "curator"):
        raise Http404


@require_http_methods(["GET", "HEAD", "POST"])
def run_import(request: SiteRequest) -> HttpResponse:
    """Upload runs; what is in them is read first, and stored when that is confirmed."""
    refuse_strangers(request)
    form = RunImportForm(request.POST or None, request.FILES or None)
    if request.method == "POST" and form.is_valid():
        choices = {name: form.cleaned_data[name] for name in form.fields if name != "upload"}
        row = keep_sent(form, BulkImport.Kind.RUNS, choices=choices, by=request.user)
        if row is not None:
            return redirect("academy:import", pk=row.pk)
    newest = BulkImport.objects.select_related("person").order_by("-created_at", "pk")[:NEWEST]
    status = 422 if request.method == "POST" else 200
    context = {"form": form, "newest": newest}
    return render(request, "academy/import_ask.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@vary_on_headers("HX-Request")
def import_detail(request: SiteRequest, pk: Any) -> HttpResponse:
    """How far an import is, what it would do or did, file by file; it is confirmed here.

    htmx gets the part that moves; polling ends with status 286.
    """
    refuse_strangers(request)
    row = get_object_or_404(BulkImport.objects.select_related("person"), pk=pk)
    status = 200
    if request.method == "POST":
        try:
            publish = request.POST.get("publish") == "1"
            bulk_importing.confirm(row, by=request.user, publish=publish)
        except AcademyError as error:
            messages.error(request, str(error))
            status = 422
        else:
            return redirect("academy:import", pk=pk)
    context = {
        **workers_context(),
        "row": row,
        "report": row.report,
        "is_moving": row.stage in MOVING,
        "back": "admin:academy_suite_import" if row.kind == "suites" else "academy:import-runs",
    }
    if request.htmx:
        status = 200 if context["is_moving"] else 286
        return render(request, "academy/_import.html", context, status=status)
    return render(request, "academy/import_detail.html", context, status=status)
