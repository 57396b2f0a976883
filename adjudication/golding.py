"""Gold: items whose right verdicts are known, mixed in unmarked to see how people decide."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import F

from academy.errors import AcademyError
from academy.models import InstanceRecord
from academy.querysets import has_role
from adjudication import choosing, kinds, seating, verdict_reading
from adjudication.calibration import GoldResult
from adjudication.models import Gold, Queue, ReviewItem, Seat
from adjudication.policies import read_policy
from adjudication.walking import Found, Wanted

# Nobody meets the record of an item twice, as gold and as another. The sum keeps the look-up at the
# item's seats, as in `walking`.
NEXT_GOLD = """
SELECT i.id, i.record_id FROM adjudication_reviewitem i
JOIN adjudication_gold known ON known.item_id = i.id AND known.retired_at IS NULL
WHERE i.queue_id = %(queue)s AND i.state = 'gold'
  AND NOT EXISTS (SELECT 1 FROM adjudication_reviewitem oi
                  JOIN adjudication_seat o ON o.item_id = oi.id
                  WHERE oi.record_id = i.record_id AND oi.queue_id = i.queue_id
                    AND o.holder_id + 0 = %(user)s)
  AND NOT EXISTS (SELECT 1 FROM adjudication_skip k
                  WHERE k.item_id = i.id AND k.user_id = %(user)s)
  AND NOT EXISTS (SELECT 1 FROM adjudication_appeal a
                  WHERE a.opened_by_id = %(user)s AND a.record_id = i.record_id)
ORDER BY i.id LIMIT 1
"""


def is_turn(wanted: Wanted) -> bool:
    """Whether the next item of this person is a gold one.

    One in each block of `gold_every` items, at a place of the block that is fixed for the person
    and the queue and cannot be guessed from outside.
    """
    every = read_policy(wanted.queue.policy).gold_every
    if not every or wanted.role != Seat.Role.REVIEWER or wanted.prefer is not None:
        return False
    block, place = divmod(wanted.place.taken, every)
    named = f"gold/1:{wanted.queue.pk}:{wanted.user.pk}:{block}".encode()
    return place == int.from_bytes(hashlib.sha256(named).digest()[:8]) % every


def claim_gold(wanted: Wanted) -> Found | None:
    """A seat of one's own at the next gold item; None when all were met."""
    with connection.cursor() as cursor:
        cursor.execute(NEXT_GOLD, {"queue": wanted.queue.pk, "user": wanted.user.pk})
        row = cursor.fetchone()
    if row is None:
        return None
    item = seating.lock_item(row[0])
    if is_retired(item):
        return None
    facts: dict[str, Any] = {
        "state": Seat.State.HELD,
        "held_at": wanted.at,
        "lease_until": wanted.until,
    }
    free = item.seats.filter(state=Seat.State.FREE).order_by("number").first()
    if free is not None:
        Seat.objects.filter(pk=free.pk).update(holder=wanted.user, **facts)
    else:
        free = seating.add_seat(item, holder=wanted.user, **facts)
    return Found(free.pk, item.pk, row[1], {})


@transaction.atomic
def add_gold(
    queue: Queue,
    record: InstanceRecord | int,
    verdicts: Mapping[str, Mapping[str, Any]],
    *,
    by: Any,
) -> ReviewItem:
    """Make a record a gold item of a queue, with its right verdicts; again, they are replaced.

    It never reaches a score: what the record itself needs is decided at its ordinary item. Raises
    AcademyError for a record of another version, verdicts that miss a question, and a gold item
    that was retired.
    """
    pk = record if isinstance(record, int) else record.pk
    found = InstanceRecord.objects.filter(pk=pk, run__version=queue.version_id).first()
    if found is None:
        raise AcademyError(f"There is no record {pk} of {queue.version}.")
    item = queue.items.filter(record=found, state=ReviewItem.State.GOLD).first()
    if item is None:
        item = ReviewItem(
            queue=queue, record=found, state=ReviewItem.State.GOLD, **chosen_like_others(queue)
        )
    elif is_retired(item):
        raise AcademyError(
            f"Record {pk} was retired as gold and does not come back: {item.gold.retired_because} "
            "Choose another record."
        )
    said = {key: dict(given) for key, given in verdicts.items() if given.get("state")}
    problems = {
        question.key: problem
        for question in kinds.kind_of(item).questions(item)
        if (problem := problem_of(question, said.get(question.key, {})))
    }
    if problems:
        listed = "; ".join(f"{key}: {text}" for key, text in problems.items())
        raise AcademyError(f"The right verdicts are not complete. {listed}")
    item.save()
    Gold.objects.update_or_create(item=item, defaults={"verdicts": said})
    seating.note("gold", item, by=by, queue=queue.pk)
    return item


