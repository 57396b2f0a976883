"""Two people decide alone, a third where they differ; the record and its run follow."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tests.acceptance._reviewing import (
    add_people,
    questions,
    queue_number,
    refuses,
    rubric_suite,
    submit,
    take,
    unjudged_run,
)
from tests.acceptance.base import Browser, Product, require

SUITE = "thirds@1"
PEOPLE = {"first": ["reviewer"], "second": ["reviewer"], "third": ["adjudicator"]}
REASONS = {"first": "the window is open", "second": "the window is shut", "third": "it was shut"}
SECOND_SEATS = (
    "from adjudication.models import Queue; from adjudication import steering;"
    "q = Queue.objects.get(version__suite__slug='thirds', kind='criteria');"
    "steering.change_queue(q, by=None, seats_per_item=2)"
)
TOLD = """
import json
from academy.models import Decision, Score
from adjudication.models import ReviewItem, Seat
item = ReviewItem.objects.get(queue__version__suite__slug='thirds', record__isnull=False)
rows = Decision.objects.filter(record=item.record).order_by('pk')
score = Score.objects.get(record=item.record, mode='strict', current=True, metric__key='perfect')
print(json.dumps({
    'item': item.state,
    'score': [score.status, score.value],
    'seats': [[s.role, s.state] for s in item.seats.order_by('number')],
    'decisions': [
        [r.person.username, r.source, r.criterion.key, r.value, r.reason, r.current] for r in rows
    ],
}))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """Both verdicts stay, the third one stands on what differs, and the score is what stands."""
    product.import_suite(rubric_suite(1), "--as", SUITE)
    product.import_run(unjudged_run(SUITE, "Third one", 1, 601))
    add_people(product, PEOPLE)
    product.settle()
    product.manage("shell", "-v", "0", "-c", SECOND_SEATS)
    browsers = {name: product.browser(name) for name in PEOPLE}
    queue = queue_number(browsers["first"], "criteria", SUITE)
    decide(browsers["first"], take(browsers["first"], queue), "first", ("yes", "yes"))
    require(refuses(browsers["first"], queue), "the first reviewer got both seats of the item")
    seat = take(browsers["second"], queue)
    page = html.unescape(browsers["second"].get(seat).text)
    require(REASONS["first"] not in page, "the second reviewer reads what the first one said")
    decide(browsers["second"], seat, "second", ("yes", "no"))
    product.settle()
    found = state(product)
    require(found["item"] == "decided", f"after two who differ the item is {found['item']}")
    require(found["score"] == ["needs_human", None], f"it was scored already: {found['score']}")
    require(refuses(browsers["second"], queue, role="third"), "a reviewer may decide as the third")
    require(refuses(browsers["third"], queue), "the item is still offered to reviewers")
    decide_third(browsers["third"], queue)
    product.settle()
    return judged(state(product))


def decide(browser: Browser, seat: str, name: str, codes: Sequence[str]) -> None:
    """Answer both questions of a seat."""
    answers: dict[str, str] = {}
    for field, code in zip(questions(browser, seat), codes, strict=True):
        answers |= {f"v-{field}": code, f"r-{field}": REASONS[name]}
    submit(browser, seat, answers)


def decide_third(browser: Browser, queue: int) -> None:
    """Read both verdicts without their names, and decide where they differ."""
    seat = take(browser, queue, role="third")
    page = html.unescape(browser.get(seat).text)
    for name in ("first", "second"):
        require(REASONS[name] in page, f"the third person does not see what the {name} one said")
        require(f">{name}<" not in page, f"the third person sees the name of the {name} one")
    fields = questions(browser, seat)
    submit(browser, seat, {f"v-{fields[-1]}": "no", f"r-{fields[-1]}": REASONS["third"]})


def state(product: Product) -> dict[str, Any]:
    """What became of the item."""
    found: dict[str, Any] = json.loads(product.manage("shell", "-v", "0", "-c", TOLD))
    return found


def judged(found: Mapping[str, Any]) -> str:
    """Hold the end against what was said."""
    expected = [
        ["first", "person", "R1", True, REASONS["first"], True],
        ["first", "person", "R2", True, REASONS["first"], True],
        ["second", "person", "R1", True, REASONS["second"], True],
        ["second", "person", "R2", False, REASONS["second"], True],
        ["third", "resolution", "R2", False, REASONS["third"], True],
    ]
    require(sorted(found["decisions"]) == sorted(expected), f"decisions: {found['decisions']}")
    seats = [["reviewer", "submitted"], ["reviewer", "submitted"], ["third", "submitted"]]
    require(found["seats"] == seats, f"seats: {found['seats']}")
    require(found["item"] == "resolved", f"the item is {found['item']}")
    require(found["score"] == ["scored", 0.0], f"the record is {found['score']}")
    return "two verdicts kept, the third stands on the one that differs, the record follows"
