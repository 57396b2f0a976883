"""Certificates: issued after review, checked by anybody, doubted when numbers move."""

from __future__ import annotations

import json
import stat
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from academy.errors import AcademyError
from academy.models import AuditEvent, Run
from leaderboard import boards, certifying, standings, windowing
from leaderboard.models import Board, Certificate
from tests import factories as made
from tests.leaderboard.boarding import newest, off, policy_of, row_of

pytestmark = pytest.mark.django_db


def issued(board: Board, key: str = "alpha") -> Certificate:
    return certifying.issue(newest(board), key, by=None, reason="looked at the run")


def answer(document: Any) -> dict[str, Any]:
    response = Client(enforce_csrf_checks=True).post(
        "/certificates/verify/", json.dumps(document), content_type="application/json"
    )
    return dict(response.json())


def test_a_certificate_is_signed_and_valid_for_anybody_who_asks(wide_board: Board) -> None:
    board = wide_board
    certificate = issued(board)
    assert answer(certificate.document)["valid"] is True
    assert certificate.document["shown"] == row_of(board, "Alpha")["shown"]
    assert certificate.document["snapshot_digest"] == newest(board).digest
    page = Client().get(f"/certificates/{certificate.serial}/").content.decode()
    assert "valid, checked now" in page
    assert AuditEvent.objects.filter(act="certificate.issue").count() == 1
    kept = Path(settings.DATA_DIR) / "signing-key.pem"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    keys = Client().get("/certificates/keys.json").json()["keys"]
    assert certificate.document["signature"]["key"] in {key["name"] for key in keys}
    assert "PRIVATE" not in json.dumps(keys)


@pytest.mark.parametrize("changed", ["tier", "score", "rank", "expires_at", "serial"])
def test_a_changed_field_makes_it_invalid(small_board: Board, changed: str) -> None:
    document = dict(issued(small_board).document)
    document[changed] = "other"
    said = answer(document)
    assert (said["valid"], said["state"]) == (False, "invalid")


@pytest.mark.parametrize("serial", ["ACA\x00", "\ud800", "", ["ACA-000001"], {"a": 1}, None, 7])
def test_a_serial_that_is_none_is_invalid_at_every_door(small_board: Board, serial: Any) -> None:
    document = {**issued(small_board).document, "serial": serial}
    said = answer(document)
    assert said["state"] == "invalid"
    assert said["checks"][1]["detail"] == "No certificate of this serial was issued here."
    page = Client().post("/certificates/check/", {"text": json.dumps(document)})
    assert page.status_code == 200 and "It proves nothing." in page.content.decode()


def test_a_text_that_two_readers_would_read_differently_is_refused(small_board: Board) -> None:
    certificate = issued(small_board)
    text = json.dumps(certificate.document)
    for changed, told in (
        ('{"tier": "master", ' + text[1:], "is given twice"),
        (text.replace('"n": 8', '"n": NaN'), "NaN"),
        ("[" * 5000, "nesting"),
        ("", "empty"),
    ):
        response = Client().post("/certificates/verify/", changed, content_type="application/json")
        assert (response.status_code, response.json()["valid"]) == (400, False)
        assert told in response.json()["detail"]
    changed = answer({**certificate.document, "tier": "master"})
    assert "says something else" in changed["checks"][1]["detail"]


def test_a_tier_of_reference_mode_is_not_certified(small_board: Board) -> None:
    policy = policy_of(small_board, mode="reference")
    boards.change_board(small_board, policy, list(small_board.versions.all()))
    made.score_all()
    assert row_of(small_board, "Alpha")["details"]["tier"]
    with pytest.raises(AcademyError, match="only strict is certified"):
        issued(small_board)


def test_a_stripped_or_foreign_signature_is_invalid_and_not_unsigned(small_board: Board) -> None:
    document = dict(issued(small_board).document)
    signature = document.pop("signature")
    assert answer(document)["state"] == "invalid"
    for other in (None, "x", {**signature, "key": "0" * 16}, {**signature, "value": "@"}):
        assert answer({**document, "signature": other})["state"] == "invalid"
    for odd in ([], "x", 1, None, {"serial": 1}):
        assert answer(odd)["valid"] is False
    response = Client().post("/certificates/verify/", b"{", content_type="application/json")
    assert response.status_code == 400


def test_only_ranked_entries_with_a_tier_on_the_newest_snapshot_are_certified(
    wide_board: Board,
) -> None:
    board = wide_board
    with pytest.raises(AcademyError, match="no tier"):
        issued(board, "gamma")
    with pytest.raises(AcademyError, match="no entry"):
        issued(board, "nobody")
    old = newest(board)
    made.takeoff_run(board.versions.get(), {"t-0": 100}, name="Half")
    made.score_all()
    with pytest.raises(AcademyError, match="not ranked"):
        issued(board, "half")
    with pytest.raises(AcademyError, match="newest"):
        certifying.issue(old, "alpha", by=None, reason="looked")


def test_a_board_with_windows_certifies_runs_that_came_in_during_one(small_board: Board) -> None:
    board = small_board
    now = timezone.now()
    windowing.open_window(board, "spring", now - timedelta(9), now - timedelta(1))
    with pytest.raises(AcademyError, match="no window"):
        issued(board)
    windowing.open_window(board, "autumn", now - timedelta(1), now + timedelta(1))
    made.score_all()
    certificate = issued(board)
    assert certificate.document["window"] == "autumn"
    assert certificate.window is not None
    held = certificate.window.results.get(run=certificate.run)
    assert (held.tier, held.passed) == (certificate.tier, True)


