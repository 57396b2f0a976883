"""One attempt is left and ten uploads come at once: exactly one is accepted."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.acceptance.base import Product, require
from tests.acceptance.making import takeoff_suite

UPLOADS = 10
SCRIPT = """
import json, threading
from concurrent.futures import ThreadPoolExecutor
from django.contrib.auth import get_user_model
from django.db import connection, connections
from academy.errors import AcademyError
from academy.models import Run, Submission, SuiteVersion
from tests.acceptance.making import takeoff_run
from tests import factories as make

account = get_user_model().objects.get(username="limited")
version = SuiteVersion.objects.get(suite__slug="limits")
documents = [
    takeoff_run("limits", f"Limited {{i}}", {{0: 100.0 + i}}, 8000 + i) for i in range({n})
]
start = threading.Barrier({n})

def upload(number):
    try:
        connection.ensure_connection()
        start.wait(60)
        make.record_files(documents[number], version, account=account)
    except AcademyError as error:
        return str(error)
    finally:
        connections.close_all()
    return "accepted"

connections.close_all()
with ThreadPoolExecutor({n}) as pool:
    told = list(pool.map(upload, range({n})))
runs = Run.objects.filter(version=version, kind="entrant")
print(json.dumps({{"told": told, "runs": list(runs.values_list("pk", flat=True)),
                  "submissions": Submission.objects.filter(account=account).count()}}))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """Ten threads, each with its own connection; then our own failure gives the attempt back."""
    product.import_suite(takeoff_suite("limits", 1))
    product.add_person("limited", "entrant")
    product.manage("limits", "limits@1.0", "--account", "1")
    product.environment["ACADEMY_POOL"] = str(UPLOADS + 2)
    found = json.loads(product.manage("shell", "-v", "0", "-c", SCRIPT.format(n=UPLOADS)))
    accepted = found["told"].count("accepted")
    require(accepted == 1, f"{accepted} of {UPLOADS} uploads were accepted")
    require(len(found["runs"]) == 1, f"{len(found['runs'])} runs are stored")
    require(found["submissions"] == 1, f"{found['submissions']} submissions are stored")
    refused = next(text for text in found["told"] if text != "accepted")
    require("1 of 1 runs" in refused, f"the refusal says: {refused}")
    product.manage(
        "shell",
        "-c",
        "from academy import ending; from academy.models import Run;"
        f"ending.fail_run(Run.objects.get(pk={found['runs'][0]}), reason='our disk was full')",
    )
    again = json.loads(product.manage("shell", "-v", "0", "-c", SCRIPT.format(n=2)))
    require(again["told"].count("accepted") == 1, f"after our own failure: {again['told']}")
    return f"1 of {UPLOADS} accepted, the others told: {refused}"
