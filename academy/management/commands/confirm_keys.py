"""manage.py confirm_keys SUITE@VERSION --by USER --reason TEXT [--task ID …] [--json]."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import confirming, intake, specs
from academy.errors import AcademyError
from academy.management.printing import acting_person, refusing


class Command(BaseCommand):
    """Confirm what several raters made together. Exit 0 done, 1 refused."""

    help = "Confirm the consensus of raters in the answer keys of a version."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version, who confirms, and which keys; all that wait unless some are named."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--task", action="append", default=[], metavar="ID")
        parser.add_argument("--by", required=True, metavar="USER", help="the curator who confirms")
        parser.add_argument("--reason", required=True, help="why; kept with the confirmation")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Confirm, and print how many keys that are. A key itself is never printed."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            waiting = confirming.unconfirmed(version, specs.latest_keys(version).values())
            named = {key.task.external_id: key for key in waiting}
            if lacking := sorted(set(options["task"]) - named.keys()):
                raise AcademyError(f"No consensus for task {lacking[0]!r} of {version} waits.")
            chosen = [named[name] for name in options["task"] or named]
            by = acting_person(options["by"])
            made = confirming.confirm(chosen, by=by, reason=options["reason"])
            told = {"ok": True, "version": str(version), "confirmed": made}
            if options["json"]:
                self.stdout.write(json.dumps(told, indent=2))
            else:
                self.stdout.write(f"{made} answer keys of {version} are confirmed.")
