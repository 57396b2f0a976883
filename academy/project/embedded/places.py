"""Where the files and sockets of a project's embedded servers are: computed, never touched."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path

DATABASE = USER = "academy"
POSTGRES_SOCKET = ".s.PGSQL.5432"
VALKEY_SOCKET = "valkey.sock"

# The kernel takes 107 bytes for a socket's path (103 on macOS).
LONGEST_SOCKET_PATH = 103
# What needs no quoting in a URL, in libpq's list of hosts and in PostgreSQL's list of folders.
PLAIN_PATH = re.compile(r"[A-Za-z0-9/._-]+")
# Not tempfile.gettempdir(): every process must compute the same path, whatever its TMPDIR.
SHORT_FOLDER = Path("/tmp")


class EmbeddedError(Exception):
    """The servers cannot be had; the text says what a person can do about it."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """What DATABASE_URL and REDIS_URL would say of a pair of servers."""

    database_url: str
    redis_url: str


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one project's servers.

    home is closed to everybody but its owner, and everything else lies in it; so the servers
    may trust whoever reaches their sockets. Sockets whose path would be too long, or would need
    quoting, are kept in a short folder instead, which is closed in the same way.
    """

    home: Path
    mark: str
    socket_home: Path

    @classmethod
    def of(cls, data_dir: Path) -> Places:
        """The places of the project whose data folder this is."""
        home = (data_dir / "embedded").resolve()
        mark = "academy-" + hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
        longest = os.fsencode(home / "run" / POSTGRES_SOCKET)
        fits = len(longest) <= LONGEST_SOCKET_PATH and PLAIN_PATH.fullmatch(os.fsdecode(longest))
        return cls(home, mark, home if fits else SHORT_FOLDER / mark)

    @property
    def sockets(self) -> Path:
        """The folder in which both sockets lie."""
        return self.socket_home / "run"

    @property
    def addresses(self) -> Addresses:
        """The URLs that lead to these servers while they run."""
        return Addresses(
            database_url=f"postgresql://{USER}@/{DATABASE}?host={self.sockets}",
            redis_url=f"unix://{self.sockets / VALKEY_SOCKET}",
        )
