"""Uploads of curators: kept as they come, read and imported by the worker, watched on a page."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, cast

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import connections, transaction
from django.utils import timezone

from academy import auditing, importing, intake, registry, tasks, work
from academy.errors import SHOWN_PROBLEMS, AcademyError, FormatError, Problem
from academy.formats.members import path_problem
from academy.importing import ImportOptions
from academy.models import BulkImport, Run
from academy.recording import RecordingOptions
from academy.uploads import Upload, open_stream

KIND, EXPIRE = "bulk_import", "expire_import"
KEPT = timedelta(days=1)
FOLDER = "imports"
TOLD_EVERY = 1.0
MOST_FILES = 1000
Stage = BulkImport.Stage


def keep_upload(
    kind: str, name: str, stream: BinaryIO, *, size: int, choices: Mapping[str, Any], by: Any
) -> BulkImport:
    """Keep an upload as it comes, and owe its dry run. A small one is read before this returns.

    Raises AcademyError for a name that no file may have.
    """
    plain = PurePosixPath(name.replace("\\", "/")).name
    if (why := path_problem(plain)) is not None:
        raise AcademyError(f"A file cannot be called {name!r}: the name {why}.")
    row = BulkImport(kind=kind, name=plain[:300], size=size, choices=dict(choices), person=by)
    row.file = default_storage.save(f"{FOLDER}/{row.pk}/upload", File(stream))
    with work.owing():
        row.save()
        auditing.note("import.upload", f"import:{row.pk}", by=by, name=row.name, size=size)
        work.enqueue(
            EXPIRE,
            key=f"{EXPIRE}:{row.pk}",
            payload={"import": str(row.pk)},
            due_at=timezone.now() + KEPT,
        )
        _owe(row)
    return _at_once(row)


def confirm(row: BulkImport, *, by: Any, publish: bool = False) -> BulkImport:
    """Import what a dry run has shown. Raises AcademyError unless it waits for that."""
    with work.owing():
        held = BulkImport.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if held.stage != Stage.READ:
            raise AcademyError(
                f"This upload is {held.get_stage_display().lower()}; only one that was read and "
                "waits is imported. Choose the file again."
            )
        held.stage = Stage.IMPORTING
        held.choices = {**held.choices, "publish": publish}
        held.done = 0
        held.person = by
        held.save(update_fields=["stage", "choices", "done", "person"])
        auditing.note("import.confirm", f"import:{held.pk}", by=by)
        _owe(held)
    return _at_once(held)


def is_small(row: BulkImport) -> bool:
    """Whether an upload is so small that nobody waits long for it."""
    return bool(row.size <= settings.ACADEMY_IMPORT_AT_ONCE)


def _owe(row: BulkImport) -> None:
    if not is_small(row):
        work.enqueue(KIND, key=f"{KIND}:{row.pk}", payload={"import": str(row.pk)})
        tasks.nudge()


def _at_once(row: BulkImport) -> BulkImport:
    if is_small(row):
        write = read_or_import({"import": str(row.pk)})
        with work.owing():
            write()
        row.refresh_from_db()
    return row


def read_or_import(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "bulk_import": the dry run of an upload, or its import once it is confirmed.

    Safe to run twice: the same bytes again change nothing, and an upload that waits, or is over,
    is left alone.
    """
    row = BulkImport.objects.select_related("person").get(pk=payload["import"])
    if row.stage not in (Stage.READING, Stage.IMPORTING):
        return lambda: None
    is_dry = row.stage == Stage.READING
    changes: dict[str, Any]
    try:
        changes = {
            "report": _shortened(_run(row, is_dry=is_dry)),
            "stage": Stage.READ if is_dry else Stage.DONE,
        }
    except AcademyError as error:
        problems, total = problems_of(error)
        changes = {
            "problems": [problem.as_row() for problem in problems[:SHOWN_PROBLEMS]],
            "problems_total": total,
            "stage": Stage.REFUSED,
        }

    def write() -> None:
        over = changes["stage"] != Stage.READ
        moved = BulkImport.objects.filter(pk=row.pk, stage=row.stage).update(
            **changes,
            **({"file": "", "finished_at": timezone.now()} if over else {}),
        )
        if moved and over:
            transaction.on_commit(lambda: _delete(row.file))

    return write


