"""How numbers are written: half away from zero, one way for one value and for many."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from leaderboard.digits import shown, shown_all

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
# Two decimals and a five: what binary numbers cannot hold and people round up.
TIES = st.integers(-(10**7), 10**7).map(lambda units: (2 * units + 1) / 2000)


@given(st.lists(NUMBERS | TIES, max_size=8), st.integers(0, 6), st.sampled_from([1, 100]))
@example([0.125, -0.125, 2.675, 1e300, -0.0004, 5e-324, 0.9995], 2, 1)
def test_many_numbers_are_written_as_each_is(values: list[float], digits: int, scale: int) -> None:
    one_by_one = [shown(value, digits, scale) for value in values]
    assert shown_all(np.array(values, dtype=np.float64), digits, scale) == one_by_one


def test_halves_go_away_from_zero_and_zero_has_no_sign() -> None:
    values = np.array([0.285, -0.285, 1.005, -0.00001, math.nan])
    assert shown_all(values, 2) == ["0.29", "-0.29", "1.01", "0.00", None]


def test_what_is_infinite_has_no_text() -> None:
    with pytest.raises(ValueError, match="not a finite number"):
        shown_all(np.array([1.0, math.inf]), 2)
