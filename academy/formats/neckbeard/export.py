"""Suites back to fixtures: the very bytes where nothing changed, else the parts written out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from academy.bundle import JSON, SuiteSpec, TaskSpec
from academy.errors import AcademyError
from academy.formats.neckbeard.documents import read_document
from academy.formats.neckbeard.entries import join
from academy.formats.neckbeard.facts import (
    SINGLE_OPTIONAL,
    SINGLE_REQUIRED,
    TRAJECTORY,
    TRAJECTORY_OPTIONAL,
    TRAJECTORY_REQUIRED,
)
from academy.formats.neckbeard.rules import LISTS, Fixture, examine
from academy.formats.neckbeard.tasks import SEALED_SINGLE, SEALED_TRAJECTORY, build_task

# JSON leaves these bare; a YAML reader would refuse them or end a line.
ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff]")
ROUTING = ("routing_selected", "routing_skipped")


def export_suite(suite: SuiteSpec, blobs: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Path -> bytes of every fixture, and of each context file whose bytes are among `blobs`.

    Raises AcademyError without the answer keys, since a fixture holds its truth in one file.
    """
    root = PurePosixPath(str(suite.extra.get("root", ".")))
    files: dict[str, bytes] = {}
    for task in suite.tasks:
        path = PurePosixPath(task.source)
        files[str(path)] = fixture_text(task, path, root).encode("utf-8")
        for asset in task.assets:
            place = asset.path or str(path.parent / asset.ref)
            if place in blobs:
                files[place] = blobs[place]
    return files


def fixture_text(task: TaskSpec, path: PurePosixPath, root: PurePosixPath) -> str:
    """The source text while it still says what the task says, else the fields written anew."""
    if not isinstance(task.key, Mapping):
        raise AcademyError(f"The fixture of {task.external_id} can only be written with its key.")
    source = task.key.get("source")
    if not isinstance(source, str):
        return write(fields_of(task))
    fixture = examine(path, read_document(source.encode("utf-8"), str(path)), root)
    if says_the_same(fixture, task):
        return source
    fields = fields_of(task)
    ordered = [name for name in fixture.document.fields if name in fields]
    return write({name: fields[name] for name in (*ordered, *fields)})


def says_the_same(fixture: Fixture, task: TaskSpec) -> bool:
    """Whether a fixture gives this very task; criteria and gradings follow from the rest."""
    built = build_task(fixture)
    same = replace(
        built,
        criteria=task.criteria,
        gradings=task.gradings,
        assets=task.assets,
        attributes=task.attributes,
        source=task.source,
    )
    return same == task


def fields_of(task: TaskSpec) -> dict[str, JSON]:
    """The fields of a task in the order of the schema, lists written back from their parts."""
    key = task.key if isinstance(task.key, Mapping) else {}
    journey = task.kind == TRAJECTORY
    values: dict[str, JSON] = {"id": task.external_id, "prompt": task.prompt, **task.context}
    values["visibility"] = "holdout" if task.holdout else "public"
    for name in SEALED_TRAJECTORY if journey else SEALED_SINGLE:
        if name in key:
            values[name] = key[name]
    if journey:
        values["kind"] = TRAJECTORY
        for name in (*LISTS, *ROUTING):
            if key.get(name):
                values[name] = join(name, key[name])
    order = (
        (*TRAJECTORY_REQUIRED, *TRAJECTORY_OPTIONAL)
        if journey
        else (*SINGLE_REQUIRED, *SINGLE_OPTIONAL)
    )
    unknown = task.extra.get("unknown_fields")
    return {
        **{name: values[name] for name in order if name in values},
        **(unknown if isinstance(unknown, Mapping) else {}),
    }


def write(fields: Mapping[str, JSON]) -> str:
    """A line per field at the margin, which both a YAML loader and the original's reader take."""
    return "".join(f"{named(name)}: {quoted(value)}\n" for name, value in fields.items())


def named(name: str) -> str:
    """A field's name, quoted where it would be something else."""
    return name if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) else quoted(name)


def quoted(value: JSON) -> str:
    """A value as JSON, which is YAML as well."""
    text = json.dumps(value, ensure_ascii=False)
    return ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
