"""Queues of many open items and the people who decide them, made of copies of one record."""

from __future__ import annotations

import itertools
from typing import Any

from academy.models import Entrant, InstanceRecord, Run, SuiteVersion
from adjudication import assigning
from adjudication.kinds import NewItem
from adjudication.models import Queue
from tests.adjudication import builders

REPLICATES = 1000
KIND = "criteria"


def queue_of(items: int, *, seats: int = 1) -> Queue:
    """A queue of so many open items, each about a record of its own."""
    version = builders.rubric_version(1, criteria=4, slug=f"review-{items}-{seats}")
    first = builders.rubric_run(version)
    queue = assigning.make_queue(version, KIND, preset="one", seats_per_item=seats)
    record = InstanceRecord.objects.of_run(first.pk).get()
    made = 0
    for number in itertools.count():
        if made >= items:
            break
        run = copied(first, version, number)
        count = min(REPLICATES, items - made)
        records = [replica(record, run, place) for place in range(1, count + 1)]
        InstanceRecord.objects.bulk_create(records, batch_size=5000)
        assigning.add_items(queue, [NewItem(record=one.pk, because="benchmark") for one in records])
        made += count
    return queue


def copied(first: Run, version: SuiteVersion, number: int) -> Run:
    """A closed run like another, of an entrant of its own."""
    name = f"example-{version.pk}-{number}"
    entrant = Entrant.objects.create(slug=name, name=name)
    return Run.objects.create(
        version=version,
        entrant=entrant,
        form=first.form,
        state=Run.State.CLOSED,
        header=first.header,
        digest=f"{version.pk:032d}{number:032d}",
    )


def replica(record: InstanceRecord, run: Run, replicate: int) -> InstanceRecord:
    """A row of the same bytes under an identity of its own."""
    ordinal = record.pk >> 15 & 0xFFFFFF
    return InstanceRecord(
        id=run.pk << 39 | ordinal << 15 | replicate << 5,
        run=run,
        task_id=record.task_id,
        replicate=replicate,
        variant=0,
        status=record.status,
        pack_id=record.pack_id,
        offset=record.offset,
        length=record.length,
        content_digest=record.content_digest,
    )


def reviewers(number: int) -> list[Any]:
    """So many people who review."""
    return [builders.reviewer() for _ in range(number)]
