"""Safe raster copies of drawings: owed as work, drawn in a walled process, shown on pages."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from academy import blobs, drawings, work
from academy.errors import AcademyError
from academy.models import Blob, SuiteVersion, TaskAsset, Work

PROCESS = Path(__file__).with_name("drawing_process.py")
SECONDS = 20
MOST_COPY = 16 * 2**20
NO_FONT, REFUSED = 3, 4
KIND = "raster"


@dataclass(frozen=True, slots=True)
class Shown:
    """A file of a task as pages show it: its copy, or the sentence why there is none."""

    asset: TaskAsset
    is_drawn: bool
    note: str = ""


def key_of(digest: str) -> str:
    """The key of the work of copying one file, whatever number of tasks refer to it."""
    return f"{KIND}:{digest}"


def owe_copies(version: SuiteVersion) -> int:
    """Owe a copy of every drawing of a version that never had one made; gives how many."""
    assets = TaskAsset.objects.filter(task__version=version, blob__isnull=False, raster=None)
    wanted = assets.filter(media_type__in=drawings.MEDIA_TYPES).order_by("blob_id")
    digests = list(wanted.values_list("blob_id", flat=True).distinct())
    known = set(
        Work.objects.filter(key__in=[key_of(digest) for digest in digests]).values_list(
            "key", flat=True
        )
    )
    owed = [digest for digest in digests if key_of(digest) not in known]
    for digest in owed:
        work.enqueue(KIND, key=key_of(digest), payload={"blob": digest}, priority=3)
    # A file that was copied before is not drawn again.
    for digest in set(digests) - set(owed):
        made = TaskAsset.objects.filter(blob_id=digest, raster__isnull=False).first()
        if made is not None:
            TaskAsset.objects.filter(blob_id=digest, raster=None).update(raster=made.raster_id)
    return len(owed)


def copy_drawing(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "raster": the PNG copy of one stored file, and how it is kept.

    Raises AcademyError with the reason when no copy can be made, which ends the work.
    """
    blob = Blob.objects.filter(pk=payload["blob"]).first()
    picture = drawn(blobs.open_blob(blob)) if blob is not None else b""

    def write() -> None:
        if blob is not None:
            copy = blobs.store_blob(picture, media_type=drawings.PNG)
            TaskAsset.objects.filter(blob=blob).update(raster=copy)

    return write


def drawn(data: bytes) -> bytes:
    """A drawing as PNG. Raises AcademyError with the reason why it is not drawn."""
    drawing = drawings.harmless(data)
    words = ["text"] if drawing.has_text else []
    try:
        done = subprocess.run(
            [sys.executable, "-I", str(PROCESS), *words],
            input=drawing.svg.encode(),
            capture_output=True,
            timeout=SECONDS,
            check=False,
            env={},
            cwd="/",
        )
    except subprocess.TimeoutExpired:
        raise AcademyError("drawing it takes too long") from None
    if done.returncode == NO_FONT:
        raise AcademyError(
            "it holds words, and this machine has no font to draw them (install fonts-dejavu)"
        )
    if done.returncode != 0 or drawings.kind_of(done.stdout) != drawings.PNG:
        raise AcademyError("it cannot be drawn within the limits of size and time")
    if b"image" in done.stderr.lower():
        raise AcademyError("a picture in it cannot be opened")
    if len(done.stdout) > MOST_COPY:
        raise AcademyError("its copy would be too large")
    return done.stdout


def shown(assets: Iterable[TaskAsset]) -> list[Shown]:
    """The files of tasks for a page, in order of their names."""
    listed = sorted(assets, key=lambda asset: (asset.ref, asset.pk))
    keys = [key_of(asset.blob_id) for asset in listed if asset.blob_id and not asset.raster_id]
    states = {
        key: (state, error)
        for key, state, error in Work.objects.filter(key__in=keys).values_list(
            "key", "state", "error"
        )
    }
    return [
        Shown(asset, is_drawn=bool(asset.raster_id), note=note_on(asset, states))
        for asset in listed
    ]


def note_on(asset: TaskAsset, states: Mapping[str, tuple[str, str]]) -> str:
    """Why a file has no copy, as a sentence."""
    if asset.raster_id:
        return ""
    if not asset.blob_id:
        return "The file did not come along with the suite."
    if asset.media_type not in drawings.MEDIA_TYPES:
        return "No raster copy: only SVG, PNG and JPEG files are drawn. The file is kept."
    state, error = states.get(key_of(asset.blob_id), ("", ""))
    if state == Work.State.FAILED:
        reason = error.removeprefix("AcademyError: ")
        told = reason if error.startswith("AcademyError: ") else "drawing it failed"
        return f"No raster copy: {told}."
    return "The raster copy is not made yet."
