"""manage.py carry_run RUN_ID… --to SUITE@VERSION [--json]: runs brought to a corrected version."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import carrying, intake
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import Run


class Command(BaseCommand):
    """Carry runs over to another version of their suite. Exit 0 done, 1 refused."""

    help = "Carry closed runs over to another version of their suite."

    def add_arguments(self, parser: CommandParser) -> None:
        """The runs and where to."""
        parser.add_argument("runs", type=int, nargs="*", metavar="RUN", help="ids of runs")
        parser.add_argument("--to", required=True, metavar="SUITE@VERSION")
        parser.add_argument("--all-of", metavar="SUITE@VERSION", help="every closed entrant's run")
        parser.add_argument("--reason", default="", help="why; kept with the runs")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, runs: list[int], **options: Any) -> None:
        """Carry, and print what came along and what did not."""
        with refusing(self, as_json=options["json"]):
            to_version = intake.find_version(options["to"])
            wanted = list(Run.objects.filter(pk__in=runs).order_by("pk"))
            if lacking := sorted(set(runs) - {run.pk for run in wanted}):
                raise AcademyError(f"There is no run {lacking[0]}.")
            if options["all_of"]:
                version = intake.find_version(options["all_of"])
                wanted += version.runs.filter(kind="entrant", state="closed").order_by("pk")
            told = [
                carrying.carry_run(
                    run,
                    to_version,
                    reason=options["reason"] or "carried to a corrected version",
                    by=acting_person(options["by"]),
                ).as_json()
                for run in wanted
            ]
            if options["json"]:
                self.stdout.write(json.dumps({"ok": True, "carried": told}, indent=2))
                return
            for row in told:
                self.stdout.write(
                    f"run {row['carried_from']} is run {row['run']}: run on {row['run_on']}, "
                    f"judged under {row['judged_under']}; {row['records']} records, "
                    f"{row['decisions']} decisions, "
                    f"{len(row['tasks_left_behind'])} tasks left behind"
                )
