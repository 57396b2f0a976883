"""The few distribution functions that the statistics need, typed, from scipy.special."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

FloatArray = npt.NDArray[np.float64]


def normal_quantile(probability: float) -> float:
    """The value below which a standard normal variable lies with this probability."""
    return float(special.ndtri(probability))


def t_quantile(probability: float, degrees: float) -> float:
    """The same of Student's t with `degrees` degrees of freedom."""
    return float(special.stdtrit(degrees, probability))


def t_two_sided(statistic: npt.ArrayLike, degrees: npt.ArrayLike) -> FloatArray:
    """Two-sided p-values of t statistics; both arguments broadcast."""
    statistics = np.asarray(statistic, dtype=np.float64)
    tails = special.stdtr(np.asarray(degrees, dtype=np.float64), -np.abs(statistics))
    return np.minimum(1.0, 2.0 * np.asarray(tails, dtype=np.float64))


def fair_coin_cdf(successes: npt.ArrayLike, trials: npt.ArrayLike) -> FloatArray:
    """P(Bin(trials, 1/2) <= successes) for 0 <= successes <= trials, by the incomplete beta."""
    k = np.asarray(successes, dtype=np.float64)
    n = np.asarray(trials, dtype=np.float64)
    below = special.betainc(np.maximum(n - k, 1.0), k + 1.0, 0.5)
    return np.where(k >= n, 1.0, np.asarray(below, dtype=np.float64))


def chi_square_tail(statistic: float, degrees: int) -> float:
    """P(chi-square with `degrees` degrees of freedom >= statistic)."""
    return float(special.chdtrc(degrees, statistic))


def t_quantiles(probability: float, degrees: npt.ArrayLike) -> FloatArray:
    """`t_quantile` for many degrees of freedom; NaN below one."""
    many = np.asarray(degrees, dtype=np.float64)
    quantiles = special.stdtrit(np.maximum(many, 1.0), probability)
    return np.where(many >= 1, np.asarray(quantiles, dtype=np.float64), np.nan)
