"""Records back to lines, in the form they came in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from academy.bundle import JSON, EntrantSpec, RecordSpec, RunSpec, SuiteSpec
from academy.errors import AcademyError, Problems
from academy.formats.academy_run.checking import check
from academy.formats.reading import read_json

NAME = "run.jsonl"
MARK = "academy_run"


def export_run(
    suite: SuiteSpec, run: RunSpec, records: Iterable[RecordSpec]
) -> Mapping[str, bytes]:
    """The run's file. Raises AcademyError for records that came in another format."""
    path = run.extra.get("path")
    executions = []
    replicates = 1
    for record in records:
        if not is_execution(record.raw):
            raise AcademyError(
                f"The record of task {record.task_id!r} came in another format; export it in that."
            )
        replicates = max(replicates, record.replicate)
        executions.append(record.raw)
    header = write(header_of(suite, run, replicates))
    return {path if isinstance(path, str) else NAME: b"\n".join([header, *executions, b""])}


def is_execution(raw: bytes) -> bool:
    """Whether a stored record is a line of this form."""
    return check(read_json(raw, path=NAME), "execution", path=NAME, line=1, problems=Problems())


def header_of(suite: SuiteSpec, run: RunSpec, replicates: int) -> Mapping[str, Any]:
    """The header as it came, or one made from what is known of the run."""
    header = run.extra.get("header")
    if isinstance(header, Mapping):
        # The form is recognised by the beginning of the file, whatever order a header was kept in.
        return {MARK: header.get(MARK), **header}
    slug, version = run.suite.slug or suite.slug, run.suite.version or suite.version
    made: dict[str, JSON] = {
        "academy_run": "1.0",
        "suite": f"{slug}@{version}" if version else slug,
        "suite_digest": run.suite.digest,
        "run_id": run.external_id,
        "entrant": entrant_of(run.entrant),
        "arm": run.arm,
        "scenario": run.scenario,
        "started_at": run.started_at,
        "replicates": replicates,
        "limits": dict(run.limits),
        "results": dict(run.results),
    }
    kept = {name: value for name, value in made.items() if value}
    return kept if run.closed else {**kept, "closed": False}


def entrant_of(entrant: EntrantSpec) -> Mapping[str, JSON]:
    """The entrant of a header."""
    made: dict[str, JSON] = {
        "name": entrant.name,
        "model": entrant.model,
        "developer": entrant.developer,
        "harness": entrant.harness,
        "weights": entrant.weights,
        "settings": dict(entrant.settings),
        "aliases": list(entrant.aliases),
    }
    return {name: value for name, value in made.items() if value}


def write(value: Mapping[str, Any]) -> bytes:
    """One line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
