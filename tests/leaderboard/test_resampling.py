from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from academy import draws
from academy.draws import (
    bootstrap_weights,
    draw_indices,
    seed_of,
    stream,
    weight_blocks,
    weights_seed,
)
from leaderboard.resampling import (
    UNIT,
    cluster_sums,
    quantise,
    rank_counts,
    rank_spread,
    resampled_medians,
    resampled_sums,
    share_two_sided,
)

DIGEST = "0" * 64
SEED = weights_seed(DIGEST, 10, 1000)


def written_out_stream(seed: bytes) -> Iterator[int]:
    """PCG64 by its definition (O'Neill 2014), without NumPy."""
    state = int.from_bytes(seed[:16], "big")
    increment = int.from_bytes(seed[16:], "big") | 1
    while True:
        state = (state * 0x2360ED051FC65DA44385DF649FCCF645 + increment) % 2**128
        mixed, turn = (state >> 64) ^ (state % 2**64), state >> 122
        yield ((mixed >> turn) | (mixed << (64 - turn) % 64)) % 2**64


def written_out_indices(seed: bytes, bound: int) -> Iterator[int]:
    for raw in written_out_stream(seed):
        yield (raw % 2**32) * bound >> 32
        yield (raw >> 32) * bound >> 32


def written_out_weights(seed: bytes, clusters: int, rounds: int) -> list[list[int]]:
    indices = written_out_indices(seed, clusters)
    drawn = [list(islice(indices, clusters)) for _ in range(rounds)]
    return [[row.count(cluster) for cluster in range(clusters)] for row in drawn]


def test_seed_is_sha256_of_the_parts_joined_by_line_feeds() -> None:
    text = f"weights/1\n{DIGEST}\n10\n1000"
    assert hashlib.sha256(text.encode()).digest() == SEED
    assert SEED.hex() == "6ccfeaa7f3be3143673b5b58ec783b9bf67e3649925f5f493c05d7a646747e49"


def test_parts_of_a_seed_cannot_run_into_each_other() -> None:
    with pytest.raises(ValueError, match="line feed"):
        seed_of("weights/1", "a\n10", 3)
    with pytest.raises(ValueError, match="32 bytes"):
        stream(b"short")


def test_stream_gives_the_checked_in_numbers() -> None:
    assert stream(SEED).random_raw(4).tolist() == [
        6296270086077302787,
        6743693919864566633,
        2007245822872380452,
        10210250550557251510,
    ]
    assert draw_indices(stream(SEED), 20, 10).tolist() == [
        *(7, 3, 9, 3, 9, 1, 5, 5, 2, 7),
        *(5, 8, 8, 4, 1, 1, 2, 9, 2, 4),
    ]
    assert bootstrap_weights(SEED, 10, 1000)[:3].tolist() == [
        [0, 1, 1, 2, 0, 2, 0, 2, 0, 2],
        [0, 2, 2, 0, 2, 1, 0, 0, 2, 1],
        [1, 0, 3, 1, 1, 3, 0, 0, 0, 1],
    ]


def test_whole_weights_have_the_checked_in_digest() -> None:
    odd = bootstrap_weights(weights_seed(DIGEST, 7, 1001), 7, 1001)
    assert hashlib.sha256(odd.tobytes()).hexdigest() == (
        "96102e32e12ba89f0c0382367dcd998e617e4638df8ca0c22d7bc3bb4e18bcc9"
    )
    large = bootstrap_weights(weights_seed(DIGEST, 5000, 10_000), 5000, 10_000)
    assert hashlib.sha256(large.tobytes()).hexdigest() == (
        "84d4fd64d3ca36a66b894a76e423d3283f609dc47da7d4c877770268aca95050"
    )


@settings(max_examples=20, deadline=None)
@given(st.binary(min_size=32, max_size=32), st.integers(1, 40), st.integers(1, 30))
def test_weights_follow_the_written_definition(seed: bytes, clusters: int, rounds: int) -> None:
    weights = bootstrap_weights(seed, clusters, rounds)
    assert weights.tolist() == written_out_weights(seed, clusters, rounds)


