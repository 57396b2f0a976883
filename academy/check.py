"""python -m academy.check PATH [--format F] [--json]: read suites and runs, and say what is wrong.

Needs neither a database nor Django. Exit status: 0 read, 1 refused with reasons, 2 wrong usage.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from academy.bundle import FileReport, FileStatus, RunSpec, RunUpload, SuiteSpec, SuiteUpload
from academy.errors import SHOWN_PROBLEMS, AcademyError, FormatError, Problem, Severity
from academy.formats.base import Format
from academy.formats.reading import Files
from academy.registry import all_formats, detect, format_of
from academy.uploads import open_upload

ORDER = (FileStatus.REFUSED, FileStatus.IMPORTED, FileStatus.RECOGNISED)
NOT_LOADED = "not loaded, since the upload is refused"


@dataclass(slots=True)
class Report:
    """All that a check has to say."""

    suites: list[Mapping[str, Any]] = field(default_factory=list)
    runs: list[Mapping[str, Any]] = field(default_factory=list)
    files: dict[str, FileReport] = field(default_factory=dict)
    findings: list[Problem] = field(default_factory=list)
    formats: dict[str, str] = field(default_factory=dict)
    errors: int = 0

    def refuse(self, error: AcademyError, path: str) -> None:
        """Take over what an error says."""
        if not isinstance(error, FormatError):
            self.findings.append(Problem(path, "upload", str(error)))
            self.errors += 1
            return
        self.findings += error.problems
        self.errors += error.total
        for problem in error.problems:
            if problem.file in self.files:
                why = problem.message
                self.files[problem.file] = FileReport(problem.file, FileStatus.REFUSED, why)

    def take_files(self, reports: Iterable[FileReport]) -> None:
        """Keep one report per file: refused before imported before recognised."""
        for report in reports:
            known = self.files.get(report.path)
            is_first = known is None or known.reason == NOT_LOADED
            if is_first or ORDER.index(report.status) < ORDER.index(known.status):  # type: ignore[union-attr]
                self.files[report.path] = report

    def as_json(self) -> dict[str, object]:
        """The report as plain values, always with the same keys."""
        return {
            "format": " ".join(dict.fromkeys(self.formats.values())),
            "kind": " and ".join(self.formats),
            "suites": self.suites,
            "runs": self.runs,
            "files": [
                {"path": f.path, "status": f.status.value, "reason": f.reason, "suite": f.suite}
                for f in sorted(self.files.values(), key=lambda report: report.path)
            ],
            "findings": [problem.as_row() for problem in self.findings],
            "errors": self.errors,
            "ok": self.errors == 0,
        }


def check_path(path: Path, chosen: Format | None = None) -> Report:
    """Read everything at a path as suites and as runs, whichever it holds. Stores nothing."""
    report = Report()
    try:
        upload = open_upload(path)
    except AcademyError as error:
        report.refuse(error, path.name)
        return report
    unread = FileStatus.RECOGNISED
    report.files = {str(name): FileReport(str(name), unread, NOT_LOADED) for name in upload.files}
    report.take_files(upload.left_out)
    try:
        suite_format, run_format = formats_of(upload.files, chosen)
    except AcademyError as error:
        report.refuse(error, path.name)
        return report
    suites: tuple[SuiteSpec, ...] = ()
    if suite_format is not None:
        suites = check_suites(upload.files, suite_format, report, path.name)
    if run_format is not None:
        check_runs(upload.files, run_format, suites, report, path.name)
    return report


def formats_of(files: Files, chosen: Format | None) -> tuple[Format | None, Format | None]:
    """The formats that read these files as suites and as runs. Raises AcademyError for none."""
    known = [chosen] if chosen is not None else list(all_formats().values())
    for_suites = [fmt for fmt in known if fmt.parse_suite is not None and fmt.claims(files)]
    for_runs = [fmt for fmt in known if fmt.parse_run is not None and fmt.claims_run(files)]
    if len(for_suites) > 1:
        detect(files)
    if len(for_runs) > 1:
        detect(files, run=True)
    if not for_suites and not for_runs:
        named = ", ".join(fmt.key for fmt in known)
        raise AcademyError(f"No format recognises these files as a suite or a run, tried: {named}.")
    return next(iter(for_suites), None), next(iter(for_runs), None)


def check_suites(files: Files, fmt: Format, report: Report, path: str) -> tuple[SuiteSpec, ...]:
    """Parse suites into the report."""
    report.formats["suite"] = fmt.key
    assert fmt.parse_suite is not None
    report.findings += compatibility(fmt, files)
    try:
        upload: SuiteUpload = fmt.parse_suite(files)
    except AcademyError as error:
        report.refuse(error, path)
        return ()
    report.suites += [suite_row(suite) for suite in upload.suites]
    report.findings += upload.notices
    report.take_files(upload.files)
    return upload.suites


def compatibility(fmt: Format, files: Files) -> Iterator[Problem]:
    """What the original's own checker would say. It never refuses, so no error is among it."""
    for problem in fmt.compatibility(files):
        is_error = problem.severity is Severity.ERROR
        yield replace(problem, severity=Severity.WARNING) if is_error else problem


