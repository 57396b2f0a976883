"""Records on their way to rows: packed while they stream by, staged, checked, inserted at once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from django.db import connection

from academy.bundle import RecordSpec, RunSpec, RunUpload
from academy.errors import FormatError, Problem, Problems
from academy.fitting import too_great
from academy.identity import pack_record_id
from academy.models import (
    InstanceRecord,
    Run,
)
from academy.packs import KeptFile, RecordWriter

COLUMNS = (
    "id",
    "run_id",
    "task_id",
    "replicate",
    "variant",
    "status",
    "pack_id",
    '"offset"',
    "length",
    "content_digest",
    "steps",
    "wall_ms",
    "tokens_in",
    "tokens_out",
    "cost_micros",
)
STAGE = f"""
CREATE TEMP TABLE staged_records ON COMMIT DROP AS
SELECT {", ".join(COLUMNS)}, ''::text AS place FROM academy_instancerecord WITH NO DATA
"""
REPORTED = "record_id, metric, value, correct, line, note"
LONGEST_METRIC = 200
STAGE_REPORTED = f"""
CREATE TEMP TABLE staged_reported ON COMMIT DROP AS
SELECT {REPORTED} FROM academy_reportedscore WITH NO DATA
"""
INSERT_REPORTED = f"""
INSERT INTO academy_reportedscore ({REPORTED})
SELECT {REPORTED} FROM staged_reported ON CONFLICT (record_id, metric) DO NOTHING
"""
TWICE = """
SELECT min(place), max(place), count(DISTINCT content_digest) FROM staged_records
GROUP BY id HAVING count(*) > 1 ORDER BY min(place) LIMIT 50
"""
CONFLICTS = """
SELECT s.place, t.external_id FROM staged_records s
JOIN academy_instancerecord r ON r.id = s.id JOIN academy_task t ON t.id = r.task_id
WHERE r.content_digest <> s.content_digest ORDER BY s.place LIMIT 50
"""
OTHER_SCORES = """
SELECT s.place, t.external_id, held.metric, held.value, held.correct, told.value, told.correct
FROM staged_reported told JOIN staged_records s ON s.id = told.record_id
JOIN academy_reportedscore held ON held.record_id = told.record_id AND held.metric = told.metric
JOIN academy_task t ON t.id = s.task_id
WHERE (held.value, held.correct) IS DISTINCT FROM (told.value, told.correct) ORDER BY s.place
"""
INSERT = f"""
INSERT INTO academy_instancerecord ({", ".join(COLUMNS)})
SELECT {", ".join(COLUMNS)} FROM staged_records ON CONFLICT (id) DO NOTHING
"""
COUNTS = """
SELECT asked.run, count(record.id) FROM unnest(%s::bigint[]) AS asked(run)
LEFT JOIN academy_instancerecord AS record
       ON record.id >= asked.run << 39 AND record.id < (asked.run + 1) << 39
