"""manage.py baseline: execute, compare and approve are three acts, by whoever may."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, studying
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing
from academy.models import Baseline, Plan, Run


class Command(BaseCommand):
    """Note, compare or approve a baseline of a kept plan. Exit 0 done, 1 refused."""

    help = "Execute, compare or approve a baseline of a plan kept with a version."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version, the plan and the act."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--plan", default="", metavar="HASH", help="the kept plan")
        act = parser.add_mutually_exclusive_group(required=True)
        act.add_argument("--execute", type=int, nargs="+", metavar="RUN")
        act.add_argument("--compare", type=int, metavar="ID")
        act.add_argument("--approve", type=int, metavar="ID")
        parser.add_argument("--reason", default="")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Do the one act, and print the baseline."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            by = acting_person(options["by"])
            if options["execute"]:
                plan = Plan.objects.filter(
                    version=version, plan_hash__startswith=options["plan"]
                ).first()
                if plan is None or not options["plan"]:
                    raise AcademyError(f"{version} keeps no plan {options['plan']!r}.")
                runs = list(Run.objects.filter(pk__in=options["execute"]).order_by("pk"))
                baseline = studying.execute_baseline(plan, runs, by=by)
            else:
                pk = options["compare"] or options["approve"]
                held = Baseline.objects.filter(plan__version=version, pk=pk).first()
                if held is None:
                    raise AcademyError(f"{version} has no baseline {pk}.")
                baseline = (
                    studying.compare_baseline(held, by=by)
                    if options["compare"]
                    else studying.approve_baseline(held, by=by, reason=options["reason"])
                )
            told = {
                "baseline": baseline.pk,
                "state": baseline.state,
                "digest": baseline.digest,
                "records": len(baseline.record_digests),
                "comparison": baseline.comparison,
                "replaces": baseline.replaces_id,
            }
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2))
            else:
                self.stdout.write(
                    f"baseline {told['baseline']} is {told['state']}: {told['records']} records, "
                    f"digest {told['digest'][:12]}"
                )
