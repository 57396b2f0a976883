"""A pair of servers in a temporary folder, for tests: fast, empty, gone afterwards."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from academy.project.embedded import servers
from academy.project.embedded.places import Addresses, EmbeddedError


@dataclass(frozen=True, slots=True)
class Throwaway:
    """A pair of servers, and the folder that is removed with them."""

    folder: Path
    addresses: Addresses


@contextmanager
def throwaway() -> Iterator[Throwaway]:
    """Servers that end with the block, or with this process however it ends.

    Another process looks after them. It notices by the end of its input that we are gone, even
    when we were killed.
    """
    command = [sys.executable, "-m", "academy.project.embedded", "throwaway"]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=servers.BASE_DIR,
        start_new_session=True,
    ) as keeper:
        assert keeper.stdin is not None and keeper.stdout is not None
        told = keeper.stdout.readline()
        if not told:
            raise EmbeddedError("The servers for the tests did not start; see above.")
        try:
            folder = Path(json.loads(told))
            yield Throwaway(folder, servers.addresses_for(folder))
        finally:
            keeper.stdin.close()
            keeper.wait()


def keep_throwaway() -> None:
    """Start a pair, tell its folder, and remove it when the input ends."""
    for what in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(what, signal.SIG_IGN)
    folder = Path(tempfile.mkdtemp(prefix="academy-test-"))
    try:
        servers.ensure(folder, durable=False)
        sys.stdout.write(json.dumps(str(folder)) + "\n")
        sys.stdout.flush()
        sys.stdin.read()
    finally:
        servers.stop(folder)
        shutil.rmtree(folder, ignore_errors=True)
