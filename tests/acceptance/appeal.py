"""Appeals by the page: one has a verdict decided again, one a key corrected, one is dismissed."""

from __future__ import annotations

import html
import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.acceptance._reviewing import (
    add_people,
    choose,
    enter,
    queue_number,
    refuses,
    rubric_suite,
    take,
    unjudged_run,
)
from tests.acceptance.base import Browser, Product, require
from tests.acceptance.making import takeoff_run, takeoff_suite

RUBRICS, TAKEOFF = "appeal-steps@1", "appeal-areas@1.0"
BOARD = "appeal-areas-area-takeoff"


def check(_arguments: Sequence[str], product: Product) -> str:
    """The record decided again, the key revised for everybody, and a dismissal with its reason."""
    people = {"app-reviewer": ["reviewer"], "app-curator": ["curator"], "app-entrant": []}
    add_people(product, people | {name: ["adjudicator"] for name in ("app-judge", "app-third")})
    again = decided_again(product)
    board = corrected_key(product)
    return f"{again}; {board}"


def decided_again(product: Product) -> str:
    """A verdict is contested, upheld, and decided by a third person."""
    product.import_suite(rubric_suite(1), "--as", RUBRICS)
    run = product.import_run(unjudged_run(RUBRICS, "Contested", 1, 601))["runs"][0]["run"]
    enter(product, "app-entrant", "contested")
    product.settle()
    reviewer = product.browser("app-reviewer")
    queue = queue_number(reviewer, "criteria", RUBRICS)
    choose(reviewer, take(reviewer, queue), "no", "the step is missing")
    product.settle()
    entrant, judge = product.browser("app-entrant"), product.browser("app-judge")
    record = record_of(entrant, run)
    page = open_appeal(entrant, record, "The step is in the log.")
    require(refuses(reviewer, queue_number_or_none(reviewer, "appeals")), "a reviewer decides it")
    choose(
        judge,
        take(judge, queue_number(judge, "appeals", RUBRICS)),
        "redecide",
        "the log was not read",
    )
    product.settle()
    public = html.unescape(product.browser().get(page).text)
    require("the log was not read" in public, "the outcome is not public with its reason")
    require("The step is in the log." in public, "the appeal is not public")
    require(refuses(judge, queue, role="third"), "who decided the appeal decides the record too")
    third = product.browser("app-third")
    choose(third, take(third, queue, role="third"), "yes", "it is in the log")
    product.settle()
    require("was decided again" in product.browser().get(page).text, "the page knows no outcome")
    value = value_of(product, run)
    require(value == [1.0], f"after the appeal the record's credit is {value}")

    dismissed = open_appeal(entrant, record, "And it was quick.")
    judge_two = product.browser("app-third")
    require(
        refuses(judge_two, queue_number(judge_two, "appeals", RUBRICS)),
        "the third person decides it",
    )
    choose(
        judge,
        take(judge, queue_number(judge, "appeals", RUBRICS)),
        "dismissed",
        "speed is not asked",
    )
    product.settle()
    told = html.unescape(product.browser().get(dismissed).text)
    require("Dismissed." in told and "speed is not asked" in told, "the dismissal is not public")
    return f"run {run} went from not met to met"


def corrected_key(product: Product) -> str:
    """A wrong key is contested; everybody is scored again, and the board follows."""
    product.import_suite(takeoff_suite("appeal-areas", 1, area=50))
    product.import_run(takeoff_run("appeal-areas", "Flattering", {0: 50}, 9601))
    right = product.import_run(takeoff_run("appeal-areas", "Measuring", {0: 100}, 9602))
    run = right["runs"][0]["run"]
    enter(product, "app-entrant", "measuring")
    product.settle()
    before = ranks(product)
    entrant, judge = product.browser("app-entrant"), product.browser("app-judge")
    page = open_appeal(entrant, record_of(entrant, run), "The sheet says 100.")
    number = queue_number(judge, "appeal-areas, appeals")
    choose(judge, take(judge, number), "key", "the sheet does say 100")
    product.settle()
    curator = product.browser("app-curator")
    require("waits for the new key" in curator.get(page).text, "the appeal is closed too early")
    require(ranks(product) == before, "an appeal moved the board by itself")
    with tempfile.TemporaryDirectory(prefix="academy-keys-") as folder:
        document = {"taskId": "t-0", "quantities": [{"item": "t-0", "value": 100, "unit": "sf"}]}
        Path(folder, "t-0.groundtruth.json").write_text(json.dumps(document))
        product.manage("load_keys", TAKEOFF, folder, "--reason", "misread", "--json")
    early = curator.post(f"{page}pass/", {"pass": "1"})
    require(early.status == 422, f"a pass with the old key closes the appeal: {early.status}")
    named = curator.post(f"{page}pass/", {"pass": "2"})
    require(named.status == 302, f"naming the pass gives {named.status}")
    product.settle()
    product.manage("passes", TAKEOFF, "--publish", "2", "--reason", "the appeal was right")
    product.settle()
    after = ranks(product)
    require(before == {"Flattering": 1, "Measuring": 2}, f"before the appeal: {before}")
    require(after == {"Measuring": 1, "Flattering": 2}, f"after the appeal: {after}")
    public = html.unescape(product.browser().get(page).text)
    require("the sheet does say 100" in public and "pass 2" in public, "the page lacks the outcome")
    return f"the board went from {before} to {after}"


def queue_number_or_none(browser: Browser, title: str) -> int:
    """The number of a queue that may be closed to this person; 0 when it is not offered."""
    page = browser.get("/review/").text
    rows = re.findall(r"<tr.*?</tr>", page, re.DOTALL)
    found = [
        re.search(r"/review/queues/(\d+)/claim/", row)
        for row in rows
        if title in html.unescape(row)
    ]
    return next((int(match[1]) for match in found if match), 0)


def record_of(browser: Browser, run: int) -> str:
    """The address by which the only record of a run is contested, found by its entrant."""
    page = browser.get(f"/runs/{run}/").text
    record = re.search(r"/records/(\d+)/", page)
    require(record, f"run {run} shows no record")
    assert record is not None
    form = f"/review/records/{record[1]}/appeal/"
    require(form in browser.get(f"/records/{record[1]}/").text, "the record has no way to contest")
    return form


def open_appeal(browser: Browser, form: str, text: str) -> str:
    """Send the form; gives the page of the appeal. An empty form is refused."""
    empty = browser.post(form, {"text": "", "criterion": ""})
    require(empty.status == 422, f"an empty appeal gives {empty.status}")
    answer = browser.post(form, {"text": text, "criterion": ""})
    require(answer.status == 302, f"the appeal was not opened: {answer.status}")
    again = browser.post(form, {"text": text, "criterion": ""})
    require(again.status == 422, f"a second appeal against the same gives {again.status}")
    return answer.headers.get("Location", answer.headers.get("location", ""))


def value_of(product: Product, run: int) -> list[float]:
    """The credits of a run's records, strict."""
    answer = product.browser().get(f"/runs/{run}/scores.json")
    rows = json.loads(answer.body)["rows"]
    return sorted({row["credit"] for row in rows if row["mode"] == "strict"})


def ranks(product: Product) -> dict[str, int]:
    """Who has which rank on the board."""
    answer = product.browser().get(f"/boards/{BOARD}/standings.json")
    require(answer.status == 200, f"the board gives {answer.status}")
    return {row["name"]: row["rank"] for row in json.loads(answer.body)["standings"]}
