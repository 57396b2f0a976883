"""Uploads of suites: the suites themselves, and a report on every other file."""

from __future__ import annotations

from academy.bundle import FileReport, FileStatus, SuiteSpec, SuiteUpload
from academy.errors import FormatError, Problems, ScoringError
from academy.formats.doc_bridge.companions import (
    RUN_REASON,
    Family,
    check_families,
    families_of,
    report_on,
)
from academy.formats.doc_bridge.documents import (
    KINDS,
    OTHER_TYPES,
    RUN_TYPES,
    Document,
    read_members,
    types_in,
)
from academy.formats.doc_bridge.safety import scan
from academy.formats.doc_bridge.scoring import SCORERS
from academy.formats.doc_bridge.suites import SUITE
from academy.formats.doc_bridge.tasks import suite_spec
from academy.formats.reading import Files
from academy.scorers.base import Mode


def claims(files: Files) -> bool:
    """Whether these are files of the study, and not observations alone."""
    named = types_in(files)
    if SUITE.type in named:
        return True
    return bool(named & {*KINDS, *OTHER_TYPES}) and not named & set(RUN_TYPES)


def claims_run(files: Files) -> bool:
    """Whether these files hold observations."""
    return bool(types_in(files) & set(RUN_TYPES))


def parse_suite(files: Files) -> SuiteUpload:
    """Every suite of the files, all or nothing; a wrong document beside them is refused alone.

    Raises FormatError with every defect of the suites, or of all documents if there is no suite
    and any of them is wrong.
    """
    problems = Problems()
    documents, reports = read_members(files, problems, mandatory=(SUITE.type,))
    for document in documents:
        if document.kind is SUITE:
            take_defects(document, problems)
    problems.raise_if_any()
    families = families_of(documents)
    check_families(families)
    suites = [spec_of(family) for family in families]
    check_names(suites, problems)
    check_gradings(suites, problems)
    problems.raise_if_any()
    slugs = {family.suite.path: spec.slug for family, spec in zip(families, suites, strict=True)}
    for document in documents:
        if document.kind is not SUITE:
            reports.append(report_on(document, families, slugs))
    reports += [imported(family, slugs) for family in families]
    reports += [
        FileReport(str(path), FileStatus.RECOGNISED, RUN_REASON)
        for path in files
        if path.suffix == ".jsonl"
    ]
    if not suites:
        refuse_without_suite(documents, reports, problems)
    note_privacy(families, problems)
    return SuiteUpload(
        suites=tuple(suites),
        files=tuple(sorted(reports, key=lambda report: report.path)),
        notices=tuple(problems.notices),
    )


def take_defects(document: Document, problems: Problems) -> None:
    """The defects of a document as problems of the upload."""
    if document.defects:
        problems.extend(FormatError(document.defects))


def spec_of(family: Family) -> SuiteSpec:
    """The suite of a family as plain values."""
    suite = family.suite
    assert suite.artifact is not None
    return suite_spec(
        suite.artifact,
        path=suite.path,
        edition=suite.edition,
        companions={path: member.value for path, member in family.members.items()},
    )


def imported(family: Family, slugs: dict[str, str]) -> FileReport:
    """The report on a suite."""
    path = family.suite.path
    return FileReport(path, FileStatus.IMPORTED, suite=slugs[path])


def check_names(suites: list[SuiteSpec], problems: Problems) -> None:
    """Two suites of an upload may not have one name."""
    seen: dict[tuple[str, str], str] = {}
    for suite in suites:
        place = (suite.slug, suite.version)
        path = suite.sources[0]
        if place in seen:
            problems.error(
                path,
                "double-suite",
                f"the suite {suite.slug} {suite.version} is also in {seen[place]}",
            )
        seen.setdefault(place, path)


def check_gradings(suites: list[SuiteSpec], problems: Problems) -> None:
    """Ask every scorer whether it can score the tasks that name it."""
    known = {scorer.key: scorer for scorer in SCORERS if scorer.mode is Mode.STRICT}
    for suite in suites:
        for task in suite.tasks:
            for grading in task.gradings:
                try:
                    known[grading.scorer].check(task.key, grading.params)
                except ScoringError as error:
                    problems.error(suite.sources[0], "grading", f"task {task.external_id}: {error}")


def refuse_without_suite(
    documents: list[Document], reports: list[FileReport], problems: Problems
) -> None:
    """Without a suite nothing is imported, so what is wrong is the whole answer."""
    for document in documents:
        take_defects(document, problems)
    for report in reports:
        told = any(problem.file == report.path for problem in problems.errors)
        if report.status is FileStatus.REFUSED and not told:
            problems.error(report.path, "unreadable", report.reason)
    if not reports:
        problems.error("", "empty", "there is no file to read")
    problems.raise_if_any()


def note_privacy(families: list[Family], problems: Problems) -> None:
    """Say where documents hold what may not be published; the places, never the text."""
    for family in families:
        for document in (family.suite, *family.members.values()):
            places = scan(document.value).forbidden
            if places:
                problems.warn(
                    document.path,
                    "privacy-scan",
                    f"{len(places)} places hold what may not be published; the first is "
                    f"{places[0]}",
                )
