"""What becomes of every real file: imported as command and page do it, unit by unit.

A unit is a folder as somebody would import it. `ACADEMY_WRITE=1` makes the test write the list.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from academy import intake, registry
from academy.bundle import FileReport, FileStatus
from academy.errors import AcademyError, FormatError
from academy.importing import ImportOptions, ImportReport
from academy.models import SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from academy.uploads import open_upload

LIST = Path(__file__).with_name("real_files.json")
# The folders below the data folder that are imported as one upload each.
UNITS = (
    "docbridge",
    "eee/aggregates",
    "eee/flat_index",
    "eee/harness_logs",
    "eee/instances/converted/helm",
    "eee/instances/converted/inspect",
    "eee/instances/converted/inspect_ai",
    "eee/instances/converted/lm_eval",
    "eee/instances/legacy-0.2.1",
    "eee/instances/proposal-text-to-image",
    "eee/instances/reference-pair",
    "eee/oracle",
    "eee/schemas",
    "eee/synthetic",
    "mypcbench/derived",
    "mypcbench/excerpts",
    "mypcbench/revisions/209c77fe",
    "mypcbench/tasks",
    "neckbeard/evals",
    "neckbeard/fixtures",
    "opentakeoff",
)
# Files whose runs name no version that is here: these are named when they are imported.
VERSIONS = {
    "docbridge": {"observation-ledger-v1.excerpt.json": "task-suite@v1"},
}
ORDER = (FileStatus.IMPORTED, FileStatus.REFUSED, FileStatus.RECOGNISED)
WITH_OTHERS = "not loaded, since the upload is refused"
NOBODY = "no format recognises the upload that it is in"


@dataclass(slots=True)
class Fate:
    """What became of the files of one unit, and the suites and runs that it gave."""

    files: dict[str, FileReport] = field(default_factory=dict)
    suites: list[ImportReport] = field(default_factory=list)
    runs: list[RecordingReport] = field(default_factory=list)

    def take(self, report: FileReport) -> None:
        """Keep the best that became of a file: imported before refused before left alone."""
        known = self.files.get(report.path)
        if known is None or ORDER.index(report.status) < ORDER.index(known.status):
            self.files[report.path] = report

    def refuse(self, error: AcademyError, members: list[str]) -> None:
        """Every place that an error names is refused, and nothing else is loaded."""
        for member in members:
            unread = FileReport(member, FileStatus.RECOGNISED, WITH_OTHERS)
            self.files.setdefault(member, unread)
        for problem in error.problems if isinstance(error, FormatError) else ():
            if problem.file in self.files:
                why = f"{problem.message} [{problem.rule}]"
                self.take(FileReport(problem.file, FileStatus.REFUSED, why))

    def rows(self) -> dict[str, list[str]]:
        """Status and reason by path."""
        return {
            path: [str(report.status), report.reason] if report.reason else [str(report.status)]
            for path, report in sorted(self.files.items())
        }


def import_unit(data: Path, unit: str) -> Fate:
    """Import the suites of a unit, publish them, then its runs; tell what became of each file."""
    path, fate = data / unit, Fate()
    upload = open_upload(path)
    for report in upload.left_out:
        fate.take(report)
    attempts = [
        import_suites if not is_run else import_runs
        for is_run in (False, True)
        for fmt in registry.all_formats().values()
        if (fmt.claims_run(upload.files) if is_run else fmt.claims(upload.files))
    ]
    for attempt in attempts:
        try:
            attempt(path, fate)
        except AcademyError as error:
            fate.refuse(error, [str(member) for member in upload.files])
    if not attempts:
        for member in upload.files:
            fate.take(FileReport(str(member), FileStatus.REFUSED, NOBODY))
    for name, version in VERSIONS.get(unit, {}).items():
        import_runs(path / name, fate, version=intake.find_version(version))
    return fate


def import_suites(path: Path, fate: Fate) -> None:
    """Import and publish the suites at a path."""
    report = intake.import_suite_path(path, options=ImportOptions(publish=True))
    fate.suites.append(report)
    for file in report.files:
        fate.take(file)


def import_runs(path: Path, fate: Fate, *, version: SuiteVersion | None = None) -> None:
    """Import the runs at a path; each file alone where they do not name one suite together."""
    options = RecordingOptions(name=path.name, version=version)
    try:
        report = intake.import_run_path(path, options=options)
    except FormatError:
        raise
    except AcademyError:
        if path.is_file():
            return
        for member in sorted(path.iterdir()):
            if member.is_file() and claims_runs(member):
                try:
                    import_runs(member, fate)
                except FormatError as error:
                    fate.refuse(error, [member.name])
        return
    fate.runs.append(report)
    for file in report.files:
        fate.take(file)


def claims_runs(path: Path) -> bool:
    """Whether any format takes a file for runs."""
    files = open_upload(path).files
    return any(fmt.claims_run(files) for fmt in registry.all_formats().values())


def outside(data: Path) -> list[str]:
    """The files below the data folder that are in no unit: its own papers."""
    return [
        name
        for path in sorted(data.rglob("*"))
        if path.is_file()
        and not any((name := path.relative_to(data).as_posix()).startswith(f"{u}/") for u in UNITS)
    ]
