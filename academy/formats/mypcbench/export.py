"""Suites and runs written back as the files that they were read from."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import RecordSpec, RunSpec, SuiteSpec
from academy.errors import AcademyError
from academy.formats.mypcbench.attempts import write_member
from academy.formats.mypcbench.documents import document_of


def export_suite(suite: SuiteSpec, _blobs: Mapping[str, bytes]) -> dict[str, bytes]:
    """Every task file of a suite, equal as JSON values, with the file's order of tasks and keys.

    Raises AcademyError without the answer keys, since a task file holds the notes for graders.
    """
    tasks = {task.external_id: task for task in suite.tasks}
    extra: Mapping[str, Any] = suite.extra
    files: dict[str, bytes] = {}
    if suite.sealed and all(task.key is None for task in suite.tasks):
        raise AcademyError(f"The tasks of {suite.slug} can only be written with their keys.")
    for entry in extra["files"]:
        path = entry["path"]
        left = extra["left"].get(path, {})
        documents = [
            left[task_id] if task_id in left else document_of(tasks[task_id], path)
            for task_id in entry["tasks"]
        ]
        value = documents[0] if entry["single"] else documents
        text = json.dumps(value, indent=2, ensure_ascii=False)
        files[path] = f"{text}\n".encode()
    return files


def export_run(_suite: SuiteSpec, run: RunSpec, records: Iterable[RecordSpec]) -> dict[str, bytes]:
    """The result folder of a run. Screenshots are no part of it: records only name them."""
    extra: Mapping[str, Any] = run.extra
    root = PurePosixPath(extra.get("root", "."))
    files = {
        str(root / name): write_member(name, value)
        for name, value in extra.get("files", {}).items()
    }
    for record in records:
        document = json.loads(record.raw)
        folder = root / document["folder"]
        for name, value in document["files"].items():
            files[str(folder / name)] = write_member(name, value)
    return dict(sorted(files.items()))
