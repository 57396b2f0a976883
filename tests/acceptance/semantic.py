"""Meaning is judged by people; what the program said stands beside it and is never overwritten."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence

from tests.acceptance._reviewing import choose, questions, queue_number, take
from tests.acceptance.base import Product, require
from tests.adjudication import example_suites as examples

TOLD = """
import json
from academy.models import Decision
rows = Decision.objects.filter(record__run__version__suite__format="doc_bridge").order_by("pk")
print(json.dumps([[r.record_id, r.criterion.key, r.source, r.state, r.value, r.current]
    for r in rows]))
"""
CLOSE = """
from academy import ending
from academy.models import Run
for run in Run.objects.filter(version__suite__format="doc_bridge", state="open"):
    ending.close_run(run, reason="all observations are there")
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """The automatic outcome is sealed before one's own verdict, shown after it, and stays."""
    product.import_suite(examples.judged_suite())
    product.import_run(examples.judged_run())
    product.manage("shell", "-v", "0", "-c", CLOSE)
    product.add_person("meaning", "reviewer")
    product.settle()
    before = stored(product)
    require(
        any(row[1] == "automatic-outcome" for row in before),
        "the program said nothing, so nothing was shown to be kept",
    )
    browser = product.browser("meaning")
    seat = take(browser, queue_number(browser, "criteria"))
    page = html.unescape(browser.get(seat).text)
    for label in ("Success", "Partial", "Incorrect", "Incomplete", "Blocked"):
        require(f">{label} " in page, f"the outcome {label} is not offered")
    require("What the program said" not in page, "the automatic outcome is shown too early")
    require("What the deterministic rubric gives" not in page, "the program's criterion is asked")
    asked = len(questions(browser, seat))
    choose(browser, seat, "incorrect", "the table shows another tide")
    pending = html.unescape(browser.get(seat).text)
    require("What the program said" not in pending, "the automatic outcome is shown while pending")
    product.settle()
    page = html.unescape(browser.get(seat).text)
    require("What the program said" in page, "the automatic outcome is not shown afterwards")
    require("never overwritten" in page, "the page does not say that it is kept")

    after = stored(product)
    kept = [row for row in after if row[2] != "person"]
    require(kept == before, "what the program, a judge or an import said has moved")
    people = [row for row in after if row[2] == "person"]
    require(len(people) == asked, f"{len(people)} verdicts of a person on {asked} questions")
    require({row[4] for row in people} == {"incorrect"}, "a person's outcome is another")
    return f"{asked} outcomes by a person, {len(before)} by program and judges unchanged"


def stored(product: Product) -> list[list[object]]:
    """All decisions on the records of the suite, the oldest first."""
    told = product.manage("shell", "-v", "0", "-c", TOLD)
    found: list[list[object]] = json.loads(told)
    return found
