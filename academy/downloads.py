"""An export as files: a folder or a zip archive, and what is said of it."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from academy.errors import AcademyError
from academy.formats.reading import safe_path
from academy.uploads import NOTES

# The same files give the same archive, whenever it is made.
ZIP_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Export:
    """Files by path, the form that they are in, and in sentences what was left out."""

    form: str
    files: Mapping[str, bytes]
    left_out: tuple[str, ...] = ()

    def written(self) -> dict[str, bytes]:
        """The files as they are written, with a file of notes where something is to be said."""
        notes = "".join(f"{sentence}\n" for sentence in self.left_out)
        return {**self.files, **({NOTES: notes.encode()} if notes else {})}

    def as_json(self) -> dict[str, Any]:
        """What was written, without the bytes."""
        return {
            "form": self.form,
            "files": [
                {"path": path, "size": len(data)} for path, data in sorted(self.written().items())
            ],
            "left_out": list(self.left_out),
            "ok": True,
        }


def checked(files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The files, if no path leads elsewhere. Raises AcademyError; paths came from outside once."""
    for path in files:
        if safe_path(path) is None:
            raise AcademyError(f"{path!r} is no path that a file may be written to.")
    return files


def check_target(out: Path) -> None:
    """Raise AcademyError when something is there already; nothing is ever written over."""
    if out.suffix.lower() == ".zip":
        if out.exists():
            raise AcademyError(f"{str(out)!r} is there already; name a new archive.")
    elif out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise AcademyError(f"{str(out)!r} is there already; name a new folder or an empty one.")


def write(export: Export, out: Path) -> None:
    """Write an export as a zip archive or a folder, by the name.

    Raises AcademyError when something is there already, or nothing can be written.
    """
    check_target(out)
    try:
        if out.suffix.lower() == ".zip":
            with out.open("xb") as stream:
                write_zip(export, stream)
            return
        for path, data in export.written().items():
            target = out / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
    except OSError as error:
        raise AcademyError(f"{str(out)!r} cannot be written: {error.strerror}.") from None


def write_zip(export: Export, stream: BinaryIO) -> None:
    """Write an export as a zip archive; the same files give the same bytes."""
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in sorted(export.written().items()):
            member = zipfile.ZipInfo(path, ZIP_TIME)
            member.compress_type = zipfile.ZIP_DEFLATED
            member.external_attr = 0o644 << 16
            archive.writestr(member, data)
