"""Start, find and stop the PostgreSQL and Valkey that belong to a data folder.

Whoever uses the servers holds them: a shared lock on a file, which the kernel gives back however
the user ends. The last user to leave stops the servers, unless they were started to stay.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import environ

from academy.project.embedded.account import account_for_servers, make_private
from academy.project.embedded.binaries import find_binaries
from academy.project.embedded.places import Addresses, EmbeddedError, Places
from academy.project.embedded.postgres import ENDING as POSTGRES_ENDING
from academy.project.embedded.postgres import Postgres
from academy.project.embedded.process import Process
from academy.project.embedded.valkey import ENDING as VALKEY_ENDING
from academy.project.embedded.valkey import Valkey

__all__ = [
    "Addresses",
    "EmbeddedError",
    "addresses_for",
    "all_alive",
    "broker_url",
    "data_dir_from_environment",
    "ensure",
    "ensure_from_environment",
    "held",
    "running",
    "stop",
    "wanted_from_environment",
]

BASE_DIR = Path(__file__).resolve().parents[3]
# Which setting, when it names a server of the person's own, makes which of ours needless.
REPLACED_BY = {"postgres": "DATABASE_URL", "valkey": "REDIS_URL"}
BOTH = frozenset(REPLACED_BY)
ANSWER_SECONDS = 60.0


def addresses_for(data_dir: Path) -> Addresses:
    """The addresses of a data folder's servers, whether they run or not. Touches nothing."""
    return Places.of(data_dir).addresses


def broker_url(redis_url: str) -> str:
    """Celery's way of writing the address that other clients of Redis take."""
    scheme, separator, rest = redis_url.partition("://")
    if scheme != "unix":
        return redis_url
    path, _, query = rest.partition("?")
    database = query.removeprefix("db=")
    return f"redis+socket{separator}{path}" + (f"?virtual_host={database}" if database else "")


def ensure(
    data_dir: Path, *, names: Collection[str] = BOTH, durable: bool = True, stay: bool = False
) -> Addresses:
    """Start what is not running, and return when all of it answers. Idempotent; may be called
    by many processes at once. stay: the servers go on when their last user leaves."""
    places = Places.of(data_dir)
    with _alone(places):
        _start_missing(places, names, durable)
        if stay:
            _stay_file(places).touch()
    return places.addresses


def running(data_dir: Path) -> Addresses | None:
    """The addresses of the servers when both answer, else None."""
    places = Places.of(data_dir)
    if not places.home.exists():
        return None
    with _alone(places):
        both = (Postgres(places), Valkey(places))
        up = all(server.process.is_alive() and server.answers() for server in both)
    return places.addresses if up else None


def all_alive(data_dir: Path, *, names: Collection[str] = BOTH) -> bool:
    """Whether no server's process is gone; cheaper than asking whether they answer."""
    places = Places.of(data_dir)
    with _alone(places):
        return all(Process(places, name).main_pid() is not None for name in names)


def stop(data_dir: Path) -> None:
    """Stop both servers, whoever uses them. Does nothing when there are none."""
    places = Places.of(data_dir)
    if places.home.exists():
        with _alone(places):
            _stay_file(places).unlink(missing_ok=True)
            _stop_all(places)


@contextmanager
def held(data_dir: Path, *, names: Collection[str] = BOTH) -> Iterator[Addresses]:
    """Use the servers: they run for as long as anybody does."""
    leave = _hold(data_dir, names)
    try:
        yield addresses_for(data_dir)
    finally:
        leave()


def data_dir_from_environment() -> Path:
    """The data folder that ACADEMY_DATA names, in the environment or in .env."""
    environ.Env.read_env(BASE_DIR / ".env")
    return Path(os.environ.get("ACADEMY_DATA") or BASE_DIR / "data").resolve()


def wanted_from_environment() -> frozenset[str]:
    """The servers for which the environment or .env names none of the person's own."""
    environ.Env.read_env(BASE_DIR / ".env")
    return frozenset(name for name, setting in REPLACED_BY.items() if not os.environ.get(setting))


def ensure_from_environment() -> None:
    """What a command line calls first: the servers that the settings will expect run until this
    process ends. A problem ends the process with its text."""
    names = wanted_from_environment()
    if not names:
        return
    try:
        atexit.register(_hold(data_dir_from_environment(), names))
    except EmbeddedError as error:
        sys.exit(str(error))


@contextmanager
def _alone(places: Places) -> Iterator[None]:
    """Nobody else starts or stops these servers meanwhile."""
    make_private(places.home)
    with (places.home / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _hold(data_dir: Path, names: Collection[str]) -> Callable[[], None]:
    """Join the users of the servers; the function that is returned leaves them again."""
    places = Places.of(data_dir)
    with _alone(places):
        handle = os.open(places.home / "users", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_SH)
            _start_missing(places, names, durable=True)
        except BaseException:
            os.close(handle)
            raise

    def leave() -> None:
        if not places.home.exists():  # the data folder was deleted meanwhile
            return
        with _alone(places):
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            finally:
                os.close(handle)
            if not _stay_file(places).exists():
                _stop_all(places)

    return leave


def _start_missing(places: Places, names: Collection[str], durable: bool) -> None:
    known = (Postgres(places, durable), Valkey(places, durable))
    missing = [server for server in known if server.name in names and not _is_up(server)]
    if not missing:
        return
    account = account_for_servers()
    binaries = find_binaries(account)
    make_private(places.socket_home)
    places.sockets.mkdir(mode=0o755, exist_ok=True)
    if account is not None:
        account.own(places.sockets)
    for server in missing:
        server.start(binaries, account)


def _is_up(server: Postgres | Valkey) -> bool:
    """Whether the server answers, if need be after waiting for it; clears away a killed one."""
    process = server.process
    if not process.is_alive():
        return False
    # The main process may die while we wait, or a moment after it was killed.
    process.wait(
        lambda: server.answers() or process.main_pid() is None or not process.is_alive(),
        ANSWER_SECONDS,
    )
    if server.answers():
        return True
    if process.main_pid() is None:
        process.bury()
        return False
    if process.is_alive():
        raise EmbeddedError(
            f"The {server.name} of {server.places.home} runs but does not answer. Its log is "
            f"{process.log}; 'make stop' ends it."
        )
    return False


def _stop_all(places: Places) -> None:
    for server, ending in ((Valkey(places), VALKEY_ENDING), (Postgres(places), POSTGRES_ENDING)):
        if server.process.is_alive():
            server.process.end(ending)
    if places.socket_home != places.home:
        shutil.rmtree(places.socket_home, ignore_errors=True)


def _stay_file(places: Places) -> Path:
    return places.home / "stay"
