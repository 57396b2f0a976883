"""Valkey of a project: its command line, whether it answers."""

from __future__ import annotations

import signal
import socket
from dataclasses import dataclass
from pathlib import Path

from academy.project.embedded.account import Account, make_private, opened
from academy.project.embedded.binaries import Binaries
from academy.project.embedded.places import VALKEY_SOCKET, EmbeddedError, Places
from academy.project.embedded.process import Process

SETTINGS = {
    "port": "0",
    "unixsocketperm": "777",  # the folder above is closed
    "appendfsync": "everysec",
    "save": "",
    # A full queue must refuse new messages, never forget old ones.
    "maxmemory-policy": "noeviction",
    "databases": "64",
    "daemonize": "no",
}
ENDING = ((signal.SIGTERM, 20.0), (signal.SIGKILL, 5.0))
START_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Valkey:
    """The Valkey server of one project."""

    places: Places
    durable: bool = True

    name = "valkey"

    @property
    def process(self) -> Process:
        """Its process."""
        return Process(self.places, self.name)

    @property
    def folder(self) -> Path:
        """Its data."""
        return self.places.home / "valkey"

    def start(self, binaries: Binaries, account: Account | None) -> None:
        """Start it and wait until it has read its data and answers."""
        if not self.folder.exists():
            make_private(self.folder)
        if account is not None:
            account.own(self.folder)
        (self.places.sockets / VALKEY_SOCKET).unlink(missing_ok=True)
        process = self.process
        with (
            opened(self.folder, account) as (folder, first),
            opened(self.places.sockets, account) as (sockets, second),
        ):
            settings = SETTINGS | {
                "dir": folder,
                "unixsocket": f"{sockets}/{VALKEY_SOCKET}",
                "appendonly": "yes" if self.durable else "no",
                "proc-title-template": f"{{title}} {process.title}",
            }
            options = [word for key, value in settings.items() for word in (f"--{key}", value)]
            process.launch([binaries.valkey, *options], account, first + second)
        if not process.wait_until_answering(self.answers, START_SECONDS):
            raise EmbeddedError(
                f"Valkey did not start. The end of {process.log}:\n{process.last_words()}"
            )

    def answers(self) -> bool:
        """Whether it answers a PING; it does not while it reads its data."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(5)
            try:
                connection.connect(str(self.places.sockets / VALKEY_SOCKET))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False
