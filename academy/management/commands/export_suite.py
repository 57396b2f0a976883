"""manage.py export_suite SUITE@VERSION --out PATH [--with-keys] [--json]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import downloads, exporting, intake
from academy.management.printing import acting_person, print_export, refusing


class Command(BaseCommand):
    """Write a stored version in its own format. Exit 0 done, 1 refused, 2 wrong usage."""

    help = "Write a stored version in its own format, as a folder or a zip."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version, and where it goes."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--out", type=Path, required=True, help="a new folder, or a .zip")
        parser.add_argument(
            "--with-keys",
            action="store_true",
            help="with sealed answer keys and holdout tasks; the trail notes it",
        )
        parser.add_argument("--by", metavar="ACCOUNT", default="", help="who asks for keys")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *args: Any, out: Path, **options: Any) -> None:
        """Export, and say what was written and what was left out."""
        with refusing(self, as_json=options["json"]):
            downloads.check_target(out)
            export = exporting.export_suite(
                intake.find_version(options["version_name"]),
                with_keys=options["with_keys"],
                by=acting_person(options["by"]),
                why=f"export_suite to {out.name}",
            )
            downloads.write(export, out)
            print_export(self, export, out, as_json=options["json"])