def test_a_second_certificate_supersedes_the_first_and_the_badge_turns_grey(
    small_board: Board,
) -> None:
    board = small_board
    first, second = issued(board), issued(board)
    first.refresh_from_db()
    assert (first.state, second.state) == ("superseded", "valid")
    assert first.serial != second.serial
    grey = Client().get(f"/certificates/{first.serial}.svg").content.decode()
    bright = Client().get(f"/certificates/{second.serial}.svg").content.decode()
    assert "superseded" in grey and "#6b7280" in grey
    assert second.tier in bright and "#1f5fbf" in bright
    page = Client().get(f"/certificates/{first.serial}/").content.decode()
    assert f"<b>Superseded.</b> {second.serial} stands in its place." in page
    assert f'<a href="/certificates/{second.serial}/">Open {second.serial}</a>' in page


def test_losing_the_tier_or_the_run_puts_a_certificate_under_review_at_once(
    small_board: Board,
) -> None:
    board = small_board
    certificate = issued(board)
    made.takeoff_run(board.versions.get(), off(1, of=8), name="Delta")
    made.score_all()
    certificate.refresh_from_db()
    assert certificate.state == "valid"
    Run.objects.filter(pk=certificate.run_id).update(state="withdrawn", reason="wrong prompt")
    standings.publish_snapshot(board)
    certificate.refresh_from_db()
    assert certificate.state == "under_review"
    assert "withdrawn" in certificate.reason
    assert answer(certificate.document)["state"] == "under_review"
    certifying.change_state(certificate, "revoked", reason="the run is gone")
    assert "revoked" in Client().get(f"/certificates/{certificate.serial}.svg").content.decode()
    with pytest.raises(AcademyError):
        certifying.change_state(certificate, "valid", reason="changed our mind")


def test_an_expired_certificate_says_so(small_board: Board) -> None:
    board = small_board
    long_ago = timezone.now() - timedelta(days=400)
    certificate = certifying.issue(newest(board), "alpha", by=None, reason="x", at=long_ago)
    assert answer(certificate.document)["state"] == "expired"
    assert "expired" in Client().get(f"/certificates/{certificate.serial}.svg").content.decode()
    certifying.change_state(certificate, "under_review", reason="its place changed")
    certifying.change_state(certificate, "valid", reason="the place holds")
    assert answer(certificate.document)["checks"][-1]["detail"] == ""
    page = Client().get(f"/certificates/{certificate.serial}/").content.decode()
    assert "<b>Upheld after review.</b> the place holds" in page and "expired" in page


def test_what_was_certified_never_changes(small_board: Board) -> None:
    certificate = issued(small_board)
    for changes in ({"document": {}}, {"tier": "master"}, {"serial": "x"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Certificate.objects.filter(pk=certificate.pk).update(**changes)
    with pytest.raises(IntegrityError), transaction.atomic():
        certificate.delete()


def test_curators_issue_and_revoke_in_the_admin_and_others_do_not(small_board: Board) -> None:
    board = small_board
    curator, other = Client(), Client()
    curator.force_login(made.person("curator", "curator", is_staff=True))
    other.force_login(made.person("reviewer", "reviewer", is_staff=True))
    address = "/admin/leaderboard/certificate/add/"
    sent = {"board": board.pk, "entry": "gamma", "why": "looked at it"}
    assert other.post(address, sent).status_code == 403
    refused = curator.post(address, sent)
    assert "no tier" in str(refused.context["adminform"].form.errors["entry"])
    assert curator.post(address, {**sent, "entry": "alpha"}).status_code == 302
    certificate = Certificate.objects.get()
    action = {"action": "revoke", "_selected_action": [str(certificate.pk)], "reason": "a mistake"}
    curator.post("/admin/leaderboard/certificate/", action)
    certificate.refresh_from_db()
    assert (certificate.state, certificate.reason) == ("revoked", "a mistake")


def test_acts_of_the_admin_say_what_they_did_or_why_not(wide_board: Board) -> None:
    certificate = issued(wide_board)
    curator = Client()
    curator.force_login(made.person("curator", "curator"))

    def act(name: str, reason: str) -> str:
        data = {"action": name, "reason": reason, "_selected_action": [certificate.pk]}
        address = "/admin/leaderboard/certificate/"
        return curator.post(address, data, follow=True).content.decode()

    assert f"{certificate.serial} is valid already." in act("uphold", "nothing speaks against it")
    assert "Say why" in act("revoke", " ")
    assert f"{certificate.serial} is revoked." in act("revoke", "a leaked key")
    assert f"{certificate.serial} is revoked for good." in act("uphold", "after all")
    page = curator.get("/admin/leaderboard/certificate/add/").content.decode()
    assert f"{wide_board.title} ({wide_board.slug})" in page
    data = {"board": wide_board.pk, "entry": "nobody", "why": "looked at it"}
    page = curator.post("/admin/leaderboard/certificate/add/", data).content.decode()
    assert "has no entry" in page and "Ranked with a tier: alpha" in page
