"""PostgreSQL of a project: its cluster, its command line, whether it answers."""

from __future__ import annotations

import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg

from academy.project.embedded.account import Account, identity, make_private, opened
from academy.project.embedded.binaries import Binaries
from academy.project.embedded.places import DATABASE, USER, EmbeddedError, Places
from academy.project.embedded.process import ENVIRONMENT, Process

SETTINGS = {
    "listen_addresses": "",
    # Whoever gets this far may connect: the folder above is closed.
    "unix_socket_permissions": "0777",
    "jit": "off",
    "random_page_cost": "1.1",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
# For databases that are thrown away: nothing has to survive a crash.
THROWAWAY_SETTINGS = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
# Fast shutdown, then immediate shutdown (the next start recovers), then the hard way.
ENDING = ((signal.SIGINT, 60.0), (signal.SIGQUIT, 10.0), (signal.SIGKILL, 5.0))
# Recovery after a crash reads at most the write-ahead log between two checkpoints.
START_SECONDS = 120.0


@dataclass(frozen=True, slots=True)
class Postgres:
    """The PostgreSQL server of one project."""

    places: Places
    durable: bool = True

    name = "postgres"

    @property
    def process(self) -> Process:
        """Its process."""
        return Process(self.places, self.name)

    @property
    def cluster(self) -> Path:
        """Its data."""
        return self.places.home / "postgres"

    def start(self, binaries: Binaries, account: Account | None) -> None:
        """Start it, making the cluster when there is none, and wait until it answers."""
        if not (self.cluster / "PG_VERSION").exists():
            self._make_cluster(binaries, account)
        process = self.process
        # Nothing of an earlier server is alive (the lock says so), so these are stale; a pid in
        # them may by now be somebody else's, which would keep PostgreSQL from starting.
        (self.cluster / "postmaster.pid").unlink(missing_ok=True)
        for stale in self.places.sockets.glob(".s.PGSQL.*"):
            stale.unlink()
        with (
            opened(self.cluster, account) as (cluster, first),
            opened(self.places.sockets, account) as (sockets, second),
        ):
            settings = SETTINGS | {
                "unix_socket_directories": sockets,
                "cluster_name": process.title,
                **({} if self.durable else THROWAWAY_SETTINGS),
            }
            options = [f"--{key}={value}" for key, value in settings.items()]
            process.launch([binaries.postgres, "-D", cluster, *options], account, first + second)
        if not process.wait_until_answering(self.answers, START_SECONDS):
            raise EmbeddedError(
                f"PostgreSQL did not start. The end of {process.log}:\n{process.last_words()}"
            )
        self._make_database()

    def answers(self) -> bool:
        """Whether a client is let in."""
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.places.sockets),
            user=USER,
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def _make_database(self) -> None:
        with self._connect() as connection:
            known = connection.execute("select 1 from pg_database where datname = %s", [DATABASE])
            if known.fetchone() is None:
                connection.execute(f"create database {DATABASE}".encode())

    def _make_cluster(self, binaries: Binaries, account: Account | None) -> None:
        """Make the cluster beside its place and move it there whole, so that half of one,
        left by an interrupted start, is never taken for a cluster."""
        fresh = self.places.home / "postgres.new"
        if fresh.exists():
            shutil.rmtree(fresh)
        make_private(fresh)
        if account is not None:
            account.own(fresh)
        # PostgreSQL's own order and case rules: those of the machine change with its updates.
        locale = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        options = ["-U", USER, "-A", "trust", "-E", "UTF8", "--no-instructions", *locale]
        if not self.durable:
            options.append("--no-sync")
        with opened(fresh, account) as (name, handles):
            done = subprocess.run(
                [str(binaries.initdb), "-D", name, *options],
                capture_output=True,
                text=True,
                check=False,
                stdin=subprocess.DEVNULL,
                cwd="/",
                env=ENVIRONMENT,
                pass_fds=handles,
                **identity(account),
            )
        if done.returncode:
            raise EmbeddedError(f"PostgreSQL's initdb failed:\n{done.stdout}{done.stderr}")
        fresh.rename(self.cluster)
