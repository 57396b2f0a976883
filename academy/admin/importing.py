"""The import page of the admin: a dry run that tells everything, then the import."""

from __future__ import annotations

import shutil
import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from academy import intake, registry
from academy.bulk_importing import problems_of
from academy.errors import AcademyError
from academy.forms import SuiteConfirmForm, SuiteImportForm, keep_sent
from academy.importing import ImportOptions, ImportReport
from academy.models import BulkImport
from academy.querysets import has_role
from academy.uploads import Upload, open_stream, open_upload

KEPT_SECONDS = 24 * 3600


def uploads_folder() -> Path:
    """Where uploads wait between dry run and import."""
    folder: Path = settings.DATA_DIR / "uploads"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def sweep(folder: Path) -> None:
    """Remove uploads that nobody confirmed within a day."""
    oldest = time.time() - KEPT_SECONDS
    for held in folder.iterdir():
        if held.is_dir() and held.stat().st_mtime < oldest:
            shutil.rmtree(held, ignore_errors=True)


@require_http_methods(["GET", "HEAD", "POST"])
def suite_import(request: HttpRequest) -> HttpResponse:
    """Read an upload and show what its import would do; with a token, import it."""
    if not has_role(request.user, "curator"):
        raise PermissionDenied
    if request.method != "POST":
        return page(request, SuiteImportForm())
    if "token" in request.POST:
        return confirm(request)
    form = SuiteImportForm(request.POST, request.FILES)
    if not form.is_valid():
        return page(request, form, status=422)
    return dry_run(request, form)


def page(
    request: HttpRequest, form: SuiteImportForm, *, status: int = 200, **context: Any
) -> HttpResponse:
    """The import page."""
    return render(
        request, "admin/suite_import.html", {"form": form, "step": 1, **context}, status=status
    )


def refused(
    request: HttpRequest, form: SuiteImportForm, error: AcademyError, **context: Any
) -> HttpResponse:
    """The page with every place that keeps files from being imported."""
    problems, total = problems_of(error)
    told = {"problems": problems, "total": total, "step": 2, **context}
    return page(request, form, status=422, **told)


def dry_run(request: HttpRequest, form: SuiteImportForm) -> HttpResponse:
    """Keep the upload, read it, and show the report; errors are shown with their places. A large
    one is read by the worker, and watched on a page of its own."""
    chosen = form.cleaned_data["format"]
    sent = form.cleaned_data["upload"]
    if sent.size > settings.ACADEMY_IMPORT_AT_ONCE:
        return in_background(request, form)
    sweep(uploads_folder())
    token = uuid.uuid4().hex
    folder = uploads_folder() / token
    folder.mkdir()
    try:
        upload = open_stream(sent.name, sent, folder=folder)
        report = run_import(
            upload, chosen, ImportOptions(rename=form.cleaned_data["name"], dry_run=True)
        )
    except AcademyError as error:
        shutil.rmtree(folder, ignore_errors=True)
        return refused(request, form, error, upload_name=sent.name)
    return page(
        request,
        form,
        report=report,
        token=token,
        upload=upload,
        upload_name=sent.name,
        format_label=registry.format_of(report.format).label,
        chosen_format=report.format,
        chosen_name=form.data.get("name", ""),
        step=2,
    )


def in_background(request: HttpRequest, form: SuiteImportForm) -> HttpResponse:
    """Keep a large upload for the worker, and lead to the page that tells of it."""
    choices = {"format": form.cleaned_data["format"], "name": form.data.get("name", "").strip()}
    row = keep_sent(form, BulkImport.Kind.SUITES, choices=choices, by=request.user)
    if row is None:
        return page(request, form, status=422)
    return redirect("academy:import", pk=row.pk)


def run_import(upload: Upload, format_key: str, options: ImportOptions) -> ImportReport:
    """Import an opened upload."""
    fmt = registry.format_of(format_key) if format_key else None
    report = intake.import_suite_files(upload.files, digest=upload.digest, fmt=fmt, options=options)
    return replace(report, files=(*report.files, *upload.left_out))


def confirm(request: HttpRequest) -> HttpResponse:
    """Import what a dry run has shown; a token that ran out asks for the file again."""
    form = SuiteConfirmForm(request.POST)
    folder = uploads_folder() / (form.cleaned_data["token"] if form.is_valid() else "none")
    if not form.is_valid() or not folder.is_dir():
        messages.error(request, "This upload is no longer kept. Choose the file again.")
        return redirect("admin:academy_suite_import")
    try:
        report = run_import(
            open_kept(folder),
            form.cleaned_data["format"],
            ImportOptions(
                rename=form.cleaned_data["name"],
                by=request.user,
                publish=form.cleaned_data["publish"],
            ),
        )
    except AcademyError as error:
        return refused(request, SuiteImportForm(), error)
    shutil.rmtree(folder, ignore_errors=True)
    for suite in report.suites:
        told = f"{suite.suite}@{suite.version} {suite.outcome}: {suite.tasks} tasks, {suite.state}."
        messages.success(request, f"{told} {suite.note}".strip())
    first = report.suites[0]
    return redirect("academy:version", slug=first.suite, name=first.version)


def open_kept(folder: Path) -> Upload:
    """An upload that a dry run kept."""
    return open_upload(next(path for path in sorted(folder.rglob("*")) if path.is_file()))
