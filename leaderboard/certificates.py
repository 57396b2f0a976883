"""Signed certificates as plain values: how one is signed, and how anybody checks it."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from academy.canonical import canonical_json

ALGORITHM = "Ed25519"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: bool
    detail: str = ""


def key_id(public: Ed25519PublicKey) -> str:
    """The name of a key: the first 16 digits of the SHA-256 of its raw bytes."""
    raw = public.public_bytes(Encoding.Raw, PublicFormat.Raw)
    return hashlib.sha256(raw).hexdigest()[:16]


def signed(document: Mapping[str, Any], key: Ed25519PrivateKey) -> dict[str, Any]:
    """The document with a signature over the canonical form of all its other fields."""
    plain = {name: value for name, value in document.items() if name != "signature"}
    value = base64.b64encode(key.sign(canonical_json(plain))).decode()
    block = {"algorithm": ALGORITHM, "key": key_id(key.public_key()), "value": value}
    return {**plain, "signature": block}


def check_signature(document: Mapping[str, Any], keys: Mapping[str, Ed25519PublicKey]) -> Check:
    """Whether one of our keys signed exactly these fields. A missing signature is invalid."""
    block = document.get("signature")
    if not isinstance(block, Mapping):
        return Check(
            "signature", False, "The signature is missing; without it nothing is certified."
        )
    key = keys.get(str(block.get("key")))
    if key is None or block.get("algorithm") != ALGORITHM:
        return Check("signature", False, "It names no key of this site.")
    plain = {name: value for name, value in document.items() if name != "signature"}
    try:
        key.verify(base64.b64decode(str(block.get("value")), validate=True), canonical_json(plain))
    except (InvalidSignature, binascii.Error, ValueError, TypeError):
        return Check("signature", False, "The fields are not those that were signed.")
    return Check("signature", True, f"Signed by key {block['key']}.")


def check_dates(document: Mapping[str, Any], now: datetime) -> Check:
    """Whether it is within its dates."""
    try:
        start = datetime.fromisoformat(str(document["issued_at"]))
        end = datetime.fromisoformat(str(document["expires_at"]))
        inside = start <= now < end
    except (KeyError, ValueError, TypeError):
        return Check("dates", False, "It has no readable dates.")
    return Check(
        "dates", inside, "" if inside else f"Valid from {start:%-d %b %Y} to {end:%-d %b %Y}."
    )
