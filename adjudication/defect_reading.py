"""Criteria that reviewers call defective: how many say so, and what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import BooleanField, Count, F, Func, Q
from django.db.models.functions import Coalesce

from academy.models import Criterion, Decision, ScoringPass
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.verdict_reading import ALL_IN

HAS_DEFECTIVE = Func(
    F("verdicts"),
    template="%(expressions)s @? '$.*.state ? (@ == \"defective\")'",
    output_field=BooleanField(),
)


@dataclass(frozen=True, slots=True)
class Vote:
    """The item in which people decide about a criterion: its state, and what came of it."""

    queue: int
    state: str
    votes: int
    outcome: str


@dataclass(frozen=True, slots=True)
class Defect:
    """A criterion that reviewers called defective: by how many, for which faults, and the vote.

    `struck_in` is the number of the pass that leaves the criterion out. What a held-out task asks
    is not told.
    """

    asked: str
    task: str
    people: int
    items: int
    faults: tuple[tuple[str, int], ...]
    vote: Vote | None
    struck_in: int | None
    is_staged: bool


def defects(queue: Queue, *, with_open: bool) -> list[Defect]:
    """Criteria called defective, those named by most people first. Reviews of items of which seats
    are still open are counted only `with_open`."""
    seats = Seat.objects.alias(is_defective=HAS_DEFECTIVE).filter(
        ~Q(item__state=ReviewItem.State.GOLD),
        is_defective=True,
        item__queue=queue,
        state=Seat.State.SUBMITTED,
    )
    if not with_open:
        seats = seats.filter(item__state__in=ALL_IN)
    rows = seats.order_by("pk").values_list(
        "item_id", "holder_id", Coalesce("item__record__task_id", "item__task_id"), "verdicts"
    )
    called: dict[tuple[int, str], list[tuple[int, int, str]]] = defaultdict(list)
    for item, holder, task, verdicts in rows:
        for key, given in verdicts.items():
            if given.get("state") == "defective":
                called[(task, key)].append((item, holder, given.get("fault", "")))
    criteria = Criterion.objects.filter(
        task_id__in={task for task, _key in called}, key__in={key for _task, key in called}
    ).select_related("task")
    found = [row for row in criteria.order_by("pk") if (row.task_id, row.key) in called]
    votes, struck = _votes(found), _struck(queue)
    made = [_defect(row, called[(row.task_id, row.key)], votes, struck) for row in found]
    return sorted(made, key=lambda one: (-one.people, -one.items, one.task, one.asked))


def _defect(
    row: Criterion,
    called: list[tuple[int, int, str]],
    votes: Mapping[int, Vote],
    struck: Mapping[int, tuple[int, bool]],
) -> Defect:
    faults: dict[str, int] = defaultdict(int)
    for _item, _holder, fault in called:
        faults[fault or "not named"] += 1
    number, is_staged = struck.get(row.pk, (None, False))
    holdout = row.task.holdout
    return Defect(
        asked=f"held-out {row.digest[:8]}" if holdout else row.text,
        task="" if holdout else row.task.external_id,
        people=len({holder for _item, holder, _fault in called}),
        items=len({item for item, _holder, _fault in called}),
        faults=tuple(sorted(faults.items(), key=lambda one: (-one[1], one[0]))),
        vote=votes.get(row.pk),
        struck_in=number,
        is_staged=is_staged,
    )


def _votes(criteria: Iterable[Criterion]) -> dict[int, Vote]:
    held = list(criteria)
    outcomes: dict[int | None, str] = {}
    decided = Decision.objects.filter(
        kind=Decision.Kind.CRITERION, criterion__in=held, current=True, state="value"
    )
    # Read in this order, a resolution replaces what persons said.
    for criterion, value in decided.order_by("source", "pk").values_list("criterion_id", "value"):
        outcomes[criterion] = str(value)
    items = ReviewItem.objects.filter(criterion__in=held, record=None, appeal=None).annotate(
        votes=Count("seats", filter=Q(seats__state=Seat.State.SUBMITTED))
    )
    return {
        item.criterion_id: Vote(
            queue=item.queue_id,
            state=item.get_state_display(),
            votes=item.votes,
            outcome=outcomes.get(item.criterion_id, "")
            if item.state == ReviewItem.State.RESOLVED
            else "",
        )
        for item in items.order_by("pk")
        if item.criterion_id is not None
    }


def _struck(queue: Queue) -> dict[int, tuple[int, bool]]:
    """By criterion the published or staged pass in which it is struck."""
    passes = ScoringPass.objects.filter(
        version_id=queue.version_id,
        state__in=(ScoringPass.State.PUBLISHED, ScoringPass.State.STAGED),
    ).order_by("-number")
    found: dict[int, tuple[int, bool]] = {}
    for row in passes:
        for criterion in row.struck:
            found[criterion] = row.number, row.state == ScoringPass.State.STAGED
    return found
