"""Suites out of an upload: folders with a manifest, or bare folders of task files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from academy.bundle import (
    JSON,
    FileReport,
    FileStatus,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.errors import FormatError, Problems
from academy.formats.opentakeoff.integrity import public_key
from academy.formats.opentakeoff.keys import (
    ORIGIN,
    collect_keys,
    is_usable,
    is_usable_for,
    merge_keys,
)
from academy.formats.opentakeoff.layout import Layout, lay_out, report_other
from academy.formats.opentakeoff.listing import check_listing, check_task_belongs, read_manifest
from academy.formats.opentakeoff.manifests import mapping, thresholds_of
from academy.formats.opentakeoff.metrics import METRIC_OF, METRICS
from academy.formats.opentakeoff.tasks import TaskFile, read_task_file, task_spec
from academy.formats.reading import Files, read_text

ATTEMPTS_PER_WINDOW = 3
WINDOW_DAYS = 7


class Reader:
    """Reads one upload; keeps the suites, the reports of files, and all that is wrong."""

    def __init__(self, files: Files) -> None:
        self.files = files
        self.layout: Layout = lay_out(files)
        self.problems = Problems()
        self.suites: list[SuiteSpec] = []
        self.reports: dict[str, FileReport] = {}

    def read(self) -> SuiteUpload:
        """Every suite of the upload. Raises FormatError with every bad place."""
        for folder in sorted(self.layout.manifests):
            self.read_suite(folder)
        for folder in sorted(set(self.layout.tasks) - set(self.layout.manifests)):
            self.read_bare_folder(folder)
        self.check_identities()
        self.merge_keys()
        if not self.suites and not self.problems.total:
            self.problems.error(".", "no-suite", "the upload holds no suite and no task")
        self.problems.raise_if_any()
        for path in self.layout.others:
            self.reports.setdefault(str(path), report_other(path, self.files))
        return SuiteUpload(
            suites=tuple(self.suites),
            files=tuple(self.reports[path] for path in sorted(self.reports)),
            notices=tuple(self.problems.notices),
        )

    def imported(self, path: str, suite: str) -> None:
        """Report a file as taken over."""
        self.reports[path] = FileReport(path, FileStatus.IMPORTED, suite=suite)

    def read_suite(self, folder: PurePosixPath) -> None:
        """A folder with a manifest: the manifest decides, each task file has to agree with it."""
        path = self.layout.manifests[folder]
        manifest = read_manifest(path, self.files, self.problems)
        found = [
            task
            for task_path in self.layout.tasks.get(folder, [])
            if (task := read_task_file(task_path, self.files, self.problems))
        ]
        if manifest is None:
            return
        for task in found:
            check_task_belongs(task, manifest, self.problems)
        check_listing(manifest, path, found, self.files, self.problems)
        suite = suite_of(manifest, path, self.task_specs(found))
        self.keep(self.with_academy_key(suite, folder))

    def with_academy_key(self, suite: SuiteSpec, folder: PurePosixPath) -> SuiteSpec:
        """The suite with the public key beside it, by which co-signatures of runs are checked."""
        path = self.layout.academy_keys.get(folder)
        if path is None:
            return suite
        try:
            pem = read_text(self.files[path], path=str(path))
        except FormatError as error:
            self.problems.extend(error)
            return suite
        if "\x00" in pem or public_key(pem) is None:
            self.problems.error(str(path), "academy-key", "the file holds no Ed25519 public key")
            return suite
        attributes = {**suite.attributes, "academy_keys": [pem]}
        return replace(suite, attributes=attributes, sources=(*suite.sources, str(path)))

    def read_bare_folder(self, folder: PurePosixPath) -> None:
        """Task files without a manifest: a suite for each suite and version that they name.

        A task of a suite whose manifest is in the same upload is a copy, and is not loaded.
        """
        with_manifest = {suite.slug for suite in self.suites}
        groups: dict[tuple[str, str], list[TaskFile]] = {}
        for path in self.layout.tasks[folder]:
            task = read_task_file(path, self.files, self.problems)
            if task is None:
                continue
            if task.suite[0] in with_manifest:
                reason = f"a copy of task {task.task_id} outside the folder of its suite"
                name = str(path)
                self.reports[name] = FileReport(
                    name, FileStatus.RECOGNISED, reason, suite=task.suite[0]
                )
                continue
            groups.setdefault(task.suite, []).append(task)
        for (slug, version), found in sorted(groups.items()):
            self.keep(bare_suite(slug, version, folder, self.task_specs(found)))
            self.problems.note(
                str(folder),
                "no-manifest",
                f"suite {slug} has no manifest, so that it has no bars, and its mode follows from"
                " whether every task holds its key",
            )

    def task_specs(self, found: Sequence[TaskFile]) -> list[TaskSpec]:
        """The tasks in the order of their file names, each id once."""
        first: dict[str, TaskFile] = {}
        specs = []
        for task in sorted(found, key=lambda task: task.path.name):
            earlier = first.setdefault(task.task_id, task)
            if earlier is not task:
                self.problems.error(
                    str(task.path),
                    "double-task",
                    f"task {task.task_id!r} is in {earlier.path} already",
                    line=task.line("/taskId"),
                    pointer="/taskId",
                )
                continue
            specs.append(task_spec(task, self.files, self.problems))
        return specs

    def keep(self, suite: SuiteSpec) -> None:
        """Take a suite over and report its files."""
        self.suites.append(suite)
        drawings = [asset.path for task in suite.tasks for asset in task.assets if asset.path]
        for path in (*suite.sources, *drawings):
            self.imported(path, suite.slug)

    def check_identities(self) -> None:
        """Refuse two suites of one id and version in one upload."""
        first: dict[tuple[str, str], SuiteSpec] = {}
        for suite in self.suites:
            earlier = first.setdefault((suite.slug, suite.version), suite)
            if earlier is not suite:
                self.problems.error(
                    suite.sources[0],
                    "double-suite",
                    f"suite {suite.slug} {suite.version} is in {earlier.sources[0]} already",
                )

    def merge_keys(self) -> None:
        """Give the suites the held-out keys of the upload; a key without a task is told."""
        keys, reports = collect_keys(self.files, self.problems)
        owners: dict[str, str] = {}
        for place, suite in enumerate(self.suites):
            merged, merge = merge_keys(suite, keys)
            self.suites[place] = merged
            owners |= dict.fromkeys(merge.applied, suite.slug)
            tell_about_keys(merged, merge.missing, self.problems)
        for report in reports:
            task_id = next(
                task_id for task_id, key in keys.items() if origin_of(key) == report.path
            )
            if task_id in owners:
                self.imported(report.path, owners[task_id])
            else:
                reason = f"a key for {task_id!r}, a task that is not here or has its key already"
                self.reports[report.path] = FileReport(report.path, FileStatus.RECOGNISED, reason)


def origin_of(key: JSON) -> str:
    """The file that a held-out key came from."""
    return str(mapping(mapping(key).get("origin")).get("path") or "")


def parse_suite(files: Files) -> SuiteUpload:
    """Read every suite of an upload: folders, trees of them, single files. Raises FormatError."""
    return Reader(files).read()


def suite_of(
    manifest: Mapping[str, JSON], path: PurePosixPath, tasks: Sequence[TaskSpec]
) -> SuiteSpec:
    """The values of a suite with a manifest."""
    mode = str(manifest["mode"])
    withheld = manifest.get("keys") == "withheld"
    attributes: dict[str, JSON] = {"track": manifest["track"]}
    attributes |= {
        name: manifest[name] for name in ("competencies", "keys", "status") if name in manifest
    }
    return SuiteSpec(
        slug=str(manifest["id"]),
        title=str(manifest.get("title") or manifest["id"]),
        format="opentakeoff",
        version=str(manifest["version"]),
        description=str(manifest.get("description") or ""),
        mode=mode,
        sealed=withheld or (mode == "ranked" and not any(is_usable(task.key) for task in tasks)),
        tasks=tuple(tasks),
        metrics=metrics_of(tasks, manifest.get("competencies")),
        thresholds=thresholds_of(manifest),
        limits=limits_of(mode),
        attributes=attributes,
        extra={"root": str(path.parent), "manifest": manifest},
        sources=(str(path), *(task.source for task in tasks)),
    )


def bare_suite(
    slug: str, version: str, folder: PurePosixPath, tasks: Sequence[TaskSpec]
) -> SuiteSpec:
    """The values of a suite without a manifest; without all its keys it is taken as ranked."""
    keyed = all(is_usable(task.key) for task in tasks)
    mode = "practice" if keyed else "ranked"
    tracks = {str(task.attributes["track"]) for task in tasks}
    return SuiteSpec(
        slug=slug,
        title=slug,
        format="opentakeoff",
        version=version,
        mode=mode,
        sealed=not keyed,
        tasks=tuple(tasks),
        metrics=metrics_of(tasks, None),
        limits=limits_of(mode),
        attributes={"track": min(tracks)},
        extra={"root": str(folder), "manifest": None},
        sources=tuple(task.source for task in tasks),
    )


def metrics_of(tasks: Sequence[TaskSpec], competencies: JSON) -> tuple[MetricSpec, ...]:
    """The metrics of the tasks and of the competencies a suite announces, in the usual order."""
    used = {grading.metric for task in tasks for grading in task.gradings}
    if isinstance(competencies, Sequence):
        used |= {METRIC_OF[str(name)] for name in competencies if name in METRIC_OF}
    return tuple(spec for key, spec in METRICS.items() if key in used)


def limits_of(mode: str) -> Mapping[str, JSON]:
    """How often an entrant may submit: ranked three times in seven days, practice at will."""
    if mode != "ranked":
        return {}
    return {"attempts": ATTEMPTS_PER_WINDOW, "window_days": WINDOW_DAYS}


def tell_about_keys(suite: SuiteSpec, missing: Sequence[str], problems: Problems) -> None:
    """Tell what is odd about where the keys of a suite are."""
    where = suite.sources[0]
    if not suite.tasks:
        problems.warn(where, "no-tasks", f"suite {suite.slug} holds no task yet")
    if missing and suite.mode == "practice":
        message = f"practice tasks without an answer key: {', '.join(missing)}"
        problems.warn(where, "no-key", message)
    in_files = [
        task.external_id
        for task in suite.tasks
        if is_usable(task.key) and ORIGIN not in mapping(task.key)
    ]
    if in_files and suite.mode == "ranked":
        message = f"the task files of a ranked suite hold the keys of {', '.join(in_files)}"
        problems.warn(where, "ranked-keys-in-tasks", message)
    for task in suite.tasks:
        metric = task.gradings[0].metric
        if task.key is not None and not is_usable_for(metric, task.key):
            problems.warn(
                task.source,
                "empty-key",
                f"the answer key holds nothing that {metric} can be scored by: the original counts"
                " every answer as perfect, strict mode gives no score",
                pointer="/groundTruth",
            )
