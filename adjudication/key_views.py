"""The page on which curators have the answer keys of a version measured by several people."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from academy import registry
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.querysets import has_role
from academy.requests import SiteRequest
from adjudication import key_kind, opening
from adjudication.models import ReviewItem
from adjudication.views import number, signed_in


def context_of(version: SuiteVersion, *, problem: str = "", raters: int = 2) -> dict[str, Any]:
    """What could be measured of each task, and how far that is; never a value."""
    fmt = registry.format_of(version.suite.format)
    queue = version.queues.filter(kind=key_kind.KEYS).first()
    items = {} if queue is None else {item.task_id: item for item in queue.items.all()}
    tasks = version.tasks.prefetch_related("keys").order_by("ordinal")
    return {
        "version": version,
        "suite": version.suite,
        "queue": queue,
        "can_measure": fmt.key_of_ratings is not None,
        "rows": [
            {
                "task": task,
                "quantities": fmt.key_quantities(opening.spec_of(task)),
                "item": items.get(task.pk),
                "revision": max((key.revision for key in task.keys.all()), default=0),
            }
            for task in tasks
        ],
        "measured": len(items),
        "done": sum(item.state == ReviewItem.State.RESOLVED for item in items.values()),
        "raters": raters,
        "problem": problem,
    }


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def measure_keys(request: SiteRequest, slug: str, name: str) -> HttpResponse:
    """The quantities of a version's keys; a curator makes the queue in which they are measured."""
    if not has_role(request.user, "curator"):
        raise Http404
    versions = SuiteVersion.objects.visible_to(request.user).select_related("suite")
    version = get_object_or_404(versions, suite__slug=slug, name=name)
    if request.method != "POST":
        return render(request, "adjudication/key_measuring.html", context_of(version))
    raters = number(request.POST.get("raters", ""))
    try:
        queue = key_kind.make_key_queue(version, raters=raters, by=request.user)
    except AcademyError as error:
        context = context_of(version, problem=str(error), raters=raters)
        return render(request, "adjudication/key_measuring.html", context, status=422)
    messages.success(request, f"{queue.title}: {queue.items.count()} keys are to be measured.")
    return redirect("adjudication:measure-keys", slug=slug, name=name)
