"""Run files to runs and records: everything is checked before the first record is given out."""

from __future__ import annotations

import codecs
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import (
    JSON,
    FileReport,
    FileStatus,
    RecordSpec,
    RunSpec,
    RunUpload,
    SuiteSpec,
    TaskSpec,
)
from academy.errors import FormatError, Problems
from academy.formats.academy_run.checking import check
from academy.formats.academy_run.lines import VERDICTS, is_instant, record_of, run_of, texts_of
from academy.formats.reading import (
    Files,
    Line,
    check_text,
    path_problem,
    pointer,
    read_json,
    read_jsonl,
    safe_path,
)

MARK = "academy_run"
SUFFIXES = (".jsonl", ".ndjson")
HEAD = 64 * 1024
CHUNK = 2**20


def claims_run(files: Files) -> bool:
    """Whether some file of lines begins with a header of this form."""
    return any(is_run_file(files, path) for path in files)


def is_run_file(files: Files, path: PurePosixPath) -> bool:
    """Whether a file begins with a header, looking at its first bytes only."""
    if path.suffix.lower() not in SUFFIXES:
        return False
    looks_so = False
    try:
        head = files.head(path, HEAD)
        # A byte order mark is none of the form; whoever reads the file says so.
        start = head.removeprefix(codecs.BOM_UTF8).lstrip(b" \t\r\n")
        first, is_whole, _ = start.partition(b"\n")
        looks_so = first.startswith(b"{") and f'"{MARK}"'.encode() in first
        if not is_whole and len(head) == HEAD:
            return looks_so
        value = read_json(first, path=str(path))
    except FormatError:
        # A header that cannot be read is one all the same, so that it is told what is wrong in it.
        return looks_so
    return isinstance(value, Mapping) and MARK in value


def parse_run(files: Files, suite: SuiteSpec | None) -> RunUpload:
    """Every run file is one run. Raises FormatError with every bad place of all of them."""
    problems = Problems()
    paths = [path for path in files if is_run_file(files, path)]
    if not paths:
        raise FormatError.at("", "empty", "no file begins with a header of an academy run")
    artifacts = Artifacts(files, problems)
    readers = [RunFile(files, path, suite, problems, artifacts) for path in paths]
    runs = [reader.check() for reader in readers]
    check_double_runs(readers, problems)
    for path in files:
        if path not in paths and path not in artifacts.digests:
            check_lines_beside(files, path, problems)
    problems.raise_if_any()
    return RunUpload(
        runs=tuple(run for run in runs if run is not None),
        records=partial(stream_records, files, paths),
        files=tuple(report_of(path, paths, artifacts) for path in files),
        notices=tuple(problems.notices),
    )


def check_lines_beside(files: Files, path: PurePosixPath, problems: Problems) -> None:
    """Note a file of lines whose beginning cannot be read: it may be a piece that was damaged."""
    if path.suffix.lower() in SUFFIXES:
        try:
            with files.open(path) as stream:
                next(read_jsonl(stream, path=str(path)))
        except FormatError as error:
            problems.extend(error)


def report_of(
    path: PurePosixPath, paths: Sequence[PurePosixPath], artifacts: Artifacts
) -> FileReport:
    """What became of one file."""
    if path in paths:
        return FileReport(str(path), FileStatus.IMPORTED)
    if path in artifacts.digests:
        why = "an artifact that a record names; its digest holds, its bytes are not kept"
    else:
        why = "no record of the runs names it"
    return FileReport(str(path), FileStatus.RECOGNISED, why)


def stream_records(files: Files, paths: Sequence[PurePosixPath]) -> Iterator[RecordSpec]:
    """All records in order of files and lines."""
    for run, path in enumerate(paths):
        with files.open(path) as stream:
            lines = read_jsonl(stream, path=str(path))
            next(lines)
            for line in lines:
                yield record_of(line, mapping(line.value), run=run, path=str(path))


def mapping(value: JSON) -> Mapping[str, Any]:
    """The value as an object, which the schema has found it to be."""
    return value if isinstance(value, Mapping) else {}


class Artifacts:
    """Finds the files that records name, and compares their digests, each read once."""

    def __init__(self, files: Files, problems: Problems) -> None:
        self.files = files
        self.problems = problems
        self.digests: dict[PurePosixPath, str] = {}

    def check(
        self, artifact: Mapping[str, Any], folder: PurePosixPath, place: dict[str, Any]
    ) -> None:
        """Note an artifact that is not there or is another one; `place` is where it is named."""
        text = artifact["path"]
        path = safe_path(text)
        if path is None:
            why = path_problem(text) or "names nothing"
            self.problems.error(rule="artifact-path", message=f"the path {text!r} {why}", **place)
            return
        member = folder / path
        if member not in self.files:
            message = f"the upload has no file {str(member)!r}"
            self.problems.error(rule="artifact-missing", message=message, **place)
            return
        if member not in self.digests:
            self.digests[member] = self.digest(member)
        if self.digests[member] != artifact["sha256"]:
            message = f"the file {str(member)!r} has the digest {self.digests[member]}"
            self.problems.error(rule="artifact-altered", message=message, **place)

    def digest(self, path: PurePosixPath) -> str:
        """SHA-256 of a file, streamed."""
        whole = hashlib.sha256()
        with self.files.open(path) as stream:
            while data := stream.read(CHUNK):
                whole.update(data)
        return whole.hexdigest()


