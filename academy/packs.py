"""Packs: records in their own form, stored as zstd frames of some 128 KB that open alone."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

import zstandard

from academy.models import InstanceRecord, Pack

if TYPE_CHECKING:
    from academy.models import Run

FRAME_BYTES = 128 * 1024
LEVEL = 3


def compress(data: bytes) -> bytes:
    """One zstd frame that carries its content size."""
    return zstandard.ZstdCompressor(level=LEVEL).compress(data)


def decompress(frame: bytes) -> bytes:
    """The bytes of one of our frames."""
    return zstandard.ZstdDecompressor().decompress(frame)


@dataclass(slots=True)
class PackWriter:
    """Appends records to packs of one run; `write` gives (pack, offset, length) of the record."""

    run: Run
    number: int
    buffer: bytearray = field(default_factory=bytearray)
    pack: Pack | None = None

    def write(self, raw: bytes) -> tuple[Pack, int, int]:
        """Append one record and a line end."""
        if self.pack is None:
            self.pack = Pack.objects.create(
                run=self.run, number=self.number, size=0, digest="", content=b""
            )
        place = (self.pack, len(self.buffer), len(raw))
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


@lru_cache(maxsize=32)
def open_pack(pack_id: int) -> bytes:
    """The bytes of a pack. Packs never change once written, so they may be kept."""
    return decompress(bytes(Pack.objects.values_list("content", flat=True).get(pk=pack_id)))


def raw_record(record: InstanceRecord) -> bytes:
    """A record in the form in which it came."""
    data = open_pack(record.pack_id)
    return data[record.offset : record.offset + record.length]