def test_weights_drawn_block_by_block_are_those_that_are_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = bootstrap_weights(SEED, 333, 501)
    monkeypatch.setattr(draws, "CACHED_BYTES", 0)
    monkeypatch.setattr(draws, "EFFICIENT_ROWS", 1)
    for cells in (700, 5000, 1 << 20):
        monkeypatch.setattr(draws, "BLOCK_CELLS", cells)
        monkeypatch.setattr(draws, "COUNTED_CELLS", cells // 2)
        blocks = list(weight_blocks(SEED, 333, 501))
        assert [place.start for place, _ in blocks][1:] == [place.stop for place, _ in blocks][:-1]
        assert np.array_equal(np.concatenate([block for _, block in blocks]), kept)


def test_kept_weights_cannot_be_changed_by_who_reads_them() -> None:
    weights = bootstrap_weights(SEED, 10, 1000)
    with pytest.raises(ValueError, match="read-only"):
        weights[0, 0] = 9
    assert bootstrap_weights(SEED, 10, 1000) is weights


def test_weights_are_multinomial() -> None:
    weights = bootstrap_weights(weights_seed("law", 50, 4000), 50, 4000)
    assert (weights.sum(axis=1) == 50).all()
    observed = np.bincount(weights.ravel(), minlength=6)[:6]
    expected = stats.binom.pmf(np.arange(6), 50, 1 / 50) * weights.size
    assert np.abs(observed / expected - 1).max() < 0.1
    assert abs(np.cov(weights[:, 0], weights[:, 1])[0, 1] + 1 / 50) < 0.06


def test_indices_need_a_bound_that_halves_can_reach() -> None:
    with pytest.raises(ValueError, match="bound"):
        draw_indices(stream(SEED), 1, 0)


def test_quantise_rounds_half_to_even_and_refuses_what_is_not_exact() -> None:
    assert quantise([0.0, 1.0, -0.5, 1.5 / UNIT, 2.5 / UNIT]).tolist() == [
        *(0, UNIT, -UNIT // 2, 2, 2),
    ]
    for value in (math.nan, math.inf, 2.0**33):
        with pytest.raises(ValueError, match="exact"):
            quantise([0.5, value])


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_resampled_sums_are_those_of_whole_numbers(data: st.DataObject) -> None:
    clusters, entrants = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 4))
    value = st.integers(-(10**9), 10**9)
    units = np.array(
        data.draw(
            st.lists(
                st.lists(value, min_size=entrants, max_size=entrants),
                min_size=clusters,
                max_size=clusters,
            )
        ),
        dtype=np.int64,
    )
    weights = bootstrap_weights(SEED, clusters, 40).astype(np.int64)
    assert np.array_equal(resampled_sums(units, SEED, 40), (weights @ units).astype(float))


def test_sums_that_could_lose_digits_are_refused() -> None:
    with pytest.raises(ValueError, match="too large"):
        resampled_sums(np.full((100, 1), 1 << 50, dtype=np.int64), SEED, 10)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(-20, 20), min_size=1, max_size=15),
    st.lists(st.integers(0, 4), min_size=15, max_size=15),
)
def test_resampled_medians_are_numpy_medians_of_the_drawn_items(
    values: list[int], labels: list[int]
) -> None:
    names = sorted(set(labels[: len(values)]))
    codes = np.array([names.index(label) for label in labels[: len(values)]], dtype=np.int64)
    units = np.array(values, dtype=np.int64)[:, None]
    drawn = resampled_medians(units, codes, len(names), SEED, 30)[:, 0]
    weights = bootstrap_weights(SEED, len(names), 30)[:, codes]
    expected = [2 * np.median(np.repeat(values, row)) for row in weights]
    assert drawn.tolist() == expected


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=10))
@pytest.mark.parametrize("direction", ["up", "down"])
def test_rank_counts_are_competition_ranks(direction: str, rows: list[list[int]]) -> None:
    expected = np.zeros((4, 4), dtype=int)
    for row in rows:
        signed = row if direction == "up" else [-value for value in row]
        for entrant, value in enumerate(signed):
            expected[entrant, sum(other > value for other in signed)] += 1
    counts = rank_counts(np.array(rows, dtype=float), direction)  # type: ignore[arg-type]
    assert counts.tolist() == expected.tolist()


def test_rank_spread_is_the_least_rank_that_reaches_the_quantile() -> None:
    first = np.repeat([3.0, 1.0], [975, 25])
    statistics = np.column_stack([first, np.full(1000, 2.0)])
    spread = rank_spread(statistics, "up", 0.95)
    assert (spread.low.tolist(), spread.high.tolist()) == ([1, 1], [1, 2])
    assert spread.first.tolist() == [0.975, 0.025]
    assert rank_spread(statistics[1:], "up", 0.95).high.tolist() == [2, 2]
    assert spread.top_three.tolist() == [1.0, 1.0]


def test_bootstrap_p_counts_the_observed_sample_as_one_more_round() -> None:
    columns = np.array([[1.0, 0.0, 1.0], [2.0, 0.0, -1.0], [3.0, 0.0, 0.0], [1.0, 0.0, 2.0]])
    assert share_two_sided(columns).tolist() == [
        *(float(Fraction(2, 5)), 1.0, 1.0),
    ]


def test_cluster_sums_add_the_items_of_a_cluster() -> None:
    units = np.arange(8, dtype=np.int64).reshape(4, 2)
    codes = np.array([1, 0, 1, 2], dtype=np.int64)
    assert cluster_sums(units, codes, 3).tolist() == [[2, 3], [4, 6], [6, 7]]
    assert cluster_sums(units, None, 4) is units
