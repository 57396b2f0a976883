"""Archives: members checked by name, counted while reading, opened one at a time."""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import BinaryIO

from academy.errors import FormatError, Problems
from academy.formats.limits import LIMITS, Limits
from academy.formats.members import Files, Names

ENTRY = b"PK\x01\x02"
DIRECTORY_BYTES = 64 * 2**20
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    RuntimeError,
    OSError,
    ValueError,
)


class TooManyEntriesError(Exception):
    """The directory of an archive lists more than is read."""


class DirectoryStream(io.RawIOBase):
    """A stream that counts the entries of an archive's directory before they become objects.

    The numbers in an archive's own trailer are not believed: whatever is read while the archive
    is being opened is counted. Afterwards it is a plain stream.
    """

    def __init__(self, stream: BinaryIO, limits: Limits) -> None:
        self.stream = stream
        self.limits = limits
        self.is_opening = True

    def read(self, size: int = -1) -> bytes:
        if not self.is_opening:
            return self.stream.read(size)
        data = self.stream.read(DIRECTORY_BYTES + 1 if size < 0 else min(size, DIRECTORY_BYTES + 1))
        if len(data) > DIRECTORY_BYTES or data.count(ENTRY) > self.limits.archive_entries:
            raise TooManyEntriesError
        return data

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        return self.stream.tell()

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


class MemberStream(io.RawIOBase):
    """The bytes of one member: never more than the archive declared, damage told as FormatError."""

    def __init__(self, archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> None:
        self.path = path
        self.name = entry.filename
        self.left = entry.file_size
        try:
            self.stream = archive.open(entry)
        except DAMAGE as error:
            raise self.damaged(error) from None

    def damaged(self, error: Exception) -> FormatError:
        """What is told about a member that cannot be unpacked."""
        return FormatError.at(self.path, "archive-damaged", f"{self.name!r} is damaged: {error}")

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        try:
            data = self.stream.read(len(buffer))
        except DAMAGE as error:
            raise self.damaged(error) from None
        self.left -= len(data)
        if self.left < 0:
            raise self.damaged(ValueError("it is larger than the archive says"))
        buffer[: len(data)] = data
        return len(data)

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        if not self.closed:
            self.stream.close()
        super().close()


def read_zip(
    source: BinaryIO | bytes, *, path: str, limits: Limits = LIMITS, owner: object = None
) -> Files:
    """The members of a zip archive, unpacked only while they are read; nothing touches a disk.

    The stream must be seekable and stay open as long as the files are used. Raises FormatError
    that names every entry which may not be there.
    """
    stream = io.BytesIO(source) if isinstance(source, bytes) else source
    directory = DirectoryStream(stream, limits)
    try:
        archive = zipfile.ZipFile(directory)
    except TooManyEntriesError:
        message = f"the archive has more than {limits.archive_entries} entries"
        raise FormatError.at(path, "archive-entries", message) from None
    except DAMAGE as error:
        message = f"the file is not a whole zip archive: {error}"
        raise FormatError.at(path, "archive-damaged", message) from None
    directory.is_opening = False
    entries = archive.infolist()
    check_sizes(entries, stream.seek(0, os.SEEK_END), path, limits)
    problems = Problems()
    names = Names(path, problems, limits)
    members: dict[PurePosixPath, Callable[[], BinaryIO]] = {}
    for entry in entries:
        member = check_entry(entry, names)
        if member is not None:
            members[member] = lambda entry=entry: io.BufferedReader(  # type: ignore[misc]
                MemberStream(archive, entry, path)
            )
    problems.raise_if_any()
    return Files(members, limits=limits, owner=owner)


def check_sizes(entries: list[zipfile.ZipInfo], packed: int, path: str, limits: Limits) -> None:
    """Refuse what would unpack to too much. MemberStream holds every entry to its declared size."""
    total = sum(entry.file_size for entry in entries)
    if total > limits.archive_bytes:
        message = f"the archive unpacks to {total} bytes, at most {limits.archive_bytes} may be"
        raise FormatError.at(path, "archive-size", message)
    if total > limits.archive_ratio_from and total > packed * limits.archive_ratio:
        message = (
            f"the archive unpacks to {total // max(packed, 1)} times its size,"
            f" at most {limits.archive_ratio} times may be"
        )
        raise FormatError.at(path, "archive-ratio", message)


def check_entry(entry: zipfile.ZipInfo, names: Names) -> PurePosixPath | None:
    """The path of a file entry, None for a folder or a refused entry."""
    mode = entry.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        names.refuse(entry.orig_filename, "archive-link", "is a symbolic link")
    elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
        names.refuse(entry.orig_filename, "archive-link", "is neither a file nor a folder")
    elif entry.flag_bits & ENCRYPTED:
        names.refuse(entry.orig_filename, "archive-encrypted", "is encrypted")
    elif entry.compress_type not in METHODS:
        why = f"is packed by method {entry.compress_type}, which is not read"
        names.refuse(entry.orig_filename, "archive-method", why)
    elif entry.orig_filename.endswith("/"):
        names.take_folder(entry.orig_filename)
    else:
        # A name may be cut at U+0000 or replaced by an extra field; both forms must be fit.
        taken = names.take(entry.orig_filename)
        if taken is not None and entry.filename == entry.orig_filename:
            return taken
        if taken is not None:
            names.refuse(entry.orig_filename, "path", "has a second name")
    return None
