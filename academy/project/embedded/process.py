"""One detached server process: whether it lives, how it starts, how it ends.

A server inherits an open lock file, and so do all processes it forks. The kernel gives the lock
back when the last of them is gone, so "is anything of it still alive?" has an exact answer that
no stale pid file, reused pid or copied folder can spoil.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from academy.project.embedded.account import Account, identity
from academy.project.embedded.places import EmbeddedError, Places

LARGEST_LOG = 10 * 2**20
ORPHAN_SECONDS = 2.0
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
# Servers that this process started. They outlive it; while it lives, it must collect their ends.
STARTED: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True, slots=True)
class Process:
    """The server process called name among the places of one project."""

    places: Places
    name: str

    @property
    def title(self) -> str:
        """What the titles of all its processes hold, and no other process has."""
        return f"{self.places.mark}-{self.name}"

    @property
    def log(self) -> Path:
        """Where the server writes what it has to say."""
        return self.places.home / f"{self.name}.log"

    @property
    def pid_file(self) -> Path:
        """The pid we started it with, and when that process began."""
        return self.places.home / f"{self.name}.pid"

    def _take_lock(self) -> int | None:
        """The open lock file of a server that does not live; None while one does."""
        lock = os.open(self.places.home / f"{self.name}.alive", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        return lock

    def is_alive(self) -> bool:
        """Whether the server, or any process it forked, is still there."""
        STARTED[:] = [server for server in STARTED if server.poll() is None]
        lock = self._take_lock()
        if lock is not None:
            os.close(lock)
        return lock is None

    def main_pid(self) -> int | None:
        """The server's main process, when that is still the one we started."""
        try:
            pid, began = self.pid_file.read_text(encoding="ascii").split()
        except (FileNotFoundError, ValueError):
            return None
        return int(pid) if _began(int(pid)) == began else None

    def launch(
        self, command: Sequence[str | Path], account: Account | None, folders: Sequence[int]
    ) -> None:
        """Start the server detached from us. folders are open folders it shall inherit."""
        lock = self._take_lock()
        if lock is None:
            raise EmbeddedError(f"{self.name} is still ending; try again in a moment.")
        if self.log.exists() and self.log.stat().st_size > LARGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        try:
            with self.log.open("ab") as log:
                started = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(lock, *folders),
                    start_new_session=True,
                    cwd="/",
                    env=ENVIRONMENT,
                    umask=0o077,
                    **identity(account),
                )
        except OSError as error:
            raise EmbeddedError(f"{command[0]} cannot be started: {error}.") from error
        finally:
            os.close(lock)
        STARTED.append(started)
        self.pid_file.write_text(f"{started.pid} {_began(started.pid)}\n", encoding="ascii")

    def wait(self, condition: Callable[[], bool], seconds: float) -> bool:
        """Whether the condition comes true in time, asked often at first."""
        deadline = time.monotonic() + seconds
        pause = 0.01
        while not condition():
            if time.monotonic() > deadline:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.2)
        return True

    def wait_until_answering(self, answers: Callable[[], bool], seconds: float) -> bool:
        """Whether the server answers in time; at once no when it died instead."""
        return self.wait(lambda: answers() or not self.is_alive(), seconds) and answers()

    def end(self, steps: Sequence[tuple[signal.Signals, float]]) -> None:
        """End the server: signal by signal, each with its seconds of patience."""
        for step, seconds in steps:
            pid = self.main_pid()
            if pid is None or not self.is_alive():
                break
            send(pid, step)
            if self.wait(lambda: not self.is_alive(), seconds):
                break
        self.bury()
        self.pid_file.unlink(missing_ok=True)

    def bury(self) -> None:
        """See to it that nothing is left of a server whose main process is gone."""
        if self.wait(lambda: not self.is_alive(), ORPHAN_SECONDS):
            return
        # A forked process that is busy does not notice that its parent is gone. All of them
        # carry the same words in their titles.
        for pid in _pids_with(self.title):
            send(pid, signal.SIGKILL)
        if not self.wait(lambda: not self.is_alive(), 10):
            raise EmbeddedError(f"A process of {self.name} in {self.places.home} does not end.")

    def last_words(self) -> str:
        """The end of the log, for a message about a server that does not start."""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        return "\n".join(lines[-12:])


def send(pid: int, what: signal.Signals) -> None:
    """Send a signal to a process that may just have ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, what)


def _began(pid: int) -> str | None:
    """When a process began, in the kernel's own count; None when it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name in parentheses may itself hold spaces and parentheses.
    state, *rest = fields.rpartition(")")[2].split()
    return None if state in "ZX" else rest[18]


def _pids_with(mark: str) -> list[int]:
    """The processes whose command line or title holds the mark."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in title and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
