"""How import commands print reports and refusals, as text or JSON."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management.base import BaseCommand

from academy.downloads import Export
from academy.errors import SHOWN_PROBLEMS, AcademyError, FormatError, Problem


def existing_path(text: str) -> Path:
    """A path that is there; anything else is wrong usage."""
    path = Path(text)
    if not path.exists():
        raise argparse.ArgumentTypeError(f"{text} does not exist")
    return path


@contextmanager
def refusing(command: BaseCommand, *, as_json: bool) -> Iterator[None]:
    """Turn a refusal into its reasons and exit code 1."""
    try:
        yield
    except AcademyError as error:
        print_refusal(command, error, as_json=as_json)
        sys.exit(1)


def acting_person(name: str) -> Any:
    """The account that an act is done for, or None without a name. Raises AcademyError for an
    unknown one."""
    if not name:
        return None
    found = get_user_model().objects.filter(username=name).first()
    if found is None:
        raise AcademyError(f"There is no account {name!r}.")
    return found


def rows_of(error: AcademyError) -> list[Problem]:
    """The problems of a refusal; one without a place is a problem of the whole upload."""
    if isinstance(error, FormatError):
        return list(error.problems)
    return [Problem(file="", rule="refused", message=str(error))]


def print_refusal(command: BaseCommand, error: AcademyError, *, as_json: bool) -> None:
    """Print every reason with its place, up to a cap with the total."""
    problems = rows_of(error)
    total = error.total if isinstance(error, FormatError) else len(problems)
    if as_json:
        printed = {"ok": False, "findings": [p.as_row() for p in problems], "total": total}
        command.stdout.write(json.dumps(printed, indent=2, ensure_ascii=False))
        return
    command.stderr.write("Refused; nothing was changed.")
    for problem in problems[:SHOWN_PROBLEMS]:
        command.stderr.write(str(problem) if problem.file else problem.message)
    if total > SHOWN_PROBLEMS:
        command.stderr.write(f"and {total - SHOWN_PROBLEMS} more")


def print_report(
    command: BaseCommand, report: dict[str, Any], lines: Sequence[str], *, as_json: bool
) -> None:
    """Print a report: what was done, every file that was not imported, every warning."""
    if as_json:
        command.stdout.write(json.dumps(report, indent=2, ensure_ascii=False))
        return
    for line in lines:
        command.stdout.write(line)
    imported = sum(1 for file in report["files"] if file["status"] == "imported")
    command.stdout.write(f"{imported} of {len(report['files'])} files imported")
    for file in report["files"]:
        if file["status"] != "imported":
            reason = f": {file['reason']}" if file["reason"] else ""
            command.stdout.write(f"  {file['status']}  {file['path']}{reason}")
    for row in report["findings"]:
        place = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
        command.stdout.write(f"  {row['severity']}  {place} {row['pointer']}: {row['message']}")
    if report["dry_run"]:
        command.stdout.write("This was a dry run; nothing was changed.")


def print_export(command: BaseCommand, export: Export, out: Path, *, as_json: bool) -> None:
    """Print what was written, and what was left out."""
    if as_json:
        printed = {**export.as_json(), "out": str(out)}
        command.stdout.write(json.dumps(printed, indent=2, ensure_ascii=False))
        return
    files = export.written()
    size = sum(len(data) for data in files.values())
    command.stdout.write(f"{len(files)} files, {size} bytes, as {export.form}: {out}")
    for path in sorted(files):
        command.stdout.write(f"  {path}")
    for sentence in export.left_out:
        command.stdout.write(sentence)
