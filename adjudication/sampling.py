"""Which records of a run people look at: a fixed draw, with its probability."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence


def sample_size(population: int, *, share: float, minimum: int) -> int:
    """How many of `population` are drawn: the share, at least the minimum, at most all."""
    if not 0.0 <= share <= 1.0:
        raise ValueError(f"{share} is no share")
    return min(population, max(minimum, math.ceil(share * population)))


def draw(
    records: Sequence[int], *, seed: str, share: float, minimum: int
) -> tuple[tuple[int, ...], float]:
    """The drawn records in the order given, and the probability with which each was drawn.

    A simple random sample without replacement: the records with the smallest SHA-256 of seed and
    id. The same seed draws the same records, and a larger share contains the smaller one.
    """
    size = sample_size(len(records), share=share, minimum=minimum)
    ordered = sorted(
        records, key=lambda record: hashlib.sha256(f"{seed}:{record}".encode()).digest()
    )
    drawn = set(ordered[:size])
    probability = size / len(records) if records else 1.0
    return tuple(record for record in records if record in drawn), probability