def suite_row(suite: SuiteSpec) -> Mapping[str, Any]:
    """What is said of a suite."""
    return {
        "format": suite.format,
        "slug": suite.slug,
        "version": suite.version,
        "title": suite.title,
        "mode": suite.mode,
        "tasks": len(suite.tasks),
        "with_key": sum(task.key is not None for task in suite.tasks),
        "metrics": [metric.key for metric in suite.metrics],
    }


def check_runs(
    files: Files, fmt: Format, suites: tuple[SuiteSpec, ...], report: Report, path: str
) -> None:
    """Parse runs with all their records into the report."""
    report.formats["run"] = fmt.key
    assert fmt.parse_run is not None
    if report.formats.get("suite") != fmt.key:
        report.findings += compatibility(fmt, files)
    try:
        upload: RunUpload = fmt.parse_run(files, suites[0] if len(suites) == 1 else None)
        counts = [0] * len(upload.runs)
        for record in upload.records():
            counts[record.run] += 1
    except AcademyError as error:
        report.refuse(error, path)
        return
    report.runs += [
        run_row(run, fmt.key, records) for run, records in zip(upload.runs, counts, strict=True)
    ]
    report.findings += upload.notices
    report.take_files(upload.files)


def run_row(run: RunSpec, key: str, records: int) -> Mapping[str, Any]:
    """What is said of a run."""
    return {
        "format": key,
        "entrant": run.entrant.name,
        "external_id": run.external_id,
        "suite": run.suite.slug,
        "version": run.suite.version,
        "verification": run.verification,
        "results": len(run.results),
        "records": records,
    }


def lines_of(report: Report, path: str) -> Iterable[str]:
    """The report as lines for people."""
    for file in sorted(report.files.values(), key=lambda file: file.path):
        yield f"{file.status:10}  {file.path}" + (f"  ({file.reason})" if file.reason else "")
    for problem in report.findings:
        yield f"{problem.severity:10}  {problem}"
    shown = sum(problem.severity == "error" for problem in report.findings)
    if report.errors > shown:
        yield f"error       and {report.errors - shown} more (at most {SHOWN_PROBLEMS} are kept)"
    for suite in report.suites:
        name = " ".join(part for part in (suite["slug"], suite["version"]) if part)
        counts = f"{suite['tasks']} tasks, {suite['with_key']} with answer key"
        yield f"suite       {name} ({suite['format']}, {suite['mode']}): {counts}"
    for run in report.runs:
        name = " ".join(part for part in (run["suite"], run["version"]) if part) or "unnamed suite"
        yield f"run         {run['entrant']} on {name} ({run['format']}): {run['records']} records"
    yield f"{path}: {verdict_of(report)}"


def verdict_of(report: Report) -> str:
    """What became of the whole, in a few words."""
    if report.errors:
        return f"refused, {report.errors} errors"
    refused = sum(file.status is FileStatus.REFUSED for file in report.files.values())
    return f"read, but for {refused} refused files" if refused else "read"


def write(text: str) -> None:
    """Write a line; what the terminal cannot show is escaped."""
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding) + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Check a path as the command line says."""
    parser = argparse.ArgumentParser(prog="python -m academy.check", description=__doc__)
    parser.add_argument("path", type=Path, metavar="PATH", help="a folder, a file or a zip")
    parser.add_argument("--format", metavar="F", help="read as this format, do not find out")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of lines")
    options = parser.parse_args(arguments)
    try:
        is_there = options.path.exists()
        chosen = format_of(options.format) if options.format else None
    except (AcademyError, OSError) as error:
        parser.error(str(error))
    if not is_there:
        parser.error(f"there is no file or folder {str(options.path)!r}")
    report = check_path(options.path, chosen)
    if options.json:
        write(json.dumps(report.as_json(), indent=2, ensure_ascii=False))
    else:
        for line in lines_of(report, str(options.path)):
            write(line)
    return 0 if report.errors == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
