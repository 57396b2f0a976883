"""Work that follows a change of a version's numbers: its boards are made and published anew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from academy.models import SuiteVersion
from leaderboard import boards, standings


def refresh_boards(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "refresh_boards": a new snapshot of each board of the version that changed."""
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
            standings.publish_snapshot(board)

    return write
