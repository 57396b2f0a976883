"""The original's statistics to the digit: its generator, its bootstraps, Wilson, pass^k."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from academy.scorers.ecmascript import fixed_places, plain_mean, round_places

ROUNDS = 2000
ALPHA = 0.05
LEVEL = 0.95
PLACES = 4
WORD = 0xFFFFFFFF
FNV_START, FNV_PRIME = 2166136261, 16777619
STEP = 0x6D2B79F5
WILSON_Z = 1.96
METHOD = "seeded cluster bootstrap of the item median"
TOO_FEW = "an interval needs at least two plan sets"

Statistic = Callable[[Sequence[float]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A point with its bounds; these are None where too little is there to resample."""

    point: float
    lower: float | None
    upper: float | None
    items: int
    clusters: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """How two agents differ on the items both have."""

    paired: int
    mean: float
    lower: float | None
    upper: float | None
    distinguishable: bool


def quantile(values: Sequence[float], q: float) -> float:
    """The q-th quantile, linear between neighbours; of nothing it is 0."""
    if not values:
        return 0.0
    ordered = sorted(values)
    position = (len(ordered) - 1) * q
    below = math.floor(position)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (position - below)


def median(values: Sequence[float]) -> float:
    """The middle quantile."""
    return quantile(values, 0.5)


def seed_of(values: Sequence[float]) -> int:
    """32-bit FNV-1a over the values with six decimals each, joined by commas."""
    seed = FNV_START
    for character in ",".join(fixed_places(value, 6) for value in values):
        seed = ((seed ^ ord(character)) * FNV_PRIME) & WORD
    return seed


def generator(seed: int) -> Iterator[float]:
    """Numbers in 0..1 of the 32-bit generator that is known as mulberry32, for ever."""
    state = seed & WORD
    while True:
        state = (state + STEP) & WORD
        mixed = ((state ^ (state >> 15)) * (1 | state)) & WORD
        mixed = ((mixed + ((mixed ^ (mixed >> 7)) * (61 | mixed))) ^ mixed) & WORD
        yield (mixed ^ (mixed >> 14)) / 2**32


def bounds(samples: Sequence[float]) -> tuple[float, float]:
    """The percentile bounds of resampled statistics."""
    return (
        round_places(quantile(samples, ALPHA / 2), PLACES),
        round_places(quantile(samples, 1 - ALPHA / 2), PLACES),
    )


def item_bootstrap(values: Sequence[float], statistic: Statistic = median) -> Interval | None:
    """Percentile interval over single items; no bounds for one, nothing for none."""
    size = len(values)
    if not size:
        return None
    point = round_places(statistic(values), PLACES)
    if size < 2:
        return Interval(point=point, lower=None, upper=None, items=size, clusters=size)
    draws = generator(seed_of(values))
    samples = [
        statistic([values[int(next(draws) * size)] for _ in range(size)]) for _ in range(ROUNDS)
    ]
    lower, upper = bounds(samples)
    return Interval(point=point, lower=lower, upper=upper, items=size, clusters=size)


def cluster_bootstrap(
    items: Sequence[tuple[str, float]], statistic: Statistic = median
) -> Interval | None:
    """Percentile interval over whole clusters, in the order they were first seen."""
    if not items:
        return None
    clusters: dict[str, list[float]] = {}
    for name, value in items:
        clusters.setdefault(name, []).append(value)
    values = [value for _, value in items]
    point = round_places(statistic(values), PLACES)
    groups = list(clusters.values())
    size = len(groups)
    if size < 2:
        return Interval(
            point=point, lower=None, upper=None, items=len(items), clusters=size, note=TOO_FEW
        )
    draws = generator(seed_of(values))
    samples = []
    for _ in range(ROUNDS):
        pooled: list[float] = []
        for _ in range(size):
            pooled.extend(groups[int(next(draws) * size)])
        samples.append(statistic(pooled))
    lower, upper = bounds(samples)
    return Interval(point=point, lower=lower, upper=upper, items=len(items), clusters=size)


def wilson(successes: int, total: int) -> tuple[float, float, float]:
    """Share, lower and upper bound with z 1.96, to four places; all 0 for no trials."""
    if total == 0:
        return 0.0, 0.0, 0.0
    z2 = WILSON_Z * WILSON_Z
    share = successes / total
    scale = 1 + z2 / total
    centre = (share + z2 / (2 * total)) / scale
    spread = (share * (1 - share) + z2 / (4 * total)) / total
    half = WILSON_Z * math.sqrt(spread) / scale
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return round_places(share, PLACES), round_places(low, PLACES), round_places(high, PLACES)


def pass_hat_k(successes: int, trials: int) -> list[float]:
    """C(c, k) / C(n, k) for k = 1..n: the chance that all of k tries succeed."""
    return [
        round_places(math.comb(successes, k) / math.comb(trials, k), PLACES)
        for k in range(1, trials + 1)
    ]


def paired_difference(a: Mapping[str, float], b: Mapping[str, float]) -> Difference | None:
    """The mean of a - b over the items of a that b has too; nothing where none is shared."""
    differences = [value - b[key] for key, value in a.items() if key in b]
    interval = item_bootstrap(differences, plain_mean)
    if interval is None:
        return None
    lower, upper = interval.lower, interval.upper
    apart = lower is not None and upper is not None and (lower > 0 or upper < 0)
    return Difference(
        paired=len(differences),
        mean=interval.point,
        lower=lower,
        upper=upper,
        distinguishable=apart,
    )
