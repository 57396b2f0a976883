"""Records to contest, and what an adjudicator decides of an appeal."""

from __future__ import annotations

from typing import Any

from academy.models import InstanceRecord, SuiteVersion
from adjudication.models import Appeal, Queue, ReviewItem
from tests import factories as make
from tests.adjudication import subjects

TEXT = "The step is in the log."


def contested(**facts: Any) -> tuple[InstanceRecord, Queue, Any]:
    """A decided record, the queue in which it was decided, and its entrant."""
    queue, record, _reviewer = subjects.decided_record(**facts)
    return record, queue, subjects.entrant_of(record.run)


def with_key() -> tuple[SuiteVersion, InstanceRecord, Any]:
    """A scored record of an open takeoff version, and its entrant."""
    version = make.takeoff_version(2)
    run = make.takeoff_run(version)
    make.score_all()
    return version, run.records.order_by("id")[0], subjects.entrant_of(run)


def decided(appeal: Appeal, code: str, reason: str = "as said") -> ReviewItem:
    """Let an adjudicator decide an appeal."""
    person = subjects.adjudicator()
    assert appeal.record is not None
    queue = subjects.queue_for(appeal.record.run.version, "appeals")
    item = subjects.say(subjects.take(queue, person), person, code, reason)
    appeal.refresh_from_db()
    return item
