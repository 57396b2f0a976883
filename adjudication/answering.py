"""The entrant answers a finding that people could not settle without them."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from academy import auditing
from academy.errors import AcademyError
from academy.models import Finding
from adjudication import entrants, resolving
from adjudication.finding_kind import ANSWERED, ASKED, FINDINGS, QUESTION
from adjudication.models import FindingAnswer, ReviewItem

LONGEST_ANSWER = 10_000


def item_of(finding: Finding) -> ReviewItem | None:
    """The item about a finding."""
    items = ReviewItem.objects.filter(finding=finding, queue__kind=FINDINGS)
    return items.select_related("queue").first()


@transaction.atomic
def answer(finding: Finding, *, text: str, by: Any) -> FindingAnswer:
    """Keep what the entrant says, and bring the item back to a person who has no part in it yet.

    Raises AcademyError for somebody who does not speak for the entrant, for a finding that waits
    for no answer, and without a text.
    """
    if not entrants.speaks_for(by, finding.run):
        raise AcademyError("Only those who entered the run answer for it.")
    locked = Finding.objects.select_for_update(of=("self",)).get(pk=finding.pk)
    item = item_of(locked)
    if locked.state != ASKED or item is None:
        raise AcademyError("This finding waits for no answer of yours.")
    if not text.strip():
        raise AcademyError("Write an answer.")
    if len(text) > LONGEST_ANSWER:
        raise AcademyError(
            f"The answer has {len(text):,} characters; at most {LONGEST_ANSWER:,} are kept."
        )
    made = FindingAnswer.objects.create(item=item, text=text.strip(), sent_by=by)
    Finding.objects.filter(pk=locked.pk).update(state=ANSWERED)
    auditing.note("finding.answer", f"finding:{locked.pk}", by=by)
    resolving.bring_back(item, keys=[QUESTION], reason="The entrant has answered.", by=by)
    return made
