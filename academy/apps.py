"""The core app."""

from __future__ import annotations

from django.apps import AppConfig


class AcademyConfig(AppConfig):
    """Suites, tasks, runs, records and scores."""

    name = "academy"

    def ready(self) -> None:
        """Register the system checks and the kinds of work."""
        from academy import (
            bulk_exporting,
            bulk_importing,
            checks,  # noqa: F401
            judging,
            passes,
            picturing,
            questioning,
            rasterising,
            run_exports,
            scheduling,
            scoring,
            work,
        )

        work.register("score", scoring.score_unit)
        work.register("aggregate", scoring.aggregate_run)
        work.register("schedule", scheduling.schedule_pass)
        work.register("findings", questioning.question_run)
        work.register(judging.KIND, judging.judge_one)
        work.after_failure(judging.KIND, judging.give_up)
        work.after_failure("score", scheduling.sum_after_failure)
        work.register("release", passes.stage_release)
        work.register("raster", rasterising.copy_drawing)
        work.register(picturing.KIND, picturing.copy_picture)
        work.register(bulk_exporting.KIND, bulk_exporting.make_export)
        work.register(bulk_exporting.EXPIRE, bulk_exporting.expire_export)
        work.register(bulk_importing.KIND, bulk_importing.read_or_import)
        work.register(bulk_importing.EXPIRE, bulk_importing.expire)
        work.after_failure(bulk_importing.KIND, bulk_importing.give_up)
        bulk_exporting.register("run", run_exports.RunScores())
