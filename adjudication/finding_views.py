"""The page of one finding for the entrant of its run, who is asked about it."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from academy.errors import AcademyError
from academy.models import Finding, Run
from academy.querysets import has_role
from academy.requests import SiteRequest
from academy.run_pages import is_closed, outcomes_of
from adjudication import answering, entrants
from adjudication.finding_kind import ASKED
from adjudication.forms import words_of
from adjudication.views import signed_in


def seen_finding(request: SiteRequest, pk: int) -> Finding:
    """The finding, for those who speak for its run, curators and auditors; else 404."""
    runs = Run.objects.visible_to(request.user)
    rows = Finding.objects.filter(run__in=runs).select_related(
        "record__task", "run__entrant", "run__version__suite"
    )
    found: Finding = get_object_or_404(rows, pk=pk)
    is_theirs = entrants.speaks_for(request.user, found.run)
    if not is_theirs and not has_role(request.user, "curator", "auditor"):
        raise Http404
    return found


def context_of(finding: Finding, user: Any, *, text: str = "", problem: str = "") -> dict[str, Any]:
    """The finding, why it is asked about, and what was answered before."""
    item = answering.item_of(finding)
    return {
        "finding": finding,
        "run": finding.run,
        "version": finding.run.version,
        "is_sealed": is_closed(finding.run.version, user),
        "outcome": outcomes_of(finding.run, [finding]).get(finding.pk),
        "answers": item.answers.order_by("sent_at", "pk") if item is not None else [],
        "may_answer": finding.state == ASKED and entrants.speaks_for(user, finding.run),
        "most": answering.LONGEST_ANSWER,
        "text": text,
        "problem": problem,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def finding_detail(request: SiteRequest, pk: int) -> HttpResponse:
    """A finding with its state; whoever entered the run answers here when they are asked."""
    finding = seen_finding(request, pk)
    if request.method != "POST":
        context = context_of(finding, request.user)
        return render(request, "adjudication/finding_detail.html", context)
    text = words_of(request.POST.get("text", ""))
    try:
        answering.answer(finding, text=text, by=request.user)
    except AcademyError as error:
        context = context_of(finding, request.user, text=text, problem=str(error))
        return render(request, "adjudication/finding_detail.html", context, status=422)
    messages.success(request, "Your answer is sent; somebody who has no part in it decides.")
    return redirect("adjudication:finding", pk=finding.pk)
