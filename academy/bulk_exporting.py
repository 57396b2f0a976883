"""Exports of many rows: asked for by anybody, made once by the worker, kept for a week."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import IO, Any, Protocol

from django.contrib.auth.models import AnonymousUser
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from academy import auditing, tables, tasks, work
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import BulkExport, SuiteVersion, Work
from academy.querysets import has_role
from academy.tables import Row, Table

KIND, EXPIRE = "bulk_export", "expire_export"
KEPT = timedelta(days=7)
TOLD_EVERY = 2000
FOLDER = "exports"


@dataclass(frozen=True, slots=True)
class Contents:
    """The rows of an export, and in sentences what is not in it."""

    table: Table
    left_out: tuple[str, ...] = ()


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
    with transaction.atomic():
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
    """Work of kind "bulk_export": write the rows to a file, keep it, and say what it is."""
    export = BulkExport.objects.select_related("audience").get(pk=payload["export"])
    source = SOURCES[export.kind]
    before = source.state_digest(export.subject)
    contents = source.contents(export.subject, export.audience or AnonymousUser())
    form = tables.FORMS[export.form]
    counted = _Counted(export, contents.table.rows)
    with tempfile.TemporaryFile() as held:
        form.write(replace(contents.table, rows=counted), held, not export.raw)
        size, sha256 = held.tell(), _sha256(held)
        held.seek(0)
        name = f"{FOLDER}/{export.pk}/{sha256[:16]}.{form.ending}"
        kept = name if default_storage.exists(name) else default_storage.save(name, File(held))
    left_out = list(contents.left_out)
    if source.state_digest(export.subject) != before:
        left_out.append(
            "Verdicts changed while this was written; an export asked for now is of one state."
        )

    def write() -> None:
        now = timezone.now()
        BulkExport.objects.filter(pk=export.pk).update(
            file=kept,
            size=size,
            sha256=sha256,
            rows=counted.count,
            left_out=left_out,
            finished_at=now,
            expires_at=now + KEPT,
        )
        work.enqueue(
            EXPIRE,
            key=f"{EXPIRE}:{export.pk}",
            payload={"export": str(export.pk)},
            due_at=now + KEPT,
        )

    return write


class _Counted:
    """Rows that are counted as they pass; the number is shown while the work is done."""

    def __init__(self, export: BulkExport, rows: Any) -> None:
        self.export = export
        self.rows = rows
        self.count = 0

    def __iter__(self) -> Iterator[Row]:
        for row in self.rows:
            self.count += 1
            if self.count % TOLD_EVERY == 0:
                BulkExport.objects.filter(pk=self.export.pk).update(rows=self.count)
            yield row


def _sha256(stream: IO[bytes]) -> str:
    stream.seek(0)
    hashed = hashlib.sha256()
    while part := stream.read(1 << 20):
        hashed.update(part)
    return hashed.hexdigest()


def expire_export(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "expire_export": delete the files of an export whose time is over."""
    over = BulkExport.objects.filter(pk=payload["export"], expires_at__lte=timezone.now())
    if over.exists():
        _delete_files(payload["export"])

    def write() -> None:
        over.update(file="")

    return write


def _delete_files(pk: str) -> None:
    """Delete what is kept of an export, also what a worker left that died before it said so."""
    folder = f"{FOLDER}/{pk}"
    try:
        names = default_storage.listdir(folder)[1]
    except FileNotFoundError:
        return
    for name in names:
        default_storage.delete(f"{folder}/{name}")
