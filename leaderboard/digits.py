"""How a score is written: with as many decimals as tell unequal ranks apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction

MOST_DIGITS = 20
CONTEXT = Context(prec=60)


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
