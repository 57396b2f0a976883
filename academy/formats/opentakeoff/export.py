"""Suites and runs written back as the files they came from, value for value."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from academy.bundle import JSON, RecordSpec, RunSpec, SuiteSpec, TaskSpec
from academy.errors import AcademyError
from academy.formats.opentakeoff.keys import ORIGIN, REPLACED, items
from academy.formats.opentakeoff.layout import ACADEMY_KEY, MANIFEST
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.opentakeoff.runs import LONE_SURROGATE
from academy.formats.opentakeoff.tasks import SUFFIX, TRUTH


def pretty(value: JSON) -> bytes:
    """A document as people read it; lone surrogates as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    return (LONE_SURROGATE.sub(lambda half: f"\\u{ord(half[0]):04x}", text) + "\n").encode()


def task_document(task: TaskSpec) -> dict[str, JSON]:
    """The task file; a key that came from elsewhere stays out of it."""
    document: dict[str, JSON] = {**task.context, "title": task.title, "prompt": task.prompt}
    state = task.extra.get("ground_truth")
    if state == "null":
        document[TRUTH] = None
    elif state == "present":
        key = mapping(task.key)
        document[TRUTH] = key.get(REPLACED) if ORIGIN in key else task.key
    return document


def export_suite(suite: SuiteSpec, blobs: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """Every file of a suite: manifest, tasks, held-out keys, and the drawings among `blobs`."""
    root = PurePosixPath(str(suite.extra.get("root") or "."))
    written: dict[str, bytes] = {}
    manifest = suite.extra.get("manifest")
    if isinstance(manifest, Mapping):
        written[str(root / MANIFEST)] = pretty(manifest)
    for task in suite.tasks:
        path = task.source or str(root / f"{task.external_id}{SUFFIX}")
        written[path] = pretty(task_document(task))
        origin = mapping(mapping(task.key).get(ORIGIN))
        if origin:
            written[str(origin["path"])] = pretty(origin["document"])
        for asset in task.assets:
            # A stored suite no longer knows where in the upload a drawing lay.
            member = asset.path or str(PurePosixPath(path).parent / asset.ref)
            if member in blobs:
                written[member] = blobs[member]
    for pem in items(suite.attributes.get("academy_keys")):
        written[str(root / ACADEMY_KEY)] = str(pem).encode()
    return dict(sorted(written.items()))


def export_run(
    _suite: SuiteSpec | None, run: RunSpec, records: Iterable[RecordSpec]
) -> Mapping[str, bytes]:
    """The run bundle, its entries in their own order, so that hash and signature still hold.

    Raises AcademyError when an entry of the bundle is not among the records.
    """
    entries = {record.task_id: json.loads(record.raw) for record in records}
    header = mapping(run.extra.get("header"))
    order = [str(task_id) for task_id in items(run.extra.get("order"))]
    lacking = [task_id for task_id in order if task_id not in entries]
    if lacking:
        named = ", ".join(lacking)
        raise AcademyError(
            f"Run {run.external_id} cannot be written as a bundle: no record of {named}."
        )
    bundle = {**header, "tasks": [entries[task_id] for task_id in order]}
    return {f"{run.external_id}.bundle.json": pretty(bundle)}
