"""Lists of items, and one item with all that was said of it, for those who run or watch review."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.core.paginator import Paginator
from django.urls import reverse

from academy import rasterising
from academy.querysets import has_role
from adjudication import bench, deciding, evidence, forms, golding, kinds, opening
from adjudication.masking import Mask
from adjudication.models import Gold, Queue, ReviewItem, Seat

SIZE = 50
SUBJECTS = tuple(name.removeprefix("item__") for name in bench.SUBJECTS)
SHOWN_STATES = ("open", "decided", "resolved", "closed", "gold")
SEALED_STATES = ("open", "decided", "gold")
HANDED_IN = (Seat.State.SUBMITTED, Seat.State.WITHDRAWN)


def queue_context(queue: Queue, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """The items of a queue in one state, or all; without gold for whoever may meet it."""
    items = queue.items.select_related(*SUBJECTS).order_by("priority", "pk")
    counts = dict(queue.tallies.values_list("state", "number"))
    if may_meet_gold(user):
        items = items.exclude(state=ReviewItem.State.GOLD)
        counts.pop(ReviewItem.State.GOLD, None)
    state = query.get("state", "")
    state = state if state in SHOWN_STATES else ""
    page = Paginator(items.filter(state=state) if state else items, SIZE).get_page(
        query.get("page", "1")
    )
    rows = [{"item": item, "name": opening.name_of(item)} for item in page.object_list]
    return {
        "queue": queue,
        "kind": kinds.KINDS.get(queue.kind),
        "guideline": queue.guidelines.order_by("-revision").first(),
        "states": [(name, counts.get(name, 0)) for name in SHOWN_STATES if counts.get(name)],
        "state": state,
        "page": page,
        "items": rows,
    }


def may_meet_gold(user: Any) -> bool:
    """Whether somebody takes items, so that a page must not tell which are gold."""
    return has_role(user, "reviewer", "adjudicator")


def item_context(item: ReviewItem, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """The evidence without what is sealed, and what each seat said unless it is sealed too."""
    is_sealed = is_sealed_for(item, user)
    task = opening.subject_task(item)
    reads_gold = has_role(user, "curator")
    # What a held-out task asks is for curators, and for who holds a seat of it.
    is_held_out = task is not None and task.holdout and not reads_gold
    if is_held_out:
        task = None
    shown = {"has_record": False, "mask": None}
    return {
        **(shown if is_held_out else shown_of(item, query, is_sealed=is_sealed)),
        "item": item,
        "item_name": opening.name_of(item),
        "state": ReviewItem.State(
            golding.shown_state(item) if may_meet_gold(user) else item.state
        ).label,
        "queue": item.queue,
        "kind": kinds.KINDS.get(item.queue.kind),
        "task": task,
        "files": [] if task is None else rasterising.shown(task.assets.all()),
        "is_sealed": is_sealed,
        "gold": gold_of(item) if reads_gold else None,
        "seats": [] if is_sealed or not kinds.reads_answers(item.queue, user) else seats_of(item),
        "answers_sealed": not kinds.reads_answers(item.queue, user),
        "judged": [] if is_sealed else judged_rows(item),
        "extras": [] if is_sealed else list(item.extras.select_related("user").order_by("pk")),
        "skips": list(item.skips.select_related("user").order_by("at", "pk")),
    }


def gold_of(item: ReviewItem) -> Gold | None:
    """What makes an item gold, with its retirement; None for any other."""
    found: Gold | None = Gold.objects.filter(item=item).select_related("retired_by").first()
    return found


def is_sealed_for(item: ReviewItem, user: Any) -> bool:
    """Whether what others said is sealed: the item is undecided and this person could still decide.

    Whoever has handed in a seat that counts has said their part, and an auditor never does.
    """
    if item.state not in SEALED_STATES or not has_role(user, "reviewer", "adjudicator"):
        return False
    return not item.seats.filter(holder=user, state__in=HANDED_IN).exists()


def shown_of(item: ReviewItem, query: Mapping[str, str], *, is_sealed: bool) -> dict[str, Any]:
    """Answer and steps; names are masked for who could still decide."""
    if opening.subject_record(item) is None:
        return {"has_record": False, "mask": None}
    mask = evidence.mask_of(item) if is_sealed else Mask.of(())
    url = reverse("adjudication:item", args=[item.pk])
    return {
        **evidence.steps_of(item, query, url=url, mask=mask),
        "record": opening.subject_record(item),
        "has_record": True,
    }


def seats_of(item: ReviewItem) -> list[dict[str, Any]]:
    """Each seat with its holder and the answers it gave."""
    questions = deciding.questions_of(item)
    return [
        {
            "seat": seat,
            "answers": [
                {
                    "question": question,
                    "words": forms.words_for(question, seat.verdicts[question.key]),
                    "reason": seat.verdicts[question.key].get("reason", ""),
                }
                for question in questions
                if seat.state in HANDED_IN and question.key in seat.verdicts
            ],
        }
        for seat in item.seats.select_related("holder", "guideline").order_by("number")
    ]


def judged_rows(item: ReviewItem) -> list[Any]:
    """What judges and checks said, in the order of the criteria."""
    return [row for listed in bench.judged_of(item).values() for row in listed]
