"""The `evals.json` of agent skills (README.md tells the source)."""

from __future__ import annotations

from academy.formats.base import Format, GateAnswers
from academy.formats.skill_evals.export import export_suite
from academy.formats.skill_evals.parse import claims, parse_suite
from academy.formats.skill_evals.views import board_policies, rater_view

FORMAT = Format(
    key="skill_evals",
    label="Skill evals",
    summary="Prompts for an agent skill with assertions that people decide.",
    claims=claims,
    parse_suite=parse_suite,
    export_suite=export_suite,
    rater_view=rater_view,
    board_policies=board_policies,
    gate_answers=lambda _task: GateAnswers(reason="only people decide, so no answer can be made"),
)
