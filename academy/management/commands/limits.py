"""manage.py limits SUITE@VERSION [--account N] [--organization N] [--days D] [--json]."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from academy import intake, limiting
from academy.management.printing import acting_person, refusing
from academy.models import SubmissionLimit


class Command(BaseCommand):
    """Show and set how many runs may be entered on a version; -1 lifts a limit."""

    help = "Show and set how many runs an account or organisation may enter on a version."

    def add_arguments(self, parser: CommandParser) -> None:
        """The version and its limits."""
        parser.add_argument("version_name", metavar="SUITE@VERSION")
        parser.add_argument("--account", type=int, metavar="N", help="most runs per account")
        parser.add_argument("--organization", type=int, metavar="N", help="per organisation")
        parser.add_argument("--days", type=int, metavar="D", help="in a rolling window of D days")
        parser.add_argument("--by", default="", metavar="USER", help="who does it")
        parser.add_argument("--json", action="store_true", help="print JSON")

    def handle(self, *args: Any, version_name: str, **options: Any) -> None:
        """Set what is named, and print what holds."""
        with refusing(self, as_json=options["json"]):
            version = intake.find_version(version_name)
            by = acting_person(options["by"])
            for scope in ("account", "organization"):
                if options[scope] is not None:
                    most = options[scope] if options[scope] >= 0 else None
                    limiting.set_limit(version, scope, most, days=options["days"], by=by)
            held = SubmissionLimit.objects.filter(version=version).order_by("scope", "days")
            rows = [{"scope": row.scope, "most": row.most, "days": row.days} for row in held]
            if options["json"]:
                self.stdout.write(json.dumps({"ok": True, "limits": rows}, indent=2))
            else:
                self.stdout.write("\n".join(str(row) for row in held) or "no limits")
