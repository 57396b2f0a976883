"""The leaderboard app."""

from __future__ import annotations

from django.apps import AppConfig


class LeaderboardConfig(AppConfig):
    """Rankings over the rows of the core."""

    name = "leaderboard"

    def ready(self) -> None:
        """Follow the versions whose numbers move."""
        from academy import work
        from leaderboard import refreshing

        work.register("refresh_boards", refreshing.refresh_boards)
        work.follow_versions("refresh_boards")
