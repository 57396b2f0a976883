"""Certificates: issued and verified by the original's rule, and verified strictly."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from academy.bundle import JSON, ResultSpec
from academy.errors import AcademyError
from academy.formats.opentakeoff.integrity import (
    block,
    certificate_hash,
    is_signed_by,
    sign,
    text,
)
from academy.formats.opentakeoff.manifests import mapping, numeric

ISSUER = "OpenTakeoff Academy"
ISSUER_URL = "https://aec.kentucky-ai.com"
VERIFY_HOST = "https://union.kentucky-ai.com"
UNSIGNED = "self-reported:unsigned"
DEFAULT_KEY_ID = "ota-root"
VALIDITY_DAYS = 365
LAST_SERIAL = 999_999

LETTERS = {
    "scale-calibration": "S",
    "fixture-count": "C",
    "area-takeoff": "A",
    "scope-identification": "P",
    "general-takeoff": "G",
}
LABELS = {
    "scale-calibration": "Scale Calibration",
    "fixture-count": "Fixture Count",
    "area-takeoff": "Area Takeoff",
    "scope-identification": "Scope ID",
    "general-takeoff": "General Takeoff",
}
TIER_LABELS = {"apprentice": "Apprentice", "journeyman": "Journeyman", "master": "Master"}
COLOURS = {"apprentice": "#3f83f8", "journeyman": "#8b5cf6", "master": "#2ea44f"}
SELF_REPORTED_COLOUR = "#9aa0a6"

Options = Mapping[str, JSON]


class Refusal(AcademyError):
    """A certificate that may not be issued; `code` is a short name for the reason."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        super().__init__(message)


@dataclass(frozen=True, slots=True)
class Verification:
    """The original's verdict on a certificate; `signature_valid` is None where none was checked."""

    ok: bool
    hash_match: bool
    signature_valid: bool | None
    expected_hash: str


@dataclass(frozen=True, slots=True)
class Standing:
    """The strict verdict: "valid", "self_reported", "invalid", "expired" or "revoked", and why."""

    state: str
    reason: str


def track_code(track: str) -> str:
    """The letters of a track: GEN, D26 for div26, the first three letters, or what there is."""
    if track == "generalist":
        return "GEN"
    plain = re.sub(r"[^A-Za-z0-9-]", "", track)
    numbered = re.match(r"([A-Za-z]+)([0-9]+)", plain)
    if numbered:
        return (numbered[1][0] + numbered[2])[:4].upper()
    letters = re.match(r"[A-Za-z]+", plain)
    if letters:
        return letters[0][:3].upper()
    return re.sub(r"[^A-Za-z0-9]", "", plain)[:4].upper() or "GEN"


def certificate_id(track: str, competency: str, serial: float) -> str:
    """OTA-<track code and competency letter>-<serial>; two runs can easily get the same one."""
    code = re.sub(r"[^A-Z0-9]", "", track_code(track) + LETTERS.get(competency, "G"))
    number = min(max(int(serial), 0), LAST_SERIAL)
    return f"OTA-{code.ljust(2, 'X')[:6]}-{number:04d}"


def serial_of(bundle_hash: str) -> int:
    """The serial that a bundle's hash gives when none is named."""
    return int(bundle_hash[:8], 16) % 10_000


def moment(value: str) -> datetime:
    """An ISO 8601 time in UTC; one without a zone is taken as UTC. Raises Refusal."""
    try:
        found = datetime.fromisoformat(value)
    except ValueError:
        raise Refusal("bad-now", f"The time {value!r} is not an ISO 8601 time.") from None
    return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)


def iso(value: datetime) -> str:
    """A time with milliseconds and Z."""
    return f"{value.strftime('%Y-%m-%dT%H:%M:%S')}.{value.microsecond // 1000:03d}Z"


def given(**values: JSON) -> dict[str, JSON]:
    """The values that are there; None and the empty text are not."""
    return {name: value for name, value in values.items() if value not in (None, "")}


def check_issuable(report: Mapping[str, JSON], options: Options) -> str:
    """The tier to certify. Raises Refusal, in the original's order of questions."""
    if not options.get("now"):
        raise Refusal("no-now", "A certificate needs the time of issue; no clock is read.")
    certified = options.get("attestation") == "certified"
    if certified and report.get("attestation") != "proctored":
        raise Refusal("not-proctored", "Only a proctored run can be certified.")
    if certified and not options.get("privateKey"):
        raise Refusal("no-key", "A certified certificate needs the Academy's signing key.")
    tier = options.get("tier") or mapping(report.get("suite")).get("tier")
    if not tier:
        raise Refusal("no-tier", "The run earned no tier.")
    if not mapping(report.get("generatedFor")).get("bundleHash"):
        raise Refusal("no-bundle-hash", "The report names no bundle hash.")
    return str(tier)


