"""All records of a board's entries with all their metrics, as an export made in the background."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.contrib.auth.models import AnonymousUser
from django.urls import reverse

from academy import piloting, run_exports, run_files
from academy.bulk_exporting import RECORDS, Contents
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run, SuiteVersion, Summary
from academy.tables import Column, Kind, Row, Table, marked
from leaderboard.candidates import Candidate
from leaderboard.inputs import Inputs, read_inputs
from leaderboard.models import Board

COLUMNS = (
    Column("board_key", Kind.TEXT),
    Column("counts", Kind.FLAG),
    *run_exports.COLUMNS,
)
# A stretch of a run's records, from one id to another.
Part = tuple[Candidate, Run, tuple[int, int]]


class BoardItems:
    """The source of exports of kind "board"."""

    lead = RECORDS

    def title(self, subject: int) -> str:
        """What the export is called."""
        return f"Item results of {Board.objects.get(pk=subject).title}"

    def address(self, subject: int) -> str:
        """The page of the board."""
        return reverse("leaderboard:board", args=[Board.objects.get(pk=subject).slug])

    def versions(self, subject: int) -> list[SuiteVersion]:
        """The versions of the board."""
        return list(Board.objects.get(pk=subject).versions.all())

    def is_visible(self, subject: int, user: Any) -> bool:
        """Whether this person may see the board."""
        return bool(Board.objects.visible_to(user).filter(pk=subject).exists())

    def refusal(self, subject: int) -> str:
        """Why there is no export of this board."""
        inputs = _inputs(subject)
        if inputs is None:
            return "This board has no public version with scores yet."
        if inputs.sealed:
            return run_exports.SEALED
        if not any(run_files.may_have_scores(run, AnonymousUser()) for run in _runs(inputs)):
            return "No entry of this board has records yet."
        return ""

    def state_digest(self, subject: int) -> str:
        """Over the policy, and the scores of every attempt in the passes that the board shows."""
        board = Board.objects.get(pk=subject)
        inputs = _inputs(subject)
        if inputs is None:
            return digest([board.pk, board.revision])
        rows = Summary.objects.filter(
            run__in=_runs(inputs), scoring_pass__in=[part.scoring_pass for part in inputs.parts]
        ).order_by("run_id", "pk")
        scores = [
            f"{run}:{chosen}:{held}"
            for run, chosen, held in rows.values_list("run_id", "scoring_pass_id", "digest")
        ]
        return digest([board.pk, board.revision, scores])

    def contents(self, subject: int, viewer: Any) -> Contents:
        """The records of all attempts and baselines on the items that the board counts."""
        if refusal := self.refusal(subject):
            raise AcademyError(refusal)
        inputs = _inputs(subject)
        assert inputs is not None
        board = Board.objects.get(pk=subject)
        visible = set(Run.objects.visible_to(viewer).values_list("pk", flat=True))
        held = [
            (candidate, run)
            for candidate in (*inputs.candidates, *inputs.baselines)
            for run in candidate.attempts
        ]
        shown = [(c, run) for c, run in held if run.pk in visible]
        scored = [(c, run) for c, run in shown if run_files.may_have_scores(run, viewer)]
        told = run_exports.left_out_of([run for _candidate, run in scored], viewer)
        told += _left_out(inputs, [run for _c, run in held], [run for _c, run in scored])
        tasks = frozenset(task.pk for task in inputs.tasks)
        pilots = piloting.sentence_on_all(part.version for part in inputs.parts)
        about = _about(board, inputs)

        def table(parts: Sequence[Part]) -> Table:
            rows = _rows(parts, viewer, tasks)
            return marked(Table(COLUMNS, rows, about), "pilot", pilots)

        parts = [(c, run, span) for c, run in scored for span in run_exports.spans_of(run)]
        pieces = tuple(map(table, _gathered(parts)))
        return Contents(table(parts), tuple(told), pieces)


def _left_out(inputs: Inputs, held: Sequence[Run], scored: Sequence[Run]) -> list[str]:
    """In sentences, which runs and tasks of the board's versions are not in its export."""
    stranger = AnonymousUser()
    gate = [run for run in held if run_files.is_of_the_gate(run, stranger)]
    tasks = sum(part.version.tasks.count() for part in inputs.parts) - len(inputs.tasks)
    numbers = {
        "Baselines of the site, whose answers would show where the keys lie": len(gate),
        "Runs without scores of records of their own": len(held) - len(scored) - len(gate),
        "Withdrawn runs": len(inputs.withdrawn),
        "Tasks that the board does not count": tasks,
    }
    return [f"{what}: {number}." for what, number in numbers.items() if number]


def _about(board: Board, inputs: Inputs) -> dict[str, str]:
    newest = board.newest_snapshot()
    return {
        "board": board.slug,
        "revision": str(board.revision),
        "snapshot": str(newest.number) if newest else "",
        "snapshot_digest": newest.digest if newest else "",
        "versions": ", ".join(str(part.version) for part in inputs.parts),
        "version_digests": ", ".join(part.version.digest for part in inputs.parts),
        "address": reverse("leaderboard:board", args=[board.slug]),
    }


def _gathered(parts: Sequence[Part]) -> Iterator[Sequence[Part]]:
    """Parts of runs together until they are as large as one part may be."""
    held: list[Part] = []
    size = 0
    for part in parts:
        first, last = part[2]
        records = InstanceRecord.objects.filter(pk__range=(first, last)).count()
        if held and size + records > run_exports.PART:
            yield held
            held, size = [], 0
        held.append(part)
        size += records
    if held:
        yield held


def _rows(parts: Sequence[Part], viewer: Any, tasks: frozenset[int]) -> Iterator[Row]:
    for candidate, run, span in parts:
        counts = run in candidate.runs
        for row in run_exports.rows_of(run, viewer, tasks, span):
            yield {**row, "board_key": candidate.key, "counts": counts}


def _runs(inputs: Inputs) -> list[Run]:
    groups = (*inputs.candidates, *inputs.baselines)
    return [run for candidate in groups for run in candidate.attempts]


def _inputs(subject: int) -> Inputs | None:
    return read_inputs(Board.objects.get(pk=subject))
