"""manage.py export_run RUN --out PATH [--as FORM] [--mode MODE] [--whole-upload] [--json]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from academy import downloads, exporting, intake
from academy.downloads import Export
from academy.management.printing import acting_person, print_export, refusing
from academy.models import Run
from academy.scorers.base import Mode


class Command(BaseCommand):
    """Write a stored run. Exit 0 done, 1 refused, 2 wrong usage."""

    help = "Write a stored run in the form in which it came, or its scores in another form."

    def add_arguments(self, parser: CommandParser) -> None:
        """The run, the form, and where it goes."""
        parser.add_argument("run", type=int, metavar="RUN", help="the number of the run")
        parser.add_argument("--out", type=Path, required=True, help="a new folder, or a .zip")
        parser.add_argument(
            "--as",
            dest="form",
            metavar="FORM",
            default="",
            help="write the scored run in this form, whatever form it came in",
        )
        parser.add_argument(
            "--mode",
            choices=[str(mode) for mode in Mode],
            default=str(Mode.STRICT),
            help="which scores go into another form",
        )
        parser.add_argument(
            "--whole-upload",
            action="store_true",
            help="with all runs that share files with it, so that these files are whole",
        )
        parser.add_argument(
            "--with-keys",
            action="store_true",
            help="with expected answers, where another form has a place for them; needed for a run "
            "that is made of answer keys",
        )
        parser.add_argument("--by", metavar="ACCOUNT", default="", help="who asks for keys")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        """Export, and say what was written and what was left out."""
        with refusing(self, as_json=options["json"]):
            downloads.check_target(out)
            export = self.export(intake.find_run(options["run"]), options)
            downloads.write(export, out)
            print_export(self, export, out, as_json=options["json"])

    def export(self, run: Run, options: dict[str, Any]) -> Export:
        """The files that were asked for."""
        keys = {"with_keys": options["with_keys"], "by": acting_person(options["by"])}
        if options["form"]:
            mode = Mode(options["mode"])
            return exporting.export_scores(
                run, form=options["form"], at=timezone.now(), mode=mode, **keys
            )
        if options["whole_upload"]:
            return exporting.export_upload(run, **keys)
        return exporting.export_run(run, **keys)
