"""Pages of review."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe


@require_safe
def queue_list(request: HttpRequest) -> HttpResponse:
    """The queues."""
    return render(request, "adjudication/queue_list.html")
