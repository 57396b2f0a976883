"""What becomes of an item once its seats are in: resolved, or decided by a third person.

Seats, items and bookmarks are locked in this order everywhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from academy import deciding as core
from academy import work
from academy.errors import AcademyError
from academy.models import Decision
from adjudication import choosing, conflicts, judges, kinds, seating
from adjudication.models import ReviewItem, Seat, Skip

Said = tuple[str, Any]
MOST_SECOND_SEATS = 2


def said_of(given: Mapping[str, Any]) -> Said:
    """What must be the same for two verdicts to agree, whatever their reasons."""
    return str(given.get("state", "")), given.get("value")


def counted_seats(item: ReviewItem) -> list[Seat]:
    """The seats of reviewers that count: all but those that were withdrawn."""
    seats = item.seats.filter(role=Seat.Role.REVIEWER).exclude(state=Seat.State.WITHDRAWN)
    return list(seats.select_related("holder").order_by("number"))


def differing(seats: Sequence[Seat]) -> list[str]:
    """The questions on which submitted seats say different things, in the order they were asked."""
    keys = dict.fromkeys(key for seat in seats for key in seat.verdicts)
    return [
        key for key in keys if len({_hashable(seat.verdicts.get(key, {})) for seat in seats}) > 1
    ]


def _hashable(given: Mapping[str, Any]) -> tuple[str, str]:
    state, value = said_of(given)
    return state, repr(value)


def disputed(item: ReviewItem) -> list[str]:
    """The questions a third person has to decide; the others they may reopen with a reason.

    What an appeal or an escalation contests, else what the seats differ on, else all of them.
    """
    if item.contested:
        return list(item.contested)
    seats = [seat for seat in counted_seats(item) if seat.state == Seat.State.SUBMITTED]
    return differing(seats) or [q.key for q in kinds.kind_of(item).questions(item)]


def settle_seats(item: ReviewItem, *, at: datetime) -> None:
    """Decide an open item whose counted seats are all in; the caller has locked it.

    Seats whose holders came into conflict are set aside with a fresh seat each. What the seats
    agree on stands; what they differ on goes to a third person.
    """
    seats = counted_seats(item)
    if any(seat.state != Seat.State.SUBMITTED for seat in seats):
        return
    if set_conflicts_aside(item, seats) or add_second_seat(item, seats):
        seating.look_again(item.queue_id, [item])
        return
    for seat in seats:
        store(item, seat)
    if differing(seats) or kinds.kind_of(item).needs_third(item):
        item.state = ReviewItem.State.DECIDED
        item.save(update_fields=["state"])
        seating.free_seat(item, role=Seat.Role.THIRD)
        seating.note("split", item, seats=len(seats), differing=differing(seats))
        seating.look_again(item.queue_id, [item])
        return
    resolve(item, at=at)


def set_conflicts_aside(item: ReviewItem, seats: Sequence[Seat]) -> bool:
    """Withdraw seats whose holders came into conflict since they claimed; a fresh one for each."""
    found = False
    for seat in seats:
        seat.item = item
        if told := conflicts.conflict_of(seat):
            seating.set_aside(seat, because=told)
            seating.add_seat(item, role=seat.role)
            found = True
    return found


def add_second_seat(item: ReviewItem, seats: Sequence[Seat]) -> bool:
    """Ask a second person where the only one differs from the judge, if the queue's policy does."""
    if len(seats) >= MOST_SECOND_SEATS:
        return False
    if not choosing.policy_of(item.queue.version, item.queue.policy).second_seat:
        return False
    differs = [key for seat in seats for key in judges.differing_from(item, seat.verdicts)]
    if not differs:
        return False
    seating.add_seat(item)
    seating.note("second_seat", item, differing=differs)
    return True


def store(item: ReviewItem, seat: Seat) -> None:
    """Hand the verdicts of a seat to the core, where they become decisions."""
    kinds.kind_of(item).store(item, seat, seat.verdicts)
    for act in kinds.FOLLOWERS:
        act(item, seat, seat.verdicts)
    seating.note("decide", item, by=seat.holder, seat=seat.pk, role=seat.role)


def resolve(item: ReviewItem, *, at: datetime) -> None:
    """Close the case, and do what follows for its kind."""
    item.state = ReviewItem.State.RESOLVED
    item.resolved_at = at
    item.contested = []
    item.escalated_at = None
    item.save(update_fields=["state", "resolved_at", "contested", "escalated_at"])
    seating.note("resolve", item)
    kinds.kind_of(item).settle(item)


def settle_third(item: ReviewItem, seat: Seat, *, at: datetime) -> None:
    """Let a third person's final verdicts stand; the originals stay beside them.

    When the third person came into conflict, another one is asked instead.
    """
    seat.item = item
    if set_conflicts_aside(item, [seat]):
        seating.look_again(item.queue_id, [item])
        return
    if item.state != ReviewItem.State.DECIDED:
        seating.set_aside(seat, because="The item went back before this verdict counted.")
        return
    for other in counted_seats(item):
        if other.state == Seat.State.SUBMITTED and not is_stored(other):
            store(item, other)
    store(item, seat)
    resolve(item, at=at)


def is_stored(seat: Seat) -> bool:
    """Whether the verdicts of a seat have become decisions."""
    return Decision.objects.filter(seat=seat.pk).exists()


