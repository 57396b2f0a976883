"""Certificates are issued after review, doubted when numbers move, superseded and revoked."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone

from academy import auditing, measuring, piloting
from academy.errors import AcademyError
from academy.models import Run, ScoringPass
from leaderboard import certificates, windowing
from leaderboard.certificates import Check
from leaderboard.models import Board, Certificate, SigningKey, Snapshot, Window

VALIDITY = timedelta(days=365)
NAMED = 20
LIVE = (Certificate.State.VALID, Certificate.State.UNDER_REVIEW)


def signing_key() -> Ed25519PrivateKey:
    """The key in ACADEMY_SIGNING_KEY (PEM), else one that is made once in the data folder.

    Its public half is kept for ever, so that old certificates can be checked after a change.
    """
    named = settings.ACADEMY_SIGNING_KEY
    kept = Path(settings.DATA_DIR) / "signing-key.pem"
    pem = named.encode() if named else _kept_pem(kept)
    try:
        key = load_pem_private_key(pem, password=None)
    except ValueError as error:
        raise AcademyError("The signing key is no private key in PEM.") from error
    if not isinstance(key, Ed25519PrivateKey):
        raise AcademyError("The signing key is no Ed25519 key.")
    public = key.public_key()
    SigningKey.objects.get_or_create(
        name=certificates.key_id(public),
        defaults={
            "pem": public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()
        },
    )
    return key


def _kept_pem(kept: Path) -> bytes:
    if not kept.exists():
        made = Ed25519PrivateKey.generate().private_bytes(
            Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()
        )
        kept.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            pass
        else:
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(made)
    return kept.read_bytes()


def public_keys() -> dict[str, Ed25519PublicKey]:
    """All keys that ever signed here, by name."""
    found = {}
    for row in SigningKey.objects.order_by("pk"):
        key = load_pem_public_key(row.pem.encode())
        if isinstance(key, Ed25519PublicKey):
            found[row.name] = key
    return found


@transaction.atomic
def issue(
    snapshot: Snapshot, key: str, *, by: Any, reason: str, at: datetime | None = None
) -> Certificate:
    """Certify one entry of a published snapshot; an earlier certificate of it is superseded.

    Raises AcademyError when the entry has no tier, its records were not scored here, the snapshot
    is not public or not the newest, or the board has windows and the run came in during none.
    """
    now = at or timezone.now()
    board = Board.objects.select_for_update().get(pk=snapshot.board_id)
    row = _row_to_certify(board, snapshot, key)
    run = Run.objects.select_related("entrant").get(pk=row["run"])
    window = _window_of_run(board, run)
    serial = _next_serial()
    expires = now + VALIDITY
    document = certificates.signed(
        _document(serial, snapshot, row, run, window, now, expires), signing_key()
    )
    earlier = Certificate.objects.filter(board=board, run__entrant=run.entrant, state__in=LIVE)
    for old in earlier.filter(run__arm=run.arm, run__scenario=run.scenario):
        told = f"{serial} stands in its place."
        change_state(old, Certificate.State.SUPERSEDED, by=by, reason=told)
    made: Certificate = Certificate.objects.create(
        serial=serial,
        board=board,
        run=run,
        snapshot=snapshot,
        window=window,
        tier=row["details"]["tier"],
        document=document,
        issued_at=now,
        expires_at=expires,
    )
    auditing.note("certificate.issue", f"certificate:{serial}", by=by, reason=reason)
    return made


def check_entry(board: Board, key: str) -> None:
    """Raise AcademyError when this entry of the newest snapshot could not be certified now."""
    snapshot = board.newest_snapshot()
    if snapshot is None:
        raise AcademyError("This board has no published snapshot.")
    row = _row_to_certify(board, snapshot, key)
    _window_of_run(board, Run.objects.get(pk=row["run"]))


def _row_to_certify(board: Board, snapshot: Snapshot, key: str) -> dict[str, Any]:
    newest = board.newest_snapshot()
    if newest is None or newest.pk != snapshot.pk:
        raise AcademyError("Only the newest published snapshot can be certified.")
    rows: list[dict[str, Any]] = snapshot.standings["standings"]
    row = next((row for row in rows if row["key"] == key), None)
    if row is None:
        raise AcademyError(f"Snapshot {snapshot.number} has no entry {key!r}. {_candidates(rows)}")
    if row["place"] != "ranked":
        raise AcademyError(f"{row['name']} is not ranked: {row['reason']}")
    if not row["details"].get("tier"):
        raise AcademyError(f"{row['name']} has reached no tier.")
    if row["verification"] < Run.Verification.RESCORED:
        raise AcademyError("Only what was scored here can be certified.")
    if snapshot.standings["policy"]["mode"] != "strict":
        # The original takes a published number for a person's; a tier here does not.
        raise AcademyError("Tiers of reference mode follow other rules; only strict is certified.")
    return row


def _candidates(rows: Sequence[Mapping[str, Any]]) -> str:
    """Which entries could be certified, by key."""
    keys = [row["key"] for row in rows if row["place"] == "ranked" and row["details"].get("tier")]
    if not keys:
        return "No entry of it is ranked and has reached a tier."
    return f"Ranked with a tier: {', '.join(keys[:NAMED])}{' and more' * (len(keys) > NAMED)}."


def _window_of_run(board: Board, run: Run) -> Window | None:
    """The window in which a run came in and was recorded; AcademyError where a board with windows
    has none for it."""
    if not board.windows.exists():
        return None
    window = windowing.window_of(board, run)
    if window is None:
        raise AcademyError(f"Run {run.pk} came in while no window of this board was open.")
    if not window.results.filter(run=run, current=True).exists():
        raise AcademyError(f"Run {run.pk} has no recorded result in the window {window.label!r}.")
    return window


def _next_serial() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT nextval('leaderboard_certificate_serial')")
        number = cursor.fetchone()[0]
    return f"ACA-{number:06d}"


def _document(
    serial: str,
    snapshot: Snapshot,
    row: Mapping[str, Any],
    run: Run,
    window: Window | None,
    now: datetime,
    expires: datetime,
) -> dict[str, Any]:
    standings = snapshot.standings
    held = ("rank", "rank_low", "rank_high", "score", "low", "high", "shown", "n", "run_digest")
    named = ("suite", "version", "version_digest", "pass", "pass_digest")
    return {
        "serial": serial,
        "issuer": "Academy",
        "entrant": run.entrant.slug,
        "name": run.entrant.name,
        "run": run.pk,
        **{name: row[name] for name in held},
        "tier": row["details"]["tier"],
        "verification": row["verification_label"],
        "tied_with": tied_with(row, standings["standings"]),
        "board": snapshot.board.slug,
        "board_title": snapshot.board.title,
        **{name: standings[name] for name in named},
        "metric": standings["metric"]["label"],
        "unit": standings["metric"]["unit"],
        "snapshot": snapshot.number,
        "snapshot_digest": snapshot.digest,
        "window": window.label if window else None,
        **({"pilot": told} if (told := _pilot(snapshot)) else {}),
        **_earned_by(snapshot, row, run),
        "issued_at": now.isoformat(),
        "expires_at": expires.isoformat(),
    }


def _pilot(snapshot: Snapshot) -> str:
    """What a certificate on a pilot says of it, within what is signed."""
    return piloting.pilot_sentence(snapshot.standings.get("pilot"))


def tied_with(row: Mapping[str, Any], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The other entries of a row's tie group, by name."""
    group = row["tie_group"]
    return [
        other["name"]
        for other in rows
        if group is not None and other["tie_group"] == group and other["key"] != row["key"]
    ]


