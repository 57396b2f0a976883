"""Hashes and Ed25519 signatures of run bundles and certificates, by the original's rule."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    load_pem_private_key,
    load_pem_public_key,
)

from academy.bundle import JSON
from academy.canonical import ecmascript_json, sha256_hex
from academy.errors import AcademyError

HASH_MISMATCH = "hash-mismatch"
SIGNATURE_INVALID = "signature-invalid"
SIGNATURE_BYTES = 64

BUNDLE_BLANK: Mapping[str, JSON] = {
    "hashAlg": "sha256",
    "bundleHash": None,
    "signature": None,
    "publicKey": None,
    "academySignature": None,
}
CERTIFICATE_BLANK: Mapping[str, JSON] = {
    "hashAlg": "sha256",
    "certHash": None,
    "academySignature": None,
    "academyKeyId": None,
}


@dataclass(frozen=True, slots=True)
class Integrity:
    """What the original would say; `signature_valid` is None where nothing was checked."""

    ok: bool
    hash_match: bool
    signature_valid: bool | None
    reason: str | None
    expected_hash: str
    stored_hash: str


def hash_without(document: Mapping[str, JSON], blank: Mapping[str, JSON]) -> str:
    """SHA-256 of the document with a blank integrity block.

    Raises ValueError where a number does not fit a double, so that no hash exists.
    """
    return sha256_hex(ecmascript_json({**document, "integrity": blank}))


def bundle_hash(bundle: Mapping[str, JSON]) -> str:
    """The hash that a run bundle has to store."""
    return hash_without(bundle, BUNDLE_BLANK)


def certificate_hash(certificate: Mapping[str, JSON]) -> str:
    """The hash that a certificate has to store."""
    return hash_without(certificate, CERTIFICATE_BLANK)


def block(document: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The integrity block of a document; empty when there is none."""
    found = document.get("integrity")
    return found if isinstance(found, Mapping) else {}


def text(value: JSON) -> str:
    """A text, or the empty text for anything else."""
    return value if isinstance(value, str) else ""


def signature_bytes(signature: str) -> bytes | None:
    """The 64 bytes of a signature in standard base64, or None."""
    try:
        raw = base64.b64decode(signature, validate=True)
    except (binascii.Error, ValueError):
        return None
    return raw if len(raw) == SIGNATURE_BYTES else None


def public_key(pem: str) -> Ed25519PublicKey | None:
    """The Ed25519 key of a PEM text, or None when it is none."""
    try:
        key = load_pem_public_key(pem.encode("utf-8", "replace"))
    except (ValueError, UnsupportedAlgorithm):
        return None
    return key if isinstance(key, Ed25519PublicKey) else None


def is_signed_by(message: str, signature: str, pem: str) -> bool:
    """Whether the key signed these characters; anything that cannot be read is a no."""
    key, raw = public_key(pem), signature_bytes(signature)
    if key is None or raw is None:
        return False
    try:
        key.verify(raw, message.encode("utf-8", "replace"))
    except InvalidSignature:
        return False
    return True


def sign(message: str, private_pem: str) -> str:
    """Sign characters with an Ed25519 key in PEM. Raises AcademyError when it is no such key."""
    try:
        key = load_pem_private_key(private_pem.encode(), password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise AcademyError("The signing key cannot be read as a PEM private key.") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise AcademyError("The signing key is not an Ed25519 key.")
    return base64.b64encode(key.sign(message.encode())).decode()


def verify_bundle(bundle: Mapping[str, JSON]) -> Integrity:
    """The original's verdict: the entrant's signature counts only with a key beside it.

    The signature covers the stored hash, not the recomputed one; the Academy's own signature is
    not looked at, see `academy_signed`.
    """
    integrity = block(bundle)
    stored, expected = text(integrity.get("bundleHash")), bundle_hash(bundle)
    signature, pem = text(integrity.get("signature")), text(integrity.get("publicKey"))
    valid = is_signed_by(stored, signature, pem) if signature and pem else None
    return judge(stored, expected, valid)


def judge(stored: str, expected: str, signature_valid: bool | None) -> Integrity:
    """A verdict from its parts; a wrong hash is named before a wrong signature."""
    match = stored == expected
    reason = None
    if not match:
        reason = HASH_MISMATCH
    elif signature_valid is False:
        reason = SIGNATURE_INVALID
    return Integrity(reason is None, match, signature_valid, reason, expected, stored)


def academy_signed(bundle: Mapping[str, JSON], keys: Sequence[str]) -> bool | None:
    """Whether a trusted Academy key signed the bundle's hash.

    None where there is no co-signature, or one that no key is at hand for; False for one that is
    no signature at all or that none of the keys made.
    """
    integrity = block(bundle)
    signature = text(integrity.get("academySignature"))
    if not signature:
        return None
    if signature_bytes(signature) is None:
        return False
    if not keys:
        return None
    stored = text(integrity.get("bundleHash"))
    return any(is_signed_by(stored, signature, pem) for pem in keys)
