"""The members of an upload: what each of them is, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from academy.bundle import FileReport, FileStatus
from academy.errors import SHOWN_PROBLEMS, FormatError, Problem, Problems
from academy.formats.doc_bridge.artifacts import Edition, Kind, every_defect, issue_rule
from academy.formats.doc_bridge.expectations import is_expectations, issues_in
from academy.formats.doc_bridge.hashing import ALGORITHM, ALGORITHM_KEY, HASH_KEY, content_hash
from academy.formats.doc_bridge.observations import LEDGER, OBSERVATION
from academy.formats.doc_bridge.plans import PLAN, PROVIDERS, REPOSITORIES
from academy.formats.doc_bridge.scorecard import SCORECARD, SCORECARD_TYPE
from academy.formats.doc_bridge.shapes import Issue, Path, issues_of
from academy.formats.doc_bridge.studies import BINDING, HISTORICAL, PROTOCOL, VERIFIED_RESULT
from academy.formats.doc_bridge.suites import SUITE, edition_of
from academy.formats.reading import Files, line_of, pointer, read_json

KINDS: Final[Mapping[str, Kind]] = {
    kind.type: kind
    for kind in (
        SUITE,
        PROTOCOL,
        PLAN,
        PROVIDERS,
        REPOSITORIES,
        HISTORICAL,
        BINDING,
        VERIFIED_RESULT,
        OBSERVATION,
        LEDGER,
    )
}
COVERAGE_TYPE: Final = "phase3-task-coverage"
RUN_TYPES: Final = (LEDGER.type, OBSERVATION.type)
OTHER_TYPES: Final = (
    SCORECARD_TYPE,
    COVERAGE_TYPE,
    "controlled-study-metrics",
    "controlled-study-ab-result",
    "controlled-study-pilot-report",
    "documentation-audit-round",
    "expanded-adjudication-result",
    "phase4-public-pilot-result",
)
NAMED: Final = re.compile(rb'"type"\s*:\s*"([a-z0-9-]+)"')
CHUNK: Final = 2**20
OVERLAP: Final = 256


@dataclass(slots=True)
class Document:
    """One member that is JSON. `defects` are what is wrong with it."""

    path: str
    data: bytes
    value: Any
    kind: Kind | None = None
    edition: Edition = Edition.SECOND
    artifact: dict[str, Any] | None = None
    defects: list[Problem] = field(default_factory=list)

    @property
    def type(self) -> str:
        """The type that the document names."""
        named = self.value.get("type") if isinstance(self.value, dict) else None
        return named if isinstance(named, str) else ""

    @property
    def hash(self) -> str:
        """The stored content hash."""
        return str(self.value.get(HASH_KEY, "")) if isinstance(self.value, dict) else ""

    def add(self, message: str, path: Path, rule: str) -> None:
        """Note a defect with its place; what is missing is told at the line of its parent."""
        place = pointer(*(str(part) for part in path))
        # Each search reads the whole document, so past what is shown no line is looked for.
        searched = range(len(path), -1, -1) if len(self.defects) < SHOWN_PROBLEMS else ()
        line = next(
            (
                found
                for end in searched
                if (found := line_of(self.data, pointer(*(str(part) for part in path[:end]))))
            ),
            None,
        )
        self.defects.append(Problem(self.path, rule, message, line, place))


def types_in(files: Files) -> set[str]:
    """The type names that JSON members mention, found without reading them as JSON."""
    found: set[str] = set()
    for path in files:
        if path.suffix in (".json", ".jsonl"):
            found.update(types_of(files, path))
    return found


def types_of(files: Files, path: PurePosixPath) -> Iterator[str]:
    """The type names in one member, read in chunks."""
    tail = b""
    with files.open(path) as stream:
        while chunk := stream.read(CHUNK):
            for named in NAMED.findall(tail + chunk):
                yield named.decode()
            tail = chunk[-OVERLAP:]


def read_document(files: Files, path: PurePosixPath) -> Document:
    """One JSON member with its defects. Raises FormatError when it is not JSON."""
    name = str(path)
    data = files[path]
    document = Document(name, data, read_json(data, path=name))
    document.kind = KINDS.get(document.type)
    if document.kind is not None:
        examine(document, document.kind)
    else:
        examine_other(document)
    return document


def examine(document: Document, kind: Kind) -> None:
    """All defects of a known kind, not only the first as the original tells."""
    if kind is SUITE:
        document.edition = edition_of(document.value)
    document.artifact, found = every_defect(kind, document.value, document.edition)
    for message, path, rule in found:
        document.add(message, path, rule)


def examine_other(document: Document) -> None:
    """Defects of documents without a kind: stale hashes, scorecards and expectations."""
    value = document.value
    if not isinstance(value, dict):
        return
    issues: list[Issue] = []
    if document.type == SCORECARD_TYPE:
        issues = issues_of(SCORECARD, value)[1]
    elif is_expectations(value):
        issues = issues_in(value)
    for issue in issues:
        document.add(issue.message, issue.path, issue_rule(issue))
    if value.get(ALGORITHM_KEY) == ALGORITHM and value.get(HASH_KEY) != content_hash(value):
        document.add(
            f"the stored content hash does not verify; the content gives {content_hash(value)}",
            (HASH_KEY,),
            "content-hash",
        )


def is_ours(document: Document) -> bool:
    """Whether a document belongs to the study at all."""
    value = document.value
    return isinstance(value, dict) and (
        document.kind is not None
        or document.type in OTHER_TYPES
        or value.get(ALGORITHM_KEY) == ALGORITHM
        or is_piece(value)
        or is_expectations(value)
    )


def is_piece(value: Any) -> bool:
    """Whether a document is a bare list of observations, cut out of a ledger."""
    if not isinstance(value, dict) or "type" in value:
        return False
    found = value.get("observations")
    return (
        isinstance(found, list)
        and bool(found)
        and all(isinstance(one, dict) and one.get("type") == OBSERVATION.type for one in found)
    )


def refused(document: Document) -> FileReport:
    """The report on a document that is wrong: its first defect and how many more there are."""
    first = document.defects[0]
    more = len(document.defects) - 1
    rest = f" (and {more} more)" if more else ""
    label = document.kind.label if document.kind else document.type or "document"
    reason = f"refused {label}: {first.message}{rest}"
    return FileReport(document.path, FileStatus.REFUSED, reason)


def read_members(
    files: Files, problems: Problems, *, mandatory: tuple[str, ...]
) -> tuple[list[Document], list[FileReport]]:
    """All JSON documents of the study, and reports on the members that are none.

    A member that is not JSON is refused alone, unless it names one of the mandatory types: then
    the upload is wrong.
    """
    documents: list[Document] = []
    reports: list[FileReport] = []
    for path in files:
        if path.suffix != ".json":
            if path.suffix != ".jsonl":
                reports.append(report_other(str(path)))
            continue
        try:
            document = read_document(files, path)
        except FormatError as error:
            if set(types_of(files, path)) & set(mandatory):
                problems.extend(error)
            reports.append(
                FileReport(str(path), FileStatus.REFUSED, str(error.problems[0].message))
            )
            continue
        if is_ours(document):
            documents.append(document)
        else:
            reports.append(report_other(str(path)))
    return documents, reports


def report_other(path: str) -> FileReport:
    """The report on a member that the study does not know."""
    return FileReport(path, FileStatus.RECOGNISED, "no document of the study; nothing is loaded")
