"""Downloads of a run, each with the access of the page it stands on."""

from __future__ import annotations

import io

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from academy import exporting, registry, run_files
from academy.downloads import Export, write_zip
from academy.errors import AcademyError
from academy.models import Run
from academy.requests import SiteRequest


def visible_run(request: SiteRequest, pk: int) -> Run:
    """A run of a size for pages, if this person may see it; else 404."""
    runs = Run.objects.visible_to(request.user).select_related("entrant", "version__suite")
    run: Run = get_object_or_404(runs, pk=pk)
    if run_files.is_large(run):
        raise Http404
    return run


def scored_run(request: SiteRequest, pk: int) -> Run:
    """A run whose scores this person may see one by one; else 404."""
    run = visible_run(request, pk)
    if not run_files.may_have_scores(run, request.user):
        raise Http404
    return run


def holds_keys(run: Run) -> bool:
    """Whether a run is made of answer keys; only curators get this far with one."""
    return run.kind == Run.Kind.ORACLE


def attached(content: bytes | str, media_type: str, name: str) -> HttpResponse:
    """The answer that saves a file; should a browser open it all the same, it can do nothing."""
    response = HttpResponse(content, content_type=media_type)
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    response["Content-Security-Policy"] = "sandbox"
    response["Cache-Control"] = "private, no-store"
    return response


def zipped(export: Export, name: str) -> HttpResponse:
    """An export as a zip archive."""
    stream = io.BytesIO()
    write_zip(export, stream)
    return attached(stream.getvalue(), "application/zip", name)


@require_safe
def run_own(request: SiteRequest, pk: int) -> HttpResponse:
    """The run in the form in which it came; not while anything of it is sealed."""
    run = visible_run(request, pk)
    if not run_files.may_have_own_form(run, request.user):
        raise Http404
    try:
        export = exporting.export_run(run, with_keys=holds_keys(run), by=request.user)
    except AcademyError as error:
        messages.error(request, str(error))
        return redirect("academy:run", pk=pk)
    return zipped(export, f"run-{pk}-{export.form}.zip")


@require_safe
def run_as(request: SiteRequest, pk: int, form: str) -> HttpResponse:
    """The strict scores of a run in a form that takes runs of every format."""
    run = scored_run(request, pk)
    if form not in registry.score_forms():
        raise Http404
    try:
        export = exporting.export_scores(
            run,
            form=form,
            at=timezone.now(),
            only=run_files.shown_records(run, request.user),
            with_keys=holds_keys(run),
            by=request.user,
        )
    except AcademyError as error:
        messages.error(request, str(error))
        return redirect("academy:run", pk=pk)
    return zipped(export, f"run-{pk}-{form}.zip")


@require_safe
def run_csv(request: SiteRequest, pk: int) -> HttpResponse:
    """Rows of scores as CSV; `?raw=1` leaves text cells unchanged for programs."""
    run = scored_run(request, pk)
    rows = list(run_files.score_rows(run, request.user))
    text = run_files.as_csv(run, rows, neutral=request.GET.get("raw") != "1")
    return attached(text, "text/csv; charset=utf-8", f"run-{pk}-scores.csv")


@require_safe
def run_json(request: SiteRequest, pk: int) -> HttpResponse:
    """Rows of scores as one JSON document, unchanged."""
    run = scored_run(request, pk)
    rows = list(run_files.score_rows(run, request.user))
    return attached(run_files.as_json(run, rows), "application/json", f"run-{pk}-scores.json")
