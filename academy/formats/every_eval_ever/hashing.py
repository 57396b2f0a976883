"""The four recipes of a sample's hash that are in use, and the digest that finds duplicates."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from json.encoder import encode_basestring_ascii as quote

from academy.bundle import JSON

IDENTITIES_OF_A_SCRAPE = frozenset({"retrieved_timestamp", "evaluation_id"})


def sha256_of(text: str) -> str:
    """SHA-256 of text in UTF-8; half characters are kept as they are."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def canonical_json_hash(raw: str, reference: Sequence[str]) -> str:
    """The documented recipe, and ours for naming tasks: compact JSON, keys sorted, ASCII."""
    return remembered_hash(raw, tuple(reference))


@lru_cache(maxsize=16)
def remembered_hash(raw: str, reference: tuple[str, ...]) -> str:
    """The hash itself; lines of one sample follow each other and ask for it again."""
    listed = ",".join(map(quote, reference))
    return sha256_of(f'{{"raw":{quote(raw)},"reference":[{listed}]}}')


def lm_eval_json_hash(raw: str, reference: Sequence[str]) -> str:
    """The first reference as plain text, default separators (lm-eval converter)."""
    first = reference[0] if reference else ""
    return sha256_of(json.dumps({"raw": raw, "reference": first}, sort_keys=True))


def concat_all_hash(raw: str, reference: Sequence[str]) -> str:
    """The input followed by every reference (Inspect converter)."""
    return sha256_of(raw + "".join(reference))


def concat_first_hash(raw: str, reference: Sequence[str]) -> str:
    """The input followed by the first reference (HELM converter)."""
    return sha256_of(raw + (reference[0] if reference else ""))


RECIPES: Mapping[str, Callable[[str, Sequence[str]], str]] = {
    "canonical_json": canonical_json_hash,
    "lm_eval_json": lm_eval_json_hash,
    "concat_all": concat_all_hash,
    "concat_first": concat_first_hash,
}


def recipe_of(given: str, raw: str, reference: Sequence[str]) -> str:
    """Which recipe gives this hash, or an empty text. With one reference two recipes are the same.

    The older schema also allows md5; nobody was seen to write it, and it is not tried.
    """
    lowered = given.lower()
    return next((name for name, recipe in RECIPES.items() if recipe(raw, reference) == lowered), "")


def duplicate_digest(document: JSON) -> str:
    """The original's digest of an aggregate: equal for two retrievals of one evaluation.

    The moment of retrieval and the id built on it are left out at every depth, lists are sorted
    by their JSON text. `1` and `1.0` stay different.
    """
    return sha256_of(compact(without_identities(document)))


def compact(value: JSON) -> str:
    """Compact ASCII JSON with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def without_identities(value: JSON) -> JSON:
    """A value without what every retrieval changes, its lists sorted."""
    if isinstance(value, Mapping):
        return {
            key: without_identities(held)
            for key, held in value.items()
            if key not in IDENTITIES_OF_A_SCRAPE
        }
    if isinstance(value, Sequence) and not isinstance(value, str):
        return sorted((without_identities(item) for item in value), key=compact)
    return value
