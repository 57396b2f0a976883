"""A plan wants 288 executions; 16 pilot observations come in four shuffled pieces, twice."""

from __future__ import annotations

import json
import os
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.acceptance.base import Failed, Product, require

PIECES = 4


def check(arguments: Sequence[str], product: Product) -> str:
    """DATA is the folder of the published study; the environment may name it instead."""
    folder = data_folder(arguments)
    suite = folder / "task-suite-v1.json"
    product.manage("import_suite", str(suite), "--as", "study@1", "--publish", "--json")
    full = json.loads(product.manage("plan", "study@1", "--json"))
    require(
        (full["wanted"], len(full["executions"]), full["status"]["missing"]) == (288, 288, 288),
        f"the full plan wants {full['wanted']}, of which {full['status']['missing']} are missing",
    )
    refused = json.loads(product.manage("plan", "study@1", "--sample", "7", "--json", status=1))
    require(refused["ok"] is False, "a sample of 7 was not refused")

    import_pilot(product, folder)
    ledger = json.loads((folder / "phase4-public-pilot-ledger-v1.json").read_text())
    observations = ledger["observations"]
    require(len(observations) == 16, f"the ledger holds {len(observations)} observations")
    shuffled = random.Random(288).sample(observations, len(observations))
    pieces = [shuffled[place::PIECES] for place in range(PIECES)]
    counts = []
    for _time in range(2):
        for piece in pieces:
            product.import_run({"observations.jsonl": piece}, "--version", "pilot@1")
        told = json.loads(product.manage("plan", "pilot@1", "--json"))
        counts.append({n: told["status"][n] for n in ("wanted", "arrived", "missing", "surplus")})
    require(counts[0] == counts[1], f"loading twice changed the counts: {counts}")
    require(counts[0]["arrived"] == 16, f"{counts[0]['arrived']} of 16 observations arrived")
    page = product.browser().get("/suites/pilot/1/").text
    require("This is a pilot, not the full study." in page, "the page does not call it a pilot")
    product.settle()
    return f"288 wanted; pilot {counts[0]}, the same after loading twice"


def data_folder(arguments: Sequence[str]) -> Path:
    """The folder that holds the study's published files."""
    named = arguments[0] if arguments else os.environ.get("ACADEMY_CONFORMANCE_DATA", "")
    for folder in (Path(named), Path(named, "docbridge")) if named else ():
        if (folder / "task-suite-v1.json").exists():
            return folder
    raise Failed("name the folder of the study's files, or set ACADEMY_CONFORMANCE_DATA")


def import_pilot(product: Product, folder: Path) -> None:
    """The pilot's suite together with its run plan."""
    with tempfile.TemporaryDirectory(prefix="academy-pilot-") as place:
        for name in ("task-suite", "run-plan"):
            document: Any = folder / f"phase4-public-pilot-{name}-v1.json"
            Path(place, document.name).write_bytes(document.read_bytes())
        product.manage("import_suite", place, "--as", "pilot@1", "--publish", "--json")
