"""Task documents: read from a file, checked, merged into one task, and written out again."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import JSON, TaskSpec
from academy.errors import FormatError, Problems
from academy.formats.mypcbench.rubrics import (
    check_rubrics,
    criteria_of,
    criterion_as_rubric,
    gradings_of,
)
from academy.formats.reading import Files, check_text, pointer, read_json

SEALED = ("required_subtasks", "date_policy_notes")
COMPARED = ("instruction", "grading", "category", "difficulty", "apps_involved")
LONGEST_ID = 200


@dataclass(frozen=True, slots=True)
class Document:
    """One task as one file has it; `index` is its place in the file's list."""

    path: str
    index: int
    at: str
    data: Mapping[str, Any]

    @property
    def task_id(self) -> str:
        """The id, which is known to be usable."""
        return str(self.data["id"])


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The tasks of a file; `single` says that the file is one object and no list."""

    path: str
    single: bool
    documents: tuple[Document, ...]


def is_sealed(key: str) -> bool:
    """Whether a key of a task is a note for graders, which neither agent nor public may read."""
    return key.startswith("_") or key in SEALED


def same(one: object, other: object) -> bool:
    """Whether two JSON values are equal and of equal types, so that 1, 1.0 and true differ."""
    return _written(one) == _written(other)


def _written(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def looks_like_tasks(value: object) -> bool:
    """Whether a document is a list of tasks, or one task, whatever else may be wrong with it."""
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and "instruction" in first and "id" in first


def read_tasks(files: Files, path: PurePosixPath, *, graded: bool, problems: Problems) -> TaskFile:
    """Every task of a file; what is wrong is noted, and such a task is left out."""
    try:
        value = read_json(files[path], path=str(path))
    except FormatError as error:
        problems.extend(error)
        return TaskFile(str(path), False, ())
    single = not isinstance(value, list)
    listed = value if isinstance(value, list) else [value]
    if not listed:
        problems.warn(str(path), "no-tasks", "The file holds no task.")
    documents = []
    for index, data in enumerate(listed):
        at = "" if single else pointer(index)
        if isinstance(data, Mapping) and check_task(data, str(path), at, graded, problems):
            documents.append(Document(str(path), index, at, data))
        elif not isinstance(data, Mapping):
            problems.error(str(path), "task-not-object", "A task must be an object.", pointer=at)
    return TaskFile(str(path), single, tuple(documents))


def check_task(
    data: Mapping[str, Any], path: str, at: str, graded: bool, problems: Problems
) -> bool:
    """Whether a task can be imported. `graded` says that a task without grading is odd."""
    before = problems.total
    _check_id(data.get("id"), path, at, problems)
    instruction = data.get("instruction")
    if not isinstance(instruction, str) or not instruction.strip():
        problems.error(
            path,
            "instruction-missing",
            "A task needs an instruction: text that is not empty.",
            pointer=f"{at}/instruction" if "instruction" in data else at,
        )
    if "grading" in data:
        grading = data["grading"]
        if isinstance(grading, Mapping):
            rubrics = grading.get("rubrics")
            check_rubrics(rubrics, path=path, at=f"{at}/grading/rubrics", problems=problems)
            graded = graded and not rubrics
        else:
            problems.error(
                path, "grading-not-object", "Grading must be an object.", pointer=f"{at}/grading"
            )
    if graded:
        problems.warn(
            path, "no-rubrics", "The task has no rubrics, so nothing can score it.", pointer=at
        )
    check_texts(data, path, at, problems)
    return problems.total == before


def _check_id(value: object, path: str, at: str, problems: Problems) -> None:
    where = f"{at}/id"
    if not isinstance(value, str) or not value:
        problems.error(path, "id-missing", "A task needs an id: text, not empty.", pointer=at)
    elif (
        any(part in value for part in ("/", "\\", ".."))
        or value[0] in "~."
        or len(value) > LONGEST_ID
    ):
        problems.error(
            path,
            "id-unsafe",
            f"The id {value[:80]!r} cannot name a result folder: no '/', '\\' or '..', no '~' or "
            f"'.' at its start, at most {LONGEST_ID} characters.",
            pointer=where,
        )


def check_texts(value: object, path: str, at: str, problems: Problems) -> None:
    """Note every text within a JSON value that a text column cannot hold."""
    if isinstance(value, str):
        check_text(value, path=path, pointer=at, problems=problems)
    elif isinstance(value, Mapping):
        for key, member in value.items():
            check_text(key, path=path, pointer=at, problems=problems)
            check_texts(member, path, at + pointer(key), problems)
    elif isinstance(value, list):
        for index, member in enumerate(value):
            check_texts(member, path, at + pointer(index), problems)


def task_of(documents: Sequence[Document], bucket: str) -> TaskSpec:
    """One task from all its documents; the first wins where they differ, later ones add keys."""
    base: dict[str, Any] = {}
    for document in documents:
        for key, value in document.data.items():
            base.setdefault(key, value)
    sealed = {key: value for key, value in base.items() if is_sealed(key)}
    others: dict[str, JSON] = {
        document.path: own for document in documents if (own := _own(document, base, sealed=True))
    }
    sealed_parts: dict[str, JSON] = {**sealed, **({"documents": others} if others else {})}
    needs = tuple(name for name in sorted(sealed))
    grading = base.get("grading") or {}
    criteria = tuple(criteria_of(grading.get("rubrics") or [], _parts(needs)))
    return TaskSpec(
        external_id=base["id"],
        prompt=base["instruction"],
        kind="rubric",
        criteria=criteria,
        gradings=gradings_of(criteria),
        key=sealed_parts or None,
        attributes=attributes_of(base, bucket),
        extra={
            "fields": {
                key: value
                for key, value in base.items()
                if key not in ("id", "instruction", "grading") and not is_sealed(key)
            },
            "graded": "grading" in base,
            "grading": {key: value for key, value in grading.items() if key != "rubrics"},
            "documents": {
                document.path: {
                    "keys": list(document.data),
                    "own": _own(document, base, sealed=False),
                }
                for document in documents
            },
        },
        source=documents[0].path,
    )


def _parts(needs: Sequence[str]) -> tuple[str, ...]:
    """The names of sealed parts as `rater_view` gives them."""
    return tuple(name.lstrip("_") or name for name in needs)


def rater_view(task: TaskSpec) -> Mapping[str, JSON]:
    """The notes for graders, which the original's judge never sees."""
    key = task.key if isinstance(task.key, Mapping) else {}
    notes = {name: value for name, value in key.items() if name != "documents"}
    return dict(zip(_parts(list(notes)), notes.values(), strict=True))


