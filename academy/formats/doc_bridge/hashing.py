"""The content hash `sha256-normalized-v1` of published artifacts."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from academy.bundle import JSON
from academy.canonical import ecmascript_json

ALGORITHM: Final = "sha256-normalized-v1"
HASH_KEY: Final = "contentHash"
ALGORITHM_KEY: Final = "contentHashAlgo"


def normalized_text(value: JSON) -> bytes:
    """The text that is hashed."""
    return ecmascript_json(value)


def normalized_hash(value: JSON) -> str:
    """H of the specification: the hash of a value as it is, no key left out."""
    return hashlib.sha256(normalized_text(value)).hexdigest()


def content_hash(artifact: Mapping[str, Any]) -> str:
    """The hash of an artifact without its own hash; the name of the algorithm stays in."""
    return normalized_hash({key: item for key, item in artifact.items() if key != HASH_KEY})


def sealed(payload: Mapping[str, Any]) -> dict[str, Any]:
    """The payload with the name of the algorithm and its hash."""
    named = {**payload, ALGORITHM_KEY: ALGORITHM}
    return {**named, HASH_KEY: content_hash(named)}


def is_index(key: str) -> bool:
    """Whether the original's language takes the key for a place in an array."""
    plain = key.isascii() and key.isdigit() and (key == "0" or key[0] != "0")
    return plain and int(key) < 2**32 - 1


def javascript_order(keys: Iterable[str]) -> list[str]:
    """Keys in the order in which the original walks an object: places first, the rest as given."""
    listed = list(keys)
    places = sorted((key for key in listed if is_index(key)), key=int)
    return places + [key for key in listed if not is_index(key)]
