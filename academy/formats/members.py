"""The members of an upload by path, and which paths a member may have."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from academy.errors import FormatError, Problems
from academy.formats.limits import LIMITS, Limits

DRIVE = re.compile(r"[A-Za-z]:")
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
SURROGATE = re.compile(r"[\ud800-\udfff]")
RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?: *\..*)?", re.IGNORECASE)
NAME_BYTES = 255


def path_problem(text: str, limits: Limits = LIMITS) -> str | None:
    """Why this text may not be the path of a member, as the end of a sentence, or None.

    Names that Windows reserves are refused everywhere, so that an archive that was accepted can
    be unpacked anywhere.
    """
    if not text:
        return "is empty"
    if CONTROL.search(text) or SURROGATE.search(text):
        return "holds a control character or half a character"
    if "\\" in text:
        return "holds a backslash"
    if text.startswith("/"):
        return "is absolute"
    if DRIVE.match(text):
        return "names a drive"
    if len(text.encode()) > limits.path_bytes:
        return f"is longer than {limits.path_bytes} bytes"
    parts = text.split("/")
    if len(parts) > limits.path_depth:
        return f"is deeper than {limits.path_depth} folders"
    return next((why for part in parts if (why := part_problem(part))), None)


def part_problem(part: str) -> str | None:
    """Why this may not be one name within a path."""
    if part == "..":
        return "climbs out of its folder"
    if part in ("", "."):
        return None
    if RESERVED.fullmatch(part):
        return f"uses the reserved name {part!r}"
    if not part.strip(". "):
        return f"has a name of dots and spaces, {part!r}"
    if len(part.encode()) > NAME_BYTES:
        return f"has a name longer than {NAME_BYTES} bytes"
    return None


def safe_path(text: str, limits: Limits = LIMITS) -> PurePosixPath | None:
    """The relative path of a member, or None where `path_problem` finds one. `./a//b` is `a/b`."""
    if path_problem(text, limits):
        return None
    path = PurePosixPath(text)
    return path if path.parts else None


class Names:
    """Checks the names of files together: each fit, none twice, none that differs only in case.

    Names that differ in case or in how an accent is composed are one file on some machines.
    Folders may differ so, as long as no file of theirs does: real uploads have such folders.
    """

    def __init__(self, file: str, problems: Problems, limits: Limits = LIMITS) -> None:
        self.file = file
        self.problems = problems
        self.limits = limits
        self.files: dict[str, str] = {}
        self.folders: set[str] = set()

    def refuse(self, name: str, rule: str, why: str) -> None:
        """Note why a member may not be there."""
        self.problems.error(self.file, rule, f"the entry {name!r} {why}")

    def take(self, name: str) -> PurePosixPath | None:
        """The path of a file, or None when the reason was noted."""
        path = self.fit(name)
        if path is None or not self.take_folders(name, path.parents):
            return None
        key = folded(path)
        if key in self.folders:
            self.refuse(name, "path-collision", "is a file and a folder")
        elif key not in self.files:
            self.files[key] = name
            return path
        elif PurePosixPath(self.files[key]) == path:
            self.refuse(name, "path-collision", "is there twice")
        else:
            why = f"differs only in spelling from {self.files[key]!r}"
            self.refuse(name, "path-collision", why)
        return None

    def take_folder(self, name: str) -> None:
        """Note the name of a folder, which may come any number of times."""
        path = self.fit(name)
        if path is not None:
            self.take_folders(name, [path, *path.parents])

    def fit(self, name: str) -> PurePosixPath | None:
        """The path that a name gives by itself."""
        path = safe_path(name, self.limits)
        if path is None:
            self.refuse(name, "path", path_problem(name, self.limits) or "names nothing")
        return path

    def take_folders(self, name: str, folders: Iterable[PurePosixPath]) -> bool:
        """Whether all of these can be folders."""
        for folder in folders:
            key = folded(folder)
            if key in self.files:
                self.refuse(name, "path-collision", f"lies within {str(folder)!r}, which is a file")
                return False
            self.folders.add(key)
        return True


def folded(path: PurePosixPath) -> str:
    """What names have in common that some file systems take for one."""
    return unicodedata.normalize("NFC", str(path).casefold())


class Files(Mapping[PurePosixPath, bytes]):
    """The members of an upload by path, sorted; bytes are read when they are asked for.

    Keys may be given as text. `files[path]` refuses a member larger than `document_bytes`, since
    it would be held in memory whole; `open` streams any size. A mapping compares by content, so
    comparing two of these reads both. `owner` is whatever must live as long as the members.
    """

    def __init__(
        self,
        members: Mapping[PurePosixPath, Callable[[], BinaryIO]],
        *,
        limits: Limits = LIMITS,
        owner: object = None,
    ) -> None:
        self._members = dict(sorted(members.items()))
        self._limits = limits
        self._owner = owner

    @classmethod
    def of(cls, contents: Mapping[str, bytes]) -> Files:
        """Files that are in memory."""
        return cls(
            {PurePosixPath(path): partial(io.BytesIO, data) for path, data in contents.items()}
        )

    def __getitem__(self, path: PurePosixPath | str) -> bytes:
        limit = self._limits.document_bytes
        with self.open(path) as stream:
            data = stream.read(limit + 1)
        if len(data) > limit:
            raise FormatError.at(
                str(path), "size", f"the file is larger than {limit} bytes and can only be streamed"
            )
        return data

    def __contains__(self, path: object) -> bool:
        # Mapping would read the member's bytes to answer this.
        return isinstance(path, PurePosixPath | str) and PurePosixPath(path) in self._members

    def __iter__(self) -> Iterator[PurePosixPath]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def open(self, path: PurePosixPath | str) -> BinaryIO:
        """A stream of the member's bytes; the caller closes it. Raises KeyError."""
        return self._members[PurePosixPath(path)]()

    def watched(self, seen: Callable[[int], None]) -> Files:
        """The same members, of which every byte that is read is counted by calling `seen`."""

        def watching(opener: Callable[[], BinaryIO]) -> Callable[[], BinaryIO]:
            return lambda: io.BufferedReader(Watched(opener(), seen))

        members = {path: watching(opener) for path, opener in self._members.items()}
        return Files(members, limits=self._limits, owner=self._owner)

    def head(self, path: PurePosixPath | str, size: int = 4096) -> bytes:
        """The first bytes of a member: enough for a cheap claim on a large file."""
        with self.open(path) as stream:
            return stream.read(size)

    def only(self, paths: Iterable[PurePosixPath | str]) -> Files:
        """The same members without those that are not named."""
        wanted = {PurePosixPath(path) for path in paths}
        return Files(
            {path: opener for path, opener in self._members.items() if path in wanted},
            limits=self._limits,
            owner=self._owner,
        )


class Watched(io.RawIOBase):
    """A stream that says how many bytes are read from it."""

    def __init__(self, stream: BinaryIO, seen: Callable[[int], None]) -> None:
        self.stream = stream
        self.seen = seen

    def readable(self) -> bool:
        """It is there to be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and count."""
        data = self.stream.read(len(buffer))
        buffer[: len(data)] = data
        self.seen(len(data))
        return len(data)

    def seekable(self) -> bool:
        """Whether the stream below is."""
        return self.stream.seekable()

    def seek(self, offset: int, whence: int = 0, /) -> int:
        """Go to a place in the stream below."""
        return self.stream.seek(offset, whence)

    def tell(self) -> int:
        """The place in the stream below."""
        return self.stream.tell()

    def close(self) -> None:
        """Close the stream below too."""
        self.stream.close()
        super().close()