def give_up(payload: Mapping[str, Any]) -> None:
    """What follows when the work failed through us: the page says so, and the file stays a day."""
    BulkImport.objects.filter(
        pk=payload["import"], stage__in=(Stage.READING, Stage.IMPORTING)
    ).update(stage=Stage.FAILED, finished_at=timezone.now())


def expire(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "expire_import": delete an upload that nobody confirmed."""
    held = BulkImport.objects.filter(pk=payload["import"]).exclude(file="")
    name = held.values_list("file", flat=True).first()
    if name:
        _delete(name)

    def write() -> None:
        held.filter(stage__in=(Stage.READING, Stage.READ)).update(stage=Stage.EXPIRED)
        held.update(file="")

    return write


def _delete(name: str) -> None:
    if name:
        default_storage.delete(name)


def _run(row: BulkImport, *, is_dry: bool) -> dict[str, Any]:
    """Read the upload and store what is in it, or in a dry run say what would be."""
    with tempfile.TemporaryDirectory() as folder, default_storage.open(row.file) as stream:
        upload = open_stream(row.name, cast("BinaryIO", stream), folder=Path(folder))
        with told(row, upload) as seen:
            watched = replace(upload, files=upload.files.watched(seen))
            store = _store_suites if row.kind == BulkImport.Kind.SUITES else _store_runs
            report: dict[str, Any] = store(row, watched, is_dry=is_dry)
    report["files"] += [
        {"path": file.path, "status": str(file.status), "reason": file.reason}
        for file in upload.left_out
    ]
    return report


def _store_suites(row: BulkImport, upload: Upload, *, is_dry: bool) -> dict[str, Any]:
    named = row.choices.get("name")
    report = intake.import_suite_files(
        upload.files,
        digest=upload.digest,
        fmt=_format(row),
        options=ImportOptions(
            rename=importing.parse_name(named) if named else None,
            by=row.person,
            publish=bool(row.choices.get("publish")),
            dry_run=is_dry,
        ),
    )
    return report.as_json()


def _store_runs(row: BulkImport, upload: Upload, *, is_dry: bool) -> dict[str, Any]:
    chosen = row.choices
    report = intake.import_run_files(
        upload.files,
        digest=upload.digest,
        fmt=_format(row),
        options=RecordingOptions(
            version=intake.find_version(chosen["version"]) if chosen.get("version") else None,
            entrant=chosen.get("entrant", ""),
            kind=Run.Kind.HUMAN if chosen.get("human") else Run.Kind.ENTRANT,
            account=row.person,
            unknown="leave_out" if chosen.get("leave_out") else "refuse",
            dry_run=is_dry,
            name=row.name,
        ),
    )
    return report.as_json()


def _format(row: BulkImport) -> Any:
    key = row.choices.get("format")
    return registry.format_of(key) if key else None


def _shortened(report: dict[str, Any]) -> dict[str, Any]:
    """A report of which lists are as long as a page shows; the numbers are of all."""
    short = {**report}
    for name in ("files", "findings", "left_out", "runs"):
        if name in short:
            short[f"{name}_total"] = len(short[name])
            short[name] = short[name][:MOST_FILES]
    return short


def problems_of(error: AcademyError) -> tuple[list[Problem], int]:
    """The problems of a refusal and their whole number."""
    if isinstance(error, FormatError):
        return list(error.problems), error.total
    return [Problem(file="", rule="refused", message=str(error))], 1


@contextmanager
def told(row: BulkImport, upload: Upload) -> Iterator[Callable[[int], None]]:
    """Say every second how many bytes are read while the block runs, on a connection of its own:
    what the block writes is not seen before it ends."""
    over = threading.Event()
    count = 0

    def seen(more: int) -> None:
        nonlocal count
        count += more

    def tell() -> None:
        rows = BulkImport.objects.filter(pk=row.pk)
        try:
            rows.update(total=upload.size)
            while not over.wait(TOLD_EVERY):
                rows.update(done=count)
        finally:
            connections.close_all()

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        over.set()
        thread.join()
