"""No ranked version is published before null, shotgun and oracle came out as they must."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.acceptance.base import Product, require
from tests.acceptance.making import rubric_suite, takeoff_suite

TASKS = 3


def check(_arguments: Sequence[str], product: Product) -> str:
    """A sound suite, one whose bar a blind guess passes, and one that people decide."""
    report = product.import_suite(takeoff_suite("gate-sound", TASKS))
    require(report["suites"][0]["state"] == "published", "a sound suite was not published")
    told = json.loads(product.manage("gate", "gate-sound@1.0", "--json"))
    require(told["ok"] and set(told["runs"]) == {"null", "shotgun", "oracle"}, f"gate: {told}")
    product.settle()
    board = product.browser().get("/boards/gate-sound-area-takeoff/standings.json")
    kinds = {row["kind"]: row["score"] for row in json.loads(board.body)["baselines"]}
    require(
        kinds == {"null": 100, "shotgun": 100, "oracle": 0}, f"the board's baselines are {kinds}"
    )

    loose = takeoff_suite("gate-loose", TASKS)
    for path, document in loose.items():
        if path.endswith(".task.json"):
            document["metric"] = {"type": "ape", "tolerance": 100}
    report = product.import_suite(loose)
    suite = report["suites"][0]
    require(suite["state"] == "draft", "a suite that blind guesses pass was published")
    for place in range(TASKS):
        require(f"t-{place} (null" in suite["note"], f"the note does not list t-{place}")
    printed = product.manage("gate", "gate-loose@1.0", "--json", status=1)
    listed = {item["task"] for item in json.loads(printed)["items"]}
    require(listed == {f"t-{place}" for place in range(TASKS)}, f"the gate lists {listed}")

    report = product.import_suite(rubric_suite(2), "--as", "gate-people@1")
    require(report["suites"][0]["state"] == "published", "a suite that people decide is a draft")
    return f"published with baselines {kinds}; refused {sorted(listed)}"
