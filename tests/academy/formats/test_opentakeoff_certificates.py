"""OpenTakeoff certificates: issued, refused, verified, and judged strictly."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from academy.formats.opentakeoff import FORMAT, certificates
from academy.formats.opentakeoff.certificates import Refusal, certificate_id, issue, judge, verify
from academy.formats.opentakeoff.integrity import certificate_hash
from tests.academy.formats.opentakeoff_examples import key_pair, ranked, result, scored
from tests.academy.formats.test_opentakeoff_results import NOW

REPORT: dict[str, Any] = {
    "generatedFor": {"track": "div26", "suiteVersion": "1.0", "bundleHash": "ab" * 32},
    "attestation": "proctored",
    "competency": "fixture-count",
    "metric": "count-error",
    "suite": {"median": 1.0, "baseline": 0, "n": 4, "tier": "journeyman"},
}


CERTIFIED: dict[str, Any] = {
    "attestation": "certified",
    "now": "2026-01-01T00:00:00Z",
    "privateKey": key_pair("academy")[0],
}


def test_a_certificate_is_issued_signed_and_verified() -> None:
    made: Any = issue(REPORT, CERTIFIED)
    assert made["certId"] == f"OTA-D26C-{int('abababab', 16) % 10000:04d}"
    assert made["badge"]["color"] == "#8b5cf6"
    assert made["integrity"]["academyKeyId"] == "ota-root"
    public = key_pair("academy")[1]
    assert verify(made, public).ok
    assert verify(made, public).signature_valid is True
    assert verify(made, key_pair("other")[1]).ok is False


@pytest.mark.parametrize(
    ("code", "options", "report"),
    [
        ("no-now", {"now": ""}, {}),
        ("bad-now", {"now": "yesterday"}, {}),
        ("not-proctored", {}, {"attestation": "self_reported"}),
        ("no-key", {"privateKey": None}, {}),
        ("no-tier", {}, {"suite": {"tier": None}}),
        ("no-bundle-hash", {}, {"generatedFor": {"track": "div9"}}),
    ],
)
def test_a_certificate_is_refused_by_name(
    code: str, options: dict[str, Any], report: dict[str, Any]
) -> None:
    with pytest.raises(Refusal) as caught:
        issue({**REPORT, **report}, {**CERTIFIED, **options})
    assert caught.value.code == code


def test_strictly_a_certificate_needs_its_signature_its_time_and_no_revocation() -> None:
    made: Any = issue(REPORT, CERTIFIED)
    keys = [key_pair("other")[1], key_pair("academy")[1]]

    def state(document: Any, *, at: datetime = NOW, revoked: Any = (), known: Any = keys) -> str:
        return judge(document, public_keys=known, at=at, revoked=revoked).state

    assert state(made) == "valid"
    assert state(made, known=[]) == "invalid"
    assert state(made, known=keys[:1]) == "invalid"
    assert state(made, at=NOW + timedelta(days=364, hours=23)) == "valid"
    assert state(made, at=NOW + timedelta(days=365)) == "expired"
    assert state(made, revoked={made["certId"]}) == "revoked"
    assert state({**made, "tier": "master"}) == "invalid"
    stripped = {**made, "integrity": {**made["integrity"], "academySignature": ""}}
    assert verify(stripped, keys[1]).ok
    assert state(stripped) == "invalid"
    rewritten: Any = {**made, "attestation": "self_reported"}
    rewritten["integrity"] = {**made["integrity"], "certHash": certificate_hash(rewritten)}
    assert verify(rewritten, keys[1]).ok
    assert state(rewritten) == "self_reported"


def test_only_a_reproduced_run_is_certified_whatever_it_says() -> None:
    row = result([scored("hall-area", 7.0)], ranked())["ape", ""]
    facts = {"track": "div9", "suiteVersion": "1", "bundleHash": "ab" * 32, **CERTIFIED}
    assert FORMAT.certificate is not None
    assert FORMAT.certificate(row, facts)["attestation"] == "self_reported"
    proven = FORMAT.certificate(row, {**facts, "verification": "reproduced"})
    assert (proven["attestation"], proven["tier"]) == ("certified", "apprentice")


def test_ids_are_cut_padded_and_can_collide() -> None:
    assert certificate_id("div9", "unknown", 9_999_999) == "OTA-D9G-999999"
    assert certificate_id("x", "area-takeoff", 1) == certificate_id("x", "area-takeoff", 1.9)
    assert certificates.track_code("") == "GEN"