def _own(document: Document, base: Mapping[str, Any], *, sealed: bool) -> dict[str, Any]:
    """What a document says otherwise than the merged task, of sealed or of open keys."""
    return {
        key: value
        for key, value in document.data.items()
        if is_sealed(key) is sealed and not same(value, base[key])
    }


def attributes_of(base: Mapping[str, Any], bucket: str) -> dict[str, JSON]:
    """What cuts the suite into slices. `app` is the bucket, `apps` how many apps are involved."""
    attributes: dict[str, JSON] = {}
    for key in ("category", "difficulty", "horizon", "collection", "date_policy"):
        if isinstance(base.get(key), str):
            attributes[key] = base[key]
    app = base.get("app", bucket)
    if isinstance(app, str) and app:
        attributes["app"] = app
    if isinstance(base.get("apps_involved"), list):
        attributes["apps"] = len(base["apps_involved"])
    return attributes


def document_of(task: TaskSpec, path: str) -> dict[str, Any]:
    """A task as one file had it, equal as a JSON value and with its keys in the file's order."""
    extra: Mapping[str, Any] = task.extra
    stored = extra["documents"][path]
    sealed: Mapping[str, Any] = task.key if isinstance(task.key, Mapping) else {}
    own = {**stored["own"], **sealed.get("documents", {}).get(path, {})}
    base = {
        "id": task.external_id,
        "instruction": task.prompt,
        **extra["fields"],
        **{key: value for key, value in sealed.items() if key != "documents"},
    }
    if extra["graded"]:
        rubrics = [criterion_as_rubric(criterion) for criterion in task.criteria]
        base["grading"] = {**extra["grading"], "rubrics": rubrics}
    return {key: own[key] if key in own else base[key] for key in stored["keys"]}
