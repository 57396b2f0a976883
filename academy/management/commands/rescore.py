"""manage.py rescore SUITE@VERSION [--run ID …] [--pass N] [--status|--pause|--resume] [--json]."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, passes, rescoring
from academy.management.printing import acting_person, refusing
from academy.models import SuiteVersion


class Command(BaseCommand):
    """Score runs again, in the published and staged pass or in one. Exit 0 done, 1 refused."""

    help = "Score one, several or all closed runs of a version again."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and which runs."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--run", type=int, action="append", default=[], metavar="ID")
        parser.add_argument("--pass", type=int, dest="number", metavar="N", help="only in pass N")
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--status", action="store_true", help="only how far the scoring is")
        act.add_argument("--pause", action="store_true", help="let what is owed wait")
        act.add_argument("--resume", action="store_true", help="go on with what waits")
        parser.add_argument("--reason", default="", help="why; kept with the run")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Do it, and print how far the scoring is."""
        with refusing(self, as_json=options["json"]):
            told = act(intake.find_version(version_name), options)
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2))
                return
            held = told["progress"]
            self.stdout.write(
                f"{len(told['runs'])} runs of {told['version']}: {told['units']} units of work "
                f"{told['act']}; {held['done']} of {held['units']} done, {held['paused']} paused, "
                f"{held['failed']} failed"
            )


def act(version: SuiteVersion, options: dict[str, Any]) -> dict[str, Any]:
    """Do what was asked for with the chosen runs, and tell how far their scoring is."""
    by = acting_person(options["by"])
    reason = options["reason"] or "asked for on the command line"
    runs = rescoring.chosen_runs(version, options["run"])
    if options["status"]:
        units, done = rescoring.progress(runs)["owed"], "owed"
    elif options["pause"]:
        units, done = rescoring.pause(runs, by=by, reason=reason), "paused"
    elif options["resume"]:
        units, done = rescoring.resume(runs, by=by, reason=reason), "ready again"
    else:
        number = options["number"]
        chosen = passes.find_pass(version, number) if number else None
        units = rescoring.score_again(runs, reason=reason, by=by, scoring_pass=chosen)
        done = "owed"
    return {
        "ok": True,
        "version": str(version),
        "act": done,
        "runs": [run.pk for run in runs],
        "units": units,
        "progress": rescoring.progress(runs),
    }
