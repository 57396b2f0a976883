"""Which records of a run people look at: a fixed draw, and reasons that hold for certain."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

DRAWN = "drawn for the audit"


@dataclass(frozen=True, slots=True)
class Chosen:
    """Why a record goes to people, and the probability with which it does."""

    because: str
    probability: float


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


def choose(
    population: Sequence[int],
    *,
    certain: Mapping[str, Collection[int]],
    seed: str,
    share: float,
    minimum: int,
) -> dict[int, Chosen]:
    """The records of one run that go to people, each with all its reasons.

    `certain` names reasons with the records for which they hold, in or outside the population.
    Where such a reason holds the record comes for certain; one that was only drawn comes with the
    draw's probability. The draw is from the whole population, so that it never depends on what the
    other reasons found.
    """
    wants = share > 0 or minimum > 0
    drawn, probability = draw(population, seed=seed, share=share, minimum=minimum)
    lots = frozenset(drawn) if wants else frozenset()
    found: dict[int, Chosen] = {}
    for record in sorted(lots.union(*certain.values())):
        reasons = [because for because, records in certain.items() if record in records]
        found[record] = Chosen(
            "; ".join([*reasons, DRAWN] if record in lots else reasons),
            1.0 if reasons else probability,
        )
    return found


def differ(verdicts: Iterable[Sequence[Hashable]]) -> bool:
    """Whether on some criterion two verdicts are not the same."""
    return any(len(set(given)) > 1 for given in verdicts)


def agreement(verdicts: Iterable[Sequence[Hashable]]) -> float | None:
    """The share of pairs of verdicts on one criterion that agree; None without a pair."""
    agreeing = pairs = 0
    for given in verdicts:
        pairs += len(given) * (len(given) - 1)
        agreeing += sum(number * (number - 1) for number in Counter(given).values())
    return agreeing / pairs if pairs else None


def priority_of(agreed: float | None) -> int:
    """Records on which judges agree least come first; those of which nothing is known come last."""
    return 0 if agreed is None else round(1000 * agreed) - 1001