GROUP BY asked.run
"""


@dataclass(slots=True)
class Target:
    """A run that is being filled."""

    run: Run
    spec: RunSpec
    writer: RecordWriter
    task_ids: Mapping[str, tuple[int, int]]
    outcome: str
    records: int = 0
    new_records: int = 0
    all_records: int = 0
    decisions: list[tuple[int, RecordSpec]] = field(default_factory=list)
    left_out: list[tuple[str, int, int]] = field(default_factory=list)


def stage(
    upload: RunUpload, targets: list[Target], kept: Mapping[str, KeptFile], unknown: str
) -> list[str]:
    """Write packs and staged rows while the records stream by; gives the ids left out."""
    problems = Problems()
    left_out: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(STAGE)
        cursor.execute(STAGE_REPORTED)
        columns = ", ".join((*COLUMNS, "place"))
        for batch in _batches(upload.records(), 1000):
            rows: list[tuple[Any, ...]] = []
            reported: list[tuple[Any, ...]] = []
            for spec in batch:
                target = targets[spec.run]
                place = target.task_ids.get(spec.task_id)
                if place is None:
                    left_out.append(spec.task_id)
                    target.left_out.append((spec.task_id, spec.replicate, spec.variant))
                    if unknown == "refuse":
                        problems.error(
                            spec.file,
                            "unknown-task",
                            f"task {spec.task_id!r} is not in {target.run.version}",
                            line=spec.line,
                        )
                    continue
                try:
                    row = _row(spec, target, kept, *place)
                    reported += _reported_rows(row[0], spec)
                except FormatError as error:
                    problems.extend(error)
                    continue
                rows.append(row)
            _copy(cursor, f"COPY staged_records ({columns}) FROM STDIN", rows)
            _copy(cursor, f"COPY staged_reported ({REPORTED}) FROM STDIN", reported)
    for target in targets:
        target.writer.flush()
    problems.raise_if_any()
    return left_out


def _copy(cursor: Any, statement: str, rows: list[tuple[Any, ...]]) -> None:
    if rows:
        with cursor.cursor.copy(statement) as copy:
            for row in rows:
                copy.write_row(row)


def _reported_rows(record_id: int, spec: RecordSpec) -> list[tuple[Any, ...]]:
    for score in spec.reported:
        if len(score.metric) > LONGEST_METRIC:
            raise FormatError.at(
                spec.file,
                "metric-name",
                f"a reported metric's name is longer than {LONGEST_METRIC} characters",
                line=score.line or spec.line,
            )
    return [
        (record_id, score.metric, score.value, score.correct, score.line, score.note[:300])
        for score in spec.reported
    ]


def _batches(records: Iterator[RecordSpec], size: int) -> Iterator[list[RecordSpec]]:
    batch: list[RecordSpec] = []
    for record in records:
        batch.append(record)
        if len(batch) >= size:
            yield batch
            batch = []
    if batch:
        yield batch


def _row(
    spec: RecordSpec,
    target: Target,
    kept: Mapping[str, KeptFile],
    task_id: int,
    ordinal: int,
) -> tuple[Any, ...]:
    try:
        record_id = pack_record_id(target.run.pk, ordinal, spec.replicate, spec.variant)
    except ValueError as error:
        raise FormatError.at(spec.file, "record-identity", str(error), line=spec.line) from None
    counts = {
        "steps": spec.steps,
        "wall_ms": spec.wall_ms,
        "tokens_in": spec.tokens_in,
        "tokens_out": spec.tokens_out,
        "cost_micros": None if spec.cost is None else round(spec.cost * 1e6),
    }
    if name := too_great(InstanceRecord, counts):
        raise FormatError.at(
            spec.file,
            "number-range",
            f"the {name} of task {spec.task_id!r} is too great to be kept: {counts[name]}",
            line=spec.line,
        )
    if spec.offset is None:
        pack_id, offset, length = target.writer.write(spec.raw)
    else:
        pack_id, offset = kept[spec.file].place(spec.offset)
        length = len(spec.raw)
    target.records += 1
    if spec.decisions:
        # The bytes are packed by now; a run's verdicts must not hold all of them in memory.
        target.decisions.append((record_id, replace(spec, raw=b"")))
    content = spec.content_digest or hashlib.sha256(spec.raw).hexdigest()
    where = f"{spec.file}:{spec.line:09d}" if spec.line else f"{spec.file}#{target.records}"
    return (
        record_id,
        target.run.pk,
        task_id,
        spec.replicate,
        spec.variant,
        str(spec.status),
        pack_id,
        offset,
        length,
        bytes.fromhex(content),
        *counts.values(),
        where,
    )


def refuse_conflicts() -> None:
    """Refuse identities that come twice, or again with other content, naming both places."""
    problems = Problems()
    with connection.cursor() as cursor:
        cursor.execute(TWICE)
        for first, second, contents in cursor.fetchall():
            said = "with different content" if contents > 1 else "with the same content"
            file, line = _split(second)
            problems.error(
                file,
                "double-record",
                f"two records of one execution, at {_place(first)} and {_place(second)}, {said}; "
                "a repetition needs a replicate number of its own",
                line=line,
            )
        cursor.execute(CONFLICTS)
        for where, task in cursor.fetchall():
            file, line = _split(where)
            problems.error(
                file,
                "changed-record",
                f"{_place(where)}: this execution of task {task} is already stored with other "
                "content; records never change",
                line=line,
            )
    problems.raise_if_any()


def kept_scores() -> list[Problem]:
    """A warning for each reported score that comes again as another: the stored one stays."""
    problems = Problems()
    with connection.cursor() as cursor:
        cursor.execute(OTHER_SCORES)
        for where, task, metric, *numbers in cursor.fetchall():
            file, line = _split(where)
            held, told = _reported_shown(*numbers[:2]), _reported_shown(*numbers[2:])
            problems.warn(
                file,
                "reported-kept",
                f"{_place(where)}: the {metric} of task {task} is stored as {held} and stays so; "
                f"this upload reports {told}",
                line=line,
            )
    return problems.notices


def _reported_shown(value: float | None, correct: bool | None) -> str:
    shown = "no number" if value is None else f"{value:g}"
    return shown if correct is None else f"{shown} ({'correct' if correct else 'not correct'})"


def _split(where: str) -> tuple[str, int | None]:
    file, colon, line = where.rpartition(":")
    if colon and line.isascii() and line.isdigit():
        return file, int(line)
    return where.rpartition("#")[0], None


def _place(where: str) -> str:
    file, line = _split(where)
    return f"{file} line {line}" if line else f"{file} entry {where.rpartition('#')[2]}"


def insert_staged(targets: list[Target]) -> None:
    """Store what is staged, and note how many records that added to each run."""
    ids = [target.run.pk for target in targets]
    with connection.cursor() as cursor:
        before = _counts(cursor, ids)
        cursor.execute(INSERT)
        cursor.execute(INSERT_REPORTED)
        # A caller may record twice in one transaction, at whose end the table would go.
        cursor.execute("DROP TABLE staged_records, staged_reported")
        after = _counts(cursor, ids)
    for target in targets:
        target.all_records = after[target.run.pk]
        target.new_records = target.all_records - before[target.run.pk]


def _counts(cursor: Any, ids: list[int]) -> dict[int, int]:
    cursor.execute(COUNTS, [ids])
    return dict(cursor.fetchall())
