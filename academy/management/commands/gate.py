"""manage.py gate SUITE@VERSION [--pass N] [--json]: whether a ranked version may be published."""

from __future__ import annotations

import json
import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import gating, intake, passes
from academy.management.printing import acting_person, refusing


class Command(BaseCommand):
    """Score null, shotgun and oracle answers. Exit 0 when the gate is open, 1 when it is shut."""

    help = (
        "Score the null, shotgun and oracle answers of a ranked version, and say what they came to."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and the pass."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--pass", type=int, dest="number", metavar="N", help="in pass N")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Hold the gate, and print every item that keeps it shut."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            report = gating.hold_gate(
                version,
                by=acting_person(options["by"]),
                scoring_pass=(
                    passes.find_pass(version, options["number"]) if options["number"] else None
                ),
            )
        if options["json"]:
            self.stdout.write(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines(report)))
        if not report.is_open:
            sys.exit(1)


def lines(report: gating.GateReport) -> list[str]:
    """How the gate came out, in sentences."""
    if not report.applies:
        return [f"{report.version} is not ranked and has no gate."]
    told = [
        f"The gate of {report.version} in pass {report.number} is "
        f"{'open' if report.is_open else 'shut'}."
    ]
    told += [f"  {item.task} ({item.run}, {item.metric}): {item.problem}" for item in report.items]
    if report.people:
        told.append(
            f"  People or judges decide {', '.join(report.people)}: only the empty run is tested, "
            "and a curator publishes with a signed reason."
        )
    told += [f"  {note}" for note in report.notes]
    return told
