"""A key that two people measure, each alone, and a third settles: a new revision, sealed."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Sequence
from typing import Any

from tests.acceptance._reviewing import add_people, measure, queue_number, refuses, take
from tests.acceptance.base import Browser, Product, require
from tests.acceptance.making import takeoff_suite

SLUG, VERSION = "measured", "measured@1.0"
DRAWING = (
    "<svg xmlns='http://www.w3.org/2000/svg' width='60' height='40'>"
    "<rect x='5' y='5' width='50' height='30' fill='#888'/></svg>"
)
VALUES = ("731.25", "736.75")
SETTLED = "734.5"
OLD = 48_213.25


def check(_arguments: Sequence[str], product: Product) -> str:
    """Two measure by the pages and see nothing of each other; a third sees all and settles."""
    product.import_suite(suite())
    others = {"key-entrant": ["entrant", "reviewer"], "key-curator": ["curator"]}
    raters = {name: ["reviewer"] for name in ("rater-a", "rater-b", "rater-c")}
    add_people(product, {**raters, **others, "key-third": ["adjudicator"]})
    product.settle()
    curator = product.browser("key-curator")
    refused = curator.post(f"/review/keys/{SLUG}/1.0/", {"raters": "1"})
    require(refused.status == 422, f"one rater gives {refused.status}")
    made = curator.post(f"/review/keys/{SLUG}/1.0/", {"raters": "2"})
    require(made.status == 302, f"the queue was not made: {made.status}")
    queue = queue_number(product.browser("rater-a"), "answer keys", SLUG)
    require(refuses(product.browser("key-entrant"), queue), "somebody with entrant rights measures")
    for name, value in zip(("rater-a", "rater-b"), VALUES, strict=True):
        rate(product.browser(name), queue, value)
        product.settle()
    require(refuses(product.browser("rater-c"), queue), "a third rater gets the item")
    settle_key(product.browser("key-third"), queue)
    product.settle()
    told = json.loads(product.manage("passes", VERSION, "--json"))
    states = {row["number"]: row["state"] for row in told["passes"]}
    require(states == {1: "published", 2: "staged"}, f"settling led to the passes {states}")
    commitment = stored(product)
    product.manage("passes", VERSION, "--publish", "2", "--reason", "measured by people")
    product.settle()
    for who in ("", "rater-a", "key-entrant"):
        page = product.browser(who).get(f"/suites/{SLUG}/1.0/tasks/0/").text
        require(commitment[:12] in page, f"{who or 'a stranger'} does not see the commitment")
        require(SETTLED not in page, f"{who or 'a stranger'} sees the key")
    return f"revision 2 says {SETTLED}, fixed in public by {commitment[:12]}…"


def suite() -> dict[str, Any]:
    """A sealed suite of one task whose drawing came along."""
    files = takeoff_suite(SLUG, 1, area=OLD, sealed=True)
    files["0.task.json"]["planset"]["assetHash"] = hashlib.sha256(DRAWING.encode()).hexdigest()
    return {**files, "d-0.svg": DRAWING}


def rate(browser: Browser, queue: int, value: str) -> None:
    """Measure the item: the drawing is beside as a picture, and nobody's value is."""
    seat = take(browser, queue)
    page = browser.get(seat).text
    for known in (*VALUES, "48213", "48,213"):
        require(known not in re.sub(r"<svg.*?</svg>", "", page), f"a rater sees {known}")
    picture = re.search(rf"{seat}files/\d+\.png", page)
    require(picture, "the drawing is not beside the questions")
    assert picture is not None
    answer = browser.get(picture[0])
    require(answer.body[:4] == b"\x89PNG", f"the drawing gives {answer.status}")
    measure(browser, seat, value, "inner face of the walls")


def settle_key(browser: Browser, queue: int) -> None:
    """Settle the key with every value in view, and no name."""
    seat = take(browser, queue, role="third")
    page = html.unescape(browser.get(seat).text)
    for shown in (*VALUES, "inner face of the walls", "Spread", "Agreement"):
        require(shown in page, f"the third person does not see {shown!r}")
    require("rater-a" not in page and "rater-b" not in page, "the third person sees names")
    measure(browser, seat, SETTLED, "the middle of both, by centre lines")


def stored(product: Product) -> str:
    """The commitment of the new revision, once its content is as it should be."""
    printed = product.manage(
        "shell",
        "-v",
        "0",
        "-c",
        "import json; from academy.models import AnswerKey;"
        f"k = AnswerKey.objects.filter(task__version__suite__slug={SLUG!r}).latest('revision');"
        "print(json.dumps([k.revision, k.content, k.commitment]))",
    )
    revision, content, commitment = json.loads(printed.strip().splitlines()[-1])
    require(revision == 2, f"the newest revision is {revision}")
    require(content["quantities"][0]["value"] == float(SETTLED), "the settled value is not stored")
    spread = content["raters"][0]
    require(spread["values"] == [float(value) for value in VALUES], "the raters' values are lost")
    require(spread["by"] == ["rater 1", "rater 2"], f"raters are called {spread['by']}")
    require("rater-" not in json.dumps(content), "a key names a person")
    return str(commitment)
