"""Somebody else's certificate, checked by every rule of its form."""

from __future__ import annotations

from collections.abc import Mapping

from academy.bundle import JSON
from academy.canonical import PROTO
from academy.formats.base import CertificateCheck, CertificateQuestion, CertificateReading
from academy.formats.opentakeoff.certificates import (
    LABELS,
    TIER_LABELS,
    UNSIGNED,
    Refusal,
    certificate_id,
    iso,
    judge,
    moment,
)
from academy.formats.opentakeoff.checking import find_key, schema_errors
from academy.formats.opentakeoff.integrity import block, certificate_hash, is_signed_by, text
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.reading import pointer

SHOWN = 8
Checks = tuple[CertificateCheck, ...]


def read_certificate(document: JSON, question: CertificateQuestion) -> CertificateReading | None:
    """The strict verdict on a certificate and each rule that was looked at.

    The form, the hash, the signature and the dates decide; the letters of the id are only remarked
    on, since the published examples do not follow their own rule.
    """
    if not isinstance(document, Mapping) or "certId" not in document:
        return None
    wrong_form = form_checks(document)
    if wrong_form:
        told = "it does not have the form of a certificate"
        return reading(document, "invalid", told, wrong_form)
    found = judge(document, public_keys=question.keys, at=question.at, revoked=question.revoked)
    checks = (
        CertificateCheck("form", True),
        hash_check(document),
        signature_check(document, question),
        id_check(document),
        date_check(document, question),
        revocation_check(document, question),
    )
    state, reason = found.state, found.reason
    if has_no_key(document, question) and checks[1].ok:
        state, reason = "unverified", "it is signed, and no key was given to check that"
    failed = next((check for check in checks if check.ok is False), None)
    if failed is not None and state in ("valid", "self_reported", "unverified"):
        state, reason = "invalid", failed.detail
    return reading(document, state, reason, checks)


def reading(
    document: Mapping[str, JSON], state: str, reason: str, checks: Checks
) -> CertificateReading:
    """The verdict with what the certificate claims, cut to short texts."""
    subject, result = mapping(document.get("subject")), mapping(document.get("result"))
    competency, tier = text(document.get("competency")), text(document.get("tier"))
    facts = {
        "Model": subject.get("modelId"),
        "Entrant": subject.get("contestant"),
        "Track": document.get("track"),
        "Competency": LABELS.get(competency, competency),
        "Tier": TIER_LABELS.get(tier, tier),
        "Score": result.get("score"),
        "Metric": result.get("metric"),
        "Items": result.get("nRanked"),
        "Suite version": result.get("suiteVersion"),
        "Attestation": document.get("attestation"),
        "Issued": document.get("issuedAt"),
        "Expires": document.get("expiresAt"),
        "Run bundle": mapping(document.get("evidence")).get("runBundleHash"),
    }
    shown = {name: str(value)[:200] for name, value in facts.items() if value not in (None, "")}
    title = f"OpenTakeoff certificate {text(document.get('certId'))[:40]}".rstrip()
    return CertificateReading(title=title, state=state, reason=reason, checks=checks, facts=shown)


def form_checks(document: Mapping[str, JSON]) -> Checks:
    """Every breach of the form, up to a cap; nothing where there is none."""
    hidden = find_key(document, PROTO)
    if hidden is not None:
        told = f"a member named {PROTO} at {pointer(*hidden)} is not covered by the hash"
        return (CertificateCheck("form", False, told),)
    errors = schema_errors("cert", document)
    made = [
        CertificateCheck("form", False, f"{error.pointer or '/'}: {error.message}")
        for error in errors[:SHOWN]
    ]
    if len(errors) > SHOWN:
        made.append(CertificateCheck("form", False, f"and {len(errors) - SHOWN} more"))
    return tuple(made)


def hash_check(document: Mapping[str, JSON]) -> CertificateCheck:
    """Whether the stored hash is that of the content."""
    stored, expected = text(block(document).get("certHash")), certificate_hash(document)
    if stored == expected:
        return CertificateCheck("hash", True)
    return CertificateCheck("hash", False, f"the hash is {expected}, another one is stored")


def has_no_key(document: Mapping[str, JSON], question: CertificateQuestion) -> bool:
    """Whether something is signed that no key is at hand for."""
    signature = text(block(document).get("academySignature"))
    is_signed = document.get("attestation") == "certified" and signature not in ("", UNSIGNED)
    return is_signed and not question.keys


def signature_check(
    document: Mapping[str, JSON], question: CertificateQuestion
) -> CertificateCheck:
    """Whether one of the given keys signed it. Self-reported ones say that nobody did."""
    integrity = block(document)
    signature, stored = text(integrity.get("academySignature")), text(integrity.get("certHash"))
    if document.get("attestation") != "certified":
        if signature == UNSIGNED:
            return CertificateCheck("signature", None, "self-reported: nobody vouches for the run")
        return CertificateCheck("signature", False, "self-reported, yet it carries a signature")
    if signature in ("", UNSIGNED):
        return CertificateCheck("signature", False, "the signature is missing: invalid")
    if not question.keys:
        return CertificateCheck("signature", None, "not checked: no public key was given")
    if any(is_signed_by(stored, signature, key) for key in question.keys):
        return CertificateCheck("signature", True)
    return CertificateCheck("signature", False, "none of the given keys made the signature")


def id_check(document: Mapping[str, JSON]) -> CertificateCheck:
    """Whether the letters of the id are those of track and competency."""
    name = text(document.get("certId"))
    by_rule = certificate_id(text(document.get("track")), text(document.get("competency")), 0)
    wanted, found = (held.split("-")[1] for held in (by_rule, name))
    if wanted == found:
        return CertificateCheck("id", True)
    told = f"by the rule the letters for this track and competency are {wanted}, not {found}"
    return CertificateCheck("id", None, told)


def date_check(document: Mapping[str, JSON], question: CertificateQuestion) -> CertificateCheck:
    """Whether the time of the question lies between issue and expiry."""
    try:
        start, end = (moment(text(document.get(name))) for name in ("issuedAt", "expiresAt"))
    except Refusal as error:
        return CertificateCheck("dates", False, str(error))
    if end <= start:
        return CertificateCheck("dates", False, "it expires before it was issued")
    if question.at < start:
        return CertificateCheck("dates", False, f"it is issued in the future, at {iso(start)}")
    if question.at >= end:
        return CertificateCheck("dates", False, f"expired at {iso(end)}")
    return CertificateCheck("dates", True)


def revocation_check(
    document: Mapping[str, JSON], question: CertificateQuestion
) -> CertificateCheck:
    """Whether a list of revoked ids names it; without a list nothing can be said."""
    if not question.revoked:
        told = "not checked: the form has no list of revoked certificates, and none was given"
        return CertificateCheck("revocation", None, told)
    named = text(document.get("certId")) in question.revoked
    return CertificateCheck("revocation", not named, "the given list names it" if named else "")
