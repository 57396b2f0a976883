"""The leaderboard app."""

from __future__ import annotations

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Rankings over the rows of the core."""

    name = "leaderboard"

    def ready(self) -> None:
        """Follow the versions whose numbers move."""
        from academy import bulk_exporting, comparing, summing, work
        from leaderboard import item_exporting, previewing, refreshing, windowing

        work.register("refresh_boards", refreshing.refresh_boards)
        work.register("publish_board", refreshing.publish_board)
        work.follow_versions("refresh_boards")
        bulk_exporting.register("board", item_exporting.BoardItems())
        comparing.preview_boards_with(previewing.preview)
        summing.know(windowing.facts, windowing.record)
