"""The fixed random stream: the same draws on every machine, from PCG64's raw output alone.

Anybody can draw it again:

1. *Seed*: SHA-256 over the parts, each as text (integers in decimal, no padding), joined by one
   line feed (U+000A) and encoded in UTF-8. Bootstrap weights of a version:
   ``"weights/1" LF version digest LF cluster count LF rounds``.
2. *Generator*: PCG64 (XSL-RR 128/64, O'Neill 2014) whose 128-bit state is the digest's first 16
   bytes and whose increment is its last 16 bytes with the lowest bit set, both big-endian; no
   seeding procedure runs over them.
3. *Halves*: each 64-bit output gives two 32-bit numbers, the low half first.
4. *Index* below n: (half * n) >> 32.
5. *Weights*: round r of C clusters uses the next C indices; the weight of a cluster is how often
   it was drawn, so that every round sums to C.

No method of `numpy.random.Generator` is used, since NumPy does not promise their streams.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache

import numpy as np
import numpy.typing as npt

UInt8Array = npt.NDArray[np.uint8]
UInt64Array = npt.NDArray[np.uint64]
IntArray = npt.NDArray[np.int64]

CACHED_BYTES = 64 << 20
COUNTED_CELLS = 1 << 15
BLOCK_CELLS = 1 << 20
LARGEST_BLOCK = 1 << 23
EFFICIENT_ROWS = 128


def seed_of(*parts: str | int) -> bytes:
    """The 32 bytes that start a stream; a part with a line feed raises ValueError."""
    texts = [str(part) for part in parts]
    if any("\n" in text for text in texts):
        raise ValueError("a part of a seed must not contain a line feed")
    return hashlib.sha256("\n".join(texts).encode()).digest()


def weights_seed(version_digest: str, clusters: int, rounds: int) -> bytes:
    """The seed of a version's bootstrap: fixed, so that its snapshots share their draws."""
    return seed_of("weights/1", version_digest, clusters, rounds)


def stream(seed: bytes) -> np.random.PCG64:
    """PCG64 in the state that the 32 bytes of a seed spell."""
    if len(seed) != 32:
        raise ValueError(f"a seed has 32 bytes, not {len(seed)}")
    generator = np.random.PCG64(0)
    generator.state = {
        "bit_generator": "PCG64",
        "state": {
            "state": int.from_bytes(seed[:16], "big"),
            "inc": int.from_bytes(seed[16:], "big") | 1,
        },
        "has_uint32": 0,
        "uinteger": 0,
    }
    return generator


def draw_indices(generator: np.random.PCG64, count: int, bound: int) -> UInt64Array:
    """`count` indices below `bound` (at most 2**32); with an odd count the last half is dropped."""
    if not 1 <= bound <= 1 << 32:
        raise ValueError(f"indices need a bound of 1 to 2**32, not {bound}")
    raw = np.asarray(generator.random_raw((count + 1) // 2), dtype="<u8")
    indices = raw.view("<u4")[:count].astype(np.uint64)
    indices *= np.uint64(bound)
    indices >>= np.uint64(32)
    return indices


def bootstrap_weights(seed: bytes, clusters: int, rounds: int) -> UInt8Array:
    """How often each cluster is drawn in each round: shape (rounds, clusters), read-only.

    Up to 64 MiB are kept for the next call of the same arguments.
    """
    if clusters * rounds <= CACHED_BYTES:
        return _kept_weights(seed, clusters, rounds)
    return _draw_weights(stream(seed), clusters, rounds)


def weight_blocks(seed: bytes, clusters: int, rounds: int) -> Iterator[tuple[slice, UInt8Array]]:
    """The rows of `bootstrap_weights` in blocks, with their places.

    A block has about a million cells, or up to eight million where a matrix product would else get
    too few rows to be fast. Weights too many to keep are drawn block by block, so that memory stays
    bounded.
    """
    enough = min(EFFICIENT_ROWS, _even_rows(LARGEST_BLOCK, clusters))
    rows = max(enough, _even_rows(BLOCK_CELLS, clusters))
    places = [slice(low, min(low + rows, rounds)) for low in range(0, rounds, rows)]
    if clusters * rounds <= CACHED_BYTES:
        kept = _kept_weights(seed, clusters, rounds)
        for place in places:
            yield place, kept[place]
        return
    generator = stream(seed)
    for place in places:
        yield place, _draw_weights(generator, clusters, place.stop - place.start)


@lru_cache(maxsize=4)
def _kept_weights(seed: bytes, clusters: int, rounds: int) -> UInt8Array:
    weights = _draw_weights(stream(seed), clusters, rounds)
    weights.flags.writeable = False
    return weights


def _draw_weights(generator: np.random.PCG64, clusters: int, rounds: int) -> UInt8Array:
    """Count the draws of the next `rounds` rounds.

    A weight above 255 needs more than 255 of C > 255 draws on one cluster, whose probability is
    below 10**-500, so eight bits are enough.
    """
    weights = np.empty((rounds, clusters), dtype=np.uint8)
    rows = min(_even_rows(COUNTED_CELLS, clusters), rounds)
    offsets = np.repeat(np.arange(rows, dtype=np.uint64) * np.uint64(clusters), clusters)
    for low in range(0, rounds, rows):
        size = min(rows, rounds - low)
        cells = draw_indices(generator, size * clusters, clusters)
        cells += offsets[: size * clusters]
        counts = np.bincount(cells.view(np.int64), minlength=size * clusters)
        weights[low : low + size] = counts.reshape(size, clusters)
    return weights


def _even_rows(cells: int, clusters: int) -> int:
    """Rows that hold about `cells` cells; even, so that a block never ends inside a raw output."""
    return max(2, cells // clusters // 2 * 2)
