"""Drafts are kept, verdicts submitted, undone within a window, and then made decisions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from academy import auditing, tasks, work
from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Criterion, InstanceRecord
from adjudication import claiming
from adjudication.models import Draft, ExtraVerdict, ReviewItem, Seat

CONFIDENCES = {"low": 0.25, "medium": 0.5, "high": 0.75}
LONGEST_REASON = 20_000


@dataclass(frozen=True, slots=True)
class Stale:
    """A draft that was saved elsewhere in the meantime; nothing was overwritten."""

    stored: Draft


@dataclass(frozen=True, slots=True)
class Submitted:
    """A submission: pending until `final_at`, or extra because the seat had gone."""

    is_extra: bool
    final_at: datetime | None


def save_draft(
    seat: Seat, *, user: Any, content: Mapping[str, Any], revision: int, at: datetime | None = None
) -> Draft | Stale:
    """Keep what a reviewer typed, if nobody saved a newer draft since `revision`; renews the lease.

    A draft is kept even when the lease was lost: no keystroke goes.
    """
    now = at or timezone.now()
    with transaction.atomic():
        # Before the draft, as in `submit`: two orders of locks would wait for each other.
        claiming.renew(seat, user=user, at=now)
        draft, _created = Draft.objects.get_or_create(
            item=seat.item, user=user, defaults={"saved_at": now, "content": {}}
        )
        moved = Draft.objects.filter(pk=draft.pk, revision=revision).update(
            content=dict(content), revision=revision + 1, saved_at=now
        )
        draft.refresh_from_db()
        if not moved:
            return draft if draft.content == dict(content) else Stale(draft)
    return draft


def check_verdicts(
    criteria: Sequence[Criterion], content: Mapping[str, Mapping[str, Any]]
) -> dict[str, str]:
    """What is missing or wrong in a form, by criterion key; empty when it may be submitted."""
    problems = {}
    for criterion in criteria:
        given = content.get(criterion.key, {})
        state = given.get("state", "")
        if not state:
            problems[criterion.key] = "Choose a verdict."
            continue
        try:
            core.check_value(criterion, state, given.get("value"))
        except AcademyError as error:
            problems[criterion.key] = str(error)
            continue
        is_plain = state == "value" and given.get("value") is True
        reason = str(given.get("reason", ""))
        if not is_plain and not reason.strip():
            problems[criterion.key] = "Give a reason" + (
                " for anything but “met”." if criterion.scale == "met" else "."
            )
        elif len(reason) > LONGEST_REASON:
            problems[criterion.key] = (
                f"The reason has {len(reason):,} characters; at most {LONGEST_REASON:,} are kept."
            )
    return problems


def submit(
    seat: Seat,
    *,
    user: Any,
    verdicts: Mapping[str, Mapping[str, Any]],
    at: datetime | None = None,
) -> Submitted:
    """Hand all verdicts of a seat in. They can be undone until the window ends.

    After a lost lease they are kept as extra and never counted, and the draft stays. A seat that
    was submitted already stays as it is. Raises AcademyError when a criterion lacks a verdict or
    a reason.
    """
    criteria = criteria_of(seat.item)
    problems = check_verdicts(criteria, verdicts)
    if problems:
        listed = "; ".join(f"{key}: {text}" for key, text in problems.items())
        raise AcademyError(f"The review is not complete. {listed}")
    now = at or timezone.now()
    final_at = now + timedelta(seconds=seat.item.queue.undo_seconds)
    with transaction.atomic():
        moved = (
            Seat.objects.held_by(user)
            .filter(pk=seat.pk)
            .update(
                state=Seat.State.PENDING,
                submitted_at=now,
                final_at=final_at,
                lease_until=None,
                verdicts=plain(verdicts),
            )
        )
        if not moved:
            return submit_again(seat, user=user, verdicts=verdicts, at=now)
        # What was typed last may not have been saved yet, and an undo must bring it back.
        Draft.objects.filter(item=seat.item, user=user).update(
            content=plain(verdicts), revision=F("revision") + 1, saved_at=now
        )
        owe_finalising(seat.pk, final_at)
    return Submitted(is_extra=False, final_at=final_at)


def submit_again(
    seat: Seat, *, user: Any, verdicts: Mapping[str, Mapping[str, Any]], at: datetime
) -> Submitted:
    """What becomes of verdicts for a seat that is not held: nothing new, or an extra review."""
    own = Seat.objects.filter(pk=seat.pk, holder=user).first()
    if own is not None:
        return Submitted(is_extra=False, final_at=own.final_at)
    kept = ExtraVerdict.objects.filter(item=seat.item, user=user, verdicts=plain(verdicts))
    if not kept.exists():
        ExtraVerdict.objects.create(item=seat.item, user=user, verdicts=plain(verdicts), sent_at=at)
    return Submitted(is_extra=True, final_at=None)


def owe_finalising(seat_id: int, final_at: datetime) -> None:
    """Owe the end of a seat's undo window."""
    work.enqueue(
        "finalise_seat",
        key=f"finalise_seat:{seat_id}",
        payload={"seat": seat_id},
        due_at=final_at,
        priority=-8,
    )
    tasks.nudge_at(final_at)


