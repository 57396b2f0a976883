"""Curators steer queues: their rules, guideline and pause, each change in the trail."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.db.models import Count, Max, Q
from django.db.models.functions import Coalesce

from academy import auditing, work
from academy.errors import AcademyError
from adjudication import assigning, seating
from adjudication.models import Guideline, Queue, ReviewItem, Seat
from adjudication.policies import check_policy, read_policy

CHANGED = (
    "title", "seats_per_item", "lease_seconds", "undo_seconds", "policy", "is_paused", "due_at",
)  # fmt: skip
LONGEST_GUIDELINE = 50_000


@work.owing()
def change_queue(queue: Queue, *, by: Any, **facts: Any) -> list[str]:
    """Change the rules of a queue; gives the names of what changed, which the trail keeps.

    More seats are added to items that are open; with fewer, items keep those they have. Raises
    AcademyError for rules that cannot be followed.
    """
    stored = Queue.objects.select_for_update().get(pk=queue.pk)
    unknown = set(facts) - set(CHANGED)
    if unknown:
        raise AcademyError(f"A queue has no {', '.join(sorted(unknown))} that can be changed.")
    check_facts({name: facts.get(name, getattr(stored, name)) for name in CHANGED})
    changed = [name for name in facts if getattr(stored, name) != facts[name]]
    for name in changed:
        setattr(stored, name, facts[name])
    if not changed:
        return []
    stored.save(update_fields=changed)
    details = {name: auditable(facts[name]) for name in changed}
    auditing.note("review.queue_change", f"queue:{stored.pk}", by=by, **details)
    if "policy" in changed:
        # The sample may be another now; the worker sees to it.
        assigning.owe_filling(stored.version_id)
    if "seats_per_item" in changed:
        raise_seats(stored)
    for name in changed:
        setattr(queue, name, facts[name])
    return changed


def check_facts(facts: Mapping[str, Any]) -> None:
    """Raise AcademyError for a rule that cannot be followed, naming it."""
    check_policy(read_policy(facts["policy"]))
    if not str(facts["title"]).strip():
        raise AcademyError("title: a queue needs a title.")
    for name, least, most in (
        ("seats_per_item", 1, 3),
        ("lease_seconds", 60, 7 * 86_400),
        ("undo_seconds", 0, 3600),
    ):
        if not least <= facts[name] <= most:
            raise AcademyError(f"{name} is a number from {least} to {most}, not {facts[name]!r}.")


def auditable(value: Any) -> Any:
    """A value as the trail keeps it."""
    return value.isoformat() if hasattr(value, "isoformat") else value


def raise_seats(queue: Queue) -> int:
    """Add the seats that open items lack; gives how many."""
    live = Q(seats__role=Seat.Role.REVIEWER) & ~Q(seats__state=Seat.State.WITHDRAWN)
    lacking = queue.items.filter(state=ReviewItem.State.OPEN).annotate(
        seated=Count("seats", filter=live), last=Coalesce(Max("seats__number"), 0)
    )
    moved = list(lacking.filter(seated__lt=queue.seats_per_item).order_by("pk"))
    # Whoever adds a seat at this moment takes the same number, and then it is there.
    added = Seat.objects.bulk_create(
        [
            Seat(item=item, number=item.last + place)
            for item in moved
            for place in range(1, queue.seats_per_item - item.seated + 1)
        ],
        batch_size=2000,
        ignore_conflicts=True,
    )
    seating.look_again(queue.pk, moved)
    return len(added)


@transaction.atomic
def revise_guideline(queue: Queue, text: str, *, by: Any) -> Guideline:
    """Add a revision of a queue's guideline; what was in force stays readable.

    The same text again adds nothing. Raises AcademyError for an empty or endless one.
    """
    words = text.replace("\r\n", "\n").strip()
    if not words:
        raise AcademyError("A guideline has some text.")
    if len(words) > LONGEST_GUIDELINE:
        raise AcademyError(
            f"The guideline has {len(words):,} characters; {LONGEST_GUIDELINE:,} are the most."
        )
    Queue.objects.select_for_update().get(pk=queue.pk)
    last = queue.guidelines.order_by("-revision").first()
    if last is not None and last.text == words:
        return last
    revision = 1 if last is None else last.revision + 1
    made = Guideline.objects.create(queue=queue, revision=revision, text=words)
    auditing.note("review.guideline", f"queue:{queue.pk}", by=by, revision=revision)
    return made
