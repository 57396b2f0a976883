"""A folder, a file or a zip as the files of an upload with their digest, within limits."""

from __future__ import annotations

import hashlib
import os
import tempfile
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from academy.bundle import FileReport, FileStatus
from academy.canonical import canonical_json
from academy.errors import AcademyError, FormatError, Problems
from academy.formats.limits import LIMITS, Limits
from academy.formats.members import Files, Names, path_problem
from academy.formats.reading import read_zip

CHUNK = 2**20
# What an export says of itself, which is no part of it when it comes back.
NOTES = "ACADEMY-NOTES.txt"
LEFT_OUT = frozenset({"__MACOSX", "__pycache__", "node_modules"})
OTHER_ARCHIVES = (".tar", ".tgz", ".gz", ".bz2", ".xz", ".7z", ".rar", ".zst")


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """The files of an upload, opened one at a time.

    `digest` of a single file is the SHA-256 of its bytes; of a folder or zip it is the SHA-256
    over one line of canonical JSON `[path, sha256, size]` per file in order of paths, so that the
    same files have the same digest either way, however they were packed. `left_out` are hidden
    files and folders and the like, which belong to nobody's format.
    """

    files: Files
    digest: str
    name: str
    size: int
    left_out: tuple[FileReport, ...] = ()


class OpenedFile:
    """Keeps a file open until the last user of it is gone."""

    def __init__(self, stream: BinaryIO) -> None:
        weakref.finalize(self, stream.close)


def open_upload(path: Path, *, limits: Limits = LIMITS) -> Upload:
    """The upload at a path. Raises FormatError that names every member which may not be there.

    Every byte is read once for the digest, none is kept in memory.
    """
    try:
        return open_any(path, limits)
    except OSError as error:
        raise AcademyError(f"{str(path)!r} cannot be read: {error.strerror or error}.") from None


def open_any(path: Path, limits: Limits) -> Upload:
    """The upload at a path, by what is there."""
    if path.is_dir():
        return open_folder(path, limits)
    if not path.is_file():
        raise AcademyError(f"There is no file or folder {str(path)!r}.")
    if path.suffix.lower() == ".zip":
        return open_zip(path, limits)
    if path.suffix.lower() in OTHER_ARCHIVES:
        raise AcademyError(f"{path.name!r} is an archive that is not read; unpack it or zip it.")
    return open_file(path, limits)


def open_stream(name: str, stream: BinaryIO, *, folder: Path, limits: Limits = LIMITS) -> Upload:
    """The upload in a stream, which is first copied below `folder`; the caller removes that.

    Raises AcademyError when the stream is larger than `upload_bytes`, and then leaves nothing.
    """
    plain = PurePosixPath(name.replace("\\", "/")).name
    why = path_problem(plain, limits)
    if why is not None:
        raise AcademyError(f"A file cannot be called {name!r}: the name {why}.")
    copy = Path(tempfile.mkdtemp(dir=folder)) / plain
    try:
        copy_stream(stream, copy, limits)
    except BaseException:
        copy.unlink(missing_ok=True)
        copy.parent.rmdir()
        raise
    return open_upload(copy, limits=limits)


def copy_stream(stream: BinaryIO, path: Path, limits: Limits) -> None:
    """Copy a stream to a new file, counting while it is read."""
    size = 0
    with path.open("xb") as out:
        while data := stream.read(CHUNK):
            size += len(data)
            if size > limits.upload_bytes:
                raise AcademyError(f"The upload is larger than {limits.upload_bytes} bytes.")
            out.write(data)


def opener(path: Path) -> Callable[[], BinaryIO]:
    """Opens a file each time it is called."""

    def open_again() -> BinaryIO:
        return path.open("rb")

    return open_again


def open_file(path: Path, limits: Limits) -> Upload:
    """An upload of one file."""
    why = path_problem(path.name, limits)
    if why is not None:
        raise FormatError.at(repr(path.name), "path", f"the name of the file {why}")
    files = Files({PurePosixPath(path.name): opener(path)}, limits=limits)
    digest, size = hash_member(files, PurePosixPath(path.name), limits.upload_bytes)
    return Upload(files=files, digest=digest, name=path.name, size=size)


