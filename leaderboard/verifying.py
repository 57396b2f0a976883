"""Certificates that somebody brings: ours by their live state, others by the rules of their form.

Nothing that is brought is stored or believed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from academy import registry
from academy.errors import AcademyError, FormatError
from academy.formats.base import CertificateCheck, CertificateQuestion
from academy.formats.reading import read_json
from leaderboard import certificates, certifying

LONGEST = 64 * 1024
MARK = "-----END PUBLIC KEY-----"
SENTENCES = {
    "valid": "It is genuine and in force.",
    "self_reported": "Its hash holds, but nobody vouches for it.",
    "unverified": "Its signature could not be checked.",
    "invalid": "It proves nothing.",
    "expired": "It was genuine and has expired.",
    "revoked": "It was revoked.",
    "superseded": "A later certificate stands in its place.",
    "under_review": "It is under review: something it rests on has changed.",
}
EXIT = {"valid": 0, "expired": 2, "revoked": 3, "superseded": 4, "under_review": 5}


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found; `facts` are claims of the document, by label."""

    title: str
    form: str
    state: str
    reason: str
    checks: tuple[CertificateCheck, ...]
    facts: Mapping[str, str]

    @property
    def sentence(self) -> str:
        """The state as a sentence."""
        return SENTENCES[self.state]

    @property
    def exit_code(self) -> int:
        """0 valid, 2 expired, 3 revoked, 4 superseded, 5 under review, 1 for all else."""
        return EXIT.get(self.state, 1)

    def as_json(self) -> dict[str, Any]:
        """The outcome as plain values."""
        checks = [
            {"name": check.name, "ok": check.ok, "detail": check.detail} for check in self.checks
        ]
        return {
            "valid": self.state == "valid", "state": self.state, "reason": self.reason,
            "title": self.title, "form": self.form, "checks": checks, "claims": dict(self.facts),
        }  # fmt: skip


def verify(
    data: bytes, *, name: str, keys: Sequence[str] = (), revoked: Sequence[str] = (), at: datetime
) -> Verified:
    """Check the bytes of a certificate. `keys` are public keys in PEM, `revoked` ids.

    Raises AcademyError for what is no JSON, too large, no certificate of a known form, or a key
    that cannot be read.
    """
    if len(data) > LONGEST:
        raise AcademyError(f"{name} is larger than {LONGEST // 1024} KB; no certificate is.")
    if not data.strip():
        raise AcademyError(f"{name} is empty.")
    try:
        document = read_json(data, path=name)
    except FormatError as error:
        raise AcademyError(f"{name} is no certificate: {error}") from error
    given = {certificates.key_id(key): key for pem in keys if (key := public_key(pem))}
    question = CertificateQuestion(keys=tuple(keys), at=at, revoked=frozenset(revoked))
    if is_ours(document):
        assert isinstance(document, Mapping)
        return _of_this_form(document, given, at)
    for fmt in registry.all_formats().values():
        found = fmt.read_certificate(document, question) if fmt.read_certificate else None
        if found is not None:
            return Verified(
                found.title, fmt.label, found.state, found.reason, found.checks, found.facts
            )
    kind = "a JSON object" if isinstance(document, Mapping) else "no JSON object"
    raise AcademyError(
        f"{name} is {kind}, but no certificate of a form that is known here: neither with a "
        "serial of this site nor in the form of "
        + " or ".join(fmt.label for fmt in registry.all_formats().values() if fmt.read_certificate)
        + "."
    )


def is_ours(document: object) -> bool:
    """Whether a document has the form of this software's own certificates."""
    return isinstance(document, Mapping) and "serial" in document and "issuer" in document


def public_key(pem: str) -> Ed25519PublicKey:
    """An Ed25519 key from PEM. Raises AcademyError when it is none."""
    try:
        key = load_pem_public_key(pem.strip().encode())
    except (ValueError, UnsupportedAlgorithm):
        raise AcademyError("A given key is no public key in PEM.") from None
    if not isinstance(key, Ed25519PublicKey):
        raise AcademyError("A given key is a public key, but no Ed25519 key.")
    return key


def keys_in(text: str) -> list[str]:
    """The public keys of a text with one or several PEM blocks after each other."""
    blocks = text.split(MARK)
    return [f"{block.strip()}\n{MARK}\n" for block in blocks[:-1]] + (
        [blocks[-1]] if blocks[-1].strip() else []
    )


def _of_this_form(
    document: Mapping[str, Any], given: Mapping[str, Ed25519PublicKey], at: datetime
) -> Verified:
    """Ours by the live state; one of another site, with a key, by signature and dates alone."""
    state, checks = certifying.verify(document, at=at)
    made = [CertificateCheck(check.name, check.ok, check.detail) for check in checks]
    reason = next((check.detail for check in made if check.ok is False), "")
    signature = document.get("signature")
    named = signature.get("key") if isinstance(signature, Mapping) else None
    if state == "invalid" and named in given and named not in certifying.public_keys():
        own = [
            certificates.check_signature(document, given),
            certificates.check_dates(document, at),
        ]
        made = [CertificateCheck(check.name, check.ok, check.detail) for check in own]
        told = "whether it was superseded or revoked since, only its issuer can say"
        made.append(CertificateCheck("in force", None, told))
        reason = next((check.detail for check in own if not check.ok), "")
        state = "valid" if not reason else "expired" if own[0].ok else "invalid"
    labels = {
        "name": "Entrant", "board_title": "Board", "tier": "Tier", "shown": "Score",
        "metric": "Metric", "rank": "Rank", "issued_at": "Issued", "expires_at": "Expires",
    }  # fmt: skip
    facts = {
        label: str(document[key])[:200]
        for key, label in labels.items()
        if document.get(key) not in (None, "")
    }
    title = f"Certificate {str(document['serial'])[:40]}"
    return Verified(title, "Academy", state, reason, tuple(made), facts)
