"""Tells both verdicts on every document: by JSON Schema, and by the original's validator."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from academy.errors import FormatError, Problem, Severity
from academy.formats.every_eval_ever.documents import Catalog, catalog_of, datastore_tail
from academy.formats.every_eval_ever.judging import SchemaFault, judge_text
from academy.formats.every_eval_ever.reference import judge_file
from academy.formats.every_eval_ever.reference_values import Finding
from academy.formats.every_eval_ever.versions import NEWEST
from academy.formats.reading import Files, line_of, pointer

LINE = re.compile(r"line (\d+)(?:, col \d+)?(?: -> )?")
PART = re.compile(r"\[(\d+)\]|([^\[\]>.]+)")


class Members(Mapping[str, bytes]):
    """The records of an upload under the paths that the datastore would know them by."""

    def __init__(self, files: Files, catalog: Catalog) -> None:
        self.files = files
        self.paths = {datastore_tail(path): path for path in (*catalog.aggregates, *catalog.rows)}

    def __getitem__(self, path: str) -> bytes:
        return self.files[self.paths[path]]

    def __contains__(self, path: object) -> bool:
        return path in self.paths

    def __iter__(self) -> Iterator[str]:
        return iter(self.paths)

    def __len__(self) -> int:
        return len(self.paths)


def place_of(loc: str) -> tuple[int | None, str]:
    """Line and JSON pointer of a place in the original's notation."""
    line = LINE.match(loc)
    rest = loc[line.end() :] if line else loc
    if rest.startswith("(") or " " in rest.replace(" -> ", ""):
        rest = ""
    parts = [
        int(index) if index else name.strip(" -")
        for index, name in PART.findall(rest.replace(" -> ", "."))
    ]
    return int(line[1]) if line else None, pointer(*parts)


def problem_of(path: str, finding: Finding, severity: Severity) -> Problem:
    """A finding of the original as a row of a report."""
    line, place = place_of(finding.loc)
    rule = f"reference-{finding.type.replace('_', '-')}"
    message = finding.message or f"the original's validator reports {finding.type}"
    return Problem(path, rule, message, line, place, severity)


def schema_problem(path: str, fault: SchemaFault, line: int | None) -> Problem:
    """A fault against the schema as a row of a report."""
    return Problem(path, f"schema-{fault.rule}", fault.message, line, fault.pointer)


def schema_problems(path: str, data: bytes, row: bool) -> Iterator[Problem]:
    """What the newest schemas refuse in a document or in every line."""
    schema = f"{'instance' if row else 'aggregate'}-{NEWEST}"
    if not row:
        for fault in judge_text(data.decode("utf-8", "replace"), schema) or ():
            yield schema_problem(path, fault, line_of(data, fault.pointer))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip():
            for fault in judge_text(line.decode("utf-8", "replace"), schema) or ():
                yield schema_problem(path, fault, number)


def compatibility(files: Files) -> tuple[Problem, ...]:
    """What the newest schema and the original's validator say of every record of an upload."""
    catalog = catalog_of(files)
    members = Members(files, catalog)
    problems: list[Problem] = []
    for place, path in members.paths.items():
        try:
            data = files[path]
            problems += schema_problems(path, data, PurePosixPath(path).suffix == ".jsonl")
            verdict = judge_file(place, members)
        except FormatError as error:
            problems += error.problems
            continue
        problems += [problem_of(path, one, Severity.ERROR) for one in verdict.errors]
        problems += [problem_of(path, one, Severity.WARNING) for one in verdict.warnings]
    return tuple(problems)
