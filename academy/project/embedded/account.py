"""As whom the servers run: as ourselves, or as somebody unprivileged when we are root."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from academy.project.embedded.places import EmbeddedError

UNPRIVILEGED = "nobody"


class Identity(TypedDict, total=False):
    """What subprocess must be told to run something under another account."""

    user: int
    group: int
    extra_groups: list[int]


@dataclass(frozen=True, slots=True)
class Account:
    """Another account, which root lends to the servers (PostgreSQL refuses to run as root)."""

    uid: int
    gid: int

    def own(self, folder: Path) -> None:
        """Give a folder of ours to the account."""
        os.chown(folder, self.uid, self.gid)


def identity(account: Account | None) -> Identity:
    """The account in subprocess's words; nothing for None."""
    if account is None:
        return {}
    return {"user": account.uid, "group": account.gid, "extra_groups": []}


def account_for_servers() -> Account | None:
    """The account that root lends to the servers. None: they run as ourselves."""
    if os.geteuid() != 0:
        return None
    try:
        found = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise EmbeddedError(
            f"As root, PostgreSQL needs the account {UNPRIVILEGED!r} to run under, and this "
            "machine has none. Run as an ordinary user, or set DATABASE_URL and REDIS_URL."
        ) from None
    return Account(found.pw_uid, found.pw_gid)


def make_private(folder: Path) -> None:
    """Make a folder that only its owner can enter, or find that it is already that.

    A folder that somebody else made first, or a link in its place, is refused.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.lstat()
    except OSError as error:
        raise EmbeddedError(f"{folder} cannot be made: {error.strerror}.") from error
    if not stat.S_ISDIR(found.st_mode):
        raise EmbeddedError(f"{folder} is no folder of its own but a link, so it is not used.")
    if found.st_uid != os.geteuid():
        raise EmbeddedError(
            f"{folder} belongs to another user (number {found.st_uid}). Run as that user, or "
            "choose another data folder: ACADEMY_DATA=folder."
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        folder.chmod(0o700)


@contextmanager
def opened(folder: Path, account: Account | None) -> Iterator[tuple[str, tuple[int, ...]]]:
    """A name under which a server reaches the folder, and what it must inherit for that.

    Another account may not be able to enter the folders above. A name through an inherited
    open folder leads there without passing them, so that their modes can stay as they are.
    """
    if account is None:
        yield str(folder), ()
        return
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{handle}", (handle,)
    finally:
        os.close(handle)
