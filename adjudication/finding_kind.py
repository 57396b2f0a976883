"""Findings: whether what a check asked about a run is upheld, or needs the entrant's answer.

Nothing here accuses, deletes, ranks or scores: what comes out is told beside the finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from django.db.models import QuerySet

from academy import auditing
from academy import deciding as core
from academy.errors import AcademyError
from academy.models import Finding, Run, SuiteVersion
from adjudication import concluding
from adjudication.kinds import Kind, NewItem, Verdicts
from adjudication.models import Queue, ReviewItem, Seat
from adjudication.questions import Choice, Question

FINDINGS = "findings"
QUESTION = "finding"
UPHELD, DISMISSED, ASKED = "upheld", "dismissed", "asked"
OPEN, ANSWERED = "open", "answered"
QUIET = ("info",)
CHOICES = (
    Choice("upheld", "Upheld", "no", "1", UPHELD),
    Choice("dismissed", "Dismissed", "yes", "2", DISMISSED),
    Choice("asked", "Needs the entrant’s answer", "unk", "3", ASKED),
)


def finding_of(item: ReviewItem) -> Finding:
    """The finding an item is about. Raises AcademyError for an item about something else."""
    if item.finding is None:
        raise AcademyError(f"Item {item.pk} is not about a finding.")
    found: Finding = item.finding
    return found


def questions_of_finding(_item: ReviewItem) -> list[Question]:
    """One question, whatever the check."""
    return [
        Question(
            key=QUESTION,
            field=QUESTION,
            text="Does the question that the check raised stand?",
            choices=CHOICES,
            hint="A finding is a question. Your reason is shown on the page of the run.",
        )
    ]


def store_on_finding(item: ReviewItem, seat: Seat, verdicts: Verdicts) -> None:
    """A verdict on the finding, as a part of its record or run."""
    finding = finding_of(item)
    subject = core.Subject(
        record=finding.record,
        run=finding.run if finding.record is None else None,
        part=f"finding:{finding.pk}",
    )
    concluding.store_answer(seat, subject, verdicts[QUESTION])


def settle_finding(item: ReviewItem) -> None:
    """The finding takes the state that people came to."""
    came = concluding.conclusion(item, QUESTION)
    if came is None:
        return
    finding = finding_of(item)
    Finding.objects.filter(pk=finding.pk).update(state=came.value)
    auditing.note(f"finding.{came.value}", f"finding:{finding.pk}", reason=came.reason)


def evidence_of_finding(item: ReviewItem, _seat: Seat, _user: Any) -> Mapping[str, Any]:
    """The finding with the run it is about, and what the entrant answered so far."""
    finding = finding_of(item)
    return {
        "finding": finding,
        "run": finding.run,
        "version": finding.run.version,
        "others": Finding.objects.filter(run=finding.run, code=finding.code)
        .exclude(pk=finding.pk)
        .count(),
        "answers": item.answers.order_by("sent_at", "pk"),
    }


def waiting_findings(version: SuiteVersion) -> QuerySet[Finding]:
    """The open findings that matter on closed runs of a version."""
    found: QuerySet[Finding] = Finding.objects.filter(
        run__version=version, run__state=Run.State.CLOSED, state=OPEN
    ).exclude(severity__in=QUIET)
    return found.order_by("pk")


def wants_findings(version: SuiteVersion) -> bool:
    """Whether a finding waits for people."""
    return waiting_findings(version).exists()


def subjects_of_findings(queue: Queue) -> Iterator[NewItem]:
    """An item for each finding that waits."""
    for finding in waiting_findings(queue.version):
        yield NewItem(finding=finding, because=f"a check raised {finding.code}")


FINDING_KIND = Kind(
    key=FINDINGS,
    title="Findings",
    form="findings",
    questions=questions_of_finding,
    store=store_on_finding,
    settle=settle_finding,
    wants_queue=wants_findings,
    subjects=subjects_of_findings,
    evidence=evidence_of_finding,
    evidence_template="adjudication/_finding_evidence.html",
)
