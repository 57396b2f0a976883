"""The core's public pages: home, suites, runs, records."""

from __future__ import annotations

from django.core.paginator import Paginator
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from academy import pages, registry, run_files, run_pages
from academy.blobs import open_blob
from academy.models import Blob, InstanceRecord, Run, Suite, SuiteVersion, Task, TaskAsset
from academy.packs import raw_record
from academy.requests import SiteRequest, asks_part

PAGE = 50


@require_safe
def favicon(request: SiteRequest) -> HttpResponse:
    """The picture that browsers ask for on pages that name none, such as JSON."""
    return redirect(static("img/icon.svg"))


@require_safe
def home(request: SiteRequest) -> HttpResponse:
    """What is here: boards, suites, the newest runs, and whether work is being done."""
    return render(request, "academy/home.html", pages.home_context(request.user))


@require_safe
def suite_list(request: SiteRequest) -> HttpResponse:
    """All suites that may be seen."""
    suites = Suite.objects.visible_to(request.user).order_by("slug")
    page = Paginator(suites.prefetch_related("versions"), PAGE).get_page(request.GET.get("page"))
    return render(
        request,
        "academy/suite_list.html",
        {"page": page, "suites": pages.suite_rows(page, request.user)},
    )


@require_safe
def suite_detail(request: SiteRequest, slug: str) -> HttpResponse:
    """A suite and its versions."""
    suite = get_object_or_404(Suite.objects.visible_to(request.user), slug=slug)
    context = {"suite": suite, "versions": pages.versions_of(suite, request.user)}
    return render(request, "academy/suite_detail.html", context)


@require_safe
def version_detail(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """A version: its facts, metrics, tasks that may be shown, and runs."""
    version = get_object_or_404(
        SuiteVersion.objects.visible_to(request.user).select_related("suite"),
        suite__slug=slug,
        name=name,
    )
    tasks = Paginator(pages.shown_tasks(version, request.user), PAGE)
    context = pages.version_context(version, request.user)
    page = tasks.get_page(request.GET.get("page"))
    shown = {**context, "page": page, "files_of": pages.files_of(page.object_list)}
    return render(request, "academy/version_detail.html", shown)


@require_safe
def run_list(request: SiteRequest) -> HttpResponse:
    """The newest runs."""
    runs = (
        Run.objects.visible_to(request.user)
        .select_related("entrant", "version__suite")
        .order_by("-pk")
    )
    page = Paginator(runs, PAGE).get_page(request.GET.get("page"))
    return render(request, "academy/run_list.html", {"page": page})


def visible_run(request: SiteRequest, pk: int) -> Run:
    """The run, if this person may see it; else 404."""
    run: Run = get_object_or_404(
        Run.objects.visible_to(request.user).select_related("entrant", "version__suite"), pk=pk
    )
    return run


@require_safe
@vary_on_headers("HX-Request", "HX-Target")
def run_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """A run: history, progress, results, findings, items."""
    run = visible_run(request, pk)
    context = run_pages.run_context(run, request.user, request.GET)
    is_part = asks_part(request, "items")
    context["downloads"] = [] if is_part else run_files.links(run, request.user)
    template = "academy/_run_items.html" if is_part else "academy/run_detail.html"
    return render(request, template, context)


@require_safe
def run_progress(request: SiteRequest, pk: int) -> HttpResponse:
    """The part of a run's page that moves; polling ends with status 286 when all is done."""
    run = visible_run(request, pk)
    context = run_pages.progress_context(run)
    return render(
        request,
        "academy/_run_progress.html",
        {**context, "run": run},
        status=286 if context["progress"]["is_done"] else 200,
    )


def visible_record(request: SiteRequest, pk: int) -> InstanceRecord:
    """The record, if this person may see it; else 404."""
    record: InstanceRecord = get_object_or_404(
        InstanceRecord.objects.visible_to(request.user).select_related(
            "task", "run__entrant", "run__version__suite"
        ),
        pk=pk,
    )
    return record


@require_safe
@vary_on_headers("HX-Request", "HX-Target")
def record_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """A record: task, transcript, answer, scores, decisions."""
    record = visible_record(request, pk)
    if asks_part(request, "steps"):
        context = pages.steps_context(record, request.user, request.GET)
        return render(request, "academy/_steps.html", context)
    return render(
        request,
        "academy/record_detail.html",
        pages.record_context(record, request.user, request.GET),
    )


@require_safe
def record_raw(request: SiteRequest, pk: int) -> HttpResponse:
    """The record as it came, as a download; verdicts that came with it open when they do."""
    record = visible_record(request, pk)
    if pages.hides_verdicts(record, request.user):
        raise Http404
    response = HttpResponse(raw_record(record), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="record-{record.pk}.json"'
    response["Content-Security-Policy"] = "sandbox"
    return response


@require_safe
def asset_copy(request: SiteRequest, pk: int) -> HttpResponse:
    """The raster copy of a file of a task that this person may see; else 404."""
    asset = get_object_or_404(
        TaskAsset.objects.filter(
            raster__isnull=False, task__in=Task.objects.visible_to(request.user)
        ).select_related("raster"),
        pk=pk,
    )
    if asset.raster is None:
        raise Http404
    return picture(asset.raster)


def picture(copy: Blob) -> HttpResponse:
    """The answer that holds a raster copy, and lets nothing else happen."""
    response = HttpResponse(open_blob(copy), content_type="image/png")
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, max-age=3600"
    return response


@require_safe
def schema_list(request: SiteRequest) -> HttpResponse:
    """The JSON Schemas that are published here, by name and address."""
    names = registry.all_schemas()
    return JsonResponse({name: reverse("academy:schema", args=[name]) for name in names})


@require_safe
def schema_detail(request: SiteRequest, name: str) -> HttpResponse:
    """One published JSON Schema."""
    schema = registry.all_schemas().get(name)
    if schema is None:
        raise Http404
    return JsonResponse(schema, json_dumps_params={"indent": 2, "ensure_ascii": False})


@require_safe
def health(request: SiteRequest) -> HttpResponse:
    """Whether the site and its database answer."""
    Suite.objects.exists()
    return HttpResponse("ok\n", content_type="text/plain")
