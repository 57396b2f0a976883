"""Reads the runs of an upload: one for each aggregate and data set, with its records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import MappingProxyType

from academy.bundle import RecordSpec, RunSpec, RunUpload, SuiteRef, SuiteSpec
from academy.errors import Problems
from academy.formats.every_eval_ever.documents import Document
from academy.formats.every_eval_ever.parse import read_upload, reports_of
from academy.formats.every_eval_ever.records import records_of, run_of
from academy.formats.every_eval_ever.rows import Group
from academy.formats.every_eval_ever.scanning import Scan
from academy.formats.every_eval_ever.suites import FORMAT_KEY, VERSION
from academy.formats.reading import Files


@dataclass(frozen=True, slots=True)
class Part:
    """The runs of one document: their position, and their data sets by slug."""

    first: int
    slugs: tuple[str, ...]
    scan: Scan


class Watch:
    """Sees every group of rows: which data sets have rows, and whether every task is known."""

    def __init__(self, suite: SuiteSpec | None) -> None:
        self.problems = Problems()
        self.supplied: set[tuple[str, str]] = set()
        self.suite = suite
        self.tasks = None if suite is None else {task.external_id for task in suite.tasks}

    def take(self, group: Group, path: str) -> None:
        """Note a group."""
        self.supplied.add((path, group.key.slug))
        if self.tasks is None or self.suite is None or group.key.task in self.tasks:
            return
        if group.key.slug in ("", self.suite.slug):
            name = f"{self.suite.slug}@{self.suite.version}".rstrip("@")
            message = f"{group.key.task!r} is no task of {name}"
            # Whether such records are refused or left out is decided where runs are stored.
            self.problems.warn(path, "unknown-task", message, line=group.rows[0].number)


def parse_run(files: Files, suite: SuiteSpec | None = None) -> RunUpload:
    """The runs of an upload, each naming its collection.

    With a suite of another format, rows join its tasks by their sample id, and everything is one
    run of that suite for each aggregate. Raises FormatError with every bad place.
    """
    foreign = suite is not None and suite.format != FORMAT_KEY
    watch = Watch(suite)
    upload = read_upload(files, take=watch.take, by_sample_id=foreign)
    watch.problems.raise_if_any()
    runs: list[RunSpec] = []
    parts: list[Part] = []
    for document in upload.documents:
        scan = upload.scans.get(document.path)
        slugs = slugs_of(document)
        made = (
            [foreign_run(document, suite, scan)]
            if foreign and suite is not None
            else [own_run(document, slug, slugs, watch, scan) for slug in slugs]
        )
        if scan is not None and made:
            parts.append(Part(len(runs), slugs, scan))
        runs.extend(made)

    def records() -> Iterator[RecordSpec]:
        for part in parts:
            yield from records_of(part.scan, part.first, part.slugs)

    notices = (*upload.problems.notices, *watch.problems.notices)
    return RunUpload(runs=tuple(runs), records=records, files=reports_of(upload), notices=notices)


def slugs_of(document: Document) -> tuple[str, ...]:
    """The data sets of an aggregate in order of their first results."""
    return tuple(dict.fromkeys(result.data_set.slug for result in document.results))


def own_run(
    document: Document, slug: str, slugs: tuple[str, ...], watch: Watch, scan: Scan | None
) -> RunSpec:
    """The run of one data set."""
    return run_of(
        document,
        [result for result in document.results if result.data_set.slug == slug],
        SuiteRef(slug=slug, version=VERSION, mode="collection"),
        supplied=(document.rows, slug) in watch.supplied,
        scan=scan,
        part=slug if len(slugs) > 1 else "",
    )


def foreign_run(document: Document, suite: SuiteSpec, scan: Scan | None) -> RunSpec:
    """The run of a suite of another format; only results of its own metrics are taken over."""
    reference = SuiteRef(slug=suite.slug, version=suite.version, mode=suite.mode)
    run = run_of(document, document.results, reference, supplied=scan is not None, scan=scan)
    known = {metric.key for metric in suite.metrics}
    results = {metric: value for metric, value in run.results.items() if metric in known}
    return replace(run, results=MappingProxyType(results))
