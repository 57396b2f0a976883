"""manage.py close_run RUN_ID… [--failed|--withdrawn] [--reason TEXT] [--json]: runs end."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import ending
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import Run


class Command(BaseCommand):
    """Close open runs, so that they stand on their boards, or end runs otherwise. Exit 0 done, 1
    refused."""

    help = "Close open runs of which no piece is missing any more, or end runs otherwise."

    def add_arguments(self, parser: CommandParser) -> None:
        """The runs, and why."""
        parser.add_argument("runs", type=int, nargs="+", metavar="RUN", help="ids of runs")
        end = parser.add_mutually_exclusive_group()
        end.add_argument(
            "--failed",
            action="store_true",
            help="they failed through us: they rank no more, and cost no attempt",
        )
        end.add_argument("--withdrawn", action="store_true", help="taken off their boards")
        parser.add_argument("--reason", default="", help="kept with the run")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, runs: list[int], **options: Any) -> None:
        """End each run and print its state."""
        with refusing(self, as_json=options["json"]):
            wanted = list(Run.objects.filter(pk__in=runs).order_by("pk"))
            if lacking := sorted(set(runs) - {run.pk for run in wanted}):
                raise AcademyError(f"There is no run {lacking[0]}.")
            by = acting_person(options["by"])
            end, reason = ending.close_run, options["reason"]
            if options["failed"] or options["withdrawn"]:
                end = ending.fail_run if options["failed"] else ending.withdraw_run
            else:
                reason = reason or "all pieces received"
            closed = [end(run, reason=reason, by=by) for run in wanted]
            if options["json"]:
                told = [{"run": run.pk, "state": run.state} for run in closed]
                self.stdout.write(json.dumps({"ok": True, "runs": told}, indent=2))
                return
            for run in closed:
                self.stdout.write(f"run {run.pk} is {run.state}")
