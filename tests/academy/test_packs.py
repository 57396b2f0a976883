"""Bytes are kept in pieces that end at line ends, and never in one piece of any size."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from academy import packs
from academy.formats.limits import LIMITS


@given(st.lists(st.tuples(st.integers(0, 300_000), st.booleans()), max_size=6))
def test_pieces_give_the_bytes_back_and_cut_no_line(parts: list[tuple[int, bool]]) -> None:
    data = b"".join(b"x" * size + (b"\n" if ends else b"") for size, ends in parts)
    pieces = list(packs.frames(io.BytesIO(data)))
    assert b"".join(pieces) == data
    assert all(piece.endswith(b"\n") for piece in pieces[:-1])


def test_what_has_no_line_ends_is_cut_where_no_record_could_lie() -> None:
    data = b"x" * (packs.LONGEST_FRAME + packs.FRAME_BYTES)
    pieces = list(packs.frames(io.BytesIO(data)))
    assert b"".join(pieces) == data
    assert max(map(len, pieces)) <= packs.LONGEST_FRAME
    assert LIMITS.line_bytes + packs.FRAME_BYTES < packs.LONGEST_FRAME
