"""Pieces of a large file: what is whole counts, whatever else lies in their folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, BinaryIO

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage

from academy.piecing import Piece, kept_pieces, write_pieces
from academy.tables import Column, Kind, Table

STATE = "0123456789abcdef" * 4
FOLDER = "pieces"


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = str(tmp_path)


def lay(name: str, content: bytes = b"ab") -> str:
    """Put a file into the folder."""
    return default_storage.save(f"{FOLDER}/{name}", ContentFile(content))


def table(*values: int) -> Table:
    return Table([Column("value", Kind.INTEGER)], [{"value": value} for value in values])


def write(table: Table, stream: BinaryIO) -> None:
    stream.writelines(f"{row['value']}\n".encode() for row in table.rows)


def test_only_whole_pieces_of_the_state_count() -> None:
    whole = lay("piece-0123456789abcdef-0-7-2")
    lay("piece-0123456789abcdef-1-7-3")
    lay("piece-fedcba9876543210-2-7-2")
    # The names that a storage gives when two keep one at once, and what is none of ours.
    lay("piece-0123456789abcdef-3-7-2_x7Yz1aB")
    lay("piece-0123456789abcdef-4-7-2_1234567")
    lay("piece-0123456789abcdef")
    assert kept_pieces(FOLDER, STATE) == {0: Piece(whole, 7)}


def test_what_is_left_is_written_by_the_next_job_and_what_is_there_is_kept() -> None:
    tables = [table(1, 2), table(3), table()]
    pieces = None
    for _job in range(3):
        assert pieces is None
        pieces = write_pieces(FOLDER, STATE, tables, write, seconds=0, tell=lambda _rows: None)
    assert pieces is not None
    assert [piece.rows for piece in pieces] == [2, 1, 0]
    contents = []
    for piece in pieces:
        with default_storage.open(piece.path) as file:
            contents.append(file.read())
    assert contents == [b"1\n2\n", b"3\n", b""]
