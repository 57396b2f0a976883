"""What must go to people becomes items with seats; what no longer needs them is closed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db import connection, transaction

from academy.models import InstanceRecord, Run, Score, ScoringPass, SuiteVersion
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.sampling import draw

CRITERIA = "criteria"
AUDIT_SHARE = 0.1
AUDIT_MINIMUM = 30


def refresh_queue(payload: Mapping[str, Any]) -> Callable[[], None]:
    """Work of kind "refresh_queue": the queue of a version whose numbers moved."""
    version = SuiteVersion.objects.filter(pk=payload["version"]).first()

    def write() -> None:
        if version is not None:
            fill_queue(version)

    return write


@transaction.atomic
def fill_queue(version: SuiteVersion) -> int:
    """Add items for records that wait for people, or that an audit draws; gives how many are new.

    Items that nobody touched and that need nobody any more are closed.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [7201, version.pk])
    waiting = waiting_records(version)
    audited, probability = audited_records(version)
    queue = version.queues.filter(kind=CRITERIA).first()
    if queue is None:
        if not waiting and not audited:
            return 0
        queue = Queue.objects.create(
            version=version, kind=CRITERIA, title=f"{version.suite.title}, criteria"
        )
    items = ReviewItem.objects.filter(queue=queue)
    known = set(items.exclude(record=None).values_list("record_id", flat=True))
    made = add_items(
        queue, [record for record in waiting if record not in known], "waits for a person", 1.0
    )
    drawn = [record for record in audited if record not in known and record not in waiting]
    for record in drawn:
        made += add_items(queue, [record], "drawn for the audit", probability[record])
    close_needless(queue, {*waiting, *audited})
    return made


def waiting_records(version: SuiteVersion) -> list[int]:
    """Records of closed runs with a current strict score that a person must give."""
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    runs = version.runs.filter(state=Run.State.CLOSED)
    scores = Score.objects.filter(
        record__run__in=runs,
        scoring_pass=chosen,
        mode="strict",
        current=True,
        status="needs_human",
    )
    return sorted(set(scores.values_list("record_id", flat=True)))


def audited_records(version: SuiteVersion) -> tuple[list[int], dict[int, float]]:
    """Records that an audit of the judge draws from each ranking run, with their probability."""
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    if chosen is None or chosen.evidence.get("strict", {}).get("kind") != "judge_audited":
        return [], {}
    found: list[int] = []
    probability: dict[int, float] = {}
    for run in version.runs.ranking().order_by("pk"):
        records = list(
            InstanceRecord.objects.of_run(run.pk)
            .exclude(decisions=None)
            .order_by("id")
            .values_list("id", flat=True)
            .distinct()
        )
        drawn, chance = draw(
            records, seed=f"audit/1:{run.digest}", share=AUDIT_SHARE, minimum=AUDIT_MINIMUM
        )
        found += drawn
        probability.update(dict.fromkeys(drawn, chance))
    return found, probability


def add_items(queue: Queue, records: Iterable[int], because: str, probability: float) -> int:
    """Items with free seats for records."""
    items = ReviewItem.objects.bulk_create(
        [
            ReviewItem(
                queue=queue, record_id=record, chosen_because=because, probability=probability
            )
            for record in records
        ]
    )
    Seat.objects.bulk_create(
        [
            Seat(item=item, number=number)
            for item in items
            for number in range(1, queue.seats_per_item + 1)
        ]
    )
    return len(items)


def close_needless(queue: Queue, needed: set[int]) -> None:
    """Close open items that nobody holds or has decided and that need nobody any more."""
    idle = queue.items.filter(state=ReviewItem.State.OPEN).exclude(record_id__in=needed)
    idle.exclude(
        seats__state__in=(Seat.State.HELD, Seat.State.PENDING, Seat.State.SUBMITTED)
    ).update(state=ReviewItem.State.CLOSED)
    queue.items.filter(state=ReviewItem.State.CLOSED, record_id__in=needed).update(
        state=ReviewItem.State.OPEN
    )
