"""How boards would stand if a staged pass were published: computed for real, then rolled back."""

from __future__ import annotations

from typing import Any

from django.core.cache import cache
from django.db import transaction

from academy.canonical import digest
from academy.models import ScoringPass, Summary
from leaderboard.computing import compute
from leaderboard.models import Board

KEPT_SECONDS = 24 * 3600


def preview(chosen: ScoringPass) -> list[dict[str, Any]]:
    """Who would move on every board of the version, by how much; nothing for a pass that is not
    staged. The answer is kept until a score of the version moves."""
    if chosen.state != ScoringPass.State.STAGED:
        return []
    found = []
    for board in chosen.version.boards.order_by("pk"):
        key = f"preview:{_inputs(board, chosen)}"
        told = cache.get(key)
        if told is None:
            told = _preview(board, chosen)
            cache.set(key, told, KEPT_SECONDS)
        found.append(told)
    return found


def _inputs(board: Board, chosen: ScoringPass) -> str:
    rows = Summary.objects.filter(run__version=chosen.version_id).order_by("pk")
    scored = [f"{pk}:{held}" for pk, held in rows.values_list("pk", "digest")]
    return digest([board.pk, board.revision, chosen.pk, scored])


def _preview(board: Board, chosen: ScoringPass) -> dict[str, Any]:
    before = compute(board)
    with transaction.atomic():
        passes = ScoringPass.objects.filter(version=chosen.version_id)
        passes.filter(state=ScoringPass.State.PUBLISHED).update(state=ScoringPass.State.RETIRED)
        passes.filter(pk=chosen.pk).update(state=ScoringPass.State.PUBLISHED)
        after = compute(board)
        transaction.set_rollback(True)
    return {"board": board.slug, "title": board.title, "moved": moves(before, after)}


def moves(before: dict[str, Any] | None, after: dict[str, Any] | None) -> list[dict[str, Any]]:
    """Entrants whose rank, place or score differs, in the order of the new standing."""
    old = {_who(row): row for row in (before or {}).get("standings", ())}
    moved = []
    for row in (after or {}).get("standings", ()):
        known = old.get(_who(row), {})
        told = {
            "entrant": row["entrant"],
            "name": row["name"],
            "run": row["run"],
            "rank_before": known.get("rank"),
            "rank": row["rank"],
            "score_before": known.get("score"),
            "score": row["score"],
            "place_before": known.get("place"),
            "place": row["place"],
        }
        if any(told[name] != told[f"{name}_before"] for name in ("rank", "score", "place")):
            moved.append(told)
    return moved


def _who(row: dict[str, Any]) -> tuple[str, str]:
    return row["entrant"], row["settings"]
