"""Exports of many rows: asked for by anybody, made once by the worker, kept for a week."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import IO, Any, BinaryIO, Protocol

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from academy import auditing, piecing, tables, tasks, work
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import BulkExport, SuiteVersion, Work
from academy.querysets import has_role
from academy.tables import Table

KIND, EXPIRE = "bulk_export", "expire_export"
KEPT = timedelta(days=7)
FOLDER = "exports"


@dataclass(frozen=True, slots=True)
class Contents:
    """The rows of an export, and in sentences what is not in it; `pieces` are the same rows in
    parts that may be written one after the other."""

    table: Table
    left_out: tuple[str, ...] = ()
    pieces: tuple[Table, ...] = ()


RECORDS = "Every record with every metric, as any visitor may see them."


class Source(Protocol):
    """What a kind of export is made of, by the key of its subject; `lead` says what rows are."""

    lead: str

    def title(self, subject: int) -> str:
        """What the export is called."""

    def address(self, subject: int) -> str:
        """The page that it belongs to."""

    def versions(self, subject: int) -> list[SuiteVersion]:
        """The versions that the rows are of."""

    def is_visible(self, subject: int, user: Any) -> bool:
        """Whether this person may see the page that it belongs to."""

    def refusal(self, subject: int) -> str:
        """Why there is no export for anybody, in a sentence, or nothing."""

    def state_digest(self, subject: int) -> str:
        """A digest of what the rows rest on."""

    def contents(self, subject: int, viewer: Any) -> Contents:
        """The rows that this person may see. AcademyError when there are none for anybody."""


SOURCES: dict[str, Source] = {}


def register(kind: str, source: Source) -> None:
    """Name the source of a kind of export. Apps do this when they are ready."""
    SOURCES[kind] = source


def audience_of(user: Any) -> Any:
    """The person, if an export for them may differ from everybody's; else None.

    An export holds what every visitor may see, whoever asks. Verdicts are kept from those who
    review until their own is in, so theirs holds less.
    """
    if has_role(user, "curator", "auditor") or not has_role(user, "reviewer", "adjudicator"):
        return None
    return user


def request_export(
    kind: str, subject: int, form: str, *, by: Any = None, raw: bool = False
) -> BulkExport:
    """The export of what was asked for; it is owed unless it is there, or owed, already.

    Raises AcademyError for an unknown form, and where there is nothing for anybody.
    """
    source = SOURCES[kind]
    if form not in tables.FORMS:
        raise AcademyError(f"{form!r} is no form of export; there are {', '.join(tables.FORMS)}.")
    if refusal := source.refusal(subject):
        raise AcademyError(refusal)
    audience = audience_of(by)
    is_raw = raw and form == "csv"
    facts = [kind, subject, form, is_raw, audience and audience.pk, source.state_digest(subject)]
    with work.owing():
        BulkExport.objects.get_or_create(
            key=digest(facts),
            defaults={
                "kind": kind,
                "subject": subject,
                "form": form,
                "raw": is_raw,
                "audience": audience,
                "title": source.title(subject)[:400],
            },
        )
        export: BulkExport = BulkExport.objects.select_for_update().get(key=digest(facts))
        if not export.file and not _is_owed(export):
            export.finished_at = export.expires_at = None
            export.rows = 0
            export.save(update_fields=["finished_at", "expires_at", "rows"])
            work.enqueue(KIND, key=_work_key(export), payload={"export": str(export.pk)})
            auditing.note("export.request", f"export:{export.pk}", by=by, form=form, of=kind)
            tasks.nudge()
    return export


def _work_key(export: BulkExport) -> str:
    return f"{KIND}:{export.pk}"


def _is_owed(export: BulkExport) -> bool:
    return Work.objects.filter(key=_work_key(export), state__in=("ready", "leased")).exists()


def state_of(export: BulkExport) -> str:
    """One of waiting, working, done, expired, failed."""
    if export.file:
        return "done"
    if export.finished_at is not None:
        return "expired"
    owed = Work.objects.filter(key=_work_key(export)).values_list("state", flat=True).first()
    return {"leased": "working", "failed": "failed"}.get(owed or "", "waiting")


def is_visible(export: BulkExport, user: Any) -> bool:
    """Whether this person may have an export: they see its subject, and it is for them."""
    if export.audience_id is not None and export.audience_id != user.pk:
        return False
    if export.audience_id is None and audience_of(user) is not None:
        return False
    return SOURCES[export.kind].is_visible(export.subject, user)


def make_export(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "bulk_export": write the rows to a file, keep it, and say what it is.

    What is too much for one job is left to the next one, which begins after the pieces that are
    there. Pieces of another state of the verdicts count for nothing.
    """
    export = BulkExport.objects.select_related("audience").get(pk=payload["export"])
    source = SOURCES[export.kind]
    before = source.state_digest(export.subject)
    contents = source.contents(export.subject, export.audience or AnonymousUser())
    form = tables.FORMS[export.form]
    folder = f"{FOLDER}/{export.pk}"

    def tell(rows: int) -> None:
        BulkExport.objects.filter(pk=export.pk).update(rows=rows)

    def put(table: Table, stream: BinaryIO) -> None:
        form.write(table, stream, not export.raw)

    with tempfile.TemporaryFile() as held:
        if len(contents.pieces) > 1:
            pieces = piecing.write_pieces(
                folder,
                digest([before, len(contents.pieces)]),
                contents.pieces,
                put,
                seconds=settings.CELERY_TASK_SOFT_TIME_LIMIT / 3,
                tell=tell,
            )
            if pieces is None:
                return lambda: _go_on(export)
            piecing.join(pieces, contents.table, form, held)
            rows = sum(piece.rows for piece in pieces)
        else:
            counted = piecing.Counted(contents.table, tell)
            put(replace(contents.table, rows=counted), held)
            rows = counted.count
        size, sha256 = held.tell(), _sha256(held)
        held.seek(0)
        kept = piecing.keep(f"{folder}/{sha256[:16]}.{form.ending}", held, size)
    left_out = list(contents.left_out)
    if source.state_digest(export.subject) != before:
        left_out.append(
            "Verdicts changed while this was written; an export asked for now is of one state."
        )
    made = {"file": kept, "size": size, "sha256": sha256, "rows": rows, "left_out": left_out}
    return lambda: _finish(export, made)


