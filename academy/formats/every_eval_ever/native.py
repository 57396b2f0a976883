"""Gives suites and runs back as the files that they came as."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from academy.bundle import RecordSpec, RunSpec, SuiteSpec
from academy.errors import AcademyError
from academy.formats.base import StoredRun
from academy.formats.every_eval_ever.paths import samples_path
from academy.formats.every_eval_ever.values import as_map, as_text
from academy.formats.reading import read_json

LINES = b'{"lines":['
NO_SUITE = SuiteSpec(slug="", title="", format="every_eval_ever", tasks=(), metrics=())


def native_lines(raw: bytes) -> tuple[list[bytes], dict[str, bytes]]:
    """The lines of a stored record as they were written, and the trajectories beside them."""
    if raw.startswith(b"["):
        # Lines were joined by a comma and a line feed, which no line holds.
        return raw[1:-1].split(b",\n"), {}
    value = as_map(read_json(raw, path="record"))
    if "lines" not in value:
        return [raw], {}
    return lines_in(raw), {
        as_text(as_map(held).get("path")): file_of(as_map(held).get("value"), as_map(held))
        for held in as_map(value.get("trajectories")).values()
    }


def lines_in(raw: bytes) -> list[bytes]:
    """The lines of a record that also holds trajectories, byte for byte."""
    *lines, last = raw[len(LINES) :].split(b",\n")
    # No line holds a line feed, but the last one is followed by the trajectories.
    text = last.decode("utf-8")
    return [*lines, text[: json.JSONDecoder().raw_decode(text)[1]].encode("utf-8")]


def file_of(value: object, held: Mapping[str, object]) -> bytes:
    """A trajectory as the file it was: one document, or a line for each event."""
    lines = str(held.get("path", "")).endswith((".jsonl", ".ndjson"))
    if lines and isinstance(value, list | tuple):
        return b"".join(msgspec.json.encode(item) + b"\n" for item in value)
    return msgspec.json.encode(value)


def export_suite(suite: SuiteSpec, blobs: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The records that a collection was read from. It has no document of its own.

    Raises AcademyError when none of them was kept; its runs then give them back.
    """
    files = {path: blobs[path] for path in suite.sources if path in blobs}
    if not files:
        raise AcademyError(
            f"The collection {suite.slug} has no document of its own, and the records that it was "
            "read from are not here; export its runs instead."
        )
    return files


def document_of(run: RunSpec) -> tuple[str, bytes]:
    """The aggregate that a run came with. Raises AcademyError when there is none."""
    path, document = as_text(run.extra.get("path")), as_text(run.extra.get("document"))
    if not path or not document:
        raise AcademyError(
            "This run did not come as a record of Every Eval Ever; export it as one."
        )
    return path, document.encode("utf-8", "surrogatepass")


def numbers_of(record: RecordSpec, count: int) -> list[int]:
    """Where the lines of a record stood; reported scores remember it, as there is one for each."""
    told = [one.line or 0 for one in record.reported]
    return told if len(told) == count else [record.line or 0] * count


def export_submission(
    parts: Iterable[tuple[RunSpec, Iterable[RecordSpec]]],
) -> Mapping[str, bytes]:
    """The files of one or more runs: aggregates byte for byte, rows line for line.

    The runs of all data sets of an aggregate together give all of its rows, in their old order.
    """
    return export_runs(
        [StoredRun(suite=NO_SUITE, run=run, records=records) for run, records in parts]
    )


def export_runs(parts: Sequence[StoredRun]) -> Mapping[str, bytes]:
    """The files of whole uploads; trajectories byte for byte where their file was kept."""
    files: dict[str, bytes] = {}
    rows: dict[str, list[tuple[int, int, bytes]]] = {}
    for part in parts:
        run, records = part.run, part.records
        path, document = document_of(run)
        files[path] = document
        for record in records:
            lines, beside = native_lines(record.raw)
            for name, data in beside.items():
                if name not in files:
                    files[name] = part.files.get(name, data)
            listed = rows.setdefault(as_text(run.extra.get("rows")) or samples_path(path), [])
            for number, line in zip(numbers_of(record, len(lines)), lines, strict=True):
                listed.append((number, len(listed), line))
    for path, listed in rows.items():
        files[path] = b"".join(line + b"\n" for _first, _place, line in sorted(listed))
    return files


def export_run(
    _suite: SuiteSpec, run: RunSpec, records: Iterable[RecordSpec]
) -> Mapping[str, bytes]:
    """The aggregate, the rows of this run's data set, and the trajectories they refer to.

    Raises AcademyError for a run that did not come as a record of this format.
    """
    return export_submission([(run, records)])