class RunFile:
    """Checks one run file line by line."""

    def __init__(
        self,
        files: Files,
        path: PurePosixPath,
        suite: SuiteSpec | None,
        problems: Problems,
        artifacts: Artifacts,
    ) -> None:
        self.files = files
        self.path = path
        self.problems = problems
        self.artifacts = artifacts
        self.tasks: Mapping[str, TaskSpec] | None = None
        self.metrics: frozenset[str] = frozenset()
        if suite is not None:
            self.tasks = {task.external_id: task for task in suite.tasks}
            self.metrics = frozenset(metric.key for metric in suite.metrics)
        self.seen: dict[tuple[str, int, int], int] = {}
        self.replicates = 1
        self.run: RunSpec | None = None

    def error(self, line: int, rule: str, message: str, *parts: str | int) -> None:
        """Note an error of this file."""
        self.problems.error(str(self.path), rule, message, line=line, pointer=pointer(*parts))

    def check(self) -> RunSpec | None:
        """The run of the header, after every line was checked; None when the header is bad."""
        executions = 0
        with self.files.open(self.path) as stream:
            lines = read_jsonl(stream, path=str(self.path), problems=self.problems)
            for place, line in enumerate(lines):
                if place == 0:
                    self.run = self.check_header(line)
                else:
                    executions += 1
                    self.check_execution(line)
        if self.run is not None and not executions and not self.run.results:
            message = "there is neither an execution nor a result after the header"
            self.problems.error(str(self.path), "empty", message)
        return self.run

    def has_form(self, line: Line, part: str) -> bool:
        """Whether a line has the form of a header or an execution."""
        return check(
            line.value, part, path=str(self.path), line=line.number, problems=self.problems
        )

    def can_store(self, value: JSON, line: int, *parts: str | int) -> bool:
        """Whether every text in a value can become a text column."""
        before = self.problems.total
        for text, way in texts_of(value, *parts):
            check_text(
                text,
                path=str(self.path),
                pointer=pointer(*way),
                problems=self.problems,
                line=line,
            )
        return self.problems.total == before

    def check_header(self, line: Line) -> RunSpec | None:
        """The run of a header, or None when the header is bad."""
        if not self.has_form(line, "header") or not self.can_store(line.value, line.number):
            return None
        header = mapping(line.value)
        started = header.get("started_at")
        if started is not None and not is_instant(started):
            self.error(line.number, "instant", f"there is no time {started!r}", "started_at")
        self.replicates = int(header.get("replicates", 1))
        return run_of(header, path=str(self.path))

    def check_execution(self, line: Line) -> None:
        """Check what the schema cannot: identities, the suite's names, artifacts."""
        if not self.has_form(line, "execution"):
            return
        value = mapping(line.value)
        self.can_store(value["task"], line.number, "task")
        for name in VERDICTS:
            self.can_store(value.get(name), line.number, name)
        self.check_identity(value, line.number)
        self.check_names(value, line.number)
        for place, artifact in enumerate(value.get("artifacts", ())):
            where = {
                "file": str(self.path),
                "line": line.number,
                "pointer": pointer("artifacts", place, "path"),
            }
            self.artifacts.check(artifact, self.path.parent, where)

    def check_identity(self, value: Mapping[str, Any], line: int) -> None:
        """An execution is there once, and its replicate is one that was declared."""
        task, replicate = value["task"], int(value.get("replicate", 1))
        if replicate > self.replicates:
            message = f"replicate {replicate} is more than the {self.replicates} declared"
            self.error(line, "replicate", message, "replicate")
        first = self.seen.setdefault((task, replicate, int(value.get("variant", 0))), line)
        if first != line:
            message = f"task {task!r}, replicate {replicate} is already on line {first}"
            self.error(line, "double-record", message, "task")

    def check_names(self, value: Mapping[str, Any], line: int) -> None:
        """Task, criteria and metrics are the suite's, where the suite is known."""
        if self.tasks is None:
            return
        task = self.tasks.get(value["task"])
        if task is None:
            # Whoever stores the run refuses such records, or leaves them out and lists them.
            message = f"the suite has no task {value['task']!r}"
            name, where = str(self.path), pointer("task")
            self.problems.warn(name, "unknown-task", message, line=line, pointer=where)
            return
        criteria = {criterion.key for criterion in task.criteria}
        for place, decision in enumerate(value.get("decisions", ())):
            if decision["criterion"] not in criteria:
                message = f"the task has no criterion {decision['criterion']!r}"
                self.error(line, "unknown-criterion", message, "decisions", place, "criterion")
        for place, score in enumerate(value.get("scores", ())):
            if score["metric"] not in self.metrics:
                message = f"the suite has no metric {score['metric']!r}"
                self.error(line, "unknown-metric", message, "scores", place, "metric")


def check_double_runs(readers: Sequence[RunFile], problems: Problems) -> None:
    """Refuse two files of one upload that call themselves the same run."""
    first: dict[tuple[str, ...], PurePosixPath] = {}
    for reader in readers:
        run = reader.run
        if run is None or not run.external_id:
            continue
        name = (run.entrant.name, run.external_id, run.arm, run.scenario)
        other = first.setdefault(name, reader.path)
        if other != reader.path:
            message = f"run {run.external_id!r} is already in {str(other)!r}"
            problems.error(str(reader.path), "double-run", message, line=1, pointer="/run_id")
