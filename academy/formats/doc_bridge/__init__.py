"""Controlled studies of AgentsKit Doc Bridge (see README.md for the source and its oddities)."""

from __future__ import annotations

from academy.formats.base import Format
from academy.formats.doc_bridge.adding import add_companions, plans
from academy.formats.doc_bridge.aggregation import aggregate
from academy.formats.doc_bridge.boards import (
    board_policies,
    compatibility,
    gate_answers,
    rater_view,
)
from academy.formats.doc_bridge.export import export_run, export_runs, export_suite
from academy.formats.doc_bridge.findings import findings
from academy.formats.doc_bridge.parse import claims, claims_run, parse_suite
from academy.formats.doc_bridge.planning import plan
from academy.formats.doc_bridge.records import view
from academy.formats.doc_bridge.rounds import report
from academy.formats.doc_bridge.runs import parse_run
from academy.formats.doc_bridge.scoring import SCORERS

FORMAT = Format(
    key="doc_bridge",
    label="Doc Bridge controlled study",
    summary="Agents at work on documented repositories, with and without a documentation bridge.",
    claims=claims,
    parse_suite=parse_suite,
    claims_run=claims_run,
    parse_run=parse_run,
    view=view,
    export_suite=export_suite,
    export_run=export_run,
    scorers=SCORERS,
    aggregate=aggregate,
    rater_view=rater_view,
    findings=findings,
    plan=plan,
    board_policies=board_policies,
    gate_answers=gate_answers,
    compatibility=compatibility,
    report=report,
    export_runs=export_runs,
    add_companions=add_companions,
    plans=plans,
)
