"""Pages of boards, read from their newest published snapshot."""

from __future__ import annotations

import csv
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.utils.safestring import mark_safe
from django.views.decorators.http import require_safe

from leaderboard import presenting
from leaderboard.models import Board, Snapshot

COLUMNS = (
    "rank", "rank_low", "rank_high", "tie_group", "place", "entrant", "name", "settings", "run",
    "score", "low", "high", "shown", "n", "scored", "missing", "waiting", "unscorable", "coverage",
    "attempts", "verification_label", "reason",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")


@require_safe
def board_list(request: HttpRequest) -> HttpResponse:
    """All boards."""
    return render(request, "leaderboard/board_list.html")


@require_safe
def board_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """A board: the rows as they were rendered with the snapshot."""
    board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
    context = presenting.board_context(board)
    if context["standings"] is not None:
        # Rendered by our own escaping template when the snapshot was made.
        context["rows_html"] = mark_safe(context["snapshot"].rows_html)
    return render(request, "leaderboard/board_detail.html", context)


def published(request: HttpRequest, slug: str) -> Snapshot:
    """The newest snapshot of a board this person may see; else 404."""
    board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
    snapshot = board.newest_snapshot()
    if snapshot is None:
        raise Http404
    return snapshot


@require_safe
def board_json(request: HttpRequest, slug: str) -> JsonResponse:
    """The standings as JSON: what the page and the command show."""
    snapshot = published(request, slug)
    return JsonResponse(
        {
            **snapshot.standings,
            "snapshot": snapshot.number,
            "snapshot_digest": snapshot.digest,
            "published_at": snapshot.published_at,
        }
    )


def cell(value: Any, *, neutral: bool) -> Any:
    """A cell of a CSV file: text that a spreadsheet would run is neutralised, numbers stay."""
    if neutral and isinstance(value, str) and value.startswith(FORMULA):
        return "'" + value
    return value


@require_safe
def board_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The standings as CSV; `?raw=1` leaves text cells unchanged for programs."""
    snapshot = published(request, slug)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slug}.csv"'
    writer = csv.writer(response)
    writer.writerow(COLUMNS)
    neutral = request.GET.get("raw") != "1"
    for row in snapshot.standings["standings"]:
        writer.writerow([cell(row[name], neutral=neutral) for name in COLUMNS])
    return response
