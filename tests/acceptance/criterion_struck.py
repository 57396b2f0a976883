"""A reviewer calls a criterion defective, two people uphold it, and it counts for nobody."""

from __future__ import annotations

import html
import json
from collections.abc import Sequence
from typing import Any

from tests.acceptance._reviewing import (
    add_people,
    choose,
    questions,
    queue_number,
    rubric_suite,
    submit,
    take,
    unjudged_run,
)
from tests.acceptance.base import Browser, Product, require

SUITE = "struck@1"
WHY = "no screen ever shows this step"


def check(_arguments: Sequence[str], product: Product) -> str:
    """One verdict opens the item, two votes stage a pass, and both runs lose the criterion."""
    product.import_suite(rubric_suite(1), "--as", SUITE)
    runs = [
        product.import_run(unjudged_run(SUITE, name, 1, number))["runs"][0]["run"]
        for number, name in enumerate(("Struck one", "Struck two"), start=501)
    ]
    add_people(product, {name: ["reviewer"] for name in ("caller", "voter-1", "voter-2")})
    product.settle()
    caller = product.browser("caller")
    criteria = queue_number(caller, "criteria", SUITE)
    call_defective(caller, criteria, product)
    answer_met(caller, criteria, product)
    require(statuses(product, runs) == [["needs_human"], ["scored"]], "the call already decided")

    for name in ("voter-1", "voter-2"):
        voter = product.browser(name)
        seat = take(voter, queue_number(voter, "defective criteria", SUITE))
        page = html.unescape(voter.get(seat).text)
        require(WHY in page and "ambiguous" in page, "a voter does not see the reason")
        require("caller" not in page, "a voter sees who called the criterion defective")
        choose(voter, seat, "upheld", "read it twice")
        product.settle()
    told = json.loads(product.manage("passes", SUITE, "--json"))
    states = {row["number"]: row["state"] for row in told["passes"]}
    require(states == {1: "published", 2: "staged"}, f"the vote led to the passes {states}")
    version = "/suites/struck/1/"
    require("Struck criteria" not in product.browser().get(version).text, "struck before published")
    product.manage("passes", SUITE, "--publish", "2", "--reason", "people agreed")
    product.settle()
    page = html.unescape(product.browser().get(version).text)
    require("Struck criteria" in page and WHY in page, "the page does not tell what is struck")
    require("ambiguous" in page, "the page does not tell the fault")
    after = statuses(product, runs)
    require(after == [["scored"], ["scored"]], f"without the criterion the records are {after}")
    later = keep_struck(product)
    return f"struck in pass 2 for runs {runs[0]} and {runs[1]}, and still in pass {later}"


def call_defective(browser: Browser, queue: int, product: Product) -> None:
    """The first criterion is defective, the second is met."""
    seat = take(browser, queue)
    first, second = questions(browser, seat)
    answers = {f"v-{first}": "odd", f"f-{first}": "ambiguous", f"r-{first}": WHY}
    submit(browser, seat, {**answers, f"v-{second}": "yes", f"r-{second}": "it is closed"})
    product.settle()


def answer_met(browser: Browser, queue: int, product: Product) -> None:
    """The other run's criteria are met."""
    choose(browser, take(browser, queue), "yes", "seen")
    product.settle()


def statuses(product: Product, runs: Sequence[int]) -> list[list[str]]:
    """The states of the strict scores of each run, that with the defective call first."""
    found = []
    for run in runs:
        answer = product.browser().get(f"/runs/{run}/scores.json")
        require(answer.status == 200, f"the scores of run {run} give {answer.status}")
        rows: list[dict[str, Any]] = json.loads(answer.body)["rows"]
        found.append(sorted({row["status"] for row in rows if row["mode"] == "strict"}))
    return sorted(found)


def keep_struck(product: Product) -> int:
    """A later pass, staged for another reason, strikes it as well; gives its number."""
    script = (
        "from academy import passes, striking; from academy.models import *;"
        "v = SuiteVersion.objects.get(suite__slug='struck');"
        "c = Criterion.objects.filter(task__version=v).exclude(pk__in=passes.published_pass(v)"
        ".struck).order_by('pk').first();"
        "from django.contrib.auth import get_user_model as g; from django.utils import timezone;"
        "[Decision.objects.create(kind='criterion', criterion=c, source='person', value='upheld',"
        " person=p, made_at=timezone.now()) for p in g().objects.filter("
        "username__startswith='voter')];"
        "made = passes.stage(v, strike={c.pk}, reason='another one');"
        "print(made.number, len(made.struck))"
    )
    number, struck = product.manage("shell", "-v", "0", "-c", script).split()[-2:]
    require(struck == "2", f"pass {number} strikes {struck} criteria and not both")
    return int(number)
