"""Eight dimensions are rated 0 to 3 with a reason each, N/A on one alone, and nothing sums them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Sequence

from academy.formats.neckbeard.dimensions import DIMENSIONS
from tests.acceptance._reviewing import questions, queue_number, submit, take
from tests.acceptance.base import Product, require
from tests.adjudication import example_suites as examples

SUITE = "rated@1"
TOLD = """
import json
from academy.models import Score
rows = Score.objects.filter(record__run__version__suite__slug="rated", mode="strict", current=True,
    record__run__kind="entrant").order_by("metric__ordinal")
print(json.dumps([[r.metric.key, r.status, r.value] for r in rows]))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """The form shows anchors, the truth and notes; half a form is refused; scores follow."""
    product.import_suite(examples.rated_suite(), "--as", SUITE)
    run = product.import_run(examples.answered_run(SUITE, examples.FIXTURE, 611))["runs"][0]["run"]
    product.add_person("rater", "reviewer")
    product.settle()
    browser = product.browser("rater")
    seat = take(browser, queue_number(browser, "ratings", SUITE))
    page = html.unescape(browser.get(seat).text)
    for dimension in DIMENSIONS:
        for anchor in dimension.anchors:
            require(anchor in page, f"the anchor {anchor!r} is not shown")
    require(examples.TRUTH in page and examples.NOTE in page, "truth or note is not shown")
    require("heron-5" not in page.lower(), "the model's name is shown")
    require(len(re.findall(r'value="na"', page)) == 1, "N/A is offered on other dimensions")
    names = questions(browser, seat)
    require(len(names) == len(DIMENSIONS), f"{len(names)} dimensions are asked")

    answers = {f"v-{name}": str(place % 4) for place, name in enumerate(names)}
    refused = browser.post(f"{seat}submit/", answers)
    told = refused.text.count("Give a reason.")
    require((refused.status, told) == (422, len(names)), f"without reasons: {told} complaints")
    forced = browser.post(f"{seat}submit/", {f"v-{names[0]}": "na", f"r-{names[0]}": "none"})
    require("Choose a verdict." in forced.text, "N/A was taken where it is not allowed")
    place = [one.key for one in DIMENSIONS].index("security_accessibility")
    answers[f"v-{names[place]}"] = "na"
    reasons = {f"r-{name}": f"because of {number}" for number, name in enumerate(names)}
    submit(browser, seat, {**answers, **reasons})
    product.settle()

    rows = json.loads(product.manage("shell", "-v", "0", "-c", TOLD))
    expected = [
        [one.key, "unscorable", None]
        if one.key == "security_accessibility"
        else [one.key, "scored", float(number % 4)]
        for number, one in enumerate(DIMENSIONS)
    ]
    require(rows == expected, f"the scores are {rows}")
    page = html.unescape(product.browser().get(f"/runs/{run}/").text)
    require(not re.search(r"composite|overall score|total score", page, re.IGNORECASE), "a sum")
    return f"{len(rows)} dimensions rated, one not applicable, no composite"
