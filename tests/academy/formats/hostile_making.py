"""Samples of every format, and a way to send them that shows what they changed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from academy import intake
from academy.bundle import FileReport
from academy.errors import FormatError, Problem
from academy.formats.reading import Files, read_jsonl
from academy.importing import ImportOptions
from academy.models import SuiteVersion
from academy.recording import RecordingOptions
from tests import factories as make
from tests.academy.test_formats import ACCEPTED, LINES, Sample, contents_of
from tests.academy.test_round_trips import version_for

BY_NAME = {str(sample): sample for sample in ACCEPTED}


def some_of_each_format() -> list[Sample]:
    """A suite and a run of every format that has them."""
    found: dict[tuple[str, bool, bool], Sample] = {}
    for sample in ACCEPTED:
        found.setdefault((sample.format, sample.has_suite(), sample.has_run()), sample)
    return list(found.values())


SAMPLES = some_of_each_format()


class Sender:
    """Sends files as what a sample is, suite or run, to a database that is made ready for it."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.is_run = sample.has_run()
        self.version: SuiteVersion | None = version_for(sample) if self.is_run else None
        self.before = make.whole_database()

    def send(self, contents: Mapping[str, bytes]) -> dict[str, FileReport]:
        """Import the files, in a dry run; gives what became of each. Raises AcademyError."""
        files = Files.of(dict(contents))
        plugin = self.sample.plugin()
        if self.is_run:
            runs = RecordingOptions(version=self.version, dry_run=True)
            told = intake.import_run_files(files, digest="1" * 64, fmt=plugin, options=runs).files
        else:
            suites = ImportOptions(dry_run=True)
            told = intake.import_suite_files(
                files, digest="1" * 64, fmt=plugin, options=suites
            ).files
        return {report.path: report for report in told}

    def refused(self, contents: Mapping[str, bytes]) -> FormatError:
        """The refusal of the files, of which nothing may be stored."""
        with pytest.raises(FormatError) as caught:
            self.send(contents)
        assert make.changed_tables(self.before) == []
        return caught.value


def has_place(problem: Problem, path: str) -> bool:
    """Whether a problem is told with the file and a line or pointer in it."""
    return problem.file == path and bool(problem.line or problem.pointer)


At = tuple[str | int, ...]


def replaced(data: bytes, path: str, at: At, value: Any) -> bytes:
    """A document with one value replaced; in lines, the first step names the line."""
    if Path(path).suffix in LINES:
        lines = [dict(line.value) for line in read_jsonl(data, path=path)]  # type: ignore[arg-type]
        put(lines[int(at[0])], at[1:], value)
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    document = json.loads(data)
    put(document, at, value)
    return json.dumps(document, indent=1).encode()


def put(document: Any, at: Sequence[str | int], value: Any) -> None:
    """Replace one value; what is on the way is made if it is not there."""
    *way, last = at
    for step in way:
        document = document[step]
    document[last] = value


def path_in(sample: Sample, ending: str) -> str:
    """The first file of a sample with this ending."""
    return next(path for path in sorted(contents_of(sample)) if path.endswith(ending))