def plain(verdicts: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Verdicts as they are stored."""
    return {key: dict(given) for key, given in verdicts.items()}


@transaction.atomic
def undo(seat: Seat, *, user: Any, at: datetime | None = None) -> bool:
    """Take a submission back within its window; what is held in its place is released.

    False when the window is over.
    """
    now = at or timezone.now()
    pending = Seat.objects.select_for_update().filter(
        pk=seat.pk, holder=user, state=Seat.State.PENDING, final_at__gt=now
    )
    if not pending.exists():
        return False
    held = claiming.current_seat(user)
    if held is not None:
        claiming.release(held, user=user)
    try:
        with transaction.atomic():
            pending.update(
                state=Seat.State.HELD,
                submitted_at=None,
                final_at=None,
                lease_until=claiming.lease_end(seat.item.queue, now),
            )
    except IntegrityError:
        return False
    return True


def criteria_of(item: ReviewItem) -> list[Criterion]:
    """All criteria of the record under review, in order; those a machine decides are not asked."""
    if item.record is None:
        return []
    return list(
        item.record.task.criteria.exclude(decided_by="machine")
        .exclude(scale="fit")
        .order_by("ordinal")
    )


def finalise_seat(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "finalise_seat": a submission whose window is over counts.

    A submission that was undone and sent again meets the work owed for its first window; then the
    same is owed for the second.
    """

    def write() -> None:
        if finalise(payload["seat"]):
            return
        again = Seat.objects.filter(pk=payload["seat"], state=Seat.State.PENDING).first()
        if again is not None and again.final_at is not None:
            owe_finalising(again.pk, again.final_at)

    return write


@transaction.atomic
def finalise(seat_id: int, *, at: datetime | None = None) -> bool:
    """Make a pending submission final, and decide the item when all its seats are in.

    False when the submission was undone or is still within its window.
    """
    now = at or timezone.now()
    moved = Seat.objects.filter(pk=seat_id, state=Seat.State.PENDING, final_at__lte=now).update(
        state=Seat.State.SUBMITTED
    )
    if not moved:
        return False
    seat = Seat.objects.select_related("item__queue").get(pk=seat_id)
    item = ReviewItem.objects.select_for_update().get(pk=seat.item_id)
    seats = list(item.seats.order_by("number"))
    if any(other.state != Seat.State.SUBMITTED for other in seats):
        return True
    for other in seats:
        record_seat(item, other)
    agreed = all(same_verdicts(seats[0].verdicts, other.verdicts) for other in seats[1:])
    item.state = ReviewItem.State.RESOLVED if agreed else ReviewItem.State.DECIDED
    item.resolved_at = now if agreed else None
    item.save(update_fields=["state", "resolved_at"])
    return True


def same_verdicts(first: Mapping[str, Any], second: Mapping[str, Any]) -> bool:
    """Whether two submissions say the same of every criterion, whatever their reasons."""
    return {key: (given["state"], given.get("value")) for key, given in first.items()} == {
        key: (given["state"], given.get("value")) for key, given in second.items()
    }


def record_of(item: ReviewItem) -> InstanceRecord:
    """The record an item is about. Raises AcademyError for an item about something else."""
    if item.record is None:
        raise AcademyError(f"Item {item.pk} is not about a record.")
    return item.record


def record_seat(item: ReviewItem, seat: Seat) -> None:
    """Hand the verdicts of a seat to the core, where they become decisions of a person."""
    criteria = {criterion.key: criterion for criterion in criteria_of(item)}
    core.record_decisions(
        record_of(item),
        [
            core.Verdict(
                criterion=criteria[key],
                state=given["state"],
                value=given.get("value"),
                reason=given.get("reason", ""),
                confidence=CONFIDENCES.get(given.get("confidence", "")),
                suggestion_seen=seat.suggestion_seen,
            )
            for key, given in seat.verdicts.items()
            if key in criteria
        ],
        source="person",
        person=seat.holder,
        seat=seat.pk,
        probability=item.probability,
        at=seat.submitted_at,
    )
    auditing.note("review.decide", f"record:{item.record_id}", by=seat.holder, seat=seat.pk)
