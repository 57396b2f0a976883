"""What holds of seats, items and decisions whatever people do, in any order and at once."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from typing import Any

from django.db.models import F, Q

from academy.models import Decision
from adjudication import resolving
from adjudication.models import ExtraVerdict, Queue, ReviewItem, Seat, Skip

WAITING = ("free", "held", "pending")
FACTS = ("pk", "seat", "person", "source", "criterion__key", "state", "value", "reason")


def facts_of_decisions() -> dict[int, tuple[Any, ...]]:
    """Everything of all decisions that may never change."""
    return {row[0]: row for row in Decision.objects.order_by("pk").values_list(*FACTS)}


def expected_item(queue: Queue, user: Any, role: str, at: datetime) -> int | None:
    """The item somebody must be given next, found by looking at all of them; None for none."""
    state = "open" if role == "reviewer" else "decided"
    free = Q(seats__state="free") | Q(seats__state="held", seats__lease_until__lt=at)
    items = queue.items.filter(free, seats__role=role, state=state).distinct()
    mine = Seat.objects.filter(holder=user).values("item")
    skips = Skip.objects.filter(user=user)
    others = items.exclude(pk__in=mine)
    first = others.exclude(pk__in=skips.values("item")).order_by("priority", "pk").first()
    if first is not None:
        return first.pk
    put_off = skips.filter(act="defer", item__in=others.values("pk")).order_by("at", "pk").first()
    return put_off.item_id if put_off is not None else None


def check_seats() -> None:
    """A seat has at most one holder, and a person at most one claim and one seat of an item."""
    for seat in Seat.objects.all():
        assert (seat.state == "free") == (seat.holder_id is None)
        assert (seat.state == "held") == (seat.lease_until is not None)
        assert (seat.final_at is not None) == (seat.state in ("pending", "submitted", "withdrawn"))
    held = Counter(Seat.objects.filter(state="held").values_list("holder", flat=True))
    assert all(number == 1 for number in held.values())
    taken = Counter(Seat.objects.exclude(holder=None).values_list("holder", "item"))
    assert all(number == 1 for number in taken.values())


def check_item(item: ReviewItem) -> None:
    """What an item came to is what its seats said."""
    seats = list(item.seats.order_by("number"))
    counted = [one for one in seats if one.role == "reviewer" and one.state != "withdrawn"]
    thirds = [one for one in seats if one.role == "third" and one.state == "submitted"]
    thirds.sort(key=lambda seat: (seat.submitted_at, seat.pk))
    rows = list(
        Decision.objects.filter(record=item.record_id).select_related("criterion").order_by("pk")
    )
    by_seat: dict[int | None, list[Decision]] = {}
    for row in rows:
        by_seat.setdefault(row.seat, []).append(row)
    submitted = [seat for seat in counted if seat.state == "submitted"]
    if item.state == "resolved":
        assert thirds or (len(submitted) == len(counted) and not resolving.differing(counted))
        for seat in (*submitted, *thirds):
            check_stored(seat, by_seat.get(seat.pk, []))
        check_standing(thirds, rows)
    if item.state == "decided" and item.escalated_at is None:
        assert len(submitted) == len(counted)
        assert item.contested or resolving.differing(counted)
        waiting = [one for one in seats if one.role == "third" and one.state in WAITING]
        assert len(waiting) == 1
    for seat in seats:
        if seat.state == "withdrawn":
            assert seat.withdrawn_because
            last = [row for row in by_seat.get(seat.pk, []) if row.current]
            assert last or seat.role == "third"
            assert {row.state for row in last} <= {"withdrawn"}


def check_stored(seat: Seat, rows: list[Decision]) -> None:
    """Every verdict of a seat is a decision, word for word."""
    found = {row.criterion.key: (row.state, row.value, row.reason) for row in rows}
    said = {
        key: (given["state"], given["value"] or given.get("fault"), given["reason"])
        if given["state"] == "defective"
        else (given["state"], given["value"], given["reason"])
        for key, given in seat.verdicts.items()
    }
    assert found == said


def check_standing(thirds: list[Seat], rows: list[Decision]) -> None:
    """The last word of third persons stands, and no other resolution does."""
    last: dict[str, int] = {}
    for seat in thirds:
        last |= dict.fromkeys(seat.verdicts, seat.pk)
    standing = {
        row.criterion.key: row.seat for row in rows if row.source == "resolution" and row.current
    }
    assert standing == last


def check_kept(user: Any, item: ReviewItem, content: dict[str, Any]) -> None:
    """What somebody sent is still somewhere: on a seat, as an extra, or in their draft."""
    said = {key: dict(given) for key, given in content.items() if given["state"]}
    on_seats = Seat.objects.filter(item=item, verdicts=said).filter(
        Q(holder=user) | Q(state="free")
    )
    extras = ExtraVerdict.objects.filter(item=item, user=user, verdicts=content)
    drafts = item.drafts.filter(user=user, content=content)
    assert on_seats.exists() or extras.exists() or drafts.exists()


def tallies_hold(queue: Queue) -> None:
    """The kept numbers of items are the real ones."""
    real = Counter(queue.items.values_list("state", flat=True))
    kept = dict(queue.tallies.filter(~Q(number=0)).values_list("state", F("number")))
    assert kept == dict(real)
