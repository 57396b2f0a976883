"""A run is carried to a corrected version: same records, no attempt, decisions where they fit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.academy.formats import mypcbench_making as rubrics
from tests.acceptance.base import Product, require


def suite(first: str, weight: float) -> dict[str, Any]:
    """Two rubric tasks; the first criterion and the weights change between editions."""
    listed = [
        rubrics.task(
            f"q-{place}",
            grading={
                "type": "llm_judge",
                "rubrics": [
                    rubrics.rubric(first if place == 0 else "Opens it", weight),
                    rubrics.rubric("Closes it", 1 - weight),
                ],
            },
        )
        for place in range(2)
    ]
    return {rubrics.BUCKET: listed}


def run() -> dict[str, Any]:
    """A run on the first edition, every criterion judged."""
    header = {
        "academy_run": "1.0",
        "suite": "carry@1",
        "run_id": "carried",
        "entrant": {"name": "Carried"},
    }
    lines = [
        {
            "task": f"q-{place}",
            "status": "answered",
            "answer": "done",
            "decisions": [
                {"criterion": f"R{n}", "value": True, "source": "judge", "author": "example-judge"}
                for n in (1, 2)
            ],
        }
        for place in range(2)
    ]
    return {"run.jsonl": [header, *lines]}


def check(_arguments: Sequence[str], product: Product) -> str:
    """Other weights, one other criterion; the page says where it ran and what judges it."""
    product.import_suite(suite("Opens it", 0.5), "--as", "carry@1")
    source = product.import_run(run())["runs"][0]["run"]
    product.settle()
    product.import_suite(suite("Opens it with the key", 0.75), "--as", "carry@2")
    words = ("carry_run", str(source), "--to", "carry@2", "--reason", "a clearer text", "--json")
    told = json.loads(product.manage(*words))["carried"][0]
    product.settle()
    require((told["records"], told["decisions"]) == (2, 3), f"what came along: {told}")
    require(told["criteria_to_decide_again"] == ["q-0:R1"], f"to be decided again: {told}")
    again = json.loads(product.manage(*words))["carried"][0]
    require((again["run"], again["is_new"]) == (told["run"], False), "carried twice is two runs")
    page = product.browser().get(f"/runs/{told['run']}/").text
    require("Run on carry@1, judged under carry@2." in page, "the page does not say where it ran")
    old = product.browser().get(f"/runs/{source}/").text
    require("judged under" not in old, "the first run changed")
    return (
        f"run {source} on carry@1 is run {told['run']} under carry@2; {told['decisions']} decisions"
    )
