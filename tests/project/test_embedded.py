"""The embedded PostgreSQL and Valkey: real ones, started, killed and started again."""

from __future__ import annotations

import os
import pwd
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import environ
import psycopg
import pytest
import redis

from academy.project.embedded import servers
from academy.project.embedded.binaries import find_binaries
from academy.project.embedded.places import LONGEST_SOCKET_PATH, Places
from academy.project.embedded.process import Process
from tests.project.processes import modes_above, processes_of, wait_for

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="root: the tests do not run as root")


@pytest.fixture
def data(tmp_path: Path) -> Iterator[Path]:
    """A data folder below a folder of mode 700, whose servers end with the test."""
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    folder = home / "data"
    yield folder
    servers.stop(folder)


def query(addresses: servers.Addresses, statement: str) -> object:
    with psycopg.connect(addresses.database_url, autocommit=True) as connection:
        cursor = connection.execute(statement.encode())
        return cursor.fetchone() if cursor.description else None


def store(addresses: servers.Addresses, value: str) -> None:
    query(addresses, "create table if not exists kept (value text)")
    query(addresses, f"insert into kept values ('{value}')")
    with redis.Redis.from_url(addresses.redis_url) as client:
        client.set("kept", value)


def stored(addresses: servers.Addresses) -> tuple[object, object]:
    with redis.Redis.from_url(addresses.redis_url, decode_responses=True) as client:
        return query(addresses, "select value from kept"), client.get("kept")


def query_until_it_fails(addresses: servers.Addresses, statement: str) -> None:
    with pytest.raises(psycopg.OperationalError):
        query(addresses, statement)


def main_pid(data: Path, name: str) -> int:
    pid = Process(Places.of(data), name).main_pid()
    assert pid is not None
    return pid


def test_a_first_start_makes_a_cluster_and_answers(data: Path) -> None:
    addresses = servers.ensure(data)
    assert addresses == servers.addresses_for(data) == servers.running(data)
    assert query(addresses, "select current_database(), current_user") == ("academy", "academy")
    assert query(addresses, "show server_version_num") >= ("160000",)
    query(addresses, "create extension pg_trgm")
    with redis.Redis.from_url(addresses.redis_url) as client:
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}
        assert client.config_get("appendonly") == {"appendonly": "yes"}


def test_a_second_start_finds_the_data(data: Path) -> None:
    store(servers.ensure(data), "first")
    servers.stop(data)
    assert servers.running(data) is None
    assert stored(servers.ensure(data)) == (("first",), "first")


def test_ensuring_what_runs_starts_nothing(data: Path) -> None:
    servers.ensure(data)
    before = main_pid(data, "postgres"), main_pid(data, "valkey")
    servers.ensure(data)
    assert (main_pid(data, "postgres"), main_pid(data, "valkey")) == before


def test_stopping_leaves_no_process_and_may_be_repeated(data: Path) -> None:
    servers.stop(data)
    servers.ensure(data)
    servers.stop(data)
    servers.stop(data)
    assert processes_of(data) == []


def test_only_the_wanted_server_is_started(data: Path) -> None:
    servers.ensure(data, names={"valkey"})
    assert servers.all_alive(data, names={"valkey"})
    assert not servers.all_alive(data, names={"postgres"})


@pytest.mark.parametrize("name", ["postgres", "valkey"])
def test_a_killed_server_comes_back_with_its_data(data: Path, name: str) -> None:
    store(servers.ensure(data), "kept")
    os.kill(main_pid(data, name), signal.SIGKILL)
    assert wait_for(lambda: not servers.all_alive(data))
    assert stored(servers.ensure(data)) == (("kept",), "kept")


def test_the_pid_of_a_killed_server_may_belong_to_somebody_else_by_now(data: Path) -> None:
    store(servers.ensure(data), "kept")
    os.kill(main_pid(data, "postgres"), signal.SIGKILL)
    pid_file = data / "embedded" / "postgres" / "postmaster.pid"
    owner = pid_file.stat().st_uid
    with subprocess.Popen(["/bin/sleep", "60"], user=owner, cwd="/") as stranger:
        lines = pid_file.read_text().splitlines()
        pid_file.write_text("\n".join([str(stranger.pid), *lines[1:]]) + "\n")
        assert stored(servers.ensure(data)) == (("kept",), "kept")
        assert stranger.poll() is None
        stranger.kill()


def test_a_busy_process_of_a_killed_server_does_not_keep_it_down(data: Path) -> None:
    addresses = servers.ensure(data)
    endless = "select count(*) from generate_series(1, 100000000000)"
    work = threading.Thread(target=query_until_it_fails, args=(addresses, endless))
    work.start()
    assert wait_for(lambda: any("SELECT" in line for line in processes_of(data)))
    os.kill(main_pid(data, "postgres"), signal.SIGKILL)
    servers.ensure(data)
    work.join()
    assert query(addresses, "select 1") == (1,)


def test_a_server_that_dies_while_it_is_waited_for_comes_back(data: Path) -> None:
    addresses = servers.ensure(data)
    endless = "select count(*) from generate_series(1, 100000000000)"
    work = threading.Thread(target=query_until_it_fails, args=(addresses, endless))
    work.start()
    assert wait_for(lambda: any("SELECT" in line for line in processes_of(data)))
    main = main_pid(data, "postgres")
    os.kill(main, signal.SIGSTOP)
    late = threading.Timer(1.0, os.kill, (main, signal.SIGKILL))
    late.start()
    servers.ensure(data)
    late.join()
    work.join()
    assert query(addresses, "select 1") == (1,)


