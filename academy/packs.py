"""Packs: uploads and records as zstd frames of some 128 KB that open alone."""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import zstandard

from academy.models import InstanceRecord, Pack, SubmissionFile
from academy.recent import Recent

if TYPE_CHECKING:
    from academy.models import Run

FRAME_BYTES = 128 * 1024
# Longer than any line that the readers take, so that a record is never cut; what has no line ends
# at all must not lie in memory whole.
LONGEST_FRAME = 32 * 2**20
LEVEL = 3
# Of the packs that were read last, so much stays open in a process.
MOST_OPEN = 32 * 2**20


def compress(data: bytes) -> bytes:
    """One zstd frame that carries its content size."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(frame: bytes) -> bytes:
    """The bytes of one of our frames."""
    return zstandard.ZstdDecompressor().decompress(frame)


@dataclass(slots=True)
class RecordWriter:
    """Appends records to packs of one run; `write` gives (pack, offset, length) of the record."""

    run: Run
    number: int
    buffer: bytearray = field(default_factory=bytearray)
    pack: Pack | None = None
    has_written: bool = False

    def write(self, raw: bytes) -> tuple[int, int, int]:
        """Append one record and a line end."""
        if self.pack is None:
            self.pack = Pack.objects.create(
                run=self.run, number=self.number, size=0, digest="", content=b""
            )
        place = (self.pack.pk, len(self.buffer), len(raw))
        self.has_written = True
        self.buffer += raw + b"\n"
        if len(self.buffer) >= FRAME_BYTES:
            self.flush()
        return place

    def flush(self) -> None:
        """Store what was appended since the last frame."""
        if self.pack is None:
            return
        data = bytes(self.buffer)
        Pack.objects.filter(pk=self.pack.pk).update(
            size=len(data), digest=hashlib.sha256(data).hexdigest(), content=compress(data)
        )
        self.pack = None
        self.number += 1
        self.buffer.clear()


@dataclass(frozen=True, slots=True)
class KeptFile:
    """Where the bytes of a kept file are: the starts of its packs and their ids, in order."""

    starts: tuple[int, ...]
    packs: tuple[int, ...]

    def place(self, offset: int) -> tuple[int, int]:
        """The pack that holds a byte, and its offset there."""
        index = bisect_right(self.starts, offset) - 1
        return self.packs[index], offset - self.starts[index]


def frames(stream: BinaryIO) -> Iterator[bytes]:
    """The bytes of a stream in pieces of some 128 KB, each ending at a line end if it can."""
    buffer = bytearray()
    while part := stream.read(FRAME_BYTES):
        line_end = part.rfind(b"\n")
        cut = len(buffer) + line_end + 1 if line_end >= 0 else 0
        buffer += part
        if not cut and len(buffer) >= LONGEST_FRAME:
            cut = len(buffer)
        if cut and len(buffer) >= FRAME_BYTES:
            yield bytes(buffer[:cut])
            del buffer[:cut]
    if buffer:
        yield bytes(buffer)


def keep_file(file: SubmissionFile, stream: BinaryIO) -> KeptFile:
    """Keep the bytes of an uploaded file exactly, and note their digest and size."""
    starts: list[int] = []
    ids: list[int] = []
    hashed = hashlib.sha256()
    start = 0
    for number, data in enumerate(frames(stream), 1):
        hashed.update(data)
        pack = Pack.objects.create(
            file=file,
            number=number,
            start=start,
            size=len(data),
            digest=hashlib.sha256(data).hexdigest(),
            content=compress(data),
        )
        starts.append(start)
        ids.append(pack.pk)
        start += len(data)
    file.sha256, file.size = hashed.hexdigest(), start
    file.save(update_fields=["sha256", "size"])
    return KeptFile(tuple(starts), tuple(ids))


def kept_bytes(file: SubmissionFile) -> Iterator[bytes]:
    """The bytes of a kept file, piece by piece, as they were uploaded."""
    for content in file.packs.order_by("number").values_list("content", flat=True).iterator(8):
        yield decompress(bytes(content))


opened: Recent[bytes] = Recent(MOST_OPEN)


def open_pack(pack_id: int) -> bytes:
    """The bytes of a pack. Packs never change once written, so they may be kept."""

    def make() -> tuple[bytes, int]:
        content = Pack.objects.values_list("content", flat=True).get(pk=pack_id)
        data = decompress(bytes(content))
        return data, len(data)

    return opened.get(pack_id, make)


def raw_record(record: InstanceRecord) -> bytes:
    """A record in the form in which it came."""
    data = open_pack(record.pack_id)
    return data[record.offset : record.offset + record.length]