def _earned_by(snapshot: Snapshot, row: Mapping[str, Any], run: Run) -> dict[str, Any]:
    """What a tier rests on: the pass mark, the windows held, and the recorded human beside it."""
    board = snapshot.board
    chosen = ScoringPass.objects.get(version=run.version_id, state=ScoringPass.State.PUBLISHED)
    place = windowing.place_on(board)
    human = measuring.baseline_on(chosen, place.metric, place.slice)
    return {
        "passed": row["details"].get("passed"),
        "windows_before": [window.label for window in windowing.passed_before(board, run, chosen)],
        "human": None
        if human is None
        else {
            **measuring.public_baseline(human),
            "run_digest": human.run.digest if human.run else "",
        },
    }


@transaction.atomic
def change_state(
    certificate: Certificate, state: str, *, by: Any = None, reason: str
) -> Certificate:
    """Move a certificate on. Superseded and revoked are final; AcademyError for a way back, and
    for where it stands already."""
    locked: Certificate = Certificate.objects.select_for_update().get(pk=certificate.pk)
    if locked.state not in LIVE:
        raise AcademyError(f"{locked.serial} is {locked.get_state_display().lower()} for good.")
    if locked.state == state:
        raise AcademyError(f"{locked.serial} is {locked.get_state_display().lower()} already.")
    if not reason.strip():
        raise AcademyError("Say why; the page of the certificate shows it.")
    locked.state, locked.reason = state, reason
    locked.save(update_fields=["state", "reason"])
    auditing.note(f"certificate.{state}", f"certificate:{locked.serial}", by=by, reason=reason)
    return locked


