"""What make run starts: real servers and processes, ended in every way a person may end them."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from academy.project.embedded import servers
from academy.project.embedded.places import Places
from academy.project.embedded.process import Process
from tests.project.processes import free_port, is_alive, processes_of, wait_for

START_SECONDS = 120

# One process runs them all, so that only the first start migrates and loads the examples.
pytestmark = pytest.mark.xdist_group("supervise")


class Run:
    """One supervisor, as a terminal starts it: leader of a process group of its own."""

    def __init__(self, data: Path, port: int | str) -> None:
        self.data, self.port = data, int(port) if str(port).isdecimal() else 0
        self.screen = data.parent / f"screen-{port}-{time.monotonic_ns()}"
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("ACADEMY_", "DJANGO_", "DATABASE_", "REDIS_", "PYTEST_"))
        }
        environment |= {"ACADEMY_DATA": str(data), "PORT": str(port)}
        with self.screen.open("w") as screen:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "academy.project.supervise"],
                cwd=servers.BASE_DIR,
                env=environment,
                stdout=screen,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    def said(self) -> str:
        return self.screen.read_text()

    def until_ready(self) -> Run:
        wait_for(lambda: self.ready or self.process.poll() is not None, seconds=START_SECONDS)
        assert self.ready, f"exit code {self.process.poll()}: {self.said()}"
        return self

    @property
    def ready(self) -> bool:
        return f"Academy is ready: http://127.0.0.1:{self.port}/" in self.said()

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/", timeout=10) as page:
                return bool(page.status == 200)
        except OSError:
            return False

    def pid_of(self, child: str) -> int:
        found = re.search(rf"{child} started \(pid=(\d+)\)", self.said())
        assert found is not None
        return int(found.group(1))

    def end(self, what: signal.Signals, *, group: bool = False) -> int:
        (os.killpg if group else os.kill)(self.process.pid, what)
        return self.process.wait(30)


@pytest.fixture(autouse=True)
def own_servers_only() -> None:
    """Never load examples into a database that a developer named in .env."""
    file = servers.BASE_DIR / ".env"
    if file.exists() and re.search(r"^\s*(DATABASE|REDIS)_URL", file.read_text(), re.MULTILINE):
        pytest.skip("servers: .env names servers of your own")


Start = Callable[[Path, int | str], Run]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that all starts of this file share, so that only the first migrates."""
    return tmp_path_factory.mktemp("supervised") / "data"


@pytest.fixture(scope="module")
def started() -> Iterator[list[Run]]:
    """Every supervisor of this file; none of them is left at its end."""
    runs: list[Run] = []
    yield runs
    for run in runs:
        if run.process.poll() is None:
            run.end(signal.SIGTERM)
        servers.stop(run.data)


@pytest.fixture
def start(started: list[Run]) -> Start:
    """Starts supervisors."""

    def begin(data: Path, port: int | str) -> Run:
        started.append(Run(data, port))
        return started[-1]

    return begin


@pytest.fixture
def run(data: Path, started: list[Run], start: Start) -> Run:
    """A supervisor that serves: the one that an earlier test left, else a new one."""
    for earlier in started:
        if earlier.data == data and earlier.process.poll() is None:
            return earlier
    return start(data, free_port()).until_ready()


def test_a_second_supervisor_on_the_same_data_is_refused(
    data: Path, run: Run, start: Start
) -> None:
    second = start(data.parent / ".." / data.parent.name / "data", free_port())
    assert second.process.wait(30) == 1
    assert f"already runs from {data}: http://127.0.0.1:{run.port}/" in second.said()
    assert run.answers()


def test_a_killed_database_is_started_again_under_the_running_pages(data: Path, run: Run) -> None:
    for name in ("postgres", "valkey"):
        pid = Process(Places.of(data), name).main_pid()
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    assert wait_for(lambda: "all servers answer" in run.said())
    assert wait_for(run.answers)


@pytest.mark.parametrize("child", ["web", "worker"])
def test_when_one_child_dies_all_end_and_nothing_is_left(data: Path, run: Run, child: str) -> None:
    os.kill(run.pid_of(child), signal.SIGKILL)
    assert run.process.wait(40) != 0
    assert processes_of(data) == []


def test_a_killed_supervisor_takes_its_children_along_and_the_next_one_adopts_the_servers(
    data: Path, run: Run, start: Start
) -> None:
    postgres = Process(Places.of(data), "postgres").main_pid()
    children = [run.pid_of(child) for child in ("web", "worker", "beat", "servers")]
    run.end(signal.SIGKILL)
    again = start(data, run.port).until_ready()
    assert Process(Places.of(data), "postgres").main_pid() == postgres
    assert wait_for(lambda: not any(is_alive(pid) for pid in children))
    assert again.answers()


def test_ctrl_c_stops_everything_and_the_next_start_keeps_the_data(
    data: Path, run: Run, start: Start
) -> None:
    assert run.answers()
    with psycopg.connect(servers.addresses_for(data).database_url) as connection:
        connection.execute("create table kept as select 1 as value")
    assert run.end(signal.SIGINT, group=True) == 0
    assert processes_of(data) == []
    again = start(data, run.port).until_ready()
    with psycopg.connect(servers.addresses_for(data).database_url) as connection:
        assert connection.execute("select value from kept").fetchall() == [(1,)]
        connection.execute("drop table kept")
    assert again.end(signal.SIGTERM) == 0
    assert processes_of(data) == []


def test_a_port_in_use_is_told_before_anything_starts(tmp_path: Path, start: Start) -> None:
    with socket.socket() as occupant:
        occupant.bind(("127.0.0.1", 0))
        occupant.listen()
        run = start(tmp_path / "data", occupant.getsockname()[1])
        assert run.process.wait(30) == 1
    assert f"Port {run.port} on 127.0.0.1 cannot be used (Address already in use)" in run.said()
    assert f"PORT={run.port + 1} make run" in run.said()
    assert not (tmp_path / "data" / "embedded").exists()


@pytest.mark.parametrize("port", ["http", "0", "65536", "-1"])
def test_a_port_that_is_none_is_told(tmp_path: Path, start: Start, port: str) -> None:
    run = start(tmp_path / "data", port)
    assert run.process.wait(30) == 1
    assert f"PORT must be a number from 1 to 65535, not '{port}'." in run.said()
