"""Observations from ledgers, single files, bare lists and JSON lines, each checked by itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from academy.errors import FormatError, Problems
from academy.formats.doc_bridge.artifacts import DEFAULT_EDITION, every_defect
from academy.formats.doc_bridge.documents import RUN_TYPES, Document, is_piece, types_of
from academy.formats.doc_bridge.hashing import HASH_KEY, content_hash
from academy.formats.doc_bridge.observations import LEDGER, OBSERVATION
from academy.formats.doc_bridge.shapes import Path
from academy.formats.json_reading import lines_of_items
from academy.formats.reading import Files, pointer, read_jsonl


@dataclass(frozen=True, slots=True)
class Found:
    """One observation and where it stood."""

    observation: Mapping[str, Any]
    file: str
    index: int
    line: int | None

    @property
    def place(self) -> str:
        """The place for people."""
        return f"{self.file}:{self.line}" if self.line else f"{self.file}#{self.index}"


@dataclass(frozen=True, slots=True)
class Piece:
    """The observations of one file, and the rest of its document."""

    path: str
    head: Mapping[str, Any]
    found: tuple[Found, ...]


def holds_observations(document: Document) -> bool:
    """Whether a document is one observation, a ledger, or a list cut out of one."""
    return document.kind in (LEDGER, OBSERVATION) or is_piece(document.value)


def read_piece(document: Document, problems: Problems) -> Piece | None:
    """The observations of a document, or None when any of them is wrong."""
    before = problems.total
    for defect in document.defects:
        problems.extend(FormatError([defect]))
    if document.kind is OBSERVATION:
        found: tuple[Found, ...] = (Found(document.value, document.path, 0, 1),)
        head: Mapping[str, Any] = {}
    elif document.kind is LEDGER and document.artifact is None:
        return None
    else:
        head = {key: item for key, item in document.value.items() if key != "observations"}
        found = tuple(members_of(document, problems))
    return Piece(document.path, head, found) if problems.total == before else None


def members_of(document: Document, problems: Problems) -> Iterator[Found]:
    """Every observation of a list with its line, its shape and its own hash checked.

    The original checks only the hash of the ledger around them.
    """
    listed = document.value["observations"]
    lines = lines_of_items(document.data, "/observations")
    checked = document.kind is LEDGER
    for index, observation in enumerate(listed):
        line = next(lines, None)
        place = pointer("observations", str(index))
        examine = own_defects if checked else all_defects
        for message, path, rule in examine(observation):
            below = pointer(*(str(part) for part in path))
            problems.error(document.path, rule, message, line=line, pointer=place + below)
        yield Found(observation, document.path, index, line)


def all_defects(observation: Any) -> list[tuple[str, Path, str]]:
    """What is wrong with an observation that no ledger's shape has covered."""
    return every_defect(OBSERVATION, observation)[1]


def own_defects(observation: Mapping[str, Any]) -> list[tuple[str, Path, str]]:
    """What a sound shape may still hide: a stale hash, another model or scenario."""
    found = [
        (message, path, "cross-check")
        for message, path in OBSERVATION.check(observation, DEFAULT_EDITION)
    ]
    if observation[HASH_KEY] != content_hash(observation):
        found.insert(0, (OBSERVATION.stale, (HASH_KEY,), "content-hash"))
    return found


def read_lines(files: Files, path: PurePosixPath, problems: Problems) -> Piece | None:
    """The observations of a file of JSON lines, or None when any line is wrong."""
    name, before = str(path), problems.total
    found: list[Found] = []
    with files.open(path) as stream:
        for index, line in enumerate(read_jsonl(stream, path=name, problems=problems)):
            for message, place, rule in every_defect(OBSERVATION, line.value)[1]:
                where = pointer(*(str(part) for part in place))
                problems.error(name, rule, message, line=line.number, pointer=where)
            if isinstance(line.value, Mapping):
                found.append(Found(line.value, name, index, line.number))
    if not found and problems.total == before:
        problems.error(name, "empty", "the file holds no observation")
    return Piece(name, {}, tuple(found)) if problems.total == before else None


def is_lines(files: Files, path: PurePosixPath) -> bool:
    """Whether a file of JSON lines holds observations."""
    return path.suffix == ".jsonl" and bool(set(types_of(files, path)) & set(RUN_TYPES))
