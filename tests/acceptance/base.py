"""What a check is given: the running product, started when it is first asked for."""

from __future__ import annotations

import http.client
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg

from academy.project.embedded.throwaway import throwaway
from tests.project.processes import free_port, wait_for

BASE_DIR = Path(__file__).resolve().parents[2]
PATIENCE = 180.0
PASSWORD = "not-a-secret-of-anybody"


class Failed(Exception):
    """The product does not do what it should; the text says where."""


def require(holds: object, told: str) -> None:
    """Raise Failed with a text unless something holds."""
    if not holds:
        raise Failed(told)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for an address."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.body.decode(errors="replace")


@dataclass(slots=True)
class Browser:
    """One visitor with cookies."""

    port: int
    cookies: dict[str, str] = field(default_factory=dict)

    def get(self, address: str, **headers: str) -> Answer:
        """What a GET of an address gives; redirects are not followed."""
        return self._send("GET", address, None, headers)

    def sign_in(self, name: str) -> None:
        """Log in by the page; Failed when the page refuses."""
        form = self.get("/login/").text
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        require(token, "the login page has no form")
        assert token is not None
        fields = {"username": name, "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
        answer = self._send(
            "POST", "/login/", urlencode(fields), {"Referer": f"http://127.0.0.1:{self.port}/"}
        )
        require(answer.status == 302, f"{name} could not log in: {answer.status}")

    def post(self, address: str, fields: Mapping[str, Any] | None = None) -> Answer:
        """What a form sent to an address gives, as this visitor; redirects are not followed."""
        sent = {"csrfmiddlewaretoken": self.cookies.get("csrftoken", ""), **(fields or {})}
        referer = {"Referer": f"http://127.0.0.1:{self.port}/"}
        return self._send("POST", address, urlencode(sent), referer)

    def _send(
        self, method: str, address: str, body: str | None, headers: Mapping[str, str]
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": f"127.0.0.1:{self.port}", **headers}
        if self.cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        if body is not None:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        try:
            connection.request(method, address, body, sent)
            response = connection.getresponse()
            for line in response.headers.get_all("Set-Cookie") or []:
                name, _, value = line.partition(";")[0].partition("=")
                self.cookies[name] = value
            return Answer(response.status, dict(response.headers), response.read())
        finally:
            connection.close()


class Product:
    """A fresh database, a web server and a worker. Nothing starts before it is needed."""

    def __init__(self) -> None:
        self._stack = ExitStack()
        self._environment: dict[str, str] | None = None
        self._port = 0

    def close(self) -> None:
        """End all that was started."""
        self._stack.close()

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the product's processes; starts them at first."""
        if self._environment is None:
            self._environment = self._start()
        return self._environment

    def browser(self, name: str = "") -> Browser:
        """A visitor, signed in under a name if one is given."""
        assert self.environment
        found = Browser(self._port)
        if name:
            found.sign_in(name)
        return found

    def manage(self, *words: str, status: int = 0) -> str:
        """What a management command prints; Failed when it ends otherwise than expected."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=BASE_DIR,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
        )
        if done.returncode != status:
            told = (done.stderr or done.stdout).strip()[-800:]
            raise Failed(f"manage.py {' '.join(words[:2])} ended with {done.returncode}: {told}")
        return done.stdout

    def import_suite(
        self, files: Mapping[str, Any], *words: str, publish: bool = True
    ) -> dict[str, Any]:
        """Import a suite, and publish it unless said otherwise; gives the command's report."""
        return self._import("import_suite", files, *(["--publish"] if publish else []), *words)

    def import_runs(self, *runs: Mapping[str, Any]) -> dict[str, Any]:
        """Import runs by one command, as one folder; gives its report."""
        return self._import(
            "import_run", {path: held for run in runs for path, held in run.items()}
        )

    def import_run(self, files: Mapping[str, Any], *words: str) -> dict[str, Any]:
        """Import one run; gives the command's report."""
        return self._import("import_run", files, *words)

    def add_person(self, name: str, *roles: str) -> None:
        """Make an account with roles."""
        self.manage(
            "shell",
            "-c",
            "from django.contrib.auth import get_user_model as g;"
            "from academy.models import Membership as M, Organization as O;"
            f"u = g().objects.create_user({name!r}, password={PASSWORD!r});"
            "o = O.objects.get_or_create(slug='example', defaults={'name': 'Example'})[0];"
            f"[M.objects.create(user=u, organization=o, role=r) for r in {list(roles)!r}]",
        )

    def settle(self) -> None:
        """Wait until the worker has done all work that is owed; Failed when some of it failed."""
        with psycopg.connect(self.environment["DATABASE_URL"], autocommit=True) as connection:

            def count(*states: str) -> int:
                row = connection.execute(
                    "SELECT count(*) FROM academy_work WHERE state = ANY(%s)", [list(states)]
                ).fetchone()
                return int(row[0]) if row else 0

            if not wait_for(lambda: not count("ready", "leased"), seconds=PATIENCE):
                raise Failed(f"{count('ready', 'leased')} units of work were not done in time")
            if count("failed"):
                raise Failed(f"{count('failed')} units of work failed")

    def _import(self, command: str, files: Mapping[str, Any], *words: str) -> dict[str, Any]:
        with tempfile.TemporaryDirectory(prefix="academy-upload-") as folder:
            for path, content in files.items():
                target = Path(folder, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(_as_bytes(path, content))
            printed = self.manage(command, folder, "--json", *words)
        report: dict[str, Any] = json.loads(printed)
        return report

    def _start(self) -> dict[str, str]:
        servers = self._stack.enter_context(throwaway())
        data = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="academy-data-")))
        (data / "static").mkdir()
        environment = {
            **os.environ,
            "ACADEMY_DATA": str(data),
            "DATABASE_URL": servers.addresses.database_url,
            "REDIS_URL": servers.addresses.redis_url,
            "DJANGO_SETTINGS_MODULE": "academy.project.settings",
        }
        self._environment = environment
        self.manage("migrate", "--verbosity", "0")
        self._port = free_port()
        web = ["granian", "--host", "127.0.0.1", "--port", str(self._port), "--interface", "wsgi"]
        web += ["--no-ws", "--log-level", "warning", "academy.project.wsgi:application"]
        worker = ["celery", "--quiet", "--app", "academy.project.celery:app", "worker"]
        worker += ["--beat", "--schedule", str(data / "schedule"), "--loglevel", "ERROR"]
        for command in (web, [*worker, "--concurrency", "1"]):
            self._run(command, environment)
        if not wait_for(self._answers, seconds=PATIENCE):
            raise Failed("the web server does not answer")
        return environment

    def _run(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        process = subprocess.Popen(
            [sys.executable, "-m", *command],
            cwd=BASE_DIR,
            env=dict(environment),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

        def end() -> None:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

        self._stack.callback(end)

    def _answers(self) -> bool:
        try:
            return Browser(self._port).get("/healthz").status == 200
        except OSError:
            time.sleep(0.2)
            return False


def _as_bytes(path: str, content: Any) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode()
    if path.endswith(".jsonl"):
        return b"".join(json.dumps(line).encode() + b"\n" for line in content)
    return json.dumps(content).encode()
