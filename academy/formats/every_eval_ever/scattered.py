"""Finds lines of one execution that do not follow each other, by digests alone."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np

MOST_GROUPS = 20_000_000
MOST_CURSORS = 32
BLANK = b" \t\r\n"


@dataclass(frozen=True, slots=True)
class Place:
    """Where a group of lines lies: its first line, its offset, how many lines, its digest."""

    line: int
    offset: int
    count: int
    digest: bytes


class GroupIndex:
    """Fifty-six bytes for every group of lines; no text is kept."""

    def __init__(self) -> None:
        self.keys = bytearray()
        self.digests = bytearray()
        self.places = array("Q")

    def __len__(self) -> int:
        return len(self.keys) // 16

    def add(self, key: bytes, place: Place) -> bool:
        """Note a group by the first sixteen bytes of its identity's digest; False when full."""
        if len(self) >= MOST_GROUPS:
            return False
        self.keys += key[:16]
        self.digests += place.digest[:16]
        self.places.extend((place.line, place.offset, place.count))
        return True

    def repeated(self) -> Iterator[list[Place]]:
        """The groups of every identity that has more than one, in order of lines."""
        keys = np.frombuffer(bytes(self.keys), dtype=np.uint64).reshape(-1, 2)
        if not len(keys):
            return
        order = np.lexsort((np.arange(len(keys)), keys[:, 1], keys[:, 0]))
        ordered = keys[order]
        same = (ordered[1:] == ordered[:-1]).all(axis=1)
        starts = np.flatnonzero(np.diff(np.concatenate(([False], same, [False])).astype(np.int8)))
        spans = sorted(
            (order[first : last + 1].tolist() for first, last in starts.reshape(-1, 2).tolist()),
            key=min,
        )
        for span in spans:
            yield [self.place(index) for index in sorted(span)]

    def place(self, index: int) -> Place:
        """The place of one group."""
        line, offset, count = self.places[3 * index : 3 * index + 3]
        return Place(line, offset, count, bytes(self.digests[16 * index : 16 * index + 16]))


class Cursors:
    """Reads lines at offsets of one file through a few streams that each only move forward.

    Files that hold all rows of one metric, then all rows of the next, are read by one stream per
    metric, also where going back is dear, as inside of an archive.
    """

    def __init__(self, opener: Callable[[], BinaryIO]) -> None:
        self.opener = opener
        self.streams: list[BinaryIO] = []

    def read(self, offset: int, count: int) -> list[bytes]:
        """As many lines that are not blank, from an offset on."""
        behind = [stream for stream in self.streams if stream.tell() <= offset]
        if behind:
            stream = max(behind, key=lambda stream: stream.tell())
        else:
            if len(self.streams) >= MOST_CURSORS:
                self.streams.pop(0).close()
            stream = self.opener()
            self.streams.append(stream)
        stream.seek(offset)
        lines: list[bytes] = []
        while len(lines) < count and (line := stream.readline()):
            if line.strip(BLANK):
                lines.append(line)
        return lines

    def close(self) -> None:
        """Close every stream."""
        for stream in self.streams:
            stream.close()
        self.streams.clear()
