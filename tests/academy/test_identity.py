"""The id of a record is its identity, and nothing else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.identity import (
    ORDINAL_BITS,
    REPLICATE_BITS,
    RUN_BITS,
    VARIANT_BITS,
    open_record_id,
    pack_record_id,
    record_id_range,
)

BITS = (RUN_BITS, ORDINAL_BITS, REPLICATE_BITS, VARIANT_BITS)
identities = st.tuples(*(st.integers(0, 2**bits - 1) for bits in BITS))


@given(identities)
def test_what_was_packed_can_be_opened(identity: tuple[int, int, int, int]) -> None:
    assert open_record_id(pack_record_id(*identity)) == identity


@given(identities)
def test_an_id_fits_a_bigint_and_is_not_negative(identity: tuple[int, int, int, int]) -> None:
    assert 0 <= pack_record_id(*identity) < 2**63


@given(identities, identities)
def test_ids_are_ordered_as_their_parts_are(
    one: tuple[int, int, int, int], other: tuple[int, int, int, int]
) -> None:
    assert (pack_record_id(*one) < pack_record_id(*other)) == (one < other)
    assert (pack_record_id(*one) == pack_record_id(*other)) == (one == other)


@given(identities)
def test_the_range_of_a_run_holds_its_records_and_no_others(
    identity: tuple[int, int, int, int],
) -> None:
    run = identity[0]
    first, past = record_id_range(run)
    assert first <= pack_record_id(*identity) < past
    assert open_record_id(first).run == run
    assert open_record_id(past - 1).run == run
    assert past == first + 2 ** (ORDINAL_BITS + REPLICATE_BITS + VARIANT_BITS)


@given(
    identities,
    st.integers(0, 3),
    st.one_of(st.integers(max_value=-1), st.integers(min_value=2**24)),
)
def test_a_part_that_does_not_fit_is_refused(
    identity: tuple[int, int, int, int], place: int, value: int
) -> None:
    parts = list(identity)
    parts[place] = value
    with pytest.raises(ValueError, match="does not fit"):
        pack_record_id(*parts)


@pytest.mark.parametrize("place", range(4))
def test_every_part_is_refused_from_its_own_limit_on(place: int) -> None:
    parts = [1, 1, 1, 1]
    parts[place] = 2 ** BITS[place] - 1
    assert open_record_id(pack_record_id(*parts)) == tuple(parts)
    parts[place] += 1
    with pytest.raises(ValueError, match=f"{BITS[place]} bits"):
        pack_record_id(*parts)


def test_the_parts_are_those_the_tables_are_cut_by() -> None:
    assert BITS == (24, 24, 10, 5)
