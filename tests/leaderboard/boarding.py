"""Boards with entries for tests, made by the real services; all names and numbers are invented."""

from __future__ import annotations

import hashlib
import random
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from academy import publishing
from academy.models import Run, SuiteVersion
from leaderboard.boards import StoredPolicy
from leaderboard.models import Board, Snapshot
from tests import factories as made
from tests.academy.formats import mypcbench_making as rubrics


def off(places: int, error: float = 10, *, seed: int = 1, of: int = 20) -> dict[str, float]:
    """Answers to t-0, t-1, … that are off by a few per cent on some tasks."""
    chosen = random.Random(seed).sample(range(of), places)
    return {f"t-{place}": 100 + (error if place in chosen else 0) for place in range(of)}


def drawn_version(slug: str = "example", tasks: int = 20, **changes: Any) -> SuiteVersion:
    """A takeoff version with a drawing for each task, so that each is its own cluster."""
    listed = [
        made.takeoff_task(
            f"t-{place}",
            100,
            slug=slug,
            version=changes.get("version", "1.0"),
            planset={
                "assetRef": f"d-{place}.svg",
                "assetHash": hashlib.sha256(f"drawing {place}".encode()).hexdigest(),
                "knownScale": None,
            },
        )
        for place in range(tasks)
    ]
    return made.takeoff_version(listed, slug=slug, **changes)


def let_rest(board: Board) -> None:
    """Let its snapshots be days old, so that their age in words stays while a test looks.

    The database keeps what is published as it is, so its triggers are passed by.
    """
    at = timezone.now() - timedelta(days=2)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        board.snapshots.filter(published_at__isnull=False).update(published_at=at)
        cursor.execute("SET LOCAL session_replication_role = origin")


def filled_board(slug: str = "example", tasks: int = 20, **changes: Any) -> Board:
    version = drawn_version(slug, tasks, **changes)
    for name, places in (("Alpha", 2), ("Beta", 3), ("Gamma", tasks - 2)):
        made.takeoff_run(version, off(places, of=tasks), name=name)
    made.score_all()
    board: Board = version.boards.order_by("pk").get()
    return board


def judged_version(tasks: int = 40, *, slug: str = "rubrics", sealed: bool = False) -> SuiteVersion:
    """A published version of rubric tasks of two difficulties with one criterion each."""
    listed = [
        made.rubric_task(
            f"q-{place}", 1, difficulty="easy" if place % 2 else "hard", _world_notes=None
        )
        for place in range(tasks)
    ]
    report = made.import_files({rubrics.BUCKET: listed}, rename=(slug, "1"))
    version = made.version_of(report)
    version.sealed = sealed
    version.save(update_fields=["sealed"])
    return publishing.publish_version(version, reason="made for a test")


def judged_run(version: SuiteVersion, name: str, passes: set[int], **changes: Any) -> Run:
    """A run whose judge says that these tasks are met and the others are not."""
    lines = [
        made.judged(f"q-{place}", place in passes, **changes)
        for place in range(version.tasks.count())
    ]
    suite = f"{version.suite.slug}@{version.name}"
    run_id = f"r-{next(made.numbers)}"
    document = made.line_run(*lines, suite=suite, entrant={"name": name}, run_id=run_id)
    return made.run_of(made.record_files(document, version))


def judged_board(slug: str = "rubrics", *, sealed: bool = False) -> Board:
    """Three entries on the board that counts one judge's verdicts, by exact McNemar."""
    version = judged_version(slug=slug, sealed=sealed)
    for name, count in (("Alpha", 36), ("Beta", 33), ("Gamma", 8)):
        judged_run(version, name, set(range(count)))
    made.score_all()
    board: Board = version.boards.get(policy__mode="reference")
    return board


def policy_of(board: Board, **changes: Any) -> StoredPolicy:
    """The stored policy of a board with some other values."""
    return StoredPolicy.read({**board.policy, **changes})


def newest(board: Board) -> Snapshot:
    """The newest public snapshot; there must be one."""
    snapshot = board.newest_snapshot()
    assert snapshot is not None
    return snapshot


def row_of(board: Board, name: str) -> dict[str, Any]:
    """The newest row of an entrant."""
    rows: list[dict[str, Any]] = newest(board).standings["standings"]
    return next(row for row in rows if row["name"] == name)
