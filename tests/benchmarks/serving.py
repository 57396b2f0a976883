"""A database of its own, and the product's web server over it."""

from __future__ import annotations

import http.client
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from academy.project.embedded.throwaway import throwaway
from tests.project.processes import free_port, wait_for

BASE_DIR = Path(__file__).resolve().parents[2]
SETTINGS = "tests.benchmarks.settings"


@contextmanager
def database() -> Iterator[None]:
    """Point this process at fresh servers and make the tables; Django is ready inside."""
    with ExitStack() as stack:
        servers = stack.enter_context(throwaway())
        data = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="academy-bench-")))
        (data / "static").mkdir()
        os.environ.update(
            ACADEMY_DATA=str(data),
            DATABASE_URL=servers.addresses.database_url,
            REDIS_URL=servers.addresses.redis_url,
            DJANGO_SETTINGS_MODULE=SETTINGS,
        )
        import django

        django.setup()
        from django.core.management import call_command
        from django.db import connections

        call_command("migrate", verbosity=0)
        yield
        connections.close_all()


@dataclass(slots=True)
class Page:
    """One address asked for again and again over one connection.

    With `again` it is asked for by whoever has it already, and 304 is the answer; when the page has
    changed meanwhile, such as its age in words, the newer one is fetched first.
    """

    port: int
    address: str
    again: bool = False
    size: int = 0
    etag: str = ""
    connection: http.client.HTTPConnection | None = None

    def __call__(self) -> None:
        """Ask once and read the whole answer; RuntimeError when it is another status."""
        status = self._ask()
        if self.again and status == 200:
            status = self._ask()
        if status != (304 if self.again else 200):
            raise RuntimeError(f"{self.address} answered {status}")

    def _ask(self) -> int:
        if self.connection is None:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        headers = {"If-None-Match": self.etag} if self.again and self.etag else {}
        try:
            self.connection.request("GET", self.address, headers=headers)
            response = self.connection.getresponse()
        except (http.client.RemoteDisconnected, ConnectionError):
            # The server ends a connection that was silent while others were measured.
            self.connection.close()
            self.connection.request("GET", self.address, headers=headers)
            response = self.connection.getresponse()
        self.size = len(response.read())
        self.etag = response.headers.get("ETag", "")
        return response.status


@contextmanager
def web_server() -> Iterator[int]:
    """The product's own server with one worker; gives its port."""
    port = free_port()
    command = [
        sys.executable, "-m", "granian", "--host", "127.0.0.1", "--port", str(port),
        "--interface", "wsgi", "--blocking-threads", "4", "--no-ws", "--log-level", "warning",
        "academy.project.wsgi:application",
    ]  # fmt: skip
    with subprocess.Popen(command, cwd=BASE_DIR, env=dict(os.environ)) as process:
        try:
            if not wait_for(lambda: _answers(port), seconds=60):
                raise RuntimeError("the web server does not answer")
            yield port
        finally:
            process.terminate()
            process.wait()


def _answers(port: int) -> bool:
    try:
        Page(port, "/healthz")()
    except OSError:
        return False
    return True
