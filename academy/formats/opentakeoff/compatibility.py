"""What the original's own validate command would say of the files of an upload."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from academy.bundle import JSON
from academy.errors import FormatError, Problem, Problems
from academy.formats.opentakeoff.certificates import verify
from academy.formats.opentakeoff.checking import schema_errors
from academy.formats.opentakeoff.integrity import verify_bundle
from academy.formats.opentakeoff.layout import is_bundle, is_task
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.reading import Files, line_of, read_json


def schema_of(path: PurePosixPath, files: Files, document: Mapping[str, JSON]) -> str:
    """The schema that the original has for a file; it has none for manifests, keys and boards."""
    if is_task(path):
        return "task"
    if is_bundle(files, path):
        return "run-bundle"
    return "cert" if "certVersion" in document else ""


def compatibility(files: Files) -> tuple[Problem, ...]:
    """Schema, then hash, then the entrant's signature, as warnings: nothing here refuses a file.

    Certificates are checked by hash, since no key is at hand.
    """
    problems = Problems()
    for path in files:
        if path.suffix.lower() != ".json":
            continue
        try:
            data = files[path]
            document = mapping(read_json(data, path=str(path)))
        except FormatError:
            continue
        schema = schema_of(path, files, document)
        if schema:
            tell(str(path), data, schema, document, problems)
    return tuple(problems.notices)


def tell(
    name: str, data: bytes, schema: str, document: Mapping[str, JSON], problems: Problems
) -> None:
    """The original's complaint about one document: the first kind that applies."""
    rows = schema_errors(schema, document)
    for row in rows:
        message = f"the original refuses the document: {row.message}"
        line = line_of(data, row.pointer)
        problems.warn(name, "original-schema", message, line=line, pointer=row.pointer)
    if rows or schema == "task":
        return
    try:
        reason = reason_of(schema, document)
    except ValueError:
        return
    if reason:
        message = f"the original refuses the document: {reason}"
        problems.warn(name, "original-integrity", message, pointer="/integrity")


def reason_of(schema: str, document: Mapping[str, JSON]) -> str | None:
    """Why hash or signature fail, or None. Raises ValueError where there is no hash."""
    if schema == "run-bundle":
        return verify_bundle(document).reason
    return None if verify(document, None).hash_match else "hash-mismatch"
