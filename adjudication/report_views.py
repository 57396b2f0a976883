"""Reports on queues: whole for those who run review, one's own figures for reviewers."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from academy.requests import SiteRequest
from adjudication import report_pages, reporting
from adjudication.models import Queue
from adjudication.views import signed_in


@require_safe
@signed_in
def queue_report(request: SiteRequest, pk: int) -> HttpResponse:
    """The report on a queue; a reviewer reads what is their own."""
    queues = Queue.objects.visible_to(request.user).select_related("version__suite")
    queue: Queue = get_object_or_404(queues, pk=pk)
    page = report_pages.page_number(request.GET)
    if not reporting.may_read(request.user):
        context = report_pages.own_context(queue, request.user, page)
        return render(request, "adjudication/report_own.html", context)
    report = reporting.report_on(queue, reader=request.user, page=page)
    context = report_pages.report_context(report, page)
    return render(request, "adjudication/report_detail.html", context)
