"""The core app."""

from __future__ import annotations

from django.apps import AppConfig


class AcademyConfig(AppConfig):
    """Suites, tasks, runs, records and scores."""

    name = "academy"

    def ready(self) -> None:
        """Register the system checks and the kinds of work."""
        from academy import checks, judging, passes, questioning, rasterising, scoring, work  # noqa: F401

        work.register("score", scoring.score_unit)
        work.register("aggregate", scoring.aggregate_run)
        work.register("schedule", scoring.schedule_pass)
        work.register("findings", questioning.question_run)
        work.register(judging.KIND, judging.judge_one)
        work.after_failure(judging.KIND, judging.give_up)
        work.after_failure("score", scoring.sum_after_failure)
        work.register("release", passes.stage_release)
        work.register("raster", rasterising.copy_drawing)
