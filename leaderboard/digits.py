"""How a score is written: with as many decimals as tell unequal ranks apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
MOST_DIGITS = 20
# The largest float has 309 digits before the point.
CONTEXT = Context(prec=400)


def writing_of(
    kind: str, unit: str, low: float | None, high: float | None
) -> tuple[int, Literal[1, 100]]:
    """Decimals and factor by which numbers of a metric are written: shares as per cent."""
    is_share = kind in ("pass", "graded") and (low, high) == (0.0, 1.0)
    return 1 if is_share or unit == "%" else 3, 100 if is_share or kind == "pass" else 1


def shown(value: float | Fraction, digits: int, scale: int = 1) -> str:
    """The value times `scale` with so many decimals, half away from zero, never as minus zero.

    A float counts as the shortest decimal that reads back as it. ValueError for one that is not
    finite.
    """
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        # A shortest decimal has at most 17 digits, so the product is exact.
        decimal = CONTEXT.multiply(Decimal(repr(value)), Decimal(scale))
    else:
        scaled = value * scale
        decimal = CONTEXT.divide(Decimal(scaled.numerator), Decimal(scaled.denominator))
    rounded = decimal.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP, CONTEXT)
    return format(abs(rounded) if rounded.is_zero() else rounded, "f")


def shown_all(values: FloatArray, digits: int, scale: int = 1) -> list[str | None]:
    """`shown` of many values at once; NaN has no text.

    Away from ties the binary number is formatted, which is far faster: below 10**12 units of the
    last decimal two roundings move it by less than a thousandth of one, so that both round to the
    same side. ValueError for infinite values.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        scaled = values * scale
        units = np.abs(scaled) * 10.0**digits
        is_plain = (units < 1e12) & (np.abs(units % 1 - 0.5) > 1e-3)
    # What rounds to zero has no sign.
    scaled = np.where(units < 0.5, np.abs(scaled), scaled)
    told = zip(values.tolist(), scaled.tolist(), is_plain.tolist(), strict=True)
    return [
        f"{number:.{digits}f}" if plain else None if value != value else shown(value, digits, scale)
        for value, number, plain in told
    ]


def telling_digits(
    points: Sequence[float],
    exact: Sequence[Fraction],
    ranks: Sequence[int],
    digits: int,
    scale: int = 1,
) -> tuple[int, list[str]]:
    """The least decimals, from `digits` up, with which ranks can be read off, and the texts.

    All lists are in the order of the ranks. Equal ranks must look equal and unequal ones
    different and in order. Where floats cannot do it, because they differ by less than the
    integers that rank, those integers' quotients in `exact` are written instead.
    """
    candidates: list[tuple[Sequence[float | Fraction], int]] = [
        (points, count) for count in range(digits, digits + 6)
    ]
    candidates += [(exact, count) for count in range(digits, max(digits, MOST_DIGITS) + 1)]
    texts: list[str] = []
    count = digits
    for numbers, count in candidates:
        texts = [shown(number, count, scale) for number in numbers]
        if _tells(texts, ranks):
            break
    return count, texts


def _tells(texts: Sequence[str], ranks: Sequence[int]) -> bool:
    numbers = [Decimal(text) for text in texts]
    falls = len(numbers) < 2 or numbers[0] >= numbers[-1]
    for here in range(len(numbers) - 1):
        ahead, behind = numbers[here], numbers[here + 1]
        if ranks[here] == ranks[here + 1]:
            if ahead != behind:
                return False
        elif not (ahead > behind if falls else ahead < behind):
            return False
    return True
