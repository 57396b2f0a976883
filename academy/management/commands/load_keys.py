"""manage.py load_keys SUITE@VERSION PATH [--dry-run] [--json]: held-out answer keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, keying
from academy.keying import KeyReport
from academy.management.printing import acting_person, existing_path, print_report, refusing


class Command(BaseCommand):
    """Load held-out answer keys as new revisions. Exit 0 done, 1 refused, 2 wrong usage."""

    help = "Load the held-out answer keys of a file, folder or zip."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version, the path and how to load."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("path", type=existing_path, help="a file, folder or zip")
        parser.add_argument("--reason", default="", help="why; kept with every new revision")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--dry-run", action="store_true", help="report and change nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, version_name: str, path: Path, **options: Any) -> None:
        """Load, and print what became of every key and file. A key itself is never printed."""
        with refusing(self, as_json=options["json"]):
            report = keying.load_key_path(
                intake.find_version(version_name),
                path,
                reason=options["reason"],
                by=acting_person(options["by"]),
                dry_run=options["dry_run"],
            )
            print_report(self, report.as_json(), lines(report), as_json=options["json"])


def lines(report: KeyReport) -> list[str]:
    """What was done, in sentences."""
    counts = dict.fromkeys(("new", "revised", "unchanged"), 0)
    for key in report.keys:
        counts[key.outcome] += 1
    told = [
        f"{report.version}: {counts['new']} new keys, {counts['revised']} revised, "
        f"{counts['unchanged']} unchanged"
    ]
    if report.missing:
        told.append(
            f"{len(report.missing)} tasks still lack a key: {', '.join(report.missing[:10])}"
        )
    if report.scoring_pass is not None:
        made = report.scoring_pass
        told.append(f"pass {made.number} is {made.state}")
    if report.agreement:
        figures = ", ".join(f"{name} {value}" for name, value in report.agreement.items())
        told.append(f"agreement of raters: {figures}")
    if report.to_confirm:
        told.append(
            f"{len(report.to_confirm)} keys are a consensus that a curator has yet to confirm: "
            + ", ".join(report.to_confirm[:10])
        )
    return told
