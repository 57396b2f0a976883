"""The adjudication app."""

from __future__ import annotations

from django.apps import AppConfig


class AdjudicationConfig(AppConfig):
    """People decide what scorers cannot."""

    name = "adjudication"

    def ready(self) -> None:
        """Register the kinds of review, and the kinds of its work."""
        from academy import bulk_exporting, questioning, work
        from adjudication import (
            assigning,
            deciding,
            defect_kind,
            digesting,
            figuring,
            kinds,
            routing_items,
            verdict_exporting,
        )
        from adjudication.appeal_kind import APPEAL_KIND
        from adjudication.finding_kind import FINDING_KIND
        from adjudication.key_kind import KEY_KIND
        from adjudication.record_kinds import RECORD_KINDS
        from adjudication.routing_kind import ROUTING_KIND

        others = (FINDING_KIND, defect_kind.DEFECT_KIND, APPEAL_KIND, KEY_KIND)
        for kind in (*RECORD_KINDS, ROUTING_KIND, *others):
            kinds.register(kind)
        kinds.follow_verdicts(defect_kind.open_defects)
        work.register(digesting.KIND, digesting.send_digest)
        questioning.follow_findings("refresh_queue")
        work.register("refresh_queue", assigning.refresh_queue)
        work.register(routing_items.WORK, routing_items.look_at_run)
        work.register("finalise_seat", deciding.finalise_seat)
        work.register(figuring.KIND, figuring.count_in_background)
        bulk_exporting.register("verdicts", verdict_exporting.QueueVerdicts())
        work.follow_versions("refresh_queue")
