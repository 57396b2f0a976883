"""Certificates that somebody brings are checked by every rule and believed in nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from academy.bundle import ResultSpec
from academy.formats.opentakeoff import FORMAT
from leaderboard import certificates, certifying
from leaderboard.models import Board
from tests import factories as made
from tests.leaderboard.boarding import newest

pytestmark = pytest.mark.django_db
KEY = Ed25519PrivateKey.generate()
PRIVATE = KEY.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
PUBLIC = KEY.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
OTHER = (
    Ed25519PrivateKey.generate()
    .public_key()
    .public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    .decode()
)


def foreign(*, proven: bool = True, **facts: Any) -> dict[str, Any]:
    """A certificate in the takeoff form, issued a day ago by a key of this test."""
    assert FORMAT.certificate is not None
    details = {"competency": "area-takeoff", "tier": "journeyman", "baseline": 2.1}
    given = {
        "track": "div9",
        "suiteVersion": "1.0",
        "bundleHash": "ab" * 32,
        "verification": "reproduced" if proven else "supplied",
        "now": (datetime.now(UTC) - timedelta(days=1)).isoformat(),
        "privateKey": PRIVATE,
        "modelId": "example-model",
        **facts,
    }
    result = ResultSpec(metric="ape", value=4.6, n=24, details=details)
    return json.loads(json.dumps(FORMAT.certificate(result, given)))


def checked(document: Any, key: str = "") -> tuple[int, str]:
    """Status and text of the page for pasted text."""
    text = document if isinstance(document, str) else json.dumps(document)
    answer = Client().post("/certificates/check/", {"text": text, "key": key})
    return answer.status_code, answer.content.decode()


def commanded(path: Path, *words: str) -> tuple[int, dict[str, Any]]:
    out = StringIO()
    code = 0
    try:
        call_command("verify_certificate", str(path), *words, "--json", stdout=out)
    except SystemExit as error:
        code = int(str(error.code))
    return code, json.loads(out.getvalue())


def written(folder: Path, document: Any, name: str = "certificate.json") -> Path:
    path = folder / name
    path.write_text(json.dumps(document))
    return path


def test_a_genuine_certificate_of_another_site_is_valid_with_its_key_only(tmp_path: Path) -> None:
    document = foreign()
    before = made.whole_database()
    assert "valid, checked now" in checked(document, PUBLIC)[1]
    assert "unverified" in checked(document)[1]
    assert "none of the given keys" in checked(document, OTHER)[1]
    assert "valid, checked now" in checked(document, OTHER + PUBLIC)[1]
    key = tmp_path / "key.pem"
    key.write_text(PUBLIC)
    path = written(tmp_path, document)
    assert commanded(path, "--key", str(key))[0] == 0
    assert commanded(path)[1]["state"] == "unverified"
    late = (datetime.now(UTC) + timedelta(days=400)).isoformat()
    assert commanded(path, "--key", str(key), "--at", late)[0] == 2
    revoked = tmp_path / "revoked.json"
    revoked.write_text(json.dumps([document["certId"]]))
    assert commanded(path, "--key", str(key), "--revoked", str(revoked))[0] == 3
    assert made.changed_tables(before) == []


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"tier": "master"}, "another one is stored"),
        ({"tier": "wizard"}, "not one of the allowed values"),
        ({"certId": "OTA-D9A-1"}, "/certId"),
        ({"extra": 1}, "fields that are not allowed here"),
        ({"result": None}, "/result"),
        ({"__proto__": {"tier": "master"}}, "__proto__"),
    ],
)
def test_whatever_was_changed_makes_it_invalid_and_says_where(
    change: dict[str, Any], told: str
) -> None:
    status, page = checked({**foreign(), **change}, PUBLIC)
    assert status == 200
    assert told in page
    assert "It proves nothing." in page
    assert "valid, checked now" not in page


def test_a_stripped_signature_is_invalid_and_self_reported_proves_nothing() -> None:
    document = foreign()
    document["integrity"]["academySignature"] = ""
    assert "the signature is missing" in checked(document, PUBLIC)[1]
    page = checked(foreign(proven=False), PUBLIC)[1]
    assert "nobody vouches" in page
    assert "valid, checked now" not in page


def test_letters_that_do_not_follow_the_rule_of_ids_are_remarked_on() -> None:
    document = foreign(certId="OTA-FC-0031")
    page = checked(document, PUBLIC)[1]
    assert "the letters for this track and competency are D9A, not FC" in page


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "paste its text"),
        ("{", "is no certificate"),
        ("[]", "no JSON object"),
        ("{}", "no certificate of a form that is known here"),
        ('{"certId": 1, "certId": 2}', "certId"),
        ('{"certId": NaN}', "is no certificate"),
        ("[" * 5000, "is no certificate"),
        ('{"certId": "' + "x" * 70_000 + '"}', "at most 65536 characters"),
    ],
)
def test_what_is_malformed_is_refused_with_its_reason(text: str, told: str) -> None:
    status, page = checked(text)
    assert status == 422
    assert told in page


def test_a_key_that_is_none_is_refused_and_so_is_a_file_that_is_too_large(tmp_path: Path) -> None:
    status, page = checked(foreign(), "-----BEGIN PUBLIC KEY-----\nx\n-----END PUBLIC KEY-----")
    assert (status, "no public key in PEM" in page) == (422, True)
    large = BytesIO(b" " * 70_000)
    large.name = "large.json"
    answer = Client().post("/certificates/check/", {"file": large})
    assert answer.status_code == 422
    assert "larger than 64 KB" in answer.content.decode()
    path = tmp_path / "large.json"
    path.write_bytes(b" " * 70_000)
    assert commanded(path)[0] == 1


def test_our_own_certificates_are_known_by_their_live_state(
    small_board: Board, tmp_path: Path
) -> None:
    certificate = certifying.issue(newest(small_board), "alpha", by=None, reason="looked at it")
    path = written(tmp_path, certificate.document)
    with path.open("rb") as stream:
        page = Client().post("/certificates/check/", {"file": stream}).content.decode()
    assert "valid, checked now" in page
    assert commanded(path)[0] == 0
    certifying.change_state(certificate, "revoked", reason="a mistake")
    assert "revoked" in checked(certificate.document)[1]
    assert commanded(path)[0] == 3
    stripped = {k: v for k, v in certificate.document.items() if k != "signature"}
    assert "The signature is missing" in checked(stripped)[1]


def test_a_certificate_of_another_site_in_our_form_needs_that_sites_key() -> None:
    now = timezone.now()
    plain = {
        "serial": "ACA-000009", "issuer": "Academy", "name": "Example", "tier": "master",
        "issued_at": (now - timedelta(1)).isoformat(),
        "expires_at": (now + timedelta(1)).isoformat(),
    }  # fmt: skip
    document = certificates.signed(plain, KEY)
    assert "names no key of this site" in checked(document)[1]
    page = checked(document, PUBLIC)[1]
    assert "valid, checked now" in page
    assert "only its issuer can say" in page
    assert "It proves nothing." in checked({**document, "tier": "x"}, PUBLIC)[1]
