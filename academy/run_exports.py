"""The scores of a whole run, record by record, as an export that is made in the background."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from academy import piloting, run_files
from academy.bulk_exporting import RECORDS, Contents
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run, ScoringPass, SuiteVersion
from academy.tables import Column, Kind, Row, Table, marked

SEALED = (
    "This version is sealed: no value of a single item is given out until it retires. "
    "The results of whole runs are on the board."
)
NOT_IN_ROWS = (
    "Answers, transcripts and the plain facts inside records are not in the rows; "
    "each record's page has them."
)
PART = 20_000
NUMBERS = ("value", "credit", "cost_usd")
INTEGERS = (
    "run", "record", "replicate", "variant", "scorer_version", "steps", "wall_ms", "tokens_in",
    "tokens_out",
)  # fmt: skip


def kind_of(name: str) -> Kind:
    """The kind of a column of rows of scores."""
    if name in INTEGERS:
        return Kind.INTEGER
    if name in NUMBERS:
        return Kind.NUMBER
    return Kind.FLAG if name == "passed" else Kind.TEXT


COLUMNS = (
    *(Column(name, kind_of(name)) for name in run_files.COLUMNS[:2]),
    Column("name", Kind.TEXT),
    Column("kind", Kind.TEXT),
    Column("attempt", Kind.INTEGER),
    *(Column(name, kind_of(name)) for name in run_files.COLUMNS[2:]),
)


def rows_of(
    run: Run,
    viewer: Any,
    tasks: Collection[int] | None = None,
    span: tuple[int, int] | None = None,
) -> Iterator[Row]:
    """A row for each record, metric and mode of a run that this person may see."""
    for row in run_files.score_rows(run, viewer, with_facts=False, tasks=tasks, span=span):
        yield {**row, "name": run.entrant.name, "kind": run.kind, "attempt": run.attempt}


def spans_of(run: Run) -> list[tuple[int, int]]:
    """The records of a run in parts that take a minute at most, each by its first and last id."""
    ids = list(InstanceRecord.objects.of_run(run.pk).order_by("pk").values_list("pk", flat=True))
    return [
        (ids[first], ids[min(first + PART, len(ids)) - 1]) for first in range(0, len(ids), PART)
    ]


def left_out_of(runs: Collection[Run], viewer: Any) -> list[str]:
    """In sentences, which records and verdicts of these runs this person does not get."""
    hidden = veiled = 0
    for run in runs:
        visible = InstanceRecord.objects.visible_to(viewer).of_run(run.pk).count()
        hidden += InstanceRecord.objects.of_run(run.pk).count() - visible
        veiled += len(run_files.veiled_records(run, viewer))
    told = [NOT_IN_ROWS]
    if hidden:
        told.append(f"Records of held-out tasks: {hidden}.")
    if veiled:
        told.append(f"Records whose judge's verdicts are sealed until people decided: {veiled}.")
    return told


class RunScores:
    """The source of exports of kind "run"."""

    lead = RECORDS

    def title(self, subject: int) -> str:
        """What the export is called."""
        run = _run(subject)
        return f"Scores of run {run.pk}, {run.entrant.name} on {run.version}"

    def address(self, subject: int) -> str:
        """The page of the run."""
        return reverse("academy:run", args=[subject])

    def versions(self, subject: int) -> list[SuiteVersion]:
        """The version of the run."""
        return [_run(subject).version]

    def is_visible(self, subject: int, user: Any) -> bool:
        """Whether this person may see the run."""
        return bool(Run.objects.visible_to(user).filter(pk=subject).exists())

    def refusal(self, subject: int) -> str:
        """Why there is no export of this run."""
        run, stranger = _run(subject), AnonymousUser()
        if run_files.is_closed(run, stranger):
            return SEALED
        if not self.is_visible(subject, stranger):
            return "Only runs that are open to everybody are exported; this one has not ended."
        if not run_files.may_have_scores(run, stranger):
            return "This run has no scores yet."
        return ""

    def state_digest(self, subject: int) -> str:
        """Over the scores of the run in the published pass."""
        published = ScoringPass.State.PUBLISHED
        rows = _run(subject).summaries.filter(scoring_pass__state=published).order_by("pk")
        return digest([list(row) for row in rows.values_list("scoring_pass__number", "digest")])

    def contents(self, subject: int, viewer: Any) -> Contents:
        """All records of the run that this person may see."""
        if refusal := self.refusal(subject):
            raise AcademyError(refusal)
        run = _run(subject)
        about = {
            "run": str(run.pk),
            "run_digest": run.digest,
            "version": str(run.version),
            "version_digest": run.version.digest,
            "state_digest": self.state_digest(subject),
            "address": self.address(subject),
        }
        told = piloting.sentence_on(run.version)

        def table(rows: Iterator[Row]) -> Table:
            return marked(Table(COLUMNS, rows, about), "pilot", told)

        pieces = [table(rows_of(run, viewer, span=span)) for span in spans_of(run)]
        left_out = tuple(left_out_of([run], viewer))
        return Contents(table(rows_of(run, viewer)), left_out, tuple(pieces))


def _run(subject: int) -> Run:
    run: Run = Run.objects.select_related("entrant", "version__suite").get(pk=subject)
    return run