def issue(report: Mapping[str, JSON], options: Options) -> dict[str, JSON]:
    """A certificate for a report, by the original's rule and with its defaults.

    Neither flags nor pass mark nor suite mode nor the id's uniqueness are looked at, as in the
    original; the registry's own certificates are another thing. `options`: `attestation`, `now`,
    `validityDays`, `tier`, `competency`, `modelId`, `contestant`, `harness`, `url`, `serial`,
    `certId`, `issuerUrl`, `verifyUrl`, `leaderboardUrl`, `privateKey`, `keyId`. Raises Refusal.
    """
    tier = check_issuable(report, options)
    made_for, suite = mapping(report.get("generatedFor")), mapping(report.get("suite"))
    bundle_hash, track = str(made_for["bundleHash"]), str(made_for.get("track"))
    competency = str(options.get("competency") or report.get("competency"))
    serial = numeric(options.get("serial"))
    number = serial_of(bundle_hash) if serial is None else serial
    name = str(options.get("certId") or certificate_id(track, competency, number))
    certified = options.get("attestation") == "certified"
    issued = moment(str(options["now"]))
    days = numeric(options.get("validityDays")) or VALIDITY_DAYS
    issuer_url = text(options.get("issuerUrl"))
    verify_url = options.get("verifyUrl") or f"{issuer_url or VERIFY_HOST}/cert/{name}"
    certificate: dict[str, JSON] = {
        "certVersion": "1.0",
        "certId": name,
        "issuer": {"name": ISSUER, "url": issuer_url or ISSUER_URL},
        "subject": {
            "modelId": options.get("modelId") or "unknown-model",
            **given(**{key: options.get(key) for key in ("contestant", "harness", "url")}),
        },
        "track": track,
        "competency": competency,
        "tier": tier,
        "attestation": "certified" if certified else "self_reported",
        "result": {
            **given(metric=report.get("metric"), score=suite.get("median")),
            **given(baseline=suite.get("baseline"), nRanked=suite.get("n")),
            "suiteVersion": made_for.get("suiteVersion") or "unknown",
        },
        "issuedAt": iso(issued),
        "expiresAt": iso(issued + timedelta(days=days)),
        "evidence": {
            "runBundleHash": bundle_hash,
            "verifyUrl": verify_url,
            **given(leaderboardUrl=options.get("leaderboardUrl")),
        },
        "badge": badge(competency, tier, certified=certified),
    }
    return seal(certificate, options, certified=certified)


def badge(competency: str, tier: str, *, certified: bool) -> dict[str, JSON]:
    """What a badge says and its colour."""
    label = f"{LABELS.get(competency, competency)} · {TIER_LABELS.get(tier, tier)}"
    colour = COLOURS.get(tier, SELF_REPORTED_COLOUR) if certified else SELF_REPORTED_COLOUR
    return {"label": "OpenTakeoff Certified", "message": label, "color": colour}


def seal(certificate: Mapping[str, JSON], options: Options, *, certified: bool) -> dict[str, JSON]:
    """The certificate with its hash, and signed when it is certified."""
    hashed = certificate_hash(certificate)
    key = text(options.get("privateKey"))
    integrity: dict[str, JSON] = {
        "hashAlg": "sha256",
        "certHash": hashed,
        "academySignature": sign(hashed, key) if certified else UNSIGNED,
    }
    if key:
        integrity["academyKeyId"] = options.get("keyId") or DEFAULT_KEY_ID
    return {**certificate, "integrity": integrity}


def verify(certificate: Mapping[str, JSON], public_key: str | None) -> Verification:
    """The original's verdict: without a key, or without a signature, the hash alone decides."""
    integrity = block(certificate)
    stored, expected = text(integrity.get("certHash")), certificate_hash(certificate)
    signature = text(integrity.get("academySignature"))
    valid = None
    if certificate.get("attestation") == "certified" and public_key and signature:
        valid = is_signed_by(stored, signature, public_key)
    match = stored == expected
    return Verification(match and valid is not False, match, valid, expected)


def judge(
    certificate: Mapping[str, JSON],
    *,
    public_keys: Collection[str],
    at: datetime,
    revoked: Collection[str] = (),
) -> Standing:
    """The strict verdict at a time: a stripped or unchecked signature is invalid, not unsigned.

    `revoked` holds certificate ids. A certificate that calls itself self-reported proves nothing
    but its hash.
    """
    found = verify(certificate, None)
    name = text(certificate.get("certId"))
    if not found.hash_match:
        return Standing("invalid", f"the hash is {found.expected_hash}, another one is stored")
    if name in revoked:
        return Standing("revoked", f"{name} was revoked")
    certified = certificate.get("attestation") == "certified"
    if certified and not any(verify(certificate, key).signature_valid for key in public_keys):
        return Standing("invalid", "no known Academy key made the signature")
    try:
        expires = moment(text(certificate.get("expiresAt")))
    except Refusal:
        return Standing("invalid", "the time of expiry cannot be read")
    if at >= expires:
        return Standing("expired", f"expired at {iso(expires)}")
    if certified:
        return Standing("valid", "hash, signature and time hold")
    return Standing("self_reported", "the hash holds; nobody vouches for the run")


def certificate(result: ResultSpec, facts: Mapping[str, JSON]) -> dict[str, JSON]:
    """A certificate in the original's form for one of our own results.

    `facts` are the options of `issue` and `track`, `suiteVersion`, `bundleHash`, `verification`.
    Only a run whose co-signature held ("reproduced") is certified, whatever it says of itself.
    Raises Refusal.
    """
    proven = facts.get("verification") == "reproduced"
    report: dict[str, JSON] = {
        "generatedFor": {name: facts.get(name) for name in ("track", "suiteVersion", "bundleHash")},
        "attestation": "proctored" if proven else "self_reported",
        "competency": result.details.get("competency"),
        "metric": result.metric,
        "suite": {
            "median": result.value,
            "baseline": result.details.get("baseline"),
            "n": result.n,
            "tier": result.details.get("tier"),
        },
    }
    return issue(report, {**facts, "attestation": "certified" if proven else "self_reported"})
