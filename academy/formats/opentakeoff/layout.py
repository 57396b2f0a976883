"""Which file of an upload is what, and why those that are no part of a suite are not loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from academy.bundle import JSON, FileReport, FileStatus
from academy.errors import FormatError
from academy.formats.opentakeoff import keys, tasks
from academy.formats.opentakeoff.drawings import MEDIA_TYPES
from academy.formats.reading import Files, read_json

MANIFEST = "suite.json"
ACADEMY_KEY = "academy-public-key.pem"
MANIFEST_MARK = b'"suiteManifestVersion"'
BUNDLE_MARK = b'"bundleVersion"'
HEAD = 64 * 1024
PROSE = {".md", ".txt", ".rst"}
PROSE_NAMES = {"LICENSE", "NOTICE", "COPYING"}

BUNDLE_REASON = "a run bundle; import it as a run"
UNKNOWN_REASON = "no file of this format; nothing of it is loaded"

# The member that gives a document away -> what the document is and why a suite does not load it.
DOCUMENTS: Mapping[str, str] = {
    "bundleVersion": BUNDLE_REASON,
    "certVersion": "a certificate; it is checked by itself and belongs to no suite",
    "reportVersion": "a score report of the original; the registry scores for itself",
    "catalogVersion": "a catalogue of divisions; it only advertises suites",
    "$schema": "a JSON Schema of the original; the registry has its own",
    "rows": "a board file; boards are worked out from runs",
    "members": "a list of members; it holds no task",
    "offers": "a list of offers; it holds no task",
    "sheets": "a record of where a drawing comes from; it holds no task",
}
DRAFT = "a draft of quantities that nobody has verified; it is no run"


@dataclass(slots=True)
class Layout:
    """The files of an upload by what they are; folders are those that hold tasks or a manifest."""

    manifests: dict[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    tasks: dict[PurePosixPath, list[PurePosixPath]] = field(default_factory=dict)
    academy_keys: dict[PurePosixPath, PurePosixPath] = field(default_factory=dict)
    keys: list[PurePosixPath] = field(default_factory=list)
    others: list[PurePosixPath] = field(default_factory=list)


def is_task(path: PurePosixPath) -> bool:
    """Whether the name is that of a task file."""
    return path.name.endswith(tasks.SUFFIX)


def holds(files: Files, path: PurePosixPath, mark: bytes) -> bool:
    """Whether a mark stands near the start of a member."""
    return mark in files.head(path, HEAD)


def claims(files: Files) -> bool:
    """Whether there is a task file, or a suite manifest of this format."""
    return any(
        is_task(path) or (path.name == MANIFEST and holds(files, path, MANIFEST_MARK))
        for path in files
    )


def is_bundle(files: Files, path: PurePosixPath) -> bool:
    """Whether a member is a run bundle by its name, or a document with a bundle's version.

    A schema and a collection of bundles hold the same word, so that one look is not enough. A
    document that cannot be read is one by the word alone, so that it is told what is wrong in it.
    """
    if path.name.lower().endswith(".bundle.json"):
        return True
    if path.suffix.lower() != ".json" or not holds(files, path, BUNDLE_MARK):
        return False
    try:
        document = read_json(files[path], path=str(path))
    except FormatError:
        return files.head(path, HEAD).lstrip(b" \t\r\n").startswith(b"{")
    return isinstance(document, Mapping) and "bundleVersion" in document


def claims_run(files: Files) -> bool:
    """Whether there is a run bundle."""
    return any(is_bundle(files, path) for path in files)


def lay_out(files: Files) -> Layout:
    """Sort the members of an upload by what they are."""
    layout = Layout()
    for path in files:
        if is_task(path):
            layout.tasks.setdefault(path.parent, []).append(path)
        elif path.name == MANIFEST:
            layout.manifests[path.parent] = path
        elif path.name == ACADEMY_KEY:
            layout.academy_keys[path.parent] = path
        elif keys.is_key_file(path):
            layout.keys.append(path)
        else:
            layout.others.append(path)
    for folder, path in list(layout.manifests.items()):
        if folder not in layout.tasks and not holds(files, path, MANIFEST_MARK):
            layout.others.append(layout.manifests.pop(folder))
    for folder in list(layout.academy_keys):
        if folder not in layout.tasks and folder not in layout.manifests:
            layout.others.append(layout.academy_keys.pop(folder))
    return layout


def report_other(path: PurePosixPath, files: Files) -> FileReport:
    """What a file is that is no part of a suite."""
    name, suffix = str(path), path.suffix.lower()
    if suffix in MEDIA_TYPES:
        reason = "a drawing or picture that no task refers to"
    elif suffix == ".pem":
        reason = "a public key; it belongs to no suite"
    elif suffix in PROSE or path.name in PROSE_NAMES:
        reason = "a text for people"
    elif path.name.endswith(".key.json"):
        reason = "the original reads keys only from names that end in .groundtruth.json"
    elif suffix == ".json":
        return report_json(path, files)
    else:
        reason = UNKNOWN_REASON
    return FileReport(name, FileStatus.RECOGNISED, reason)


def report_json(path: PurePosixPath, files: Files) -> FileReport:
    """What a JSON document is that is no part of a suite."""
    name = str(path)
    try:
        document = read_json(files[path], path=name)
    except FormatError as error:
        return FileReport(name, FileStatus.REFUSED, str(error.problems[0].message))
    return FileReport(name, FileStatus.RECOGNISED, kind_of(document) or UNKNOWN_REASON)


def kind_of(document: JSON) -> str:
    """What a document is, or the empty text when it is none of this format's."""
    if not isinstance(document, Mapping):
        return ""
    if str(document.get("format")).startswith("ota.real-plan-draft"):
        return DRAFT
    return next((reason for mark, reason in DOCUMENTS.items() if mark in document), "")
