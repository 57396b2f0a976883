"""From a path to an import: what command line, admin page and examples have in common."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from django.db import transaction

from academy import importing, recording, registry, specs, work
from academy.bundle import RunUpload
from academy.entering import resolve_version
from academy.errors import AcademyError
from academy.formats.base import Format
from academy.formats.reading import Files
from academy.importing import ImportOptions, ImportReport
from academy.models import Run, SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from academy.uploads import open_upload


def import_suite_files(
    files: Files, *, digest: str, fmt: Format | None, options: ImportOptions
) -> ImportReport:
    """Find the format, read the suites and store them. Raises AcademyError with every place."""
    chosen = fmt or registry.detect(files)
    if chosen.parse_suite is None:
        raise AcademyError(f"The format {chosen.key} has no suites, only runs.")
    return importing.import_suites(
        chosen.parse_suite(files), files=files, source_digest=digest, options=options
    )


def import_suite_path(path: Path, *, format_key: str = "", options: ImportOptions) -> ImportReport:
    """Import the suites of a file, folder or zip."""
    fmt = registry.format_of(format_key) if format_key else None
    upload = open_upload(path)
    report = import_suite_files(upload.files, digest=upload.digest, fmt=fmt, options=options)
    return replace(report, files=(*report.files, *upload.left_out))


def import_run_files(
    files: Files, *, digest: str, fmt: Format | None, options: RecordingOptions
) -> RecordingReport:
    """Find the form, read the runs and store them. Raises AcademyError with every place."""
    chosen = fmt or registry.detect(files, run=True)
    if chosen.parse_run is None:
        able = ", ".join(key for key, fmt in registry.all_formats().items() if fmt.parse_run)
        raise AcademyError(f"The format {chosen.key} has no runs; forms of runs are {able}.")
    suite = specs.suite_spec(options.version) if options.version else None
    upload = chosen.parse_run(files, suite)
    if suite is None and (version := common_version(upload)) is not None:
        # What the version knows, such as its plans, belongs to how its runs are read.
        upload = chosen.parse_run(files, specs.suite_spec(version))
    with work.owing():
        if options.version is None:
            import_collections(files, digest=digest, fmt=chosen, options=options)
        report = recording.record_runs(
            upload, form=chosen.key, files=files, source_digest=digest, options=options
        )
        if options.dry_run:
            transaction.set_rollback(True)
    return report


def common_version(upload: RunUpload) -> SuiteVersion | None:
    """The one stored version that all runs of an upload name; none of a growing collection."""
    try:
        asked = {spec.suite: spec for spec in upload.runs}
        named = {version.pk: version for version in map(resolve_version, asked.values())}
    except AcademyError:
        # Whoever stores the runs says what is wrong with their names.
        return None
    version = next(iter(named.values())) if len(named) == 1 else None
    is_open = version is not None and version.mode == SuiteVersion.Mode.COLLECTION
    return None if is_open else version


def import_collections(
    files: Files, *, digest: str, fmt: Format, options: RecordingOptions
) -> None:
    """Grow the open collections that an upload of runs carries with it, where a format has such."""
    if fmt.parse_suite is None or not fmt.claims(files):
        return
    parsed = fmt.parse_suite(files)
    if parsed.suites and all(suite.mode == "collection" for suite in parsed.suites):
        importing.import_suites(
            parsed,
            files=files,
            source_digest=digest,
            options=ImportOptions(publish=True, by=options.account, is_example=options.is_example),
        )


def import_run_path(
    path: Path, *, format_key: str = "", options: RecordingOptions
) -> RecordingReport:
    """Import the runs of a file, folder or zip."""
    fmt = registry.format_of(format_key) if format_key else None
    upload = open_upload(path)
    report = import_run_files(upload.files, digest=upload.digest, fmt=fmt, options=options)
    return replace(report, files=(*report.files, *upload.left_out))


def find_version(name: str) -> SuiteVersion:
    """The version of a SUITE@VERSION. Raises AcademyError that lists what there is."""
    suite, version = importing.parse_name(name)
    found: SuiteVersion | None = SuiteVersion.objects.filter(
        suite__slug=suite, name=version
    ).first()
    if found is not None:
        return found
    known = SuiteVersion.objects.filter(suite__slug=suite).select_related("suite")
    listed = ", ".join(str(row) for row in known.order_by("pk")) or "none of this suite"
    raise AcademyError(f"There is no {name}; known versions: {listed}.")


def find_run(number: int) -> Run:
    """The run of that number. Raises AcademyError when there is none."""
    runs = Run.objects.select_related("entrant", "version__suite")
    found: Run | None = runs.filter(pk=number).first()
    if found is None:
        raise AcademyError(f"There is no run {number}.")
    return found
