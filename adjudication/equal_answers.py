"""The share of equal answers: one number, for the list of queues and for their reports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from django.core.cache import cache
from django.db.models import Count

from academy.canonical import digest
from adjudication import verdict_reading
from adjudication.concordance import Unit, share_equal
from adjudication.models import Seat
from adjudication.remaining import QueueCounts

KEPT_SECONDS = 24 * 3600
MINUTE = 60
MOST_AT_ONCE = 4000
LARGE = "large"


def keep_share(queue_id: int, units: Iterable[Unit]) -> float | None:
    """The share of pairs of answers that are equal, over all questions that two or more people
    answered alone; None without any. Kept for the list of queues."""
    found = share_equal(units)
    cache.set(_last_counted(queue_id), found, KEPT_SECONDS)
    return found


def shares_of(counts: Mapping[int, QueueCounts]) -> dict[int, float | None]:
    """The same of several queues, in a fixed number of queries.

    Counted again once the items of a queue have moved. With more than 4,000 reviews it takes too
    long for a list: there it is what the report on the queue counted last.
    """
    names = {
        pk: f"review-equal:{digest([pk, *_decided(count)])}"
        for pk, count in counts.items()
        if any(_decided(count))
    }
    last = {pk: _last_counted(pk) for pk in names}
    known = cache.get_many([*names.values(), *last.values()])
    missing = [pk for pk in names if names[pk] not in known]
    if missing:
        fresh = {names[pk]: share for pk, share in _count(missing).items()}
        cache.set_many(fresh, MINUTE)
        known |= fresh
    return {pk: _read(known, names[pk], last[pk]) if pk in names else None for pk in counts}


def _read(known: Mapping[str, float | str | None], name: str, last: str) -> float | None:
    share = known[last] if known[name] == LARGE and last in known else known[name]
    return share if isinstance(share, float) else None


def _decided(count: QueueCounts) -> Sequence[int]:
    return count.waiting, count.done, count.closed


def _last_counted(queue_id: int) -> str:
    return f"review-equal-last:{queue_id}"


def _count(queues: Sequence[int]) -> dict[int, float | str | None]:
    reviews = Seat.objects.filter(verdict_reading.COUNTED, item__queue__in=queues)
    sizes = dict(reviews.values_list("item__queue").annotate(n=Count("pk")))
    small = [pk for pk in queues if sizes.get(pk, 0) <= MOST_AT_ONCE]
    held: dict[int, list[Unit]] = defaultdict(list)
    for unit, queue_id in verdict_reading.bare_units(small):
        held[queue_id].append(unit)
    found: dict[int, float | str | None] = dict.fromkeys(queues, LARGE)
    return found | {pk: share_equal(held[pk]) for pk in small}
