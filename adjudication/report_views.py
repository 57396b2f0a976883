"""Reports on queues: whole for those who run review, one's own figures for reviewers."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe
from django.views.decorators.vary import vary_on_headers

from academy.requests import SiteRequest
from adjudication import report_pages, reporting
from adjudication.models import Queue
from adjudication.views import signed_in


@require_safe
@signed_in
@vary_on_headers("HX-Request")
def queue_report(request: SiteRequest, pk: int) -> HttpResponse:
    """The report on a queue; a reviewer reads what is their own.

    htmx gets the part that takes long.
    """
    queues = Queue.objects.visible_to(request.user).select_related("version__suite")
    queue: Queue = get_object_or_404(queues, pk=pk)
    page = report_pages.page_number(request.GET)
    if not reporting.may_read(request.user):
        context = report_pages.own_context(queue, request.user, page)
        return render(request, "adjudication/report_own.html", context)
    if request.htmx:
        return newly_counted(request, queue, page)
    report = reporting.report_on(queue, reader=request.user, page=page)
    context = report_pages.report_context(report, page)
    return render(request, "adjudication/report_detail.html", context)


def newly_counted(request: SiteRequest, queue: Queue, page: int) -> HttpResponse:
    """The figures with status 286, which ends the polling; nothing while they are counted, so that
    what somebody reads is not taken from under them."""
    counted = reporting.figures_for(queue, reader=request.user, page=page)
    if counted.is_counting:
        return HttpResponse(status=204)
    context = {**report_pages.figures_context(queue, counted, page), "is_part": True}
    return render(request, "adjudication/_report_figures.html", context, status=286)
