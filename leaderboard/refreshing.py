"""Work that follows a change of a version's numbers: its boards are made and published anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from academy.models import SuiteVersion
from leaderboard import boards, standings
from leaderboard.models import Board


def refresh_boards(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "refresh_boards": the boards of a version that changed exist, and each owes a
    snapshot. A board has one row of work, however many of its versions change meanwhile."""
    version = (
        SuiteVersion.objects.exclude(state=SuiteVersion.State.DRAFT)
        .select_related("suite")
        .filter(pk=payload["version"])
        .first()
    )

    def write() -> None:
        if version is None:
            return
        boards.ensure_boards(version)
        for board in version.boards.order_by("pk"):
            boards.owe_snapshot(board)

    return write


def publish_board(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "publish_board": the next snapshot of a board, if anything changed."""
    board = Board.objects.filter(pk=payload["board"]).first()
    computed = standings.compute(board) if board else None

    def write() -> None:
        if board is not None and computed is not None:
            standings.store_snapshot(board, computed)

    return write
