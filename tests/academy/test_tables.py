"""Typed tables as files: every form gives the values back, and no number is anything else."""

from __future__ import annotations

import csv
import io
import json
import math
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from academy.tables import BATCH, FORMS, Column, Kind, Table, as_bytes, typed

COLUMNS = (
    Column("name", Kind.TEXT),
    Column("count", Kind.INTEGER),
    Column("score", Kind.NUMBER),
    Column("passed", Kind.FLAG),
)
ABOUT = {"board": "areas", "snapshot": "3"}
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00\r"))
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "name": st.none() | TEXT,
            "count": st.none() | st.integers(-(2**63), 2**63 - 1),
            "score": st.none() | st.floats(allow_nan=False, allow_infinity=False),
            "passed": st.none() | st.booleans(),
        }
    ),
    max_size=8,
)


def table(rows: Any) -> Table:
    return Table(COLUMNS, rows, ABOUT)


def from_parquet(data: bytes) -> Any:
    return parquet.read_table(pyarrow.BufferReader(data))


@given(ROWS)
def test_parquet_and_json_lines_give_every_value_back(rows: list[dict[str, Any]]) -> None:
    assert from_parquet(as_bytes(table(rows), "parquet")).to_pylist() == rows
    lines = as_bytes(table(rows), "jsonl").decode().split("\n")[:-1]
    assert [json.loads(line) for line in lines] == rows


@given(ROWS)
def test_a_csv_for_programs_gives_every_value_back(rows: list[dict[str, Any]]) -> None:
    text = as_bytes(table(rows), "csv", neutral=False).decode()
    for row, read in zip(rows, csv.DictReader(io.StringIO(text, newline="")), strict=True):
        assert read["name"] == (row["name"] or "")
        assert read["count"] == ("" if row["count"] is None else str(row["count"]))
        assert (float(read["score"]) if read["score"] else None) == row["score"]


@given(ROWS)
def test_in_a_csv_for_spreadsheets_no_text_starts_a_formula_and_numbers_stay(
    rows: list[dict[str, Any]],
) -> None:
    text = as_bytes(table(rows), "csv").decode()
    for row, read in zip(rows, csv.DictReader(io.StringIO(text, newline="")), strict=True):
        assert not read["name"].startswith(("=", "@", "\t", "\n"))
        assert (float(read["score"]) if read["score"] else None) == row["score"]


def test_columns_have_types_and_the_file_says_what_it_is() -> None:
    read = from_parquet(as_bytes(table([{"name": "A", "count": 3.0}]), "parquet"))
    assert [str(field.type) for field in read.schema] == ["string", "int64", "double", "bool"]
    assert read.to_pylist() == [{"name": "A", "count": 3, "score": None, "passed": None}]
    assert read.schema.metadata == {b"board": b"areas", b"snapshot": b"3"}
    assert [str(f.type) for f in from_parquet(as_bytes(table([]), "parquet")).schema][1] == "int64"


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_number_that_is_not_finite_is_never_written(form: str, value: float) -> None:
    with pytest.raises(ValueError, match="score"):
        as_bytes(table([{"score": value}]), form)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Kind.INTEGER, 0.5), (Kind.INTEGER, True), (Kind.INTEGER, "3"), (Kind.NUMBER, "0.5"),
        (Kind.NUMBER, False), (Kind.TEXT, 3), (Kind.FLAG, 1), (Kind.INTEGER, math.inf),
    ],
)  # fmt: skip
def test_a_value_of_another_kind_is_refused_by_name(kind: Kind, value: Any) -> None:
    with pytest.raises(ValueError, match="c: "):
        typed(value, Column("c", kind))


def test_many_rows_take_the_memory_of_a_batch() -> None:
    alive = most = 0

    class Counted(dict[str, Any]):
        def __init__(self, number: int) -> None:
            nonlocal alive, most
            super().__init__(name=f"n-{number}", count=number, score=number / 7, passed=True)
            alive += 1
            most = max(most, alive)

        def __del__(self) -> None:
            nonlocal alive
            alive -= 1

    def rows() -> Iterator[dict[str, Any]]:
        yield from (Counted(number) for number in range(5 * BATCH))

    for form in FORMS:
        most = 0
        data = as_bytes(table(rows()), form)
        assert len(data) > BATCH
        assert most <= 2, form
    assert from_parquet(data).num_rows == 5 * BATCH
    assert parquet.ParquetFile(pyarrow.BufferReader(data)).metadata.num_row_groups == 5


def test_the_library_for_parquet_is_not_loaded_before_a_file_is_written() -> None:
    code = (
        "import sys, django; django.setup();"
        "from django.urls import get_resolver; get_resolver().url_patterns;"
        "import academy.tables, leaderboard.views, academy.export_views;"
        "sys.exit('pyarrow' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
