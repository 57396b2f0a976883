"""manage.py judge SUITE@VERSION: ask the configured judge about criteria, or estimate the cost."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, judging
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import JudgeJob, Run, SuiteVersion


class Command(BaseCommand):
    """Start, estimate, watch, pause or go on with a judge. Exit 0 done, 1 refused."""

    help = "Ask the judge that the environment configures about the criteria of a version's runs."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and the act; without an act the asking is owed."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--run", type=int, action="append", default=[], metavar="ID")
        act = parser.add_mutually_exclusive_group()
        act.add_argument("--dry-run", action="store_true", help="estimate calls, tokens and cost")
        act.add_argument("--status", action="store_true", help="how far the judges are")
        act.add_argument("--pause", action="store_true")
        act.add_argument("--resume", action="store_true")
        act.add_argument("--allow", metavar="URL", help="let a sealed version's records go there")
        parser.add_argument("--reason", default="", help="why; kept with the job")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Do it, and print what there is."""
        with refusing(self, as_json=options["json"]):
            told = act(intake.find_version(version_name), options)
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2))
            else:
                self.stdout.write(
                    "\n".join(f"{name}: {value}" for name, value in told.items()) or "nothing"
                )


def act(version: SuiteVersion, options: dict[str, Any]) -> dict[str, Any]:
    """The one act that was asked for, and its outcome as plain values."""
    by = acting_person(options["by"])
    if options["allow"]:
        judging.allow_endpoint(version, options["allow"], by=by, reason=options["reason"])
        return {"ok": True, "allowed": options["allow"]}
    jobs = JudgeJob.objects.filter(version=version).order_by("pk")
    if options["status"] or options["pause"] or options["resume"]:
        for job in jobs:
            if options["pause"]:
                judging.pause(job, by=by)
            elif options["resume"]:
                judging.resume(job, by=by)
        return {"ok": True, "judges": [judging.progress(job) for job in jobs]}
    runs = list(Run.objects.filter(version=version, pk__in=options["run"])) or None
    if options["run"] and (runs is None or len(runs) != len(set(options["run"]))):
        raise AcademyError(f"{version} does not have all of these runs.")
    if options["dry_run"]:
        return {"ok": True, "dry_run": True, **judging.estimate(version, runs)}
    job = judging.start(version, runs, by=by, reason=options["reason"])
    return {"ok": True, "job": job.pk, **judging.progress(job)}
