"""Pages and files of boards, read from their published snapshots."""

from __future__ import annotations

import hashlib
from functools import cache
from typing import Any

from csp.decorators import csp_replace
from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.safestring import mark_safe
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from academy import piloting, tables
from academy.templatetags.display import ago
from leaderboard import badges, charting, exporting, keeping, presenting
from leaderboard.axes import axis_of
from leaderboard.choices import Choice
from leaderboard.models import Board, Snapshot

PAGE = 30


@require_safe
def board_list(request: HttpRequest) -> HttpResponse:
    """All boards."""
    return render(request, "leaderboard/board_list.html")


@require_safe
def board_detail(request: HttpRequest, slug: str) -> HttpResponseBase:
    """A board as it stands: two queries, and one when the page is known on either side."""
    board = _board(request, slug)
    if board.newest_number is None:
        return render(request, "leaderboard/board_detail.html", {"board": board})
    etag = _etag(request, board, str(ago(board.newest_at)), board.is_stale)
    if not_modified := _not_modified(request, etag):
        return not_modified

    def make() -> HttpResponse:
        snapshot = board.snapshots.public().with_releases().get(number=board.newest_number)
        return _page(request, board, snapshot, is_newest=True)

    return _fresh(keeping.kept(request, etag, make), etag)


@require_safe
def snapshot_detail(request: HttpRequest, slug: str, number: int) -> HttpResponseBase:
    """A board as it stood in one snapshot."""
    board = _board(request, slug)
    snapshot = get_object_or_404(board.snapshots.public().with_releases(), number=number)
    etag = _etag(request, board, str(ago(snapshot.published_at)), "snapshot", snapshot.digest)
    if not_modified := _not_modified(request, etag):
        return not_modified
    return _fresh(_page(request, board, snapshot, is_newest=False), etag)


def _board(request: HttpRequest, slug: str) -> Any:
    """A board with what its ETag rests on, if this person may see it; else 404."""
    try:
        return Board.objects.newest_by_slug(slug, request.user)
    except Board.DoesNotExist:
        raise Http404 from None


def _page(
    request: HttpRequest, board: Board, snapshot: Snapshot, *, is_newest: bool
) -> HttpResponse:
    choice = Choice.read(request.GET, snapshot.standings)
    standings = presenting.standings_of(snapshot, choice)
    # Rendered by our own escaping template, with the snapshot or now.
    rows_html = (
        mark_safe(snapshot.rows_html)
        if choice.is_default
        else render_to_string(
            "leaderboard/_board_rows.html", presenting.rows_context(standings, choice)
        )
    )
    page = reverse("leaderboard:board", args=[board.slug])
    if not is_newest:
        page = reverse("leaderboard:snapshot", args=[board.slug, snapshot.number])
    query = "" if choice.is_default else choice.query()
    context = {
        **presenting.snapshot_context(board, snapshot, choice),
        "rows_html": rows_html,
        "is_newest": is_newest,
        "axis": axis_of(snapshot.standings),
        "charts": charting.cost_charts(snapshot.standings),
        "site_root": f"{request.scheme}://{request.get_host()}",
        "choice_pairs": choice.pairs("columns"),
        "slice_pairs": choice.pairs("slice"),
        "like_pairs": choice.pairs("like"),
        "filter_pairs": choice.pairs("step", "since", "cost", "weights"),
        "export_query": query,
        "file_address": page,
        "address": page + query,
    }
    return render(request, "leaderboard/board_detail.html", context)


