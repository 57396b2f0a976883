"""A large file is written piece by piece, each kept, so that a job may end between two of them."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import IO, BinaryIO

from django.core.files import File
from django.core.files.storage import default_storage

from academy.tables import Form, Row, Table

MARK = "piece"
# Of two workers that keep one piece at once the storage gives the later one another name.
NAME = re.compile(MARK + r"-(?P<state>.+)-(?P<place>[0-9]+)-(?P<rows>[0-9]+)-(?P<size>[0-9]+)")
TOLD_EVERY = 2000


@dataclass(frozen=True, slots=True)
class Piece:
    """A kept file with the rows of one table of several. Its name tells how large it must be, so
    that what a killed worker left half written is known."""

    path: str
    rows: int


def kept_pieces(folder: str, state: str) -> dict[int, Piece]:
    """The whole pieces of a state, by the place of their table."""
    found = {}
    for name in names_in(folder):
        told = NAME.fullmatch(name)
        if told is None or told["state"] != state[:16]:
            continue
        path = f"{folder}/{name}"
        if default_storage.size(path) == int(told["size"]):
            found[int(told["place"])] = Piece(path, int(told["rows"]))
    return found


def write_pieces(
    folder: str,
    state: str,
    pieces: Sequence[Table],
    write: Callable[[Table, BinaryIO], None],
    *,
    seconds: float,
    tell: Callable[[int], None],
) -> list[Piece] | None:
    """Write the tables that no piece holds yet, in their order; None when the time is up before
    all are there. One more is written whatever the time. `tell` hears how many rows there are.
    """
    kept = kept_pieces(folder, state)
    until = time.monotonic() + seconds
    is_first = True
    for place, table in enumerate(pieces):
        if place in kept:
            continue
        if not is_first and time.monotonic() >= until:
            return None
        is_first = False
        counted = Counted(table, tell, sum(piece.rows for piece in kept.values()))
        with tempfile.TemporaryFile() as held:
            write(replace(table, rows=counted), held)
            size = held.tell()
            held.seek(0)
            name = f"{MARK}-{state[:16]}-{place}-{counted.count}-{size}"
            kept[place] = Piece(keep(f"{folder}/{name}", held, size), counted.count)
    return [kept[place] for place in range(len(pieces))]


def keep(path: str, held: IO[bytes], size: int) -> str:
    """Store a file unless it is there whole; gives its path."""
    if default_storage.exists(path):
        if default_storage.size(path) == size:
            return path
        default_storage.delete(path)
    return default_storage.save(path, File(held))


def join(pieces: Sequence[Piece], table: Table, form: Form, stream: BinaryIO) -> None:
    """One file of all pieces, which were written with the columns of the table."""
    form.join(table, _opened(pieces), stream)


def _opened(pieces: Sequence[Piece]) -> Iterator[BinaryIO]:
    for piece in pieces:
        with _open(piece) as file:
            yield file


@contextmanager
def _open(piece: Piece) -> Iterator[BinaryIO]:
    with default_storage.open(piece.path, "rb") as file:
        yield file  # type: ignore[misc]


def names_in(folder: str) -> list[str]:
    """The files of a folder, none where there is no such folder."""
    try:
        return sorted(default_storage.listdir(folder)[1])
    except FileNotFoundError:
        return []


def delete_pieces(folder: str) -> None:
    """Delete the pieces of a folder, whatever state they are of."""
    for name in names_in(folder):
        if name.startswith(f"{MARK}-"):
            default_storage.delete(f"{folder}/{name}")


class Counted:
    """The rows of a table, counted as they pass; now and then their number and that of the rows
    `before` them is told."""

    def __init__(self, table: Table, tell: Callable[[int], None], before: int = 0) -> None:
        self.table = table
        self.tell = tell
        self.before = before
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self.table.rows:
            self.count += 1
            if self.count % TOLD_EVERY == 0:
                self.tell(self.before + self.count)
            yield row
