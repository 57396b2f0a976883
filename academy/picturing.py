"""Pictures in transcripts: found in the record or its upload, copied by the worker, never shown as
they came and never fetched."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from academy import blobs, drawings, packs, rasterising, registry, specs, work
from academy.errors import AcademyError
from academy.models import InstanceRecord, RecordPicture, SubmissionFile, Work

KIND = "picture"
EMBEDDED = re.compile(r"data:([\w.+/-]{0,100})(?:;[\w=.+-]{1,100})*,", re.IGNORECASE)
ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
MOST_SHOWN = 40
LONGEST_NAME = 200


@dataclass(frozen=True, slots=True)
class Source:
    """Where the bytes of a picture are: in the record itself, or in a kept file."""

    name: str
    digest: str = ""
    event: int = -1
    image: int = -1
    file: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture as pages show it: its copy by digest, or the sentence why there is none yet.

    `is_coming` says that the copy is owed, so that a page may ask again.
    """

    name: str
    digest: str = ""
    is_drawn: bool = False
    is_coming: bool = False
    note: str = ""


def embedded(text: str) -> bytes:
    """The bytes of a data: address in base64. Raises AcademyError with the reason."""
    head = EMBEDDED.match(text)
    if head is None or ";base64" not in head[0].lower():
        raise AcademyError("it is not embedded in base64")
    if len(text) > drawings.MOST_BYTES * 4 // 3:
        raise AcademyError(f"it is larger than {drawings.MOST_BYTES // 2**20} MiB")
    try:
        return base64.b64decode(text[head.end() :], validate=False)
    except (binascii.Error, ValueError):
        raise AcademyError("its base64 cannot be read") from None


def sources(record: InstanceRecord, images: Sequence[tuple[int, int, str]]) -> list[Source]:
    """Where pictures are, given as (position of the event, position in it, address)."""
    paths = [text for _event, _image, text in images if is_path(text)]
    files = kept_files(record, paths)
    return [source_of(event, image, text, files) for event, image, text in images]


def is_path(text: str) -> bool:
    """Whether a picture's address can be a file of the upload."""
    return not ADDRESS.match(text) and 0 < len(text) <= 500 and "\0" not in text


def source_of(
    event: int, image: int, text: str, files: Mapping[str, SubmissionFile | None]
) -> Source:
    """Where one picture is."""
    head = EMBEDDED.match(text)
    if head is not None:
        name = f"embedded {head[1].lower() or 'picture'}"
        try:
            data = embedded(text)
        except AcademyError as error:
            return Source(name, note=f"No raster copy: {error}.")
        return Source(name, hashlib.sha256(data).hexdigest(), event, image)
    name = text[:LONGEST_NAME]
    if ADDRESS.match(text):
        return Source(name, note="It lies elsewhere and is never loaded.")
    file = files.get(text)
    if file is None:
        return Source(name, note="The file did not come along with the run.")
    return Source(name, file.sha256, file=file.pk)


def kept_files(record: InstanceRecord, paths: Iterable[str]) -> dict[str, SubmissionFile | None]:
    """The files of a record's upload that paths mean: the whole path, or its end if just one file
    ends so, or just one in a folder that is named after the task."""
    wanted = {path: path.replace("\\", "/").removeprefix("./").lstrip("/") for path in paths}
    ends = {end for end in wanted.values() if end}
    if not ends or record.run.submission_id is None:
        return {}
    asked = Q()
    for end in sorted(ends):
        asked |= Q(path=end) | Q(path__endswith=f"/{end}")
    rows = list(
        SubmissionFile.objects.filter(asked, submission=record.run.submission_id).order_by("pk")
    )
    folder = f"/{record.task.external_id}/"
    found: dict[str, SubmissionFile | None] = {}
    for path, end in wanted.items():
        ending = [row for row in rows if row.path == end or row.path.endswith(f"/{end}")]
        named = [row for row in ending if folder in f"/{row.path}"]
        exact = [row for row in ending if row.path == end]
        listed = next((rows for rows in (exact, ending, named) if len(rows) == 1), [])
        found[path] = listed[0] if listed else None
    return found


def shown(record: InstanceRecord, wanted: Sequence[Source]) -> list[Picture]:
    """Pictures for a page; a copy that nobody owed yet is owed from now on."""
    digests = {source.digest for source in wanted if source.digest}
    drawn = set(
        RecordPicture.objects.filter(record=record, digest__in=digests).values_list(
            "digest", flat=True
        )
    )
    keys = {digest: key_of(record, digest) for digest in digests - drawn}
    states = {
        key: (state, error)
        for key, state, error in Work.objects.filter(key__in=keys.values()).values_list(
            "key", "state", "error"
        )
    }
    for source in wanted:
        key = keys.get(source.digest)
        if key is not None and key not in states:
            owe(record, source, key)
            states[key] = (Work.State.READY, "")
    return [picture_of(source, drawn, states.get(keys.get(source.digest, ""))) for source in wanted]


def owe(record: InstanceRecord, source: Source, key: str) -> None:
    """Owe the copy of one picture."""
    place = {"event": source.event, "image": source.image, "file": source.file}
    payload = {"record": record.pk, "digest": source.digest, **place}
    work.enqueue(KIND, key=key, payload=payload, priority=1)


def key_of(record: InstanceRecord, digest: str) -> str:
    """The key of the work of copying one picture of a record."""
    return f"{KIND}:{record.pk}:{digest}"


def picture_of(source: Source, drawn: set[str], state: tuple[str, str] | None) -> Picture:
    """One picture, or why it is not shown."""
    if not source.digest:
        return Picture(source.name, note=source.note)
    if source.digest in drawn:
        return Picture(source.name, source.digest, is_drawn=True)
    if state is not None and state[0] == Work.State.FAILED:
        reason = state[1].removeprefix("AcademyError: ")
        told = reason if state[1].startswith("AcademyError: ") else "drawing it failed"
        return Picture(source.name, note=f"No raster copy: {told}.")
    if state is not None and state[0] == Work.State.DONE:
        return Picture(source.name, note="No raster copy: what is there is not what was named.")
    return Picture(source.name, is_coming=True, note="The raster copy is being made.")


def copy_picture(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "picture": the PNG copy of one picture of a transcript, and how it is kept.

    Raises AcademyError with the reason when no copy can be made, which ends the work.
    """
    record = (
        InstanceRecord.objects.filter(pk=payload["record"]).select_related("run", "task").first()
    )
    data = bytes_of(record, payload) if record is not None else b""
    if data and hashlib.sha256(data).hexdigest() != payload["digest"]:
        raise AcademyError("what is there is not what was named")
    copy = rasterising.drawn(data) if data else b""

    def write() -> None:
        if record is not None and copy:
            raster = blobs.store_blob(copy, media_type=drawings.PNG)
            RecordPicture.objects.get_or_create(
                record=record, digest=payload["digest"], defaults={"raster": raster}
            )

    return write


def bytes_of(record: InstanceRecord, payload: Mapping[str, Any]) -> bytes:
    """The bytes of a picture, from the upload or the record."""
    if payload["file"] is not None:
        file = SubmissionFile.objects.filter(
            pk=payload["file"], submission=record.run.submission_id, size__lte=drawings.MOST_BYTES
        ).first()
        if file is None:
            raise AcademyError(f"it is larger than {drawings.MOST_BYTES // 2**20} MiB, or gone")
        return b"".join(packs.kept_bytes(file))
    task = specs.task_spec(record.task, list(record.task.criteria.order_by("ordinal")))
    events = registry.open_record(record.run.form, packs.raw_record(record), task).events
    return embedded(events[payload["event"]].images[payload["image"]])
