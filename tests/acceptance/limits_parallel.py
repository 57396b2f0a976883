"""One attempt is left and ten uploads come at once: exactly one is accepted."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import psycopg

from tests.acceptance.base import BASE_DIR, PATIENCE, Product, require
from tests.acceptance.making import takeoff_run, takeoff_suite
from tests.project.processes import wait_for

UPLOADS = 10
WAITING = """
SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """Ten processes upload at the same instant; then our own failure gives the attempt back."""
    product.import_suite(takeoff_suite("limits", 1))
    product.add_person("limited", "entrant")
    product.manage("limits", "limits@1.0", "--account", "1")
    told = upload_at_once(product, UPLOADS)
    accepted = [report for report in told if report.get("runs")]
    require(len(accepted) == 1, f"{len(accepted)} of {UPLOADS} uploads were accepted: {told}")
    refused = {row["message"] for report in told for row in report["findings"] if not report["ok"]}
    require(len(refused) == 1, f"the refusals differ: {refused}")
    refusal = refused.pop()
    require("1 of 1 runs" in refusal, f"the refusal says: {refusal}")
    runs = stored(product)
    run = accepted[0]["runs"][0]["run"]
    require(runs == [run], f"accepted was run {run}, and stored are {runs}")
    page = product.browser().get("/suites/limits/1.0/").text
    require(f"run {run}," in page, "the page of the version does not list the run")

    product.manage("close_run", str(run), "--failed", "--reason", "our disk was full")
    again = upload_at_once(product, 2)
    accepted = [report for report in again if report.get("runs")]
    require(len(accepted) == 1, f"after our own failure: {again}")
    product.settle()
    return f"1 of {UPLOADS} accepted, the others told: {refusal}"


def upload_at_once(product: Product, number: int) -> list[dict[str, Any]]:
    """Import as many runs by as many processes, none of which gets on before all of them wait for
    the version, which is held from outside; gives their reports."""
    with ExitStack() as stack:
        holder = stack.enter_context(psycopg.connect(product.environment["DATABASE_URL"]))
        watcher = stack.enter_context(
            psycopg.connect(product.environment["DATABASE_URL"], autocommit=True)
        )
        holder.execute("SELECT id FROM academy_suiteversion FOR UPDATE")
        processes = [
            started(product, stack, place, 8000 + number * 100 + place) for place in range(number)
        ]

        def all_wait() -> bool:
            row = watcher.execute(WAITING).fetchone()
            return row is not None and row[0] >= number

        require(wait_for(all_wait, seconds=PATIENCE), f"{number} uploads did not come together")
        holder.rollback()
        return [json.loads(process.communicate(timeout=PATIENCE)[0]) for process in processes]


def started(product: Product, stack: ExitStack, place: int, number: int) -> subprocess.Popen[str]:
    """An upload of one run by the one account, on its way."""
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="academy-upload-"))
    for path, document in takeoff_run("limits", f"Limited {place}", {0: 100.0}, number).items():
        target = Path(folder, path)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(json.dumps(document))
    words = ["import_run", folder, "--version", "limits@1.0", "--by", "limited", "--json"]
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=BASE_DIR,
        env=product.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    stack.callback(process.kill)
    return process


def stored(product: Product) -> list[int]:
    """The entrants' runs that are stored."""
    script = (
        "from academy.models import Run; import json;"
        "runs = Run.objects.filter(version__suite__slug='limits', kind='entrant');"
        "print(json.dumps(list(runs.values_list('pk', flat=True))))"
    )
    found: list[int] = json.loads(product.manage("shell", "-v", "0", "-c", script))
    return found
