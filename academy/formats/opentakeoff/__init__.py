"""OpenTakeoff Academy suites and run bundles (see README.md for the source and its oddities)."""

from __future__ import annotations

from academy.formats.base import Format
from academy.formats.opentakeoff.aggregation import aggregate
from academy.formats.opentakeoff.agreement import key_agreement, key_consensus
from academy.formats.opentakeoff.certificate_reading import read_certificate
from academy.formats.opentakeoff.certificates import certificate
from academy.formats.opentakeoff.compatibility import compatibility
from academy.formats.opentakeoff.export import export_run, export_suite
from academy.formats.opentakeoff.findings import findings
from academy.formats.opentakeoff.gates import gate_answers
from academy.formats.opentakeoff.keys import read_keys
from academy.formats.opentakeoff.layout import claims, claims_run
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.policies import board_policies
from academy.formats.opentakeoff.ratings import key_of_ratings, key_quantities
from academy.formats.opentakeoff.run_findings import run_findings
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.opentakeoff.views import agent_view, rater_view, view

FORMAT = Format(
    key="opentakeoff",
    label="OpenTakeoff Academy",
    summary="Construction takeoff: areas, counts, scales and scope measured on drawings.",
    claims=claims,
    parse_suite=parse_suite,
    claims_run=claims_run,
    parse_run=parse_run,
    view=view,
    export_suite=export_suite,
    export_run=export_run,
    aggregate=aggregate,
    agent_view=agent_view,
    rater_view=rater_view,
    findings=findings,
    run_findings=run_findings,
    board_policies=board_policies,
    gate_answers=gate_answers,
    read_keys=read_keys,
    key_agreement=key_agreement,
    key_consensus=key_consensus,
    key_quantities=key_quantities,
    key_of_ratings=key_of_ratings,
    compatibility=compatibility,
    certificate=certificate,
    read_certificate=read_certificate,
)
