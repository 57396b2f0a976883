"""Exports made in the background: asking for one, watching it, and having it."""

from __future__ import annotations

from typing import Any

from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_safe

from academy import bulk_exporting, tables
from academy.errors import AcademyError
from academy.models import BulkExport
from academy.requests import SiteRequest
from academy.worker_pages import workers_context


@require_http_methods(["GET", "HEAD", "POST"])
def export_ask(request: SiteRequest, kind: str, subject: int) -> HttpResponse:
    """Ask for all rows of something in a form; the same again leads to the same export."""
    source = bulk_exporting.SOURCES.get(kind)
    if source is None or not source.is_visible(subject, request.user):
        raise Http404
    problem = source.refusal(subject)
    if request.method == "POST":
        try:
            export = bulk_exporting.request_export(
                kind,
                subject,
                request.POST.get("form", ""),
                by=request.user,
                raw=request.POST.get("raw") == "1",
            )
        except AcademyError as error:
            problem = str(error)
        else:
            return redirect("academy:export", pk=export.pk)
    context = {
        "title": source.title(subject),
        "lead": source.lead,
        "back": source.address(subject),
        "versions": source.versions(subject),
        "refusal": source.refusal(subject),
        "problem": problem,
        "forms": tables.FORMS,
        "days": bulk_exporting.KEPT.days,
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "academy/export_ask.html", context, status=status)


def visible_export(request: SiteRequest, pk: Any) -> BulkExport:
    """An export that this person may have; else 404."""
    export: BulkExport = get_object_or_404(BulkExport, pk=pk)
    if not bulk_exporting.is_visible(export, request.user):
        raise Http404
    return export


def file_name(export: BulkExport) -> str:
    """The name under which a browser saves an export."""
    return f"{slugify(export.title)[:80]}-{export.sha256[:8]}.{tables.FORMS[export.form].ending}"


@require_safe
def export_detail(request: SiteRequest, pk: Any) -> HttpResponse:
    """How far an export is; when it is done, the link, its size and its checksum.

    htmx gets the part that moves; polling ends with status 286.
    """
    export = visible_export(request, pk)
    state = bulk_exporting.state_of(export)
    source = bulk_exporting.SOURCES[export.kind]
    context = {
        **workers_context(),
        "export": export,
        "state": state,
        "form": tables.FORMS[export.form],
        "name": file_name(export),
        "back": source.address(export.subject),
        "versions": source.versions(export.subject),
        "days": bulk_exporting.KEPT.days,
    }
    if not request.htmx:
        return render(request, "academy/export_detail.html", context)
    is_over = state not in ("waiting", "working")
    return render(request, "academy/_export.html", context, status=286 if is_over else 200)


@require_safe
def export_file(request: SiteRequest, pk: Any) -> HttpResponseBase:
    """The file; 404 before it is made and after it has expired."""
    export = visible_export(request, pk)
    if not export.file or not default_storage.exists(export.file):
        raise Http404
    response = FileResponse(
        default_storage.open(export.file),
        as_attachment=True,
        filename=file_name(export),
        content_type=tables.FORMS[export.form].media_type,
    )
    response["ETag"] = f'"{export.sha256}"'
    response["Content-Security-Policy"] = "sandbox"
    response["Cache-Control"] = "private, no-store"
    return response


@require_safe
def export_sum(request: SiteRequest, pk: Any) -> HttpResponse:
    """The checksum as `sha256sum --check` reads it."""
    export = visible_export(request, pk)
    if not export.sha256:
        raise Http404
    text = f"{export.sha256}  {file_name(export)}\n"
    return HttpResponse(text, content_type="text/plain; charset=utf-8")
