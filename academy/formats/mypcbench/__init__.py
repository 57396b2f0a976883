"""MyPCBench: desktop tasks judged by weighted rubrics (see README.md)."""

from __future__ import annotations

from academy.formats.base import Format
from academy.formats.mypcbench.aggregating import aggregate, board_policies
from academy.formats.mypcbench.attempts import claims_run
from academy.formats.mypcbench.documents import rater_view
from academy.formats.mypcbench.export import export_run, export_suite
from academy.formats.mypcbench.gate import gate_answers
from academy.formats.mypcbench.parse import claims, parse_suite
from academy.formats.mypcbench.runs import parse_run
from academy.formats.mypcbench.validating import compatibility
from academy.formats.mypcbench.viewing import view

FORMAT = Format(
    key="mypcbench",
    label="MyPCBench rubric tasks",
    summary="Desktop tasks with weighted rubrics, judged from the trajectory.",
    claims=claims,
    parse_suite=parse_suite,
    claims_run=claims_run,
    parse_run=parse_run,
    view=view,
    export_suite=export_suite,
    export_run=export_run,
    aggregate=aggregate,
    rater_view=rater_view,
    board_policies=board_policies,
    gate_answers=gate_answers,
    compatibility=compatibility,
)
