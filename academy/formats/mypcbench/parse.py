"""From task files to suites: buckets, compiled lists, smoke sets, and how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import (
    JSON,
    Direction,
    FileReport,
    FileStatus,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.errors import FormatError, Problems, ScoringError
from academy.formats.mypcbench.documents import (
    COMPARED,
    Document,
    TaskFile,
    looks_like_tasks,
    read_tasks,
    same,
    task_of,
)
from academy.formats.mypcbench.layout import (
    SHARD_END,
    Group,
    Role,
    lay_out,
    reference_reason,
    role_by_name,
    stand_alone,
    stem_of,
)
from academy.formats.mypcbench.notices import note_oddities
from academy.formats.reading import Files, line_of, pointer, read_json
from academy.scorers.rubric import check as check_grading

RUN_FILES = frozenset({"rubric_bundle.json", "osworld_full_traj_result.json", "rubric_result.json"})
SNIFFED = 64 * 1024

METRICS = (
    MetricSpec(
        key="perfect",
        label="Perfect %",
        direction=Direction.UP,
        kind=MetricKind.PASS,
        low=0.0,
        high=1.0,
        missing=0.0,
    ),
    MetricSpec(
        key="rubric",
        label="Rubric %",
        direction=Direction.UP,
        kind=MetricKind.GRADED,
        low=0.0,
        high=1.0,
        missing=0.0,
    ),
)


def claims(files: Files) -> bool:
    """Whether these look like task files: by their names, else by the start of a lone JSON file."""
    paths = list(files)
    if any(path.name in RUN_FILES for path in paths):
        return False
    if any(role_by_name(path) not in (None, Role.LIST) for path in paths):
        return True
    candidates = [path for path in paths if path.suffix == ".json" and not reference_reason(path)]
    if len(candidates) > 1 and not any(role_by_name(path) for path in candidates):
        return False
    return any(_sniff(files, path) for path in candidates)


def _sniff(files: Files, path: PurePosixPath) -> bool:
    head = files.head(path, SNIFFED)
    wanted = (b'"instruction"', b'"grading"', b'"rubrics"')
    return head.lstrip()[:1] in (b"[", b"{") and all(word in head for word in wanted)


def parse_suite(files: Files) -> SuiteUpload:
    """Every suite of the files, and one report per file. Raises FormatError with all errors."""
    problems = Problems()
    layout, unknown = lay_out(files)
    reasons = dict(layout.reasons)
    broken: dict[PurePosixPath, FormatError] = {}
    groups = layout.groups
    if unknown:
        groups = groups + stand_alone(_tasks_by_content(files, unknown, reasons, broken))
    if not groups:
        _refuse_all(reasons, broken, problems)
    suites = []
    imported: dict[str, str] = {}
    for group in groups:
        suite = _read_group(files, group, reasons, problems)
        if suite is not None:
            suites.append(suite)
            imported |= dict.fromkeys(suite.sources, suite.slug)
    find_lines(files, problems)
    problems.raise_if_any()
    return SuiteUpload(
        suites=tuple(suites),
        files=tuple(_report(path, imported, reasons) for path in files),
        notices=tuple(problems.notices),
    )


def find_lines(files: Files, problems: Problems) -> None:
    """Add the line to every error that has a pointer into a file that could be read."""
    problems.errors = [
        replace(problem, line=line_of(files[problem.file], problem.pointer))
        if problem.line is None and problem.pointer and PurePosixPath(problem.file) in files
        else problem
        for problem in problems.errors
    ]


def _report(
    path: PurePosixPath, imported: Mapping[str, str], reasons: Mapping[PurePosixPath, str]
) -> FileReport:
    if path in reasons:
        return FileReport(str(path), FileStatus.RECOGNISED, reasons[path])
    return FileReport(str(path), FileStatus.IMPORTED, "", imported[str(path)])


def _tasks_by_content(
    files: Files,
    paths: Iterable[PurePosixPath],
    reasons: dict[PurePosixPath, str],
    broken: dict[PurePosixPath, FormatError],
) -> list[PurePosixPath]:
    found = []
    for path in paths:
        try:
            value = read_json(files[path], path=str(path))
        except FormatError as error:
            reasons[path] = f"not a task file: {error.problems[0].message}"
            broken[path] = error
            continue
        if looks_like_tasks(value):
            found.append(path)
        else:
            reasons[path] = "not a task file: no list of objects with id and instruction"
    return found


def _refuse_all(
    reasons: Mapping[PurePosixPath, str],
    broken: Mapping[PurePosixPath, FormatError],
    problems: Problems,
) -> None:
    """Where no file holds tasks, that is an error, told with the reason of each JSON file."""
    told = [path for path in sorted(reasons) if path.suffix == ".json"]
    for path in told:
        if path in broken:
            problems.extend(broken[path])
            continue
        problems.error(str(path), "no-tasks", f"The file gives no suite: {reasons[path]}.")
    if not told:
        problems.error("", "no-tasks", "These files hold no task file of this format.")


def _read_group(
    files: Files, group: Group, reasons: dict[PurePosixPath, str], problems: Problems
) -> SuiteSpec | None:
    """The suite of one group, or None when something in it is wrong."""
    before = problems.total
    graded_by = Role.GRADED if group.with_role(Role.GRADED) else None
    read = {
        role: [
            read_tasks(files, path, graded=role is not Role.UNGRADED, problems=problems)
            for path in group.with_role(role)
        ]
        for role in Role
    }
    for listed in read.values():
        _refuse_doubles(listed, problems)
    if problems.total > before:
        return None
    leading = (
        read[Role.GRADED]
        if graded_by
        else read[Role.SHARD] + read[Role.LIST] or read[Role.UNGRADED]
    )
    suite = _suite_of(group, leading, read, problems)
    for path in group.with_role(Role.UNGRADED):
        if graded_by:
            reasons[path] = "the same tasks without grading; compared with the graded list"
    for path in group.copies:
        reasons[path] = _copy_reason(files, path, read[Role.GRADED])
    return suite


def _refuse_doubles(listed: Iterable[TaskFile], problems: Problems) -> None:
    """An id that comes twice among files of one role is refused with both places."""
    seen: dict[str, Document] = {}
    for document in (document for file in listed for document in file.documents):
        first = seen.setdefault(document.task_id, document)
        if first is not document:
            problems.error(
                document.path,
                "duplicate-id",
                f"The id {document.task_id!r} is also that of {first.path} {first.at}".rstrip()
                + ".",
                pointer=f"{document.at}/id",
            )


def _suite_of(
    group: Group,
    leading: list[TaskFile],
    read: Mapping[Role, list[TaskFile]],
    problems: Problems,
) -> SuiteSpec:
    """The tasks of the leading files, with what other files of the group add to them."""
    buckets = {
        document.task_id: stem_of(PurePosixPath(file.path))
        for file in read[Role.SHARD]
        for document in file.documents
        if file.path.endswith(SHARD_END)
    }
    documents: dict[str, list[Document]] = {}
    every = [file for role in Role for file in read[role]]
    for document in (document for file in every for document in file.documents):
        documents.setdefault(document.task_id, []).append(document)
    ids = [document.task_id for file in leading for document in file.documents]
    tasks = []
    for task_id in ids:
        _compare(documents[task_id], problems)
        task = task_of(documents[task_id], buckets.get(task_id, ""))
        note_oddities(task, documents[task_id][0], problems)
        _check_gradings(task, problems)
        tasks.append(task)
    left = _left_over(documents, set(ids), problems)
    _note_absent(leading, read, problems)
    return SuiteSpec(
        slug=group.slug,
        title=group.title,
        format="mypcbench",
        description="Tasks on one simulated desktop, judged by weighted rubrics.",
        tasks=tuple(tasks),
        metrics=METRICS,
        mode=group.mode,
        extra={"files": [_file_entry(file) for file in every], "left": left},
        sources=tuple(
            file.path
            for file in every
            if file not in read[Role.UNGRADED] or leading is read[Role.UNGRADED]
        ),
    )


def _file_entry(file: TaskFile) -> dict[str, JSON]:
    return {
        "path": file.path,
        "single": file.single,
        "tasks": [document.task_id for document in file.documents],
    }


def _check_gradings(task: TaskSpec, problems: Problems) -> None:
    for grading in task.gradings:
        try:
            check_grading(task.key, grading.params)
        except ScoringError as error:
            problems.error(task.source, "grading", f"{task.external_id}: {error}")


def _compare(documents: list[Document], problems: Problems) -> None:
    """Warn where a later document of a task differs from the first, which is used."""
    used, *others = documents
    for other in others:
        for key in COMPARED:
            if key in other.data and not same(other.data[key], used.data.get(key)):
                problems.warn(
                    other.path,
                    "forms-differ",
                    f"{other.task_id}: {key} is not that of {used.path}, which is used.",
                    pointer=f"{other.at}/{key}",
                )


def _left_over(
    documents: Mapping[str, list[Document]], used: set[str], problems: Problems
) -> dict[str, dict[str, Any]]:
    """Tasks of shards that the compiled list lacks: told, kept for the export, not imported."""
    left: dict[str, dict[str, Any]] = {}
    for task_id, held in documents.items():
        if task_id in used:
            continue
        for document in held:
            left.setdefault(document.path, {})[task_id] = dict(document.data)
            problems.warn(
                document.path,
                "not-compiled",
                f"{task_id} is not in the compiled list, so it is no task of the suite.",
                pointer=document.at or pointer(),
            )
    return left


def _note_absent(
    leading: list[TaskFile], read: Mapping[Role, list[TaskFile]], problems: Problems
) -> None:
    """Warn of compiled tasks that no shard holds, where there are shards."""
    if not read[Role.SHARD] or leading is not read[Role.GRADED]:
        return
    held = {document.task_id for file in read[Role.SHARD] for document in file.documents}
    for document in (document for file in leading for document in file.documents):
        if document.task_id not in held:
            problems.warn(
                document.path,
                "not-in-shards",
                f"{document.task_id} is in no bucket file.",
                pointer=document.at,
            )


def _copy_reason(files: Files, path: PurePosixPath, graded: list[TaskFile]) -> str:
    """What a stored revision copy is beside the compiled list."""
    try:
        value = read_json(files[path], path=str(path))
    except FormatError as error:
        return f"a copy of the tasks that cannot be read: {error.problems[0].message}"
    compiled = [dict(document.data) for file in graded for document in file.documents]
    if graded and same(value, compiled):
        return f"an identical copy of {graded[0].path}"
    return "another revision of the tasks; import it by itself, as another version of the suite"