def test_half_a_cluster_from_an_interrupted_start_is_thrown_away(data: Path) -> None:
    (data / "embedded" / "postgres.new").mkdir(parents=True)
    (data / "embedded" / "postgres.new" / "PG_VERSION").write_text("18\n")
    (data / "embedded").chmod(0o700)
    assert query(servers.ensure(data), "select 1") == (1,)


def test_many_starts_at_once_give_one_pair(data: Path) -> None:
    command = [sys.executable, "-m", "academy.project.embedded", "start", "--data", str(data)]
    starts = [subprocess.Popen(command, cwd=servers.BASE_DIR) for _ in range(3)]
    assert [start.wait(60) for start in starts] == [0, 0, 0]
    mains = [line for line in processes_of(data) if "pginstall/bin/postgres" in line]
    assert len(mains) == 1


def test_two_projects_run_side_by_side(data: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    first, second = servers.ensure(data), servers.ensure(other)
    try:
        store(first, "first")
        store(second, "second")
        servers.stop(data)
        assert stored(second) == (("second",), "second")
    finally:
        servers.stop(other)


@pytest.mark.parametrize("name", ["long-" * 24, "with space, comma and ünïcode"])
def test_a_folder_whose_name_fits_no_socket_works_too(tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    addresses = servers.ensure(folder)
    try:
        store(addresses, "kept")
        assert stored(addresses) == (("kept",), "kept")
        places = Places.of(folder)
        assert len(os.fsencode(places.sockets / ".s.PGSQL.5432")) <= LONGEST_SOCKET_PATH
        assert places.socket_home.stat().st_mode & 0o777 == 0o700
    finally:
        servers.stop(folder)
    assert not places.socket_home.exists() or places.socket_home.is_relative_to(folder)


def test_a_short_folder_of_somebody_else_is_not_used(tmp_path: Path) -> None:
    folder = tmp_path / ("long-" * 24)
    trap = Places.of(folder).socket_home
    trap.symlink_to(tmp_path)
    try:
        with pytest.raises(servers.EmbeddedError, match="is no folder of its own but a link"):
            servers.ensure(folder)
    finally:
        trap.unlink()


def test_no_mode_changes_outside_the_data_folder(data: Path) -> None:
    site = find_binaries(None).postgres.parent
    before = modes_above(data.parent, site)
    store(servers.ensure(data), "kept")
    servers.stop(data)
    assert modes_above(data.parent, site) == before
    assert (data / "embedded").stat().st_mode & 0o777 == 0o700


@as_root
def test_root_lends_the_servers_an_unprivileged_account(data: Path) -> None:
    servers.ensure(data)
    nobody = pwd.getpwnam("nobody").pw_uid
    for name in ("postgres", "valkey"):
        status = Path(f"/proc/{main_pid(data, name)}/status").read_text()
        assert f"Uid:\t{nobody}\t{nobody}\t{nobody}\t{nobody}" in status


def test_the_last_user_stops_the_servers(data: Path) -> None:
    with servers.held(data):
        with servers.held(data):
            pass
        assert servers.running(data)
    assert servers.running(data) is None
    assert processes_of(data) == []


def test_servers_that_were_started_to_stay_outlive_their_users(data: Path) -> None:
    servers.ensure(data, stay=True)
    with servers.held(data):
        pass
    assert servers.running(data)


def test_a_killed_user_does_not_count(data: Path) -> None:
    code = (
        "import os, pathlib, sys; from academy.project.embedded import servers\n"
        "with servers.held(pathlib.Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(data)], cwd=servers.BASE_DIR, check=False)
    assert servers.running(data)
    with servers.held(data):
        pass
    assert servers.running(data) is None


def test_a_throwaway_pair_goes_with_its_user_even_when_that_is_killed(tmp_path: Path) -> None:
    code = (
        "from academy.project.embedded.throwaway import throwaway\n"
        "with throwaway() as found: print(found.addresses.database_url, flush=True); input()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=servers.BASE_DIR,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as user:
        assert user.stdout is not None
        assert user.stdout.readline().startswith("postgresql://academy@/academy?host=")
        (folder,) = tmp_path.glob("academy-test-*")
        assert processes_of(folder)
        user.kill()
    assert wait_for(lambda: not processes_of(folder) and not folder.exists())


def test_a_server_that_cannot_start_says_why(data: Path) -> None:
    servers.ensure(data)
    servers.stop(data)
    (data / "embedded" / "postgres" / "PG_VERSION").write_text("12\n")
    with pytest.raises(servers.EmbeddedError, match="version 12, which is not compatible"):
        servers.ensure(data)
    assert processes_of(data) == []


def test_computing_addresses_touches_nothing(tmp_path: Path) -> None:
    servers.addresses_for(tmp_path / "data")
    servers.stop(tmp_path / "data")
    assert servers.running(tmp_path / "data") is None
    assert list(tmp_path.iterdir()) == []


def test_the_addresses_say_the_same_to_django_as_to_libpq(tmp_path: Path) -> None:
    found = environ.Env.db_url_config(servers.addresses_for(tmp_path).database_url)
    assert (found["NAME"], found["USER"], found["HOST"]) == ("academy", "academy", "")
    assert found["OPTIONS"] == {"host": str(tmp_path / "embedded" / "run")}


@pytest.mark.parametrize(
    ("redis_url", "broker_url"),
    [
        ("unix:///data/valkey.sock", "redis+socket:///data/valkey.sock"),
        ("unix:///data/valkey.sock?db=3", "redis+socket:///data/valkey.sock?virtual_host=3"),
        ("redis://localhost:6379/2", "redis://localhost:6379/2"),
    ],
)
def test_celery_is_told_of_a_socket_in_its_own_words(redis_url: str, broker_url: str) -> None:
    assert servers.broker_url(redis_url) == broker_url
