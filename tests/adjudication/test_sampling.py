"""Draws: fixed by their seed, nested, with the probability they say; and certain reasons."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjudication import sampling

records = st.lists(st.integers(1, 10**6), unique=True, max_size=60)
shares = st.floats(0, 1)


@given(records, shares, shares, st.integers(0, 70), st.text(max_size=8))
def test_a_larger_share_contains_the_smaller_and_has_the_size_it_says(
    population: list[int], one: float, other: float, minimum: int, seed: str
) -> None:
    low, high = sorted((one, other))
    small, chance = sampling.draw(population, seed=seed, share=low, minimum=minimum)
    large, _ = sampling.draw(population, seed=seed, share=high, minimum=minimum)
    assert set(small) <= set(large) <= set(population)
    assert len(small) >= min(minimum, len(population))
    if population:
        assert chance == len(small) / len(population)
    assert sampling.draw(population, seed=seed, share=low, minimum=minimum)[0] == small


@given(records, st.integers(0, 3), shares, st.integers(0, 20))
def test_a_record_says_all_its_reasons_and_a_certain_one_makes_it_certain(
    population: list[int], every: int, share: float, minimum: int
) -> None:
    flagged = set(population[:: every + 1])
    elsewhere = {10**7}
    chosen = sampling.choose(
        population,
        certain={"flagged": flagged, "waits": elsewhere},
        seed="example/1",
        share=share,
        minimum=minimum,
    )
    drawn, chance = sampling.draw(population, seed="example/1", share=share, minimum=minimum)
    lots = set(drawn) if share or minimum else set()
    assert set(chosen) == flagged | elsewhere | lots
    for record, one in chosen.items():
        reasons = set(one.because.split("; "))
        assert (sampling.DRAWN in reasons) == (record in lots)
        assert ("flagged" in reasons) == (record in flagged)
        assert one.probability == (1.0 if record in flagged | elsewhere else chance)


def test_over_many_seeds_every_record_is_drawn_as_often_as_its_probability_says() -> None:
    population, seeds = list(range(50)), 2000
    counts: Counter[int] = Counter()
    for seed in range(seeds):
        drawn, chance = sampling.draw(population, seed=str(seed), share=0.2, minimum=0)
        counts.update(drawn)
    error = (chance * (1 - chance) / seeds) ** 0.5
    assert all(abs(counts[record] / seeds - chance) < 5 * error for record in population)


def test_a_share_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="no share"):
        sampling.sample_size(10, share=1.5, minimum=0)


def test_judges_who_agree_less_come_first() -> None:
    split, half, same = [["a", "b"]], [["a", "b"], ["c", "c"]], [["a", "a", "a"]]
    assert [sampling.agreement(given) for given in (split, half, same)] == [0.0, 0.5, 1.0]
    assert sampling.agreement([["a"], []]) is None
    priorities = [
        sampling.priority_of(sampling.agreement(given)) for given in (split, half, same, [])
    ]
    assert priorities == sorted(priorities)
    assert len(set(priorities)) == 4
    assert [sampling.differ(given) for given in (split, half, same)] == [True, True, False]
