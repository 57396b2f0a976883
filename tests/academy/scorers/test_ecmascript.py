"""The number rules that reference results depend on."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.scorers.ecmascript import (
    fixed_places,
    normalise,
    plain_mean,
    plain_median,
    plain_sum,
    round_places,
    to_number,
)


@pytest.mark.parametrize(
    ("value", "places", "rounded"),
    [
        (3.125, 2, 3.13),
        (0.125, 2, 0.13),
        (2.5, 0, 3.0),
        (-2.5, 0, -2.0),
        (0.8449951, 2, 0.84),
        (0.845, 2, 0.85),
        (1.005, 2, 1.0),
        (1e11, 2, 1e11),
        (1e300, 4, 1e300),
        (0.0, 2, 0.0),
    ],
)
def test_halves_round_up_in_binary(value: float, places: int, rounded: float) -> None:
    assert round_places(value, places) == rounded


def test_numbers_that_are_not_finite_stay_what_they_are() -> None:
    assert math.isnan(round_places(math.nan, 2))
    assert round_places(math.inf, 2) == math.inf


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.67, "1.670000"),
        (0.0078125, "0.007813"),
        (-0.0, "0.000000"),
        (-1e-9, "-0.000000"),
        (1e11, "100000000000.000000"),
        (1e21, "1e+21"),
    ],
)
def test_six_decimals_are_written_with_ties_away_from_zero(value: float, text: str) -> None:
    assert fixed_places(value, 6) == text


@given(st.floats(min_value=-1e20, max_value=1e20))
def test_decimals_are_those_of_the_exact_value(value: float) -> None:
    exact = Decimal(value).quantize(Decimal("0.000001"), rounding=ROUND_HALF_UP)
    assert Decimal(fixed_places(value, 6)) == exact


def test_sums_go_in_order_and_are_not_made_more_exact() -> None:
    values = [0.1] * 10
    assert plain_sum(values) == 0.9999999999999999
    assert math.fsum(values) == 1.0
    assert plain_mean(values) == 0.09999999999999999
    assert plain_mean([]) == 0.0


def test_the_median_of_an_even_number_is_the_mean_of_the_middle_two() -> None:
    assert plain_median([3.0, 1.0]) == 2.0
    assert plain_median([743.38, 736.9]) == 740.14
    assert plain_median([]) == 0.0


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("  Floor\u00a0\tDrain \ufeff", "floor drain"),
        ("a\u0085b", "a\u0085b"),
        ("a\u001fb", "a\u001fb"),
        (12, "12"),
        (12.0, "12"),
        (True, "true"),
        ("ÄÖ  ß", "äö ß"),
    ],
)
def test_texts_are_compared_trimmed_lower_case_with_single_spaces(
    value: str | float | None, text: str
) -> None:
    assert normalise(value) == text


@pytest.mark.parametrize(
    ("value", "number"),
    [(None, 0.0), ("", 0.0), (" 240 ", 240.0), ("0x10", 16.0), (".5", 0.5), (True, 1.0)],
)
def test_values_turn_into_numbers_as_arithmetic_would(
    value: str | bool | None, number: float
) -> None:
    assert to_number(value) == number


@pytest.mark.parametrize("value", ["240 sf", "1_000", "nan", "٣", {}, [1, 2]])
def test_what_is_no_number_is_not_a_number(value: object) -> None:
    assert math.isnan(to_number(value))  # type: ignore[arg-type]


def test_a_whole_number_past_all_doubles_is_infinite() -> None:
    assert to_number(10**400) == math.inf
    assert to_number(-(10**400)) == -math.inf
