"""Standings are published as snapshots: immutable, with what moved since the last one and why."""

from __future__ import annotations

from typing import Any

from django.db import connection, transaction
from django.template.loader import render_to_string
from django.utils import timezone

from academy import auditing
from academy.canonical import digest
from academy.errors import AcademyError
from leaderboard import certifying, presenting
from leaderboard.computing import compute
from leaderboard.models import Board, Snapshot
from leaderboard.movement import change_of, with_movement

__all__ = ["compute", "differences", "publish_by_hand", "publish_snapshot", "store_snapshot"]

Json = dict[str, Any]


def publish_snapshot(board: Board) -> Snapshot | None:
    """Publish the board as it stands. When nothing changed, the newest snapshot stands."""
    computed = compute(board)
    return None if computed is None else store_snapshot(board, computed)


@transaction.atomic
def store_snapshot(board: Board, computed: Json) -> Snapshot:
    """Keep computed standings as the next snapshot, public at once unless the policy says not."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [7101, board.pk])
    inputs_digest = digest(computed)
    newest: Snapshot | None = board.snapshots.order_by("-number").first()
    if newest is not None and newest.inputs_digest == inputs_digest:
        return newest
    number = 1 if newest is None else newest.number + 1
    public = board.newest_snapshot()
    moved = differences(public.standings if public else None, computed)
    since = public.number if public else None
    by_hand = computed["policy"]["publishing"] == "by_hand"
    made: Snapshot = Snapshot.objects.create(
        board=board,
        number=number,
        board_revision=computed["revision"],
        inputs_digest=inputs_digest,
        digest=digest({"board": board.slug, "number": number, "standings": computed}),
        standings=computed,
        differences=moved,
        compared_with=since,
        rows_html=_rows_html(computed, moved, since),
        published_at=None if by_hand else timezone.now(),
    )
    if not by_hand:
        certifying.doubt_moved(board, computed)
    return made


def _rows_html(standings: Json, moved: list[Json], since: int | None) -> str:
    """The rows as the page shows them to whoever asks for nothing else."""
    context = presenting.rows_context(with_movement(standings, moved, since))
    return render_to_string("leaderboard/_board_rows.html", context)


@transaction.atomic
def publish_by_hand(snapshot: Snapshot, *, by: Any = None, reason: str = "") -> Snapshot:
    """Make a waiting snapshot public. AcademyError when a later one is public already."""
    locked: Snapshot = Snapshot.objects.select_for_update().get(pk=snapshot.pk)
    if locked.published_at is not None:
        return locked
    public = locked.board.newest_snapshot()
    if public is not None and public.number > locked.number:
        raise AcademyError(
            f"Snapshot {public.number} is public already; an earlier one would never be shown."
        )
    # What was public when it was made may have been followed by another since.
    locked.differences = differences(public.standings if public else None, locked.standings)
    locked.compared_with = public.number if public else None
    locked.rows_html = _rows_html(locked.standings, locked.differences, locked.compared_with)
    locked.published_at = timezone.now()
    locked.save(update_fields=["differences", "compared_with", "rows_html", "published_at"])
    certifying.doubt_moved(locked.board, locked.standings)
    auditing.note("snapshot.publish", f"snapshot:{locked.pk}", by=by, reason=reason)
    return locked


def differences(before: Json | None, after: Json) -> list[Json]:
    """Who moved between two snapshots, with the reason as far as it can be told."""
    if before is None:
        return []
    old = {row.get("key", row["entrant"]): row for row in before["standings"]}
    moved = []
    for row in after["standings"]:
        known = old.pop(row["key"], None)
        if known is None:
            moved.append(_change(row, None, "new", "new entrant"))
        elif _stand(known) != _stand(row):
            why = _reason(known, row, before, after)
            change = change_of(before, after, known, row)
            moved.append(_change(row, known, "moved", why, change))
    withdrawn = {run for row in after["withdrawn"] for run in row["runs"]}
    for row in old.values():
        is_withdrawn = not withdrawn.isdisjoint(row.get("runs", [row["run"]]))
        why = "its run was withdrawn" if is_withdrawn else _general(before, after) or "it left"
        moved.append(_change(row, row, "gone", why))
    return moved


def _stand(row: Json) -> tuple[Any, ...]:
    return row["rank"], row["shown"], row["place"], row["run"]


def _change(
    row: Json, known: Json | None, what: str, why: str, change: float | None = None
) -> Json:
    is_gone = what == "gone"
    return {
        "key": row.get("key", row["entrant"]),
        "entrant": row["entrant"],
        "name": row["name"],
        "what": what,
        "why": why,
        "rank": None if is_gone else row["rank"],
        "rank_before": known["rank"] if known else None,
        "shown": "" if is_gone else row["shown"],
        "shown_before": known["shown"] if known else "",
        "change": change,
        "place": None if is_gone else row["place"],
        "place_before": known["place"] if known else None,
    }


def _reason(known: Json, row: Json, before: Json, after: Json) -> str:
    """Why an entrant moved: the nearest cause first."""
    if known["run"] != row["run"]:
        withdrawn = {run for held in after["withdrawn"] for run in held["runs"]}
        if known["run"] in withdrawn:
            return f"run {known['run']} was withdrawn"
        return f"new run, attempt {row['attempt']}"
    if general := _general(before, after):
        return general
    if row["audited"] > known.get("audited", 0) or row["waiting"] < known["waiting"]:
        return "decisions of people"
    if row["verification"] != known["verification"]:
        return f"verification is now “{row['verification_label'].lower()}”"
    if row["scores_digest"] != known.get("scores_digest", ""):
        return "its verdicts changed"
    return "others moved" if row["shown"] == known["shown"] else "its verdicts changed"


def _general(before: Json, after: Json) -> str:
    """A cause that holds for everybody."""
    if before["revision"] != after["revision"]:
        return f"the board's policy changed (revision {after['revision']})"
    if before["version_digest"] != after["version_digest"]:
        return f"the board shows {after['suite']}@{after['version']} now"
    if before["pass_digest"] != after["pass_digest"]:
        return f"new scoring pass {after['pass']}"
    if before["n"] != after["n"]:
        return f"{after['n']} items count now, before {before['n']}"
    return ""