def chosen_like_others(queue: Queue) -> dict[str, Any]:
    """Reason and chance of an ordinary item, so that a gold one does not show by its own."""
    others = queue.items.exclude(state=ReviewItem.State.GOLD).order_by("pk")
    found = others.values("chosen_because", "probability").first()
    return found or {"chosen_because": choosing.WAITS, "probability": 1.0}


def shown_state(item: ReviewItem) -> str:
    """The state that an item seems to have for those who may not know that it is gold.

    Where one reviewer decides an ordinary item it is resolved with their word; else others are yet
    to say theirs.
    """
    if item.state != ReviewItem.State.GOLD:
        return item.state
    is_alone = item.queue.seats_per_item == 1
    return str(ReviewItem.State.RESOLVED if is_alone else ReviewItem.State.OPEN)


def is_retired(item: ReviewItem) -> bool:
    """Whether a gold item is given to nobody any more."""
    return Gold.objects.filter(item=item, retired_at__isnull=False).exists()


@transaction.atomic
def retire_gold(item: ReviewItem, *, reason: str, by: Any, at: datetime | None = None) -> Gold:
    """Give a gold item to nobody any more; what was answered stays, and who holds it goes on.

    Raises AcademyError for anybody but a curator, without a reason, for an item that is not gold,
    and for one that is retired already.
    """
    if not has_role(by, "curator"):
        raise AcademyError("Only curators retire gold items.")
    if not reason.strip():
        raise AcademyError("Say why the gold item is retired.")
    # The item is locked as by a claim, so that none is given out once this is stored.
    seating.lock_item(item.pk)
    known = Gold.objects.filter(item=item).first()
    if known is None:
        raise AcademyError(f"Item {item.pk} is not a gold item.")
    if known.retired_at is not None:
        raise AcademyError(f"Item {item.pk} is retired already: {known.retired_because}")
    known.retired_at, known.retired_by = seating.now_or(at), by
    known.retired_because = reason.strip()
    known.save(update_fields=["retired_at", "retired_by", "retired_because"])
    seating.note("retire_gold", item, by=by, reason=known.retired_because)
    return known


@dataclass(frozen=True, slots=True)
class GoldUse:
    """A gold item with how many reviews of it count, and how many of them were right."""

    gold: Gold
    reviews: int
    right: int


def gold_in(queue: Queue) -> list[GoldUse]:
    """The gold items of a queue, those in use first, in two queries."""
    results: dict[int, list[GoldResult]] = {}
    for result in verdict_reading.gold_results(Seat.objects.filter(item__queue=queue)):
        results.setdefault(result.item, []).append(result)
    rows = Gold.objects.filter(item__queue=queue, item__state=ReviewItem.State.GOLD)
    return [
        GoldUse(
            gold,
            reviews=len(results.get(gold.item_id, ())),
            right=sum(one.is_right for one in results.get(gold.item_id, ())),
        )
        for gold in rows.select_related("item__record__task", "retired_by").order_by(
            F("retired_at").asc(nulls_first=True), "pk"
        )
    ]


def problem_of(question: Any, given: Mapping[str, Any]) -> str:
    """What is wrong with a right verdict; it needs no reason."""
    return str(question.problem({**given, "reason": given.get("reason") or "gold"}))


def gold_from(item: ReviewItem, *, by: Any) -> ReviewItem:
    """Make the record of a resolved item a gold one, by the verdicts on which it was resolved.

    Raises AcademyError for an item that is not resolved or not about a record.
    """
    if item.state != ReviewItem.State.RESOLVED or item.record is None:
        raise AcademyError("Only a resolved item about a record can become gold in one step.")
    said: dict[str, Any] = {}
    for seat in item.seats.filter(state=Seat.State.SUBMITTED).order_by("submitted_at", "pk"):
        if seat.role == Seat.Role.REVIEWER:
            said = {**seat.verdicts, **said}
    for seat in item.seats.filter(state=Seat.State.SUBMITTED, role=Seat.Role.THIRD).order_by("pk"):
        said |= seat.verdicts
    return add_gold(item.queue, item.record, said, by=by)
