"""Every Eval Ever records: aggregates and rows (see README.md for the source and its oddities)."""

from __future__ import annotations

from academy.formats.base import Format
from academy.formats.every_eval_ever.boards import board_policies
from academy.formats.every_eval_ever.compatibility import compatibility
from academy.formats.every_eval_ever.documents import claims
from academy.formats.every_eval_ever.native import export_run, export_runs, export_suite
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.every_eval_ever.scored import export_scores
from academy.formats.every_eval_ever.views import view

FORMAT = Format(
    key="every_eval_ever",
    label="Every Eval Ever",
    summary="Results reported anywhere, with the rows behind them where they came.",
    claims=claims,
    parse_suite=parse_suite,
    claims_run=claims,
    parse_run=parse_run,
    view=view,
    export_suite=export_suite,
    export_run=export_run,
    export_runs=export_runs,
    export_scores=export_scores,
    compatibility=compatibility,
    board_policies=board_policies,
)
