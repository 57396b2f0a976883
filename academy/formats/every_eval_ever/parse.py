"""Reads an upload: the suites of its data sets, and what became of every file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from academy.bundle import FileReport, FileStatus, SuiteUpload
from academy.errors import Problems, ScoringError
from academy.formats.every_eval_ever.documents import Catalog, Document, catalog_of, read_document
from academy.formats.every_eval_ever.faults import report_faults
from academy.formats.every_eval_ever.indexes import check_index
from academy.formats.every_eval_ever.joining import Join
from academy.formats.every_eval_ever.rows import Group
from academy.formats.every_eval_ever.scanning import Scan, Scanner
from academy.formats.every_eval_ever.suites import Collector, params_of
from academy.formats.every_eval_ever.trajectories import Trajectories
from academy.formats.every_eval_ever.values import as_map, as_text
from academy.formats.every_eval_ever.versions import row_schema
from academy.formats.reading import Files, read_jsonl
from academy.scorers import reported

Take = Callable[[Group, str], None]


@dataclass(slots=True)
class Upload:
    """What was read of an upload: documents, scans of their rows, and the fate of other members."""

    files: Files
    catalog: Catalog
    problems: Problems
    documents: list[Document] = field(default_factory=list)
    scans: dict[str, Scan] = field(default_factory=dict)
    reports: dict[str, FileReport] = field(default_factory=dict)

    def report(self, path: str, status: FileStatus, reason: str = "", suite: str = "") -> None:
        """Say what became of a file; the first word on it stands."""
        self.reports.setdefault(path, FileReport(path, status, reason, suite))


def nothing(_group: Group, _path: str) -> None:
    """Leave a group alone."""


def read_upload(
    files: Files,
    *,
    take: Take = nothing,
    add: Callable[[Document], None] | None = None,
    by_sample_id: bool = False,
) -> Upload:
    """Read and check every record of an upload. Raises FormatError with every bad place.

    `add` is handed every aggregate before its rows, `take` every group of rows.
    """
    upload = Upload(files, catalog_of(files), Problems())
    seen: dict[str, str] = {}
    for path in upload.catalog.aggregates:
        document = read_document(files, path, upload.catalog, upload.problems)
        if document is None:
            continue
        if document.digest in seen:
            reason = f"the same evaluation as {seen[document.digest]}, retrieved again"
            upload.report(path, FileStatus.RECOGNISED, reason)
            if document.rows:
                upload.report(document.rows, FileStatus.RECOGNISED, f"rows of {path}; {reason}")
            continue
        seen[document.digest] = path
        upload.documents.append(document)
        if add is not None:
            add(document)
        read_rows_of(upload, document, take, by_sample_id=by_sample_id)
        report_document(upload, document)
    report_rest(upload)
    upload.problems.raise_if_any()
    return upload


def read_rows_of(upload: Upload, document: Document, take: Take, *, by_sample_id: bool) -> None:
    """Check the rows of an aggregate, if they are here."""
    if not document.rows:
        if as_text(as_map(document.declared).get("file_path")):
            message = "the rows that the aggregate names are not in this upload"
            place = "/detailed_evaluation_results/file_path"
            upload.problems.warn(document.path, "rows-missing", message, pointer=place)
        return
    if document.declared is None:
        message = f"{document.rows} lies beside the aggregate, which does not declare it"
        upload.problems.warn(document.path, "rows-undeclared", message)
    trajectories = Trajectories(upload.files, document.rows)
    scan = Scan(upload.files, document, Join(document.results), trajectories, by_sample_id)
    Scanner(scan, upload.problems).run(lambda group: take(group, document.rows))
    upload.scans[document.path] = scan


def report_document(upload: Upload, document: Document) -> None:
    """Say that an aggregate, its rows and their trajectories are loaded."""
    slugs = sorted({result.data_set.slug for result in document.results})
    suite = slugs[0] if len(slugs) == 1 else ""
    if not slugs:
        upload.report(document.path, FileStatus.RECOGNISED, "the aggregate has no results")
        return
    upload.report(document.path, FileStatus.IMPORTED, suite=suite)
    if document.rows:
        upload.report(document.rows, FileStatus.IMPORTED, suite=suite)
        for member in upload.scans[document.path].trajectories.used:
            upload.report(member, FileStatus.IMPORTED, f"a trajectory of {document.rows}", suite)


def report_rest(upload: Upload) -> None:
    """Say why every other member is not loaded; rows without an aggregate are checked all the
    same."""
    taken = {document.rows for document in upload.documents}
    for path in upload.catalog.rows:
        if path not in taken and path not in upload.reports:
            check_orphan(upload, path)
    for path in upload.catalog.indexes:
        reason = check_index(upload.files, path, upload.problems)
        upload.report(path, FileStatus.RECOGNISED, reason)
    for path, reason in upload.catalog.others.items():
        upload.report(path, FileStatus.RECOGNISED, reason)


def check_orphan(upload: Upload, path: str) -> None:
    """Rows that no aggregate here names: judged, and not loaded."""
    with upload.files.open(path) as stream:
        for line in read_jsonl(stream, path=path, problems=upload.problems):
            row = as_map(line.value)
            report_faults(
                line.value, row_schema(row), path=path, problems=upload.problems, line=line.number
            )
    reason = (
        "rows whose aggregate is not here: what they measure, and which way is better, is unknown"
    )
    upload.report(path, FileStatus.RECOGNISED, reason)


def reports_of(upload: Upload) -> tuple[FileReport, ...]:
    """What became of every member, in order of paths."""
    return tuple(upload.reports[str(path)] for path in upload.files)


def parse_suite(files: Files) -> SuiteUpload:
    """The collections of an upload. Raises FormatError with every bad place of every file."""
    collected = Problems()
    collector = Collector(collected)
    upload = read_upload(files, take=collector.take, add=collector.add)
    suites = collector.suites()
    for suite in suites:
        for metric in suite.metrics:
            try:
                reported.check(None, params_of(metric))
            except ScoringError as error:
                collected.error(suite.sources[0], "grading", str(error))
    collected.raise_if_any()
    notices = (*upload.problems.notices, *collected.notices)
    return SuiteUpload(suites=suites, files=reports_of(upload), notices=notices)
