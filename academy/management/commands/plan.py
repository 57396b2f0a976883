"""manage.py plan SUITE@VERSION [--sample N --strategy S] [--json]: what a study wants, and has."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, piloting, studying
from academy.management.printing import acting_person, refusing


class Command(BaseCommand):
    """Print the executions a study wants, in order, and which have arrived. Exit 1 refused."""

    help = "Print the executions that a study of a version wants, and which have arrived."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and the sample."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--sample", type=int, metavar="N", help="so many executions")
        parser.add_argument("--strategy", default="", help="how a sample is drawn")
        parser.add_argument("--scenario", action="append", default=[], metavar="ID")
        parser.add_argument("--mode", default="", help="reference (as the original) or strict")
        parser.add_argument("--plan", default="", metavar="NAME", help="a plan kept with the suite")
        parser.add_argument("--keep", default="", metavar="NAME", help="keep the plan by this name")
        parser.add_argument("--by", default="", metavar="USER", help="who keeps it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Plan, hold against what has come, and print both."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            asked = {
                name: options[name]
                for name in ("sample", "strategy", "mode", "plan")
                if options[name]
            }
            if options["sample"] == 0:
                asked["sample"] = 0
            if options["scenario"]:
                asked["scenarios"] = options["scenario"]
            plan = studying.make_plan(version, asked)
            told = {
                "ok": True,
                "version": str(version),
                **plan,
                "status": studying.status_of(version, plan),
                "pilot": piloting.pilot_facts(version),
            }
            if options["keep"]:
                by = acting_person(options["by"])
                kept = studying.keep_plan(version, plan, name=options["keep"], by=by)
                told["kept"] = {"plan": kept.pk, "hash": kept.plan_hash}
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2, ensure_ascii=False))
            else:
                self.stdout.write("\n".join(lines(told)))


def lines(told: dict[str, Any]) -> list[str]:
    """The plan in sentences, its executions one a line."""
    status = told["status"]
    found = [
        f"{told['version']}: {len(told['executions'])} executions wanted, {status['arrived']} "
        f"arrived, {status['missing']} missing, {status['surplus']} surplus"
    ]
    if told["pilot"]:
        found.append(piloting.pilot_sentence(told["pilot"]))
    found += [
        f"  {row['model']} {row['scenario']} replicate {row['replicate']}: {row['wanted']} wanted, "
        f"{row['arrived']} arrived, {row['missing']} missing, {row['surplus']} surplus"
        for row in status["strata"]
    ]
    found += [
        f"{position} " + " ".join(str(part) for part in row["record"].values())
        for position, row in enumerate(told["executions"], 1)
    ]
    return found
