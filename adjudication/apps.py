"""The adjudication app."""

from __future__ import annotations

from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    """People decide what scorers cannot."""

    name = "adjudication"

    def ready(self) -> None:
        """Register the kinds of work of review."""
        from academy import work
        from adjudication import assigning, deciding

        work.register("refresh_queue", assigning.refresh_queue)
        work.register("finalise_seat", deciding.finalise_seat)
        work.follow_versions("refresh_queue")
