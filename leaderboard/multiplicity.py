"""Corrections for looking at many comparisons."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]


def holm(pvalues: npt.ArrayLike) -> list[float]:
    """Holm's step-down adjusted p-values, in the order given (Holm 1979)."""
    return _adjusted(pvalues, _holm_sorted)


def benjamini_hochberg(pvalues: npt.ArrayLike) -> list[float]:
    """Adjusted p-values that bound the false discovery rate, in the order given.

    Benjamini & Hochberg 1995.
    """
    return _adjusted(pvalues, _benjamini_hochberg_sorted)


def _adjusted(pvalues: npt.ArrayLike, adjust: Callable[[FloatArray], FloatArray]) -> list[float]:
    values = np.asarray(pvalues, dtype=np.float64)
    if values.ndim != 1 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError("p-values are a flat list of numbers from 0 to 1")
    order = np.argsort(values, kind="stable")
    adjusted = np.empty_like(values)
    adjusted[order] = np.minimum(1.0, adjust(values[order]))
    return [float(value) for value in adjusted]


def _holm_sorted(values: FloatArray) -> FloatArray:
    factors = np.arange(len(values), 0, -1, dtype=np.float64)
    return np.maximum.accumulate(factors * values)


def _benjamini_hochberg_sorted(values: FloatArray) -> FloatArray:
    factors = len(values) / np.arange(1, len(values) + 1, dtype=np.float64)
    return np.minimum.accumulate((factors * values)[::-1])[::-1]
