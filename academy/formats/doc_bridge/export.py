"""Suites and runs written back in the original's form, without loss."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from academy.bundle import RecordSpec, RunSpec, SuiteSpec
from academy.formats.base import StoredRun
from academy.formats.doc_bridge.hashing import sealed
from academy.formats.doc_bridge.observations import LEDGER
from academy.formats.doc_bridge.tasks import native_suite

LEDGER_VERSION = "v1"


def written(document: Any) -> bytes:
    """A document as the original writes it: two spaces, a newline at the end."""
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def export_suite(suite: SuiteSpec, _blobs: Mapping[str, bytes]) -> dict[str, bytes]:
    """The suite and the documents kept with it, under their own paths."""
    companions = suite.extra.get("companions")
    kept = companions if isinstance(companions, Mapping) else {}
    path = str(suite.extra.get("path") or f"{suite.slug}.json")
    documents = {path: native_suite(suite), **kept}
    return {name: written(document) for name, document in sorted(documents.items())}


def export_run(_suite: SuiteSpec, run: RunSpec, records: Iterable[RecordSpec]) -> dict[str, bytes]:
    """The observations of one run, as the files they came from where the run is all of these.

    A file that also holds other runs gives a ledger of this run alone, with a hash of its own.
    """
    return write_ledgers([run], records)


def export_runs(parts: Sequence[StoredRun]) -> dict[str, bytes]:
    """The files of whole uploads, each with all observations that were in it."""
    records = (record for part in parts for record in part.records)
    return write_ledgers([part.run for part in parts], records)


def write_ledgers(runs: Sequence[RunSpec], records: Iterable[RecordSpec]) -> dict[str, bytes]:
    """The files that the given runs came from; several runs may share one file."""
    members: dict[str, list[tuple[int, Any]]] = {}
    for record in records:
        stored = json.loads(record.raw)
        source = stored["source"]
        members.setdefault(source["file"], []).append((source["index"], stored["observation"]))
    heads: dict[str, Any] = {}
    for run in runs:
        ledgers = run.extra.get("ledgers")
        heads.update(ledgers if isinstance(ledgers, Mapping) else {})
    return dict(
        file_of(path, heads.get(path, {}), [one for _index, one in sorted(held, key=place)], runs)
        for path, held in sorted(members.items())
    )


def place(member: tuple[int, Any]) -> int:
    """The position of an observation in its file."""
    return member[0]


def file_of(
    path: str, known: Mapping[str, Any], observations: list[Any], runs: Sequence[RunSpec]
) -> tuple[str, bytes]:
    """One file again: as it was when nothing of it is lacking, else a ledger of what is there."""
    head = known.get("head") or {}
    if known.get("observations") == len(observations):
        if path.endswith(".jsonl"):
            lines = [json.dumps(one, separators=(",", ":")) + "\n" for one in observations]
            return path, "".join(lines).encode("ascii")
        if not head:
            return path, written(observations[0])
        return path, written({**head, "observations": observations})
    payload = {
        "type": LEDGER.type,
        "schemaVersion": 1,
        "ledgerVersion": head.get("ledgerVersion", LEDGER_VERSION),
        "observations": observations,
    }
    run = runs[0]
    name = "-".join((run.external_id, str(run.extra.get("model", "")), run.scenario))
    return f"{name}.json", written(sealed(payload))
