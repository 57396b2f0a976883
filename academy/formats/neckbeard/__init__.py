"""Fixtures, trajectories and ratings of the neckbeard skill (README.md tells the source)."""

from __future__ import annotations

from academy.formats.base import Format, GateAnswers
from academy.formats.neckbeard.compatibility import compatibility
from academy.formats.neckbeard.export import export_suite
from academy.formats.neckbeard.findings import findings
from academy.formats.neckbeard.parse import claims, parse_suite
from academy.formats.neckbeard.reviewing import run_routing
from academy.formats.neckbeard.routing_table import as_json
from academy.formats.neckbeard.scoring import SCORERS, aggregate, board_policies
from academy.formats.neckbeard.tasks import agent_view, rater_view

FORMAT = Format(
    key="neckbeard",
    label="neckbeard fixtures",
    summary="Single tasks and delivery trajectories, rated by people on eight dimensions.",
    claims=claims,
    parse_suite=parse_suite,
    export_suite=export_suite,
    scorers=SCORERS,
    aggregate=aggregate,
    agent_view=agent_view,
    rater_view=rater_view,
    run_routing=run_routing,
    findings=findings,
    board_policies=board_policies,
    gate_answers=lambda _task: GateAnswers(reason="only people rate, so no answer can be made"),
    compatibility=compatibility,
    reference_tables={"routing": as_json()},
)
