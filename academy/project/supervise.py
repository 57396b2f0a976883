"""make run: servers, migrations, examples, then web server, worker and beat until Ctrl+C."""

from __future__ import annotations

import fcntl
import http.client
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

import honcho.manager
from honcho.printer import Printer

from academy.project.embedded import servers

BASE_DIR = servers.BASE_DIR
# Longer than a leash needs to end its command, so that a leash is never killed first.
honcho.manager.KILL_WAIT = 10
PATIENCE_SECONDS = 15.0
ROOT_WARNING = "ignore:You're running the worker with superuser privileges:UserWarning"


class CannotRun(Exception):
    """Nothing was started, and the text says what to do."""


@dataclass(frozen=True, slots=True)
class Plan:
    """Where the project runs."""

    data_dir: Path
    bind: str
    port: int
    web_workers: int

    @classmethod
    def from_environment(cls) -> Plan:
        """What PORT, ACADEMY_DATA and the like say, in the environment or in .env."""
        data_dir = servers.data_dir_from_environment()
        numbers = {}
        for name, default, most in (("PORT", "8000", 65535), ("ACADEMY_WEB_WORKERS", "2", 256)):
            written = os.environ.get(name) or default
            if not written.isdecimal() or not 1 <= int(written) <= most:
                raise CannotRun(f"{name} must be a number from 1 to {most}, not {written!r}.")
            numbers[name] = int(written)
        bind = os.environ.get("ACADEMY_BIND") or "127.0.0.1"
        return cls(data_dir, bind, numbers["PORT"], numbers["ACADEMY_WEB_WORKERS"])

    @property
    def url(self) -> str:
        """The address to open."""
        host = "127.0.0.1" if self.bind == "0.0.0.0" else self.bind
        return f"http://{host}:{self.port}/"


class Children(honcho.manager.Manager):  # type: ignore[misc]
    """The processes that run side by side; when one ends, all end."""

    def __init__(self, plan: Plan, logins: str) -> None:
        super().__init__(Printer(sys.stdout))
        self.plan = plan
        self.logins = logins
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        if os.geteuid() == 0:
            environment["PYTHONWARNINGS"] = ROOT_WARNING
        leash = [sys.executable, "-m", "academy.project.leash", str(os.getpid()), sys.executable]
        for name, command in commands(plan).items():
            # Background work gives way to the pages, most of all while all of it starts.
            nice = ["nice", "-n", "5"] if name in ("worker", "beat") else []
            words = shlex.join([*nice, *leash, "-m", *command])
            self.add_process(name, f"exec {words}", env=environment, cwd=str(BASE_DIR))

    def _start(self) -> None:
        super()._start()
        # Not before: a process that has threads is not to be forked.
        threading.Thread(target=announce, args=(self.plan, self.logins), daemon=True).start()

    def terminate(self) -> None:
        """Also right when the signal comes before every child has told its pid."""
        if self._all_started():
            super().terminate()
        else:
            threading.Timer(0.1, self.terminate).start()

    def sweep(self) -> None:
        """Kill what is left in the children's sessions when a leash itself was killed."""
        sessions = {state["pid"] for state in self._processes.values() if state.get("pid")}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
                if int(words[3]) in sessions:
                    os.kill(int(folder.name), signal.SIGKILL)


def commands(plan: Plan) -> dict[str, list[str]]:
    """The Python modules that are run, with their arguments."""
    celery = ["celery", "--quiet", "--app", "academy.project.celery:app"]
    schedule = str(plan.data_dir / "celerybeat-schedule")
    web = ["--host", plan.bind, "--port", str(plan.port), "--workers", str(plan.web_workers)]
    web += ["--interface", "wsgi", "--blocking-threads", "4", "--no-ws", "--log-level", "warning"]
    # A worker process that is told to end while it still starts misses it, and would never end.
    web += ["--workers-kill-timeout", "5"]
    worker = ["worker", "--loglevel", "WARNING", "--without-gossip", "--without-mingle"]
    beat = ["beat", "--loglevel", "WARNING", "--pidfile=", "--schedule", schedule]
    found = {
        "web": ["granian", *web, "academy.project.wsgi:application"],
        "worker": [*celery, *worker],
        "beat": [*celery, *beat],
    }
    if servers.wanted_from_environment():
        found["servers"] = ["academy.project.embedded", "keep", "--data", str(plan.data_dir)]
    return found


@contextmanager
def only_supervisor(plan: Plan) -> Iterator[bool]:
    """Refuse to run twice on one data folder. Yields whether the last run was killed."""
    plan.data_dir.mkdir(parents=True, exist_ok=True)
    with (plan.data_dir / "supervisor").open("a+") as file:
        try:
            # Unlike flock, this lock is not kept alive by the processes that honcho forks.
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise CannotRun(f"Academy already runs from {plan.data_dir}: {file.read()}") from None
        file.seek(0)
        was_killed = bool(file.read())
        file.truncate(0)
        file.write(plan.url)
        file.flush()
        try:
            yield was_killed
        finally:
            file.truncate(0)


def check_port(plan: Plan, *, patience: float) -> None:
    """Raise CannotRun when somebody else listens on the port."""
    deadline = time.monotonic() + patience
    while True:
        try:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                probe.bind((plan.bind, plan.port))
            return
        except OSError as error:
            if time.monotonic() > deadline:
                raise CannotRun(
                    f"Port {plan.port} on {plan.bind} cannot be used ({error.strerror}). "
                    f"Choose another one: PORT={plan.port + 1} make run"
                ) from error
        time.sleep(0.2)


def announce(plan: Plan, logins: str) -> None:
    """Say where the pages are, and who can log in, as soon as they are served."""
    for _ in range(300):
        connection = http.client.HTTPConnection(plan.bind, plan.port, timeout=30)
        try:
            connection.request("HEAD", "/")
            connection.getresponse()
        except (OSError, http.client.HTTPException):
            time.sleep(0.1)
            continue
        finally:
            connection.close()
        sys.stdout.write(f"\nAcademy is ready: {plan.url}   (Ctrl+C stops it)\n{logins}\n")
        sys.stdout.flush()
        return


def prepare() -> str:
    """Bring database and examples up to date; what to tell about the logins."""
    command = [sys.executable, "-m", "academy.project.prepare"]
    done = subprocess.run(command, cwd=BASE_DIR, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise CannotRun("The database could not be prepared (see above), so nothing was started.")
    return done.stdout


def run() -> int:
    """Start everything, wait for its end, and leave nothing behind."""
    plan = Plan.from_environment()
    os.environ["ACADEMY_DATA"] = str(plan.data_dir)  # the children start in another folder
    names = servers.wanted_from_environment()
    with only_supervisor(plan) as was_killed:
        # What a killed supervisor left behind ends by itself and frees the port.
        check_port(plan, patience=PATIENCE_SECONDS if was_killed else 0)
        with servers.held(plan.data_dir, names=names) if names else nullcontext():
            children = Children(plan, prepare())
            try:
                children.loop()
            finally:
                children.sweep()
    if children.returncode in (130, 143):  # honcho's words for Ctrl+C and SIGTERM
        return 0
    return children.returncode or 1


def main() -> int:
    """The command line."""
    # A closed terminal and a polite kill end the start, or everything, like Ctrl+C does.
    for what in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(what, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        return run()
    except (CannotRun, servers.EmbeddedError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("Stopped before it was ready.\n")
        return 130


if __name__ == "__main__":
    sys.exit(main())
