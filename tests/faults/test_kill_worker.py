"""A worker is killed in the middle of a run, and another one takes over."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import LazySettings
from django.db import connection

from academy import tasks
from academy.models import InstanceRecord, Run, RunResult, RunVector, Score, Summary, Work
from academy.project.celery import app
from tests import factories as make
from tests.project.processes import is_alive, wait_for

ROOT = Path(__file__).resolve().parent.parent.parent
RECORDS = 2_000
# Small, so that a worker is met within one of them on a fast machine too.
UNIT = 25
LEASE = 2.0
PATIENCE = 5.0


@pytest.fixture
def run(settings: LazySettings) -> Run:
    """A run of 20 tasks and 100 repetitions of each, of which nothing is scored yet."""
    settings.ACADEMY_WORK_UNIT = UNIT
    version = make.takeoff_version(20, publish=False)
    executions = [
        make.execution(f"t-{place}", 100 + place, replicate=replicate)
        for place in range(20)
        for replicate in range(1, RECORDS // 20 + 1)
    ]
    contents = make.line_run(*executions, replicates=RECORDS // 20)
    return make.run_of(make.record_files(contents, version))


@contextmanager
def worker(name: str, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A real worker of one child process on the database of this test."""
    base = urlsplit(os.environ["DATABASE_URL"])
    command = [sys.executable, "-W", "ignore", "-m", "celery", "-A", "academy.project.celery:app"]
    command += ["worker", "--concurrency", "1", "--loglevel", "warning", "--without-mingle"]
    command += ["--without-gossip", "--hostname", f"{name}@%h"]
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={
                **os.environ,
                "DATABASE_URL": base._replace(path=f"/{connection.settings_dict['NAME']}").geturl(),
                "ACADEMY_LEASE_SECONDS": str(LEASE),
            },
        )
    try:
        yield process
    finally:
        send(process, signal.SIGCONT)
        send(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=5)
        send(process, signal.SIGKILL)
        process.wait()


def send(process: subprocess.Popen[bytes], what: signal.Signals) -> None:
    """Send a signal to a worker and its children."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, what)


def leased_by(process: subprocess.Popen[bytes]) -> list[str]:
    """The keys of the units that a worker holds."""
    owners = Work.objects.filter(state="leased").values_list("lease_owner", "key")
    return [key for owner, key in owners if group_of(owner) == process.pid]


def group_of(owner: str) -> int | None:
    """The process group of the process that a lease names."""
    try:
        return os.getpgid(int(owner.rpartition(":")[2]))
    except (ProcessLookupError, ValueError):
        return None


def done() -> int:
    """How many units of scoring are done."""
    return Work.objects.filter(kind="score", state="done").count()


def stop_one_within_a_unit(
    workers: Sequence[subprocess.Popen[bytes]], *, after: int
) -> tuple[subprocess.Popen[bytes], list[str]] | None:
    """Halt whichever worker holds a unit once some are done; gives it and the keys it holds."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not is_all_done():
        # Halted first and asked then: a unit may be over before a question is answered.
        for process in workers if done() >= after else ():
            send(process, signal.SIGSTOP)
            if held := leased_by(process):
                return process, held
            send(process, signal.SIGCONT)
        time.sleep(0.002)
    return None


def is_all_done() -> bool:
    """Whether no unit of scoring is left."""
    return not Work.objects.filter(kind="score").exclude(state="done").exists()


def left() -> list[tuple[str, ...]]:
    """The work that is not done, and why."""
    rows = Work.objects.exclude(state="done")
    return list(rows.values_list("key", "state", "lease_owner", "error"))


def answering() -> int:
    """How many workers take messages."""
    return len(app.control.ping(timeout=0.5))


def nudge() -> None:
    """Do what beat does."""
    tasks.drain.delay()


@pytest.mark.django_db(transaction=True)
def test_a_worker_killed_in_the_middle_of_a_run_loses_no_score_and_doubles_none(
    run: Run, tmp_path: Path
) -> None:
    units = RECORDS // UNIT
    # The import has nudged already; whichever worker is up first would do it all alone.
    app.control.purge()
    assert Work.objects.filter(kind="score", state="ready").count() == units
    with worker("first", tmp_path) as first, worker("second", tmp_path) as second:
        assert wait_for(lambda: answering() == 2, seconds=25), (tmp_path / "first.log").read_text()
        nudge()
        stopped = stop_one_within_a_unit((first, second), after=units * 2 // 5)
        assert stopped, "all was done before a worker could be halted within a unit"
        victim, held = stopped
        heir = second if victim is first else first
        assert done() < units
        send(victim, signal.SIGKILL)
        killed_at = time.monotonic()
        victim.wait()

        def is_scored() -> bool:
            nudge()
            time.sleep(0.5)
            return Summary.objects.filter(run=run).exists()

        assert wait_for(is_scored, seconds=LEASE + PATIENCE), (done(), held, left())
        took = time.monotonic() - killed_at
        assert is_alive(heir.pid)
        assert wait_for(lambda: not left(), seconds=5), left()
    assert took <= LEASE + PATIENCE
    everything_is_scored_once(run)
    taken_over = Work.objects.filter(key__in=held)
    assert {row.state for row in taken_over} == {"done"}


def everything_is_scored_once(run: Run) -> None:
    """Every record has one score for each mode, of the first revision, and the sums are right."""
    assert InstanceRecord.objects.of_run(run.pk).count() == RECORDS
    scores = Score.objects.filter(record__run=run)
    rows = list(scores.values_list("record_id", "metric_id", "mode", "revision", "current"))
    assert len(rows) == len(set(rows)) == 2 * RECORDS
    assert Counter((revision, current) for *_rest, revision, current in rows) == {
        (1, True): 2 * RECORDS
    }
    assert scores.exclude(status="scored").count() == 0
    summary = Summary.objects.get(run=run)
    assert (summary.records, summary.scored, summary.missing) == (RECORDS, 20, 0)
    assert RunVector.objects.filter(run=run).count() == 2
    result = RunResult.objects.get(run=run, mode="strict", slice="", origin="computed")
    assert (result.value, result.n) == (9.5, 20)