def _fresh(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    """The page with what lets its reader ask whether it is still so."""
    response["ETag"] = etag
    response["Cache-Control"] = "private, no-cache"
    return response


@cache
def _release() -> str:
    """A digest of the templates, so that a new release is not hidden behind an old ETag."""
    hashed = hashlib.sha256()
    for path in sorted((settings.BASE_DIR / "templates").rglob("*.html")):
        hashed.update(path.read_bytes())
    return hashed.hexdigest()


def _etag(request: HttpRequest, board: Any, *facts: Any) -> str:
    """All that a page of a board rests on, its age in words and its reader included."""
    reader = request.user.pk if request.user.is_authenticated else ""
    known = [board.pk, board.title, board.description, board.is_example, board.newest_digest]
    told = [_release(), request.build_absolute_uri(), reader, *known, *facts]
    return f'"{hashlib.sha256(repr(told).encode()).hexdigest()[:32]}"'


def _not_modified(request: HttpRequest, etag: str) -> HttpResponseBase | None:
    if "HTTP_IF_NONE_MATCH" not in request.META:
        return None
    found: HttpResponseBase | None = get_conditional_response(request, etag=etag)
    return found and _fresh(found, etag)


def _snapshot(request: HttpRequest, slug: str, number: int | None = None) -> Snapshot:
    """A public snapshot of a board this person may see, the newest by default; else 404."""
    board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
    snapshot: Snapshot | None
    if number is None:
        snapshot = board.newest_snapshot()
    else:
        snapshot = board.snapshots.public().filter(number=number).first()
    if snapshot is None:
        raise Http404
    snapshot.board = board
    return snapshot


@require_safe
def snapshot_list(request: HttpRequest, slug: str) -> HttpResponse:
    """All public snapshots of a board, newest first, with who moved and why."""
    board = get_object_or_404(Board.objects.visible_to(request.user), slug=slug)
    rows = board.snapshots.public().order_by("-number").defer("standings", "rows_html")
    page = Paginator(rows, PAGE).get_page(request.GET.get("page"))
    context = {"board": board, "page": page, "versions": board.versions.all()}
    return render(request, "leaderboard/snapshot_list.html", context)


def _address(request: HttpRequest, snapshot: Snapshot, choice: Choice) -> str:
    """Where the page stays as it is that shows the same."""
    page = reverse("leaderboard:snapshot", args=[snapshot.board.slug, snapshot.number])
    return request.build_absolute_uri(page + ("" if choice.is_default else choice.query()))


@require_safe
def board_json(request: HttpRequest, slug: str, number: int | None = None) -> JsonResponse:
    """The standings as JSON: the whole document, or what the page shows for the same address."""
    snapshot = _snapshot(request, slug, number)
    choice = Choice.read(request.GET, snapshot.standings)
    told = {**exporting.document(snapshot, choice), "address": _address(request, snapshot, choice)}
    return JsonResponse(told)


@require_safe
def board_file(
    request: HttpRequest, slug: str, form: str, number: int | None = None
) -> HttpResponse:
    """What the page shows for the same address, as CSV or Parquet; `?raw=1` leaves the text cells
    of a CSV unchanged for programs. 400 for what the page would say that it left out."""
    snapshot = _snapshot(request, slug, number)
    choice = Choice.read(request.GET, snapshot.standings)
    if choice.left_out:
        told = f"This board does not have what the address asks for: {', '.join(choice.left_out)}."
        return HttpResponse(told, status=400, content_type="text/plain; charset=utf-8")
    table = exporting.standings_table(snapshot, choice, _address(request, snapshot, choice))
    data = tables.as_bytes(table, form, neutral=request.GET.get("raw") != "1")
    response = HttpResponse(data, content_type=tables.FORMS[form].media_type)
    name = f"{slug}-{snapshot.number}.{tables.FORMS[form].ending}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def board_markdown(request: HttpRequest, slug: str) -> HttpResponse:
    """The ranked rows as a Markdown table for READMEs."""
    snapshot = _snapshot(request, slug)
    link = request.build_absolute_uri(f"/boards/{slug}/snapshots/{snapshot.number}/")
    text = badges.markdown_table(snapshot.standings, snapshot.number, link)
    return HttpResponse(text, content_type="text/markdown; charset=utf-8")


@require_safe
def board_badge(request: HttpRequest, slug: str) -> HttpResponse:
    """The place of one entry (`?entry=KEY`), or the leader's, as an SVG badge that follows the
    board."""
    snapshot = _snapshot(request, slug)
    drawn = badges.board_badge(snapshot.standings, request.GET.get("entry", ""))
    return _svg(render_to_string("leaderboard/_badge.svg", drawn))


@require_safe
def cost_svg(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """The cost chart of a snapshot as a file."""
    standings = _snapshot(request, slug, number).standings
    charts = charting.cost_charts(standings)
    if charts is None:
        raise Http404
    pilot = piloting.pilot_sentence(standings.get("pilot"))
    context = {"d": charts["drawings"][0], "standalone": True, "pilot": pilot}
    response = _svg(render_to_string("leaderboard/_cost_drawing.html", context))
    response["Content-Disposition"] = f'attachment; filename="{slug}-{number}-cost.svg"'
    return response


def _svg(text: str) -> HttpResponse:
    response = HttpResponse(text, content_type="image/svg+xml")
    response["Cache-Control"] = "no-cache"
    response["Content-Security-Policy"] = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    return response


@xframe_options_exempt
@csp_replace({"frame-ancestors": ["*"]})  # type: ignore[arg-type]
@require_safe
def board_embed(request: HttpRequest, slug: str) -> HttpResponse:
    """A small table for other sites: it has no forms, no session and no script."""
    snapshot = _snapshot(request, slug)
    standings = snapshot.standings
    context = {
        "board": snapshot.board,
        "snapshot": snapshot,
        "standings": standings,
        "rows": [row for row in standings["standings"] if row["rank"]][:20],
        "board_url": request.build_absolute_uri(f"/boards/{slug}/"),
    }
    return render(request, "leaderboard/board_embed.html", context)
