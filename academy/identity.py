"""The id of a record is its identity: run, task ordinal, replicate and variant in 63 bits."""

from __future__ import annotations

from typing import NamedTuple

RUN_BITS, ORDINAL_BITS, REPLICATE_BITS, VARIANT_BITS = 24, 24, 10, 5


class RecordIdentity(NamedTuple):
    """The four parts of a record's id."""

    run: int
    ordinal: int
    replicate: int
    variant: int


def pack_record_id(run: int, ordinal: int, replicate: int, variant: int) -> int:
    """The id of a record. Raises ValueError for a part that does not fit its bits."""
    parts = ((run, RUN_BITS), (ordinal, ORDINAL_BITS), (replicate, REPLICATE_BITS))
    packed = 0
    for value, bits in (*parts, (variant, VARIANT_BITS)):
        if not 0 <= value < 1 << bits:
            raise ValueError(f"{value} does not fit {bits} bits of a record id")
        packed = packed << bits | value
    return packed


def open_record_id(record_id: int) -> RecordIdentity:
    """The parts of a record's id."""
    rest, variant = divmod(record_id, 1 << VARIANT_BITS)
    rest, replicate = divmod(rest, 1 << REPLICATE_BITS)
    run, ordinal = divmod(rest, 1 << ORDINAL_BITS)
    return RecordIdentity(run, ordinal, replicate, variant)


def record_id_range(run: int) -> tuple[int, int]:
    """The first id of a run and the first of the next."""
    return pack_record_id(run, 0, 0, 0), (run + 1) << (ORDINAL_BITS + REPLICATE_BITS + VARIANT_BITS)