def open_zip(path: Path, limits: Limits) -> Upload:
    """An upload of the members of a zip archive."""
    stream = path.open("rb")
    files = read_zip(stream, path=path.name, limits=limits, owner=OpenedFile(stream))
    left_out = {member: reason for member in files if (reason := reason_to_leave_out(member))}
    kept = files.only(member for member in files if member not in left_out)
    reports = [
        FileReport(str(member), FileStatus.RECOGNISED, why) for member, why in left_out.items()
    ]
    return upload_of(kept, path.name, limits, reports)


def open_folder(path: Path, limits: Limits) -> Upload:
    """An upload of the files below a folder."""
    problems = Problems()
    walk = FolderWalk(path.resolve(), problems, limits)
    members = dict(walk.members())
    problems.raise_if_any()
    return upload_of(Files(members, limits=limits), path.resolve().name, limits, walk.left_out)


def upload_of(files: Files, name: str, limits: Limits, left_out: list[FileReport]) -> Upload:
    """An upload of several files. Raises FormatError when there is none."""
    if not files:
        raise FormatError.at(name, "empty", "there is no file in it")
    whole = hashlib.sha256()
    left = limits.upload_bytes
    total = 0
    for path in files:
        digest, size = hash_member(files, path, left)
        left -= size
        total += size
        whole.update(canonical_json([str(path), digest, size]) + b"\n")
    return Upload(
        files=files, digest=whole.hexdigest(), name=name, size=total, left_out=tuple(left_out)
    )


def hash_member(files: Files, path: PurePosixPath, left: int) -> tuple[str, int]:
    """SHA-256 and size of one member, streamed. Raises FormatError past the bytes that are left."""
    whole = hashlib.sha256()
    size = 0
    with files.open(path) as stream:
        while data := stream.read(CHUNK):
            size += len(data)
            if size > left:
                raise FormatError.at(str(path), "size", "the upload is too large from this file on")
            whole.update(data)
    return whole.hexdigest(), size


def reason_to_leave_out(path: PurePosixPath) -> str:
    """Why a member belongs to nobody's format, or `""`."""
    if path.name == NOTES:
        return "what an export said of itself"
    for part in path.parts:
        if part.startswith("."):
            return f"hidden: {part!r} begins with a dot"
        if part in LEFT_OUT:
            return f"{part!r} is made by a tool"
    return ""


class FolderWalk:
    """Lists a folder: hidden things left out, links that lead outside refused."""

    def __init__(self, root: Path, problems: Problems, limits: Limits) -> None:
        self.root = root
        self.limits = limits
        self.problems = problems
        self.names = Names(root.name, problems, limits)
        self.left_out: list[FileReport] = []
        self.seen = 0

    def members(self) -> Iterator[tuple[PurePosixPath, Callable[[], BinaryIO]]]:
        """Every file that belongs to the upload, and how to open it."""
        waiting = [PurePosixPath()]
        while waiting:
            folder = waiting.pop()
            with os.scandir(self.root / folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
            for entry in entries:
                path = folder / entry.name
                self.count()
                if not self.belongs(entry, path):
                    continue
                if entry.is_dir():
                    waiting.append(path)
                elif (taken := self.names.take(str(path))) is not None:
                    yield taken, opener(self.root / path)

    def count(self) -> None:
        """Refuse a folder with more entries than are read."""
        self.seen += 1
        if self.seen > self.limits.archive_entries:
            message = f"the folder has more than {self.limits.archive_entries} entries"
            raise FormatError.at(self.root.name, "archive-entries", message)

    def belongs(self, entry: os.DirEntry[str], path: PurePosixPath) -> bool:
        """Whether an entry is a file or folder of the upload; if not, that is noted."""
        reason = reason_to_leave_out(PurePosixPath(entry.name))
        if not reason and entry.is_symlink():
            target = self.target_of(path)
            if target is None:
                self.names.refuse(str(path), "archive-link", "is a link that leads outside")
                return False
            reason = "" if target.is_file() else "a link that leads to no file"
        elif not reason and not entry.is_dir() and not entry.is_file():
            reason = "neither a file nor a folder"
        if reason:
            self.left_out.append(FileReport(str(path), FileStatus.RECOGNISED, reason))
        return not reason

    def target_of(self, path: PurePosixPath) -> Path | None:
        """What a link leads to, if that lies within the folder."""
        try:
            target = (self.root / path).resolve()
        except (OSError, RuntimeError):
            # A link that leads to itself.
            return None
        return target if target.is_relative_to(self.root) else None
