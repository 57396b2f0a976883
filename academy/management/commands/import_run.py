"""manage.py import_run PATH --version SUITE@VERSION [--entrant SLUG] [--human] [--dry-run]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake
from academy.management.printing import acting_person, existing_path, print_report, refusing
from academy.models import Run
from academy.recording import RecordingOptions, RecordingReport


class Command(BaseCommand):
    """Import the runs of a file, folder or zip. Exit 0 done, 1 refused, 2 wrong usage."""

    help = "Import the runs of a file, folder or zip."

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        """Django's own --version gives way to the version of the suite."""
        return super().create_parser(prog_name, subcommand, conflict_handler="resolve", **kwargs)

    def add_arguments(self, parser: CommandParser) -> None:
        """The path, the version it was run on, and how to import it."""
        parser.add_argument("path", type=existing_path, help="a file, folder or zip")
        parser.add_argument(
            "--version",
            dest="suite_version",
            metavar="SUITE@VERSION",
            default="",
            help="the version it was run on; needed unless the files name it",
        )
        parser.add_argument("--entrant", default="", metavar="SLUG", help="who entered it")
        parser.add_argument(
            "--human",
            action="store_true",
            help="a run that a person made under the same tasks and limits: the human baseline",
        )
        parser.add_argument("--format", default="", help="the form, when it cannot be detected")
        parser.add_argument(
            "--leave-out-unknown",
            action="store_true",
            help="list records of tasks the version lacks, instead of refusing the upload",
        )
        parser.add_argument("--by", default="", metavar="USER", help="the account that enters it")
        parser.add_argument("--dry-run", action="store_true", help="report and change nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        """Import, and print what became of every run and file."""
        with refusing(self, as_json=options["json"]):
            named = options["suite_version"]
            report = intake.import_run_path(
                path,
                format_key=options["format"],
                options=RecordingOptions(
                    version=intake.find_version(named) if named else None,
                    entrant=options["entrant"],
                    kind=Run.Kind.HUMAN if options["human"] else Run.Kind.ENTRANT,
                    account=acting_person(options["by"]),
                    unknown="leave_out" if options["leave_out_unknown"] else "refuse",
                    dry_run=options["dry_run"],
                    name=path.name,
                ),
            )
            print_report(self, report.as_json(), lines(report), as_json=options["json"])


def lines(report: RecordingReport) -> list[str]:
    """What was done, in sentences."""
    would = "would be " if report.dry_run else ""
    told = [
        f"run {run.run} of {run.entrant} on {run.version} {would}{run.outcome}: "
        f"{run.new_records} new of {run.records} records, {run.decisions} decisions, "
        f"attempt {run.attempt}"
        for run in report.runs
    ]
    if report.left_out:
        told.append(
            f"{len(report.left_out)} records left out, of unknown tasks, and counted nowhere: "
            + ", ".join(sorted(set(report.left_out))[:20])
        )
    return told
