"""Answers that must come out at the floor; a ceiling cannot be made without a person or a judge."""

from __future__ import annotations

from academy.bundle import TaskSpec
from academy.formats.base import GateAnswers
from academy.formats.mypcbench.attempts import DONE, TRAJECTORY
from academy.formats.mypcbench.records import write_raw


def gate_answers(task: TaskSpec) -> GateAnswers:
    """An attempt that ended without doing anything: it has no bundle, so it counts 0."""
    empty = {
        "folder": task.external_id,
        "files": {TRAJECTORY: [], DONE: "0.0\n"},
        "artifacts": [],
    }
    return GateAnswers(
        null=write_raw(empty),
        reason="whether a rubric is met is decided by a judge or a person from a trajectory, so "
        "neither a blind guess nor a perfect answer can be written down",
    )
