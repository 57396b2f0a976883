"""A planted wrong key is corrected: staged, compared, published; the old pass still answers."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.acceptance.base import Product, require
from tests.acceptance.making import takeoff_run, takeoff_suite

SLUG, VERSION, BOARD = "wrong-key", "wrong-key@1.0", "wrong-key-area-takeoff"
TASKS = 3


def check(_arguments: Sequence[str], product: Product) -> str:
    """The board before, the staged difference, the board after, and both passes of one run."""
    product.import_suite(takeoff_suite(SLUG, TASKS, area=50))
    # Whoever measures right looks wrong as long as the keys say 50 instead of 100.
    flatterer = product.import_run(takeoff_run(SLUG, "Flatterer", areas(50), 9001))
    product.import_run(takeoff_run(SLUG, "Upright", areas(100), 9002))
    product.settle()
    before = ranks(product)
    require(
        before == {"Flatterer": 1, "Upright": 2}, f"before the correction the board is {before}"
    )

    correct(product)
    product.settle()
    require(ranks(product) == before, "a staged pass changed the board")
    told = json.loads(product.manage("passes", VERSION, "--diff", "2", "--json"))
    names = [item["task"] for item in told["items"]]
    require(names == [f"t-{n}" for n in range(TASKS)], f"the difference names {names}")
    require("answer key revision 1 to 2" in told["items"][0]["reasons"], "the reason is not told")
    moved = {row["name"]: (row["rank_before"], row["rank"]) for row in told["boards"][0]["moved"]}
    require(moved == {"Upright": (2, 1), "Flatterer": (1, 2)}, f"who would move: {moved}")

    product.manage("passes", VERSION, "--publish", "2", "--reason", "the keys were misread")
    product.settle()
    after = ranks(product)
    require(after == {"Upright": 1, "Flatterer": 2}, f"after the correction the board is {after}")
    page = f"/runs/{flatterer['runs'][0]['run']}/"
    browser = product.browser()
    old, new = (browser.get(f"{page}?pass={number}").text for number in (1, 2))
    require("pass 1, which is retired" in old, "the old pass does not answer on the run's page")
    require("which is retired" not in new, "the new pass is not the published one")
    listed = browser.get(f"/suites/{SLUG}/1.0/passes/").text
    require("Pass 1" in listed and "Pass 2" in listed, "the page of passes lacks one")
    return f"{before} became {after}; pass 1 still answers at {page}?pass=1"


def areas(value: float) -> dict[int, float]:
    """Every task answered by one area."""
    return dict.fromkeys(range(TASKS), value)


def correct(product: Product) -> None:
    """Load the right keys as a folder of held-out files."""
    with tempfile.TemporaryDirectory(prefix="academy-keys-") as folder:
        for place in range(TASKS):
            quantity = {"item": f"t-{place}", "value": 100, "unit": "sf"}
            document = {"taskId": f"t-{place}", "quantities": [quantity]}
            Path(folder, f"t-{place}.groundtruth.json").write_text(json.dumps(document))
        words = ("load_keys", VERSION, folder, "--reason", "misread", "--json")
        report: dict[str, Any] = json.loads(product.manage(*words))
    require(
        report["pass"] == {"number": 2, "state": "staged"},
        f"the corrected keys led to {report['pass']} and not to a staged pass",
    )


def ranks(product: Product) -> dict[str, Any]:
    """Who has which rank on the board."""
    answer = product.browser().get(f"/boards/{BOARD}/standings.json")
    require(answer.status == 200, f"the board gives {answer.status}")
    return {row["name"]: row["rank"] for row in json.loads(answer.body)["standings"]}