def _go_on(export: BulkExport) -> None:
    """Owe the rest of an export, and the end of its pieces should the rest never be made."""
    work.enqueue(KIND, key=_work_key(export), payload={"export": str(export.pk)})
    _owe_end(export, timezone.now() + KEPT)
    tasks.nudge()


def _finish(export: BulkExport, made: Mapping[str, Any]) -> None:
    now = timezone.now()
    BulkExport.objects.filter(pk=export.pk).update(**made, finished_at=now, expires_at=now + KEPT)
    _owe_end(export, now + KEPT)
    transaction.on_commit(lambda: piecing.delete_pieces(f"{FOLDER}/{export.pk}"))


def _owe_end(export: BulkExport, at: datetime) -> None:
    key = f"{EXPIRE}:{export.pk}"
    work.enqueue(EXPIRE, key=key, payload={"export": str(export.pk)}, due_at=at)


def _sha256(stream: IO[bytes]) -> str:
    stream.seek(0)
    hashed = hashlib.sha256()
    while part := stream.read(1 << 20):
        hashed.update(part)
    return hashed.hexdigest()


def expire_export(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "expire_export": delete the files of an export whose time is over, or that was
    given up half way. One whose time comes later is looked at again then."""
    export = BulkExport.objects.filter(pk=payload["export"]).first()
    if export is None:
        return lambda: None
    now = timezone.now()
    due = export.expires_at or (now + KEPT if _is_owed(export) else now)
    if due > now:
        return lambda: _owe_end(export, due)
    folder = f"{FOLDER}/{export.pk}"
    for name in piecing.names_in(folder):
        default_storage.delete(f"{folder}/{name}")

    def write() -> None:
        BulkExport.objects.filter(pk=export.pk, expires_at__lte=now).update(file="")

    return write
