"""manage.py rescore SUITE@VERSION [--run ID …] [--pass N] [--json]: score runs again."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, passes, rescoring
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import Run


class Command(BaseCommand):
    """Score runs again, in the published and staged pass or in one. Exit 0 done, 1 refused."""

    help = "Score one, several or all closed runs of a version again."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and which runs."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--run", type=int, action="append", default=[], metavar="ID")
        parser.add_argument("--pass", type=int, dest="number", metavar="N", help="only in pass N")
        parser.add_argument("--reason", default="", help="why; kept with the run")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Owe the scoring, and print how many units that are."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            runs = Run.objects.filter(version=version, state__in=("open", "closed"))
            if options["run"]:
                runs = Run.objects.filter(version=version, pk__in=options["run"])
            found = list(runs.select_related("version").order_by("pk"))
            if lacking := sorted(set(options["run"]) - {run.pk for run in found}):
                raise AcademyError(f"{version} has no run {lacking[0]}.")
            units = rescoring.score_again(
                found,
                reason=options["reason"] or "asked for on the command line",
                by=acting_person(options["by"]),
                scoring_pass=(
                    passes.find_pass(version, options["number"]) if options["number"] else None
                ),
            )
            told = {"version": str(version), "runs": [run.pk for run in found], "units": units}
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2))
            else:
                self.stdout.write(f"{len(found)} runs of {version}: {units} units of work owed")
