"""Every verdict of a queue as an export that is made in the background."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

from academy import piloting
from academy.bulk_exporting import Contents
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import SuiteVersion
from academy.tables import Row, Table, marked
from adjudication import flow_reading, kinds, reporting, verdict_rows
from adjudication.models import Queue

NOTHING = "Nothing was decided in this queue yet."


class QueueVerdicts:
    """The source of exports of kind "verdicts", of which the subject is a queue.

    Whoever has no audience of their own (see `bulk_exporting.audience_of`) and passes `is_visible`
    is a curator or auditor: the file that is made for nobody in particular is theirs.
    """

    lead = (
        "Every verdict of the queue, a row for each criterion: who gave it, when, what they had "
        "seen, and whether it counts."
    )

    def title(self, subject: int) -> str:
        """What the export is called."""
        return f"Verdicts of {queue_of(subject).title}"

    def address(self, subject: int) -> str:
        """The report on the queue."""
        return reverse("adjudication:report", args=[subject])

    def versions(self, subject: int) -> list[SuiteVersion]:
        """The version of the queue."""
        return [queue_of(subject).version]

    def is_visible(self, subject: int, user: Any) -> bool:
        """Whether this person reads whole reports."""
        queue = Queue.objects.filter(pk=subject).first()
        return queue is not None and reporting.may_read(user) and kinds.reads_answers(queue, user)

    def refusal(self, subject: int) -> str:
        """Why there is no export of this queue."""
        queue = queue_of(subject)
        if verdict_rows.seats_of(queue).exists() or verdict_rows.extras_of(queue).exists():
            return ""
        return NOTHING

    def state_digest(self, subject: int) -> str:
        """Over what moves when a verdict is handed in, undone, withdrawn, resolved or sent late."""
        queue = queue_of(subject)
        return digest([queue.title, *flow_reading.state_facts(queue)])

    def contents(self, subject: int, viewer: Any) -> Contents:
        """The rows that this person may read. AcademyError when nothing was decided yet."""
        if refusal := self.refusal(subject):
            raise AcademyError(refusal)
        queue = queue_of(subject)
        reading = verdict_rows.Reading.of(queue, viewer)
        about = {
            "queue": queue.title,
            "kind": queue.kind,
            "version": str(queue.version),
            "version_digest": queue.version.digest,
        }
        told = piloting.sentence_on(queue.version)

        def table(rows: Iterator[Row]) -> Table:
            return marked(Table(verdict_rows.COLUMNS, rows, about), "pilot", told)

        # One job writes one state; a queue that goes on meanwhile would begin its pieces again.
        parts = verdict_rows.parts(reading) if verdict_rows.are_many(reading) else []
        left_out = tuple(verdict_rows.left_out(reading))
        return Contents(table(verdict_rows.rows(reading)), left_out, tuple(map(table, parts)))


def queue_of(subject: int) -> Queue:
    """The queue that is exported."""
    found: Queue = Queue.objects.select_related("version__suite").get(pk=subject)
    return found
