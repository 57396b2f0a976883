"""A manifest as it lies beside its tasks: read, and held against the files that are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from academy.bundle import JSON
from academy.errors import Problems
from academy.formats.opentakeoff.checking import read_checked
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.opentakeoff.tasks import TaskFile
from academy.formats.reading import Files, line_of, path_problem


def read_manifest(
    path: PurePosixPath, files: Files, problems: Problems
) -> Mapping[str, JSON] | None:
    """Read and check a manifest; None when something is wrong with it."""
    read = read_checked("manifest", path, files, problems)
    if read is None or not read.is_sound(problems):
        return None
    name, data, manifest = str(path), read.data, read.document
    folder = path.parent.name
    if folder and manifest.get("dir") not in (None, folder):
        message = f"the manifest names the folder {manifest['dir']!r}, it lies in {folder!r}"
        problems.note(name, "folder-name", message, line=line_of(data, "/dir"), pointer="/dir")
    return manifest


def check_task_belongs(task: TaskFile, manifest: Mapping[str, JSON], problems: Problems) -> None:
    """Refuse a task that says it belongs to another suite, version or track."""
    said = {
        "/suite/id": (task.suite[0], manifest["id"]),
        "/suite/version": (task.suite[1], manifest["version"]),
        "/track": (task.document["track"], manifest["track"]),
    }
    for pointer, (found, expected) in said.items():
        if found != expected:
            message = f"the manifest beside it says {expected!r}, the task says {found!r}"
            problems.error(
                str(task.path), "other-suite", message, line=task.line(pointer), pointer=pointer
            )


def check_listing(
    manifest: Mapping[str, JSON],
    path: PurePosixPath,
    found: Sequence[TaskFile],
    files: Files,
    problems: Problems,
) -> None:
    """Hold the manifest's list of tasks against the files that are there.

    The original never uses the list, so what differs is a warning; but a listed file that is not
    in the upload is an error, since the suite would lack a task.
    """
    listed = manifest.get("tasks")
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return
    data, name = files[path], str(path)
    by_name = {task.path.name: task for task in found}
    for place, row in enumerate(map(mapping, listed)):
        pointer = f"/tasks/{place}"
        line = line_of(data, pointer)
        file = row.get("file")
        if not isinstance(file, str):
            continue
        why = path_problem(file)
        if why:
            message = f"the path of the task file {file!r} {why}"
            problems.error(name, "task-path", message, line=line, pointer=f"{pointer}/file")
        elif path.parent / file not in files:
            message = f"the task file {file!r} is not in the upload"
            problems.error(name, "task-missing", message, line=line, pointer=f"{pointer}/file")
        elif file in by_name:
            tell_differences(row, by_name.pop(file), name, pointer, line, problems)
    for task in by_name.values():
        problems.warn(
            str(task.path), "task-not-listed", "the manifest beside it does not list this task"
        )


def tell_differences(
    row: Mapping[str, JSON],
    task: TaskFile,
    name: str,
    pointer: str,
    line: int | None,
    problems: Problems,
) -> None:
    """Tell where the manifest's row about a task is not what the task says."""
    said = {
        "taskId": task.task_id,
        "kind": task.document.get("kind"),
        "metric": mapping(task.document.get("metric")).get("type"),
    }
    for field, value in said.items():
        if field in row and row[field] != value:
            message = f"{task.path.name} says {value!r}, the list says {row[field]!r}"
            problems.warn(name, "listing-differs", message, line=line, pointer=f"{pointer}/{field}")
