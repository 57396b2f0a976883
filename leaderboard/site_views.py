"""Pages beside the boards: comparison, entrants, tasks, method, search."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from academy.errors import AcademyError
from academy.models import Entrant, Task
from leaderboard import comparing, describing, searching
from leaderboard.models import Board


@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    """Two to four entries of a board; without them, a form to choose some."""
    keys = request.GET.getlist("entry")
    slug = request.GET.get("board", "")
    if not slug:
        boards = comparing.boards_to_compare(request.user)
        return render(request, "leaderboard/compare_choose.html", {"boards": boards})
    board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
    offset = request.GET.get("from", "0")
    try:
        context = comparing.comparison_context(
            board,
            keys,
            request.user,
            adjustment=request.GET.get("adjust", "holm"),
            offset=min(int(offset), 10**6) if offset.isascii() and offset.isdigit() else 0,
            side=request.GET.get("side", ""),
            measure=request.GET.get("measure", ""),
        )
    except AcademyError as error:
        snapshot = board.newest_snapshot()
        rows = snapshot.standings["standings"] if snapshot else []
        told = {
            "board": board,
            "versions": board.versions.all(),
            "problem": str(error) if keys else "",
            "rows": rows,
            "keys": keys,
        }
        return render(request, "leaderboard/compare_choose.html", told, status=422 if keys else 200)
    return render(request, "leaderboard/compare_detail.html", context)


@require_safe
def entrant_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """An entrant: settings, runs, standings and how they changed."""
    entrant = get_object_or_404(Entrant.objects.visible_to(request.user), slug=slug)
    context = describing.entrant_context(entrant, request.user)
    return render(request, "leaderboard/entrant_detail.html", context)


@require_safe
def task_detail(request: HttpRequest, slug: str, name: str, ordinal: int) -> HttpResponse:
    """A task of a version and how everybody did on it."""
    task = get_object_or_404(
        Task.objects.visible_to(request.user).select_related("version__suite"),
        version__suite__slug=slug,
        version__name=name,
        ordinal=ordinal,
    )
    context = describing.task_context(task, request.user)
    return render(request, "leaderboard/task_detail.html", context)


@require_safe
def method(request: HttpRequest) -> HttpResponse:
    """How the numbers are made, from the definitions that make them."""
    return render(request, "leaderboard/method.html", describing.method_context())


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Boards, entrants, suites and tasks that fit some words."""
    text = request.GET.get("q", "")[: searching.LONGEST]
    found = searching.search(text, request.user)
    context = {
        "text": text,
        "found": found,
        "total": sum(map(len, found.values())),
        "versions": searching.versions_of(found),
    }
    return render(request, "leaderboard/search.html", context)
