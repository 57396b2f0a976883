"""Tables with typed columns as CSV, JSON lines and Parquet, written row by row or in batches."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import islice
from typing import Any, BinaryIO

from academy import foreign

Row = Mapping[str, Any]
BATCH = 4096


class Kind(StrEnum):
    """What a column holds besides nothing."""

    TEXT = "text"
    INTEGER = "integer"
    NUMBER = "number"
    FLAG = "flag"


@dataclass(frozen=True, slots=True)
class Column:
    """A column and the kind of its values."""

    name: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Table:
    """Columns, rows as they come, and what is said of them in files that can carry it."""

    columns: Sequence[Column]
    rows: Iterable[Row]
    about: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Form:
    """A form of file: what it is called, and how a table is written to a stream in it.

    `write(table, stream, neutral)`; `neutral` is for what spreadsheets open and changes no other.
    `join(table, files, stream)` makes one file of several that were written with the columns of a
    table, whose rows it does not read.
    """

    label: str
    ending: str
    media_type: str
    write: Callable[[Table, BinaryIO, bool], None]
    join: Callable[[Table, Iterable[BinaryIO], BinaryIO], None]


def marked(table: Table, name: str, text: str) -> Table:
    """The table with one text said in every row and of the whole; as it is without a text."""
    if not text:
        return table
    rows = ({**row, name: text} for row in table.rows)
    columns = (*table.columns, Column(name, Kind.TEXT))
    return Table(columns, rows, {**table.about, name: text})


def typed(value: Any, column: Column) -> Any:
    """The value as its column has it; None stays None, and whole floats are counts.

    Raises ValueError for a number that is not finite, and for a value of another kind.
    """
    if value is None:
        return None
    if column.kind is Kind.TEXT and isinstance(value, str):
        return value
    if column.kind is Kind.FLAG and isinstance(value, bool):
        return value
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if column.kind is Kind.NUMBER and is_number and math.isfinite(value):
        return float(value)
    if column.kind is Kind.INTEGER and is_number and math.isfinite(value) and value == int(value):
        return int(value)
    raise ValueError(f"{column.name}: {value!r} is no {column.kind}")


def typed_rows(table: Table) -> Iterator[list[Any]]:
    """The rows as lists in the order of the columns; a row that lacks a name has nothing there."""
    for row in table.rows:
        yield [typed(row.get(column.name), column) for column in table.columns]


def write_csv(table: Table, stream: BinaryIO, neutral: bool = True) -> None:
    """Write a CSV with a line of names; text that a spreadsheet would run is neutralised."""
    text = io.TextIOWrapper(stream, encoding="utf-8", newline="", write_through=True)
    writer = csv.writer(text)
    mend: Callable[[Any], Any] = foreign.cell if neutral else _as_it_is
    writer.writerow([mend(column.name) for column in table.columns])
    for row in typed_rows(table):
        writer.writerow([mend(value) for value in row])
    text.detach()


def join_csv(table: Table, files: Iterable[BinaryIO], stream: BinaryIO) -> None:
    """One line of names, then the lines of all files."""
    for place, file in enumerate(files):
        # No name of a column holds a line break.
        names = file.readline()
        if place == 0:
            stream.write(names)
        shutil.copyfileobj(file, stream)


def _as_it_is(value: Any) -> Any:
    return value


def write_jsonl(table: Table, stream: BinaryIO, neutral: bool = False) -> None:
    """Write an object on each line, every column named; `neutral` changes nothing."""
    names = [column.name for column in table.columns]
    for row in typed_rows(table):
        line = json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False, allow_nan=False)
        stream.write(line.encode() + b"\n")


def join_lines(table: Table, files: Iterable[BinaryIO], stream: BinaryIO) -> None:
    """The lines of all files."""
    for file in files:
        shutil.copyfileobj(file, stream)


def write_parquet(table: Table, stream: BinaryIO, neutral: bool = False) -> None:
    """Write typed, nullable columns with `about` as the file's metadata; `neutral` changes nothing.

    The library is loaded where it is used: it is large, and no page needs it.
    """
    import pyarrow as arrow
    from pyarrow import parquet

    schema = _schema(table)
    rows = typed_rows(table)
    with parquet.ParquetWriter(stream, schema, compression="zstd") as writer:
        while batch := list(islice(rows, BATCH)):
            values = zip(*batch, strict=True)
            arrays = [arrow.array(held, one.type) for held, one in zip(values, schema, strict=True)]
            writer.write_batch(arrow.record_batch(arrays, schema=schema))


def join_parquet(table: Table, files: Iterable[BinaryIO], stream: BinaryIO) -> None:
    """The rows of all files, a batch at a time, with the `about` of the table."""
    from pyarrow import parquet

    with parquet.ParquetWriter(stream, _schema(table), compression="zstd") as writer:
        for file in files:
            for batch in parquet.ParquetFile(file).iter_batches(16 * BATCH):
                writer.write_batch(batch.replace_schema_metadata(dict(table.about)))


def _schema(table: Table) -> Any:
    import pyarrow as arrow

    types = {
        Kind.TEXT: arrow.string(),
        Kind.INTEGER: arrow.int64(),
        Kind.NUMBER: arrow.float64(),
        Kind.FLAG: arrow.bool_(),
    }
    fields = [arrow.field(column.name, types[column.kind]) for column in table.columns]
    return arrow.schema(fields, metadata=dict(table.about))


FORMS = {
    "csv": Form("CSV", "csv", "text/csv; charset=utf-8", write_csv, join_csv),
    "jsonl": Form("JSON lines", "jsonl", "application/x-ndjson", write_jsonl, join_lines),
    "parquet": Form(
        "Parquet", "parquet", "application/vnd.apache.parquet", write_parquet, join_parquet
    ),
}


def as_bytes(table: Table, form: str, *, neutral: bool = True) -> bytes:
    """A small table as the bytes of a file."""
    stream = io.BytesIO()
    FORMS[form].write(table, stream, neutral)
    return stream.getvalue()
