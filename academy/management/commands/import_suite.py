"""manage.py import_suite: the suites of a file, folder or zip become rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import importing, intake
from academy.importing import ImportOptions, ImportReport
from academy.management.printing import existing_path, print_report, refusing


class Command(BaseCommand):
    """Import the suites of a file, folder or zip. Exit 0 done, 1 refused, 2 wrong usage."""

    help = "Import the suites of a file, folder or zip."

    def add_arguments(self, parser: CommandParser) -> None:
        """The path and how to import it."""
        parser.add_argument("path", type=existing_path, help="a file, folder or zip")
        parser.add_argument("--as", dest="name", metavar="SUITE@VERSION", help="under this name")
        parser.add_argument("--format", default="", help="the format, when it cannot be detected")
        parser.add_argument("--dry-run", action="store_true", help="report and change nothing")
        parser.add_argument("--publish", action="store_true", help="publish what is imported")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        """Import, and print what became of every file."""
        with refusing(self, as_json=options["json"]):
            rename = importing.parse_name(options["name"]) if options["name"] else None
            report = intake.import_suite_path(
                path,
                format_key=options["format"],
                options=ImportOptions(
                    rename=rename, publish=options["publish"], dry_run=options["dry_run"]
                ),
            )
            print_report(self, report.as_json(), lines(report), as_json=options["json"])


def lines(report: ImportReport) -> list[str]:
    """What was done, in sentences."""
    would = "would be " if report.dry_run else ""
    return [
        f"{suite.suite}@{suite.version} {would}{suite.outcome}: {suite.tasks} tasks, "
        f"{suite.criteria} criteria, digest {suite.digest[:12]}, "
        f"{suite.note or suite.state}"
        for suite in report.suites
    ]
