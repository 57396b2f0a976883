"""Equal scores share a rank; missing and incomplete entries have none, in both directions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.acceptance.base import Product, require
from tests.acceptance.making import judged_run, rubric_suite, takeoff_run, takeoff_suite

TASKS = 10


def check(_arguments: Sequence[str], product: Product) -> str:
    """Four entries on a board where more is better, and four where less is."""
    product.import_suite(rubric_suite(TASKS), "--as", "ties@1")
    entries: tuple[tuple[str, range, Sequence[int]], ...] = (
        ("First", range(TASKS), range(8)),
        ("Equal", range(TASKS), range(2, 10)),
        ("Silent", range(0), ()),
        ("Half", range(5), range(5)),
    )
    product.import_runs(
        *(
            judged_run("ties@1", name, tasks, passes, number)
            for number, (name, tasks, passes) in enumerate(entries)
        )
    )
    product.import_suite(takeoff_suite("areas", TASKS))
    answers = (
        ("First", dict.fromkeys(range(TASKS), 105.0)),
        ("Equal", dict.fromkeys(range(TASKS), 95.0)),
        ("Half", dict.fromkeys(range(5), 100.0)),
    )
    product.import_runs(
        *(takeoff_run("areas", name, areas, number) for number, (name, areas) in enumerate(answers))
    )
    product.settle()
    browser = product.browser()
    told = []
    for slug in ("ties-perfect-reference", "areas-area-takeoff"):
        answer = browser.get(f"/boards/{slug}/standings.json")
        require(answer.status == 200, f"/boards/{slug}/standings.json gives {answer.status}")
        document = json.loads(answer.body)
        told.append(check_board(document, browser.get(f"/boards/{slug}/").text))
    return "; ".join(told)


def check_board(document: dict[str, Any], page: str) -> str:
    """Ranks 1, 1, none, none; who has no rank comes last, with coverage and reason."""
    rows = document["standings"]
    ranks = {row["name"]: row["rank"] for row in rows}
    direction = document["metric"]["direction"]
    require(
        (ranks["First"], ranks["Equal"], ranks["Half"]) == (1, 1, None),
        f"direction {direction}: the ranks are {ranks}",
    )
    require(ranks.get("Silent") is None, "an entry without a value has a rank")
    order = [row["rank"] is None for row in rows]
    require(
        order == sorted(order), f"direction {direction}: an unranked entry stands before others"
    )
    half = next(row for row in rows if row["name"] == "Half")
    require(half["coverage"] == 0.5 and half["reason"], "the coverage or its reason is not told")
    require(half["reason"] in page, "the page does not say why an entry has no rank")
    first, equal = (next(r for r in rows if r["name"] == name) for name in ("First", "Equal"))
    require(first["shown"] == equal["shown"], "equal ranks show different scores")
    return f"direction {direction}: {ranks}"
