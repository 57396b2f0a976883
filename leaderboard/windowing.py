"""Windows of certification: what runs came to in each, recorded from their stored results.

A run belongs to the window that was open on its board when the run came in here. Nothing of this is
told by an upload.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Q

from academy import auditing, scheduling, tasks, work
from academy.errors import AcademyError
from academy.models import Run, RunResult, ScoringPass
from leaderboard.boards import StoredPolicy
from leaderboard.models import Board, Window, WindowResult


@dataclass(frozen=True, slots=True)
class Place:
    """What a board with windows looks at in a run: one metric over one slice of the tasks."""

    board: Board
    metric: str
    mode: str
    slice: str


def places_of(version_id: int) -> Iterator[Place]:
    """The boards of a version that have windows, with the result that each of them looks at."""
    boards = Board.objects.filter(versions=version_id, windows__isnull=False).distinct()
    for board in boards.order_by("pk"):
        yield place_on(board)


def place_on(board: Board) -> Place:
    """The result of a run that a board looks at."""
    policy = StoredPolicy.read(board.policy)
    named = [f"{name}={value}" for name, value in sorted(policy.where.items())]
    return Place(board, policy.metric, policy.mode, ",".join(named))


def window_of(board: Board, run: Run) -> Window | None:
    """The window that was open on a board when a run came in."""
    found: Window | None = (
        board.windows.filter(opens_at__lte=run.created_at, closes_at__gt=run.created_at)
        .order_by("opens_at", "pk")
        .first()
    )
    return found


def passed_before(board: Board, run: Run, chosen: ScoringPass) -> list[Window]:
    """The windows before a run's own in which its entrant passed, the earliest first.

    Results on the run's version are those of the same pass, on other versions those of the
    published one. Withdrawn runs prove nothing.
    """
    own = window_of(board, run)
    before = board.windows.filter(closes_at__lte=own.opens_at if own else run.created_at)
    in_force = Q(results__scoring_pass=chosen) | (
        Q(results__scoring_pass__state="published")
        & ~Q(results__scoring_pass__version=run.version_id)
    )
    passed = before.filter(
        in_force,
        results__entrant=run.entrant_id,
        results__current=True,
        results__passed=True,
        results__run__state=Run.State.CLOSED,
    )
    return list(passed.distinct().order_by("opens_at", "pk"))


def facts(run: Run, chosen: ScoringPass) -> Mapping[str, Any]:
    """How many windows a run's entrant passed before it, and whether it came in during one."""
    earlier: dict[str, dict[str, int]] = defaultdict(dict)
    inside: dict[str, dict[str, bool]] = defaultdict(dict)
    for place in places_of(run.version_id):
        count = len(passed_before(place.board, run, chosen))
        known = earlier[place.metric].get(place.slice, 0)
        earlier[place.metric][place.slice] = max(count, known)
        was_open = window_of(place.board, run) is not None
        inside[place.metric][place.slice] = was_open or inside[place.metric].get(place.slice, False)
    return {"earlier_windows": dict(earlier), "in_window": dict(inside)}


def record(run: Run, chosen: ScoringPass) -> None:
    """Record what a run came to in the windows it came in; later runs owe to be summed up again
    where that changes what they can earn."""
    if run.kind != Run.Kind.ENTRANT:
        return
    for place in places_of(run.version_id):
        window = window_of(place.board, run)
        if window is not None and _revise(window, place, run, chosen):
            _owe_later(place.board, window, run)


def result_on(place: Place, run: Run, chosen: ScoringPass) -> RunResult | None:
    """The stored result of a run that a board looks at, in a pass."""
    found: RunResult | None = RunResult.objects.filter(
        run=run,
        scoring_pass=chosen,
        metric__key=place.metric,
        mode=place.mode,
        slice=place.slice,
        origin="computed",
    ).first()
    return found


def _revise(window: Window, place: Place, run: Run, chosen: ScoringPass) -> bool:
    """Store a result if it is not what stands; tells whether passing moved."""
    result = result_on(place, run, chosen)
    details = result.details if result else {}
    said: dict[str, Any] = {
        "passed": details.get("passed") is True,
        "tier": details.get("tier") or "",
        "value": result.value if result else None,
    }
    Window.objects.select_for_update().get(pk=window.pk)
    held = WindowResult.objects.filter(window=window, run=run, scoring_pass=chosen, current=True)
    known = held.first()
    if known and all(getattr(known, name) == value for name, value in said.items()):
        return False
    held.update(current=False)
    WindowResult.objects.create(
        window=window,
        entrant=run.entrant,
        run=run,
        scoring_pass=chosen,
        revision=known.revision + 1 if known else 1,
        **said,
    )
    was_passed = known is not None and known.passed
    return was_passed is not bool(said["passed"])


def _owe_later(board: Board, window: Window, run: Run) -> None:
    later = Run.objects.filter(
        entrant=run.entrant_id,
        kind=Run.Kind.ENTRANT,
        version__in=board.versions.all(),
        created_at__gte=window.closes_at,
        state__in=("open", "closed"),
    )
    owe_sums(later.order_by("pk"))


def owe_sums(runs: Any) -> None:
    """Owe the summing up of runs in every pass of theirs that is not retired."""
    for run_id, version_id in runs.values_list("pk", "version_id"):
        live = ScoringPass.objects.filter(version=version_id).exclude(state="retired")
        for pass_id in live.order_by("pk").values_list("pk", flat=True):
            scheduling.owe_sum(run_id, pass_id)
    tasks.nudge()


@work.owing()
def open_window(
    board: Board,
    label: str,
    opens_at: datetime,
    closes_at: datetime,
    *,
    window: Window | None = None,
    by: Any = None,
) -> Window:
    """Set a window of a board, or move one in which nothing has been recorded yet.

    Runs that came in since it opens are summed up again. Raises AcademyError for one that has no
    length, overlaps another one, has a label that is taken, or holds results.
    """
    locked = Board.objects.select_for_update().get(pk=board.pk)
    problem = window_problem(locked, label, opens_at, closes_at, window=window)
    if problem:
        raise AcademyError(problem)
    since = min(opens_at, window.opens_at) if window else opens_at
    made = window or Window(board=locked)
    made.board, made.label, made.opens_at, made.closes_at = locked, label, opens_at, closes_at
    made.save()
    auditing.note("window.set", f"board:{locked.pk}", by=by, label=label)
    runs = Run.objects.filter(
        version__in=locked.versions.all(),
        kind=Run.Kind.ENTRANT,
        created_at__gte=since,
        state__in=("open", "closed"),
    )
    owe_sums(runs.order_by("pk"))
    return made


def window_problem(
    board: Board,
    label: str,
    opens_at: datetime,
    closes_at: datetime,
    *,
    window: Window | None = None,
) -> str:
    """Why a window cannot be so, or nothing."""
    others = board.windows.exclude(pk=window.pk) if window else board.windows.all()
    clash = others.filter(opens_at__lt=closes_at, closes_at__gt=opens_at).order_by("pk").first()
    if closes_at <= opens_at:
        return "A window closes after it opens."
    if clash is not None:
        return f"It overlaps the window {clash.label!r}; a run belongs to one window only."
    if others.filter(label=label).exists():
        return f"The board has a window {label!r} already."
    if window is not None and is_used(window):
        return f"The window {window.label!r} holds results; it does not change any more."
    return ""


def is_used(window: Window) -> bool:
    """Whether something has been recorded in a window, so that it stays as it is."""
    return window.results.exists()
