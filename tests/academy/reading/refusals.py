"""Any JSON value, and the one problem that a reader refuses something with."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import strategies as st

from academy.errors import FormatError, Problem
from academy.formats.reading import LIMITS, Limits, read_json

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**40), 10**40)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


def refusal(act: Callable[[], object]) -> Problem:
    """The one problem that an act is refused with."""
    with pytest.raises(FormatError) as caught:
        act()
    (problem,) = caught.value.problems
    return problem


def refused_json(text: str | bytes, limits: Limits = LIMITS) -> Problem:
    """The one problem that a JSON text is refused with."""
    data = text if isinstance(text, bytes) else text.encode()
    return refusal(lambda: read_json(data, path="a.json", limits=limits))
