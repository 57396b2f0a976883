"""The core app."""

from __future__ import annotations

from django.apps import AppConfig


class AcademyConfig(AppConfig):
    """Suites, tasks, runs, records and scores."""

    name = "academy"

    def ready(self) -> None:
        """Register the system checks and the kinds of work."""
        from academy import checks, scoring, work  # noqa: F401

        work.register("score", scoring.score_unit)
        work.register("aggregate", scoring.aggregate_run)