def doubt_moved(board: Board, standings: Mapping[str, Any]) -> int:
    """Put certificates under review whose run lost its tier, pass mark or place; gives how many.

    A newer run of the entrant may count on the board meanwhile; what was certified then holds
    while its own stored result gives the same tier.
    """
    rows = {row["run"]: row for row in standings["standings"]}
    doubted = 0
    for held in board.certificates.filter(state=Certificate.State.VALID).order_by("pk"):
        why = _why_doubted(board, held, rows.get(held.run_id))
        if not why:
            continue
        where = f"{standings['suite']}@{standings['version']}, pass {standings['pass']}"
        change_state(held, Certificate.State.UNDER_REVIEW, reason=f"{why}, on {where}.")
        doubted += 1
    return doubted


def _why_doubted(board: Board, held: Certificate, row: Mapping[str, Any] | None) -> str:
    """What speaks against a certificate now, or nothing."""
    if row is not None:
        details, is_ranked = row["details"], row["place"] == "ranked"
    elif held.run.state != Run.State.CLOSED:
        return "Its run was withdrawn"
    else:
        details, is_ranked = _stored_details(board, held.run), True
    if details.get("tier") != held.tier or not is_ranked:
        return "Its tier or place changed"
    before = held.document.get("passed")
    if before is not None and details.get("passed") != before:
        return "Its pass mark changed"
    return ""


def _stored_details(board: Board, run: Run) -> Mapping[str, Any]:
    chosen = ScoringPass.objects.filter(version=run.version_id, state="published").first()
    found = windowing.result_on(windowing.place_on(board), run, chosen) if chosen else None
    return found.details if found else {}


def state_of(certificate: Certificate, now: datetime) -> str:
    """The live state: what is stored, or expired."""
    if certificate.state in LIVE and now >= certificate.expires_at:
        return "expired"
    return certificate.state


def verify(document: Mapping[str, Any], *, at: datetime | None = None) -> tuple[str, list[Check]]:
    """The state of a document that somebody presents, and what was looked at.

    "invalid" unless our signature fits; a signature that was stripped is invalid, not unsigned.
    """
    now = at or timezone.now()
    signature = certificates.check_signature(document, public_keys())
    found = _of_serial(document.get("serial"))
    known = _known(found, document)
    checks = [signature, known, certificates.check_dates(document, now)]
    if not (signature.ok and known.ok) or found is None:
        return "invalid", checks
    state = state_of(found, now)
    checks.append(Check("in force", state == "valid", found.doubt))
    return state, checks


def _of_serial(serial: object) -> Certificate | None:
    """The certificate of a serial that somebody claims, whatever stands there."""
    if not isinstance(serial, str) or not re.fullmatch(r"[A-Z0-9-]{1,20}", serial):
        return None
    return Certificate.objects.filter(serial=serial).first()


def _known(found: Certificate | None, document: Mapping[str, Any]) -> Check:
    if found is None:
        return Check("known", False, "No certificate of this serial was issued here.")
    if found.document != document:
        return Check("known", False, "The certificate of this serial says something else.")
    return Check("known", True)


def successor_of(certificate: Certificate) -> Certificate | None:
    """The certificate that took the place of a superseded one."""
    if certificate.state != Certificate.State.SUPERSEDED:
        return None
    run = certificate.run
    later = Certificate.objects.filter(board=certificate.board_id, pk__gt=certificate.pk)
    same = later.filter(run__entrant=run.entrant_id, run__arm=run.arm, run__scenario=run.scenario)
    return same.order_by("pk").first()
