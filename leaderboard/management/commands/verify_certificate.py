"""manage.py verify_certificate FILE [--key PEM] [--revoked FILE] [--at TIME] [--json]."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from academy.errors import AcademyError
from academy.management.printing import existing_path, refusing
from leaderboard import verifying


class Command(BaseCommand):
    """Check a certificate of this site or of a form that a format knows; nothing is stored.

    Exit 0 valid, 2 expired, 3 revoked, 4 superseded, 5 under review, 1 for everything else.
    """

    help = "Check a certificate."

    def add_arguments(self, parser: CommandParser) -> None:
        """The file, and by what to check it."""
        parser.add_argument("path", type=existing_path, help="the certificate, JSON")
        parser.add_argument(
            "--key", type=existing_path, action="append", default=[], metavar="PEM",
            help="public keys of the issuer; may be given several times",
        )  # fmt: skip
        parser.add_argument(
            "--revoked", type=existing_path, help="revoked ids, as a JSON list or one a line"
        )
        parser.add_argument(
            "--at", default="", help="the time to ask for, ISO 8601; now by default"
        )
        parser.add_argument("--json", action="store_true", help="print the outcome as JSON")

    def handle(self, *args: Any, path: Path, **options: Any) -> None:
        """Print what was looked at, and end with the code of the state."""
        with refusing(self, as_json=options["json"]):
            keys = [
                pem
                for file in options["key"]
                for pem in verifying.keys_in(file.read_text(errors="replace"))
            ]
            found = verifying.verify(
                read_bounded(path),
                name=path.name,
                keys=keys,
                revoked=revoked_ids(options["revoked"]),
                at=moment(options["at"]),
            )
        if options["json"]:
            self.stdout.write(json.dumps(found.as_json(), ensure_ascii=False, indent=1))
        else:
            self.stdout.write(f"{found.title}, {found.form}: {found.state.replace('_', ' ')}")
            for check in found.checks:
                mark = {True: "ok", False: "NO", None: "--"}[check.ok]
                self.stdout.write(f"  {mark} {check.name} {check.detail}".rstrip())
        if found.exit_code:
            sys.exit(found.exit_code)


def read_bounded(path: Path) -> bytes:
    """The bytes of a file, and one more than may be where it is too large."""
    if path.is_dir():
        raise AcademyError(f"{path.name} is a folder, no certificate.")
    with path.open("rb") as stream:
        return stream.read(verifying.LONGEST + 1)


def revoked_ids(path: Path | None) -> list[str]:
    """Ids from a JSON list of texts, or from lines."""
    if path is None:
        return []
    text = path.read_text(errors="replace")
    try:
        found = json.loads(text)
    except ValueError:
        return [line.strip() for line in text.splitlines() if line.strip()]
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise AcademyError(f"{path.name} is no list of revoked ids.")
    return found


def moment(text: str) -> datetime:
    """A time from ISO 8601, in UTC where it names no zone."""
    if not text:
        return timezone.now()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{text!r} is no ISO 8601 time.") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found
