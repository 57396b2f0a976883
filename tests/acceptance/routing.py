"""Routing is reviewed row by row: of the task itself, and of what a run recorded of its own."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

from tests.acceptance._reviewing import queue_number, submit, take
from tests.acceptance.base import Browser, Product, require
from tests.adjudication import example_suites as examples

SUITE = "routed@1"
STRANGE = {"task": ["gardening"], "run": ["plumbing"]}
ROW = re.compile(r"<tr data-crit.*?</tr>", re.DOTALL)
CHOICES = re.compile(r'name="(v-[^"]+)" value="([^"]+)"')
TOLD = """
import json
from academy.models import Decision
rows = Decision.objects.filter(source="person", person__username="router").order_by("pk")
print(json.dumps([[r.kind, r.criterion and r.criterion.key, r.part, r.state, r.value,
    r.criterion and r.criterion.extra.get("table_revision")] for r in rows]))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """28 rows and each name that is none, one button for the silent ones, the table's revision."""
    product.import_suite(examples.routed_suite(), "--as", SUITE)
    product.import_run(examples.routed_run(SUITE, 601))
    product.add_person("router", "reviewer")
    product.settle()
    browser = product.browser("router")
    queue = queue_number(browser, "routing", SUITE)
    told = [review(browser, queue, product) for _subject in range(2)]
    require(sorted(told) == ["run", "task"], f"the subjects are {told}")
    rows = decisions(product)
    of_task = [row for row in rows if row[0] == "task"]
    of_run = [row for row in rows if row[0] == "record"]
    require(
        len(of_task) == len(of_run) == examples.ROWS + 2,
        f"{len(of_task)} verdicts on the task's and {len(of_run)} on the run's routing",
    )
    revisions = {row[5] for row in rows if row[5]} | {
        row[4]["table_revision"] for row in rows if isinstance(row[4], dict)
    }
    require(len(revisions) == 1, f"the table's revision is stored as {revisions}")
    whole = [row[4]["verdict"] for row in rows if row[2] == "routing"]
    require(sorted(whole) == ["holds", "wrong"], f"the overall verdicts are {whole}")
    return f"{len(rows)} verdicts on two routings by table {revisions.pop()[:7]}"


def decisions(product: Product) -> list[list[object]]:
    """What the reviewer decided, as it is stored."""
    found: list[list[object]] = json.loads(product.manage("shell", "-v", "0", "-c", TOLD))
    return found


def review(browser: Browser, queue: int, product: Product) -> str:
    """Review one routing; gives what it is of."""
    seat = take(browser, queue)
    page = browser.get(seat).text
    text = html.unescape(page)
    subject = "run" if 'id="answer"' in page else "task"
    check_rows(page, text, subject)
    silent = mark_silent(browser, seat, page)
    fields = {}
    for row in ROW.findall(browser.get(seat).text):
        names = dict(CHOICES.findall(row))
        name = next(iter(names))[2:]
        if "checked" in row:
            fields[f"v-{name}"] = "rightly-left-out"
            continue
        strange = any(word in row for word in STRANGE[subject])
        fields[f"v-{name}"] = "not-in-the-table" if strange else "fits"
        fields[f"r-{name}"] = "no such row" if strange else ""
    require(len(fields) > silent, "no row but the silent ones was answered")
    overall = "wrong" if subject == "run" else "holds"
    missing = browser.post(f"{seat}submit/", fields)
    require(missing.status == 422, "it went in without the overall verdict")
    submit(browser, seat, {**fields, "v-overall": overall, "r-overall": "read row by row"})
    product.settle()
    return subject


def check_rows(page: str, text: str, subject: str) -> None:
    """The rows of one routing with what a machine noticed; nothing is chosen yet."""
    rows = ROW.findall(page)
    require(len(rows) == examples.ROWS + 1, f"the {subject} has {len(rows)} rows")
    require(not any("checked" in row for row in rows), "a row is answered already")
    for words in ("Selected", "Skipped with a reason", "Named nowhere", "none decides"):
        require(words in text, f"the {subject}'s page does not say {words!r}")
    require("Phase 5 is skipped while qa-methodology is selected" in text, "no warning of phases")
    require("no row of the table" in text, "an unknown name is not marked")
    if subject == "run":
        require("the task expects: selected" in text, "the expectation is not shown beside")
        require("no server was touched" in text, "the run's reason is not shown")
    else:
        require("no server code touched" in text, "the reason of a skip is not shown")


def mark_silent(browser: Browser, seat: str, page: str) -> int:
    """Press the button that answers all rows named nowhere; gives how many it says."""
    found = re.search(r'name="mark" value="([^"]+)".*?Mark all (\d+)', page, re.DOTALL)
    require(found, "there is no button for the rows named nowhere")
    assert found is not None
    answer = browser.post(f"{seat}draft/", {"revision": "0", "mark": found[1]})
    require(answer.status == 302, f"the button gives {answer.status}")
    marked = sum("checked" in row for row in ROW.findall(browser.get(seat).text))
    require(marked == int(found[2]), f"{marked} rows are marked, the button said {found[2]}")
    return marked
