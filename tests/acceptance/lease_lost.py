"""A sleeps past the lease, B decides, A sends: A's words are kept, B's count, both are noted."""

from __future__ import annotations

import html
import json
import time
from collections.abc import Sequence
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

SUITE = "leases@1"
LEASE = 2
OF_SLEEPER, OF_OTHER = "words of the sleeper", "words of the other"
SHORT_LEASE = (
    "from adjudication.models import Queue;"
    f"Queue.objects.filter(version__suite__slug='leases').update(lease_seconds={LEASE})"
)
TOLD = """
import json
from academy.models import AuditEvent, Decision
from adjudication.models import Draft, ExtraVerdict, ReviewItem
item = ReviewItem.objects.get(queue__version__suite__slug='leases', record__isnull=False)
said = lambda held: sorted({given['reason'] for given in held.values() if given.get('reason')})
acts = AuditEvent.objects.filter(details__item=item.pk, actor__isnull=False).order_by('pk')
print(json.dumps({
    'item': item.state,
    'seats': [[s.holder.username, s.state, said(s.verdicts)] for s in item.seats.all()],
    'extras': [[e.user.username, said(e.verdicts)] for e in ExtraVerdict.objects.filter(item=item)],
    'drafts': {d.user.username: said(d.content) for d in Draft.objects.filter(item=item)},
    'decisions': sorted({(r.person.username, r.reason) for r in
                         Decision.objects.filter(record=item.record)}),
    'acts': [[a.actor.username, a.act] for a in acts],
}))
"""


def check(_arguments: Sequence[str], product: Product) -> str:
    """No word is lost, none is written over, and only one of them counts."""
    product.import_suite(rubric_suite(1), "--as", SUITE)
    product.import_run(unjudged_run(SUITE, "Lease one", 1, 611))
    add_people(product, {"sleeper": ["reviewer"], "other": ["reviewer"]})
    product.settle()
    product.manage("shell", "-v", "0", "-c", SHORT_LEASE)
    sleeper, other = product.browser("sleeper"), product.browser("other")
    queue = queue_number(sleeper, "criteria", SUITE)
    slept = take(sleeper, queue)
    words = answers(sleeper, slept, OF_SLEEPER)
    sleeper.post(f"{slept}draft/", {"revision": "0", **words})
    require(refuses(other, queue), "an item was given away under its lease")
    told = html.unescape(other.get("/review/").text)
    require("held by" in told, "nobody is told that the item is held by somebody else")
    time.sleep(LEASE + 1)
    taken = take(other, queue)
    require(OF_SLEEPER not in html.unescape(other.get(taken).text), "the draft went to another")
    submit(other, taken, answers(other, taken, OF_OTHER))
    page = html.unescape(sleeper.get(slept).text)
    require(OF_SLEEPER in page, "the sleeper does not see their own words any more")
    submit(sleeper, slept, words)
    product.settle()
    judged(json.loads(product.manage("shell", "-v", "0", "-c", TOLD)))
    return "the draft is kept, the late verdict is extra, the other one counts, both in the trail"


def answers(browser: Browser, seat: str, reason: str) -> dict[str, str]:
    """A complete form."""
    found: dict[str, str] = {}
    for field in questions(browser, seat):
        found |= {f"v-{field}": "no", f"r-{field}": reason}
    return found


def judged(found: dict[str, Any]) -> None:
    """Hold the end against what was said."""
    require(found["item"] == "resolved", f"the item is {found['item']}")
    require(found["seats"] == [["other", "submitted", [OF_OTHER]]], f"seats: {found['seats']}")
    require(found["extras"] == [["sleeper", [OF_SLEEPER]]], f"extras: {found['extras']}")
    require(
        found["drafts"] == {"sleeper": [OF_SLEEPER], "other": [OF_OTHER]},
        f"drafts: {found['drafts']}",
    )
    require(found["decisions"] == [["other", OF_OTHER]], f"decisions: {found['decisions']}")
    for act in (
        ["sleeper", "review.extra"],
        ["other", "review.submit"],
        ["other", "review.decide"],
    ):
        require(act in found["acts"], f"the trail lacks {act}: {found['acts']}")
