"""Conflicts of interest: who may not decide in a queue, and whom a single item concerns."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import connection

from adjudication import kinds
from adjudication.models import Appeal, Queue, ReviewItem, Seat

COMPETING = """
SELECT asked.version,
       EXISTS (SELECT 1 FROM academy_run r JOIN academy_submission s ON s.id = r.submission_id
               WHERE r.version_id = asked.version AND s.account_id = %(user)s),
       EXISTS (SELECT 1 FROM academy_run r JOIN academy_entrant e ON e.id = r.entrant_id
               JOIN academy_membership m ON m.organization_id = e.organization_id
               WHERE r.version_id = asked.version AND m.user_id = %(user)s AND m.role = 'entrant')
FROM unnest(%(versions)s::bigint[]) AS asked (version)
"""


@dataclass(frozen=True, slots=True)
class Competing:
    """The versions on which somebody has runs: by their own account, by their organisations."""

    by_account: frozenset[int]
    by_organization: frozenset[int]

    @classmethod
    def of(cls, user: Any, versions: Iterable[int]) -> Competing:
        """Whether somebody competes on any of these versions, in one query for all of them."""
        with connection.cursor() as cursor:
            cursor.execute(COMPETING, {"user": user.pk, "versions": list(versions)})
            found = cursor.fetchall()
        return cls(
            frozenset(version for version, by_account, _ in found if by_account),
            frozenset(version for version, _, by_organization in found if by_organization),
        )


def conflict_with(user: Any, queue: Queue, competing: Competing | None = None) -> str:
    """Why somebody may decide nothing in a queue, as a sentence; empty when there is no conflict.

    Whoever entered a run on the version, themselves or with their organisation, competes with all
    that is reviewed there; whoever wrote the version would judge their own questions. `competing`
    saves the look where many queues are asked about at once.
    """
    if queue.version.created_by_id == user.pk:
        return "You made this version of the suite, so others decide what is reviewed here."
    found = competing or Competing.of(user, [queue.version_id])
    if queue.version_id in found.by_account:
        return "You submitted a run on this version, so others decide what is reviewed here."
    if queue.version_id in found.by_organization:
        return (
            "Your organisation has a run on this version, so others decide what is reviewed here."
        )
    kind = kinds.KINDS.get(queue.kind)
    return kind.excludes(user, queue) if kind is not None else ""


def item_conflict(user: Any, item: ReviewItem) -> str:
    """Why somebody may not decide one item, as a sentence; empty when there is no conflict."""
    if item.appeal is not None and item.appeal.opened_by_id == user.pk:
        return "You opened this appeal, so others decide it."
    if item.record_id and Appeal.objects.filter(record=item.record_id, opened_by=user).exists():
        return "You opened an appeal on this record, so others decide it."
    held = Seat.objects.filter(holder=user).exclude(item=item)
    if item.appeal is not None and held.filter(item__record=item.appeal.record_id).exists():
        return "You had a part in deciding this record, so others decide the appeal."
    if item.record_id and held.filter(item__appeal__record=item.record_id).exists():
        return "You decided an appeal on this record, so others decide it again."
    return ""


def conflict_of(seat: Seat) -> str:
    """Why the verdicts of a seat may not count, as a sentence; empty when they may."""
    return conflict_with(seat.holder, seat.item.queue) or item_conflict(seat.holder, seat.item)
