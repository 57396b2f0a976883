"""Looking at processes from outside, as the tests of servers and supervisor must."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from pathlib import Path

from academy.project.embedded.places import Places


def wait_for(condition: Callable[[], object], *, seconds: float = 20.0) -> bool:
    """Whether the condition comes true in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


def processes_of(data_dir: Path) -> list[str]:
    """The living processes of a project: its servers by title, the others by environment."""
    mark = Places.of(data_dir).mark.encode()
    setting = f"ACADEMY_DATA={data_dir}".encode()
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            title = (folder / "cmdline").read_bytes()
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if mark in title or setting in environment:
            found.append(f"{folder.name} {title.replace(bytes(1), b' ').decode()}")
    return found


def is_alive(pid: int) -> bool:
    """Whether the process is there, and not only the memory of its end."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def modes_above(*folders: Path) -> dict[Path, int]:
    """The mode of each folder and of every folder above it."""
    return {path: path.stat().st_mode for folder in folders for path in (folder, *folder.parents)}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