@transaction.atomic
def send_back(seat: Seat, *, user: Any, reason: str) -> ReviewItem:
    """A third person sends an item back to the reviewers with an answer; one more of them decides.

    Whoever escalated it may take it again. Raises AcademyError without an answer, or when the seat
    is not held any more.
    """
    if not reason.strip():
        raise AcademyError("Write what the reviewers should know.")
    item = seating.lock_item(seat.item_id)
    freed = (
        Seat.objects.held_by(user)
        .filter(pk=seat.pk, role=Seat.Role.THIRD)
        .update(state=Seat.State.FREE, holder=None, lease_until=None, held_at=None)
    )
    if not freed:
        raise AcademyError("You do not hold this item any more, so it cannot be sent back.")
    item.state = ReviewItem.State.OPEN
    item.escalated_at = None
    item.contested = []
    item.answer = reason.strip()
    item.save(update_fields=["state", "escalated_at", "contested", "answer"])
    item.skips.filter(act=Skip.Act.ESCALATE).update(act=Skip.Act.DEFER)
    if not any(one.state == Seat.State.FREE for one in counted_seats(item)):
        seating.add_seat(item)
    seating.note("send_back", item, by=user, reason=reason.strip(), seat=seat.pk)
    seating.look_again(item.queue_id, [item])
    return item


@transaction.atomic
def bring_back(item: ReviewItem, *, keys: Sequence[str], reason: str, by: Any = None) -> ReviewItem:
    """Have a resolved item decided again by another third person, on the named questions.

    An item that already waits for one is contested on these too; an open one goes its way and is
    left alone. Raises AcademyError for a question it does not ask, or a gold item.
    """
    found = seating.lock_item(item.pk)
    known = [question.key for question in kinds.kind_of(found).questions(found)]
    strange = [key for key in keys if key not in known]
    if strange or not keys:
        raise AcademyError(
            f"Item {found.pk} asks {', '.join(known)}; {', '.join(strange) or 'nothing'} is none."
        )
    if found.state == ReviewItem.State.GOLD:
        raise AcademyError("A gold item is never decided again.")
    if found.state == ReviewItem.State.OPEN:
        return found
    earlier = disputed(found) if found.state == ReviewItem.State.DECIDED else []
    found.contested = [key for key in known if key in {*earlier, *keys}]
    found.state = ReviewItem.State.DECIDED
    found.resolved_at = None
    found.answer = reason.strip()
    found.save(update_fields=["contested", "state", "resolved_at", "answer"])
    live = found.seats.filter(
        role=Seat.Role.THIRD, state__in=(Seat.State.FREE, Seat.State.HELD, Seat.State.PENDING)
    )
    if not live.exists():
        seating.add_seat(found, role=Seat.Role.THIRD)
    seating.note("bring_back", found, by=by, reason=reason, keys=list(keys))
    seating.look_again(found.queue_id, [found])
    return found


@work.owing()
def withdraw(seat: Seat, *, user: Any, reason: str) -> None:
    """Take one's verdicts back before the item is resolved: kept, withdrawn and linked.

    A fresh seat takes their place. Raises AcademyError without a reason, and once the item is
    resolved, when only an appeal can change it.
    """
    if not reason.strip():
        raise AcademyError("Say why you withdraw your verdict.")
    item = seating.lock_item(seat.item_id)
    held: Seat | None = Seat.objects.select_for_update().filter(pk=seat.pk, holder=user).first()
    if held is None or held.state in (Seat.State.HELD, Seat.State.WITHDRAWN):
        raise AcademyError("There is no verdict of yours here that could be withdrawn.")
    if held.state == Seat.State.PENDING:
        raise AcademyError("Your verdict can still be undone; withdraw it when it counts.")
    refuse_late_withdrawal(item, held)
    if item.state != ReviewItem.State.GOLD:
        if not is_stored(held):
            # Kept for the record, so that nothing follows from what is taken back at once.
            kinds.kind_of(item).store(item, held, held.verdicts)
        core.withdraw_decisions(held.pk, person=user, reason=reason)
        seating.add_seat(item)
    Seat.objects.filter(pk=held.pk).update(
        state=Seat.State.WITHDRAWN, withdrawn_because=reason.strip()
    )
    seating.note("withdraw", item, by=user, reason=reason.strip(), seat=held.pk)
    if item.state == ReviewItem.State.DECIDED:
        item.state = ReviewItem.State.OPEN
        item.save(update_fields=["state"])
        item.seats.filter(role=Seat.Role.THIRD, state=Seat.State.HELD).update(
            state=Seat.State.FREE, holder=None, lease_until=None, held_at=None
        )
    seating.look_again(item.queue_id, [item])


def refuse_late_withdrawal(item: ReviewItem, seat: Seat) -> None:
    """Raise AcademyError where a verdict is part of what has been decided."""
    is_alone = item.state == ReviewItem.State.GOLD and item.queue.seats_per_item == 1
    if item.state in (ReviewItem.State.RESOLVED, ReviewItem.State.CLOSED) or is_alone:
        raise AcademyError("This item is resolved. What was decided changes only by an appeal.")
    third = item.seats.filter(role=Seat.Role.THIRD)
    if seat.role == Seat.Role.THIRD or third.filter(state=Seat.State.PENDING).exists():
        raise AcademyError(
            "A third person has decided. What was decided changes only by an appeal."
        )
    if item.escalated_at is not None or third.filter(state=Seat.State.SUBMITTED).exists():
        raise AcademyError("A third person decides this item; tell them by an appeal.")
