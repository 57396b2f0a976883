"""Questions about a whole run: an unproven claim, totals that do not add up."""

from __future__ import annotations

from collections.abc import Iterable

from academy.bundle import JSON, FindingSpec, RecordView, RunSpec
from academy.formats.opentakeoff.integrity import block, text
from academy.formats.opentakeoff.manifests import mapping, numeric

TOTALS = {
    "totalSteps": "steps",
    "totalWallMs": "wall_ms",
    "totalTokensIn": "tokens_in",
    "totalTokensOut": "tokens_out",
}


def run_findings(run: RunSpec, records: Iterable[RecordView]) -> tuple[FindingSpec, ...]:
    """What is asked about a whole run."""
    return (*find_claim(run), *find_totals(run, records))


def find_claim(run: RunSpec) -> Iterable[FindingSpec]:
    """A run that calls itself proctored without a signature that was checked."""
    header = mapping(run.extra.get("header"))
    claimed = mapping(header.get("attestation")).get("mode") == "proctored"
    if claimed and run.verification != "reproduced":
        signed = bool(text(block(header).get("academySignature")))
        yield FindingSpec(
            code="proctored-unproven",
            sentence="The run calls itself proctored, and no checked signature proves it.",
            evidence={"co_signature": signed},
        )


def find_totals(run: RunSpec, records: Iterable[RecordView]) -> Iterable[FindingSpec]:
    """Totals of the run that are not the sums of its records."""
    said_totals = mapping(mapping(run.extra.get("header")).get("telemetry"))
    spent = dict.fromkeys(TOTALS, 0.0)
    for record in records:
        for total, name in TOTALS.items():
            spent[total] += record.telemetry.get(name) or 0
    wrong: dict[str, JSON] = {
        total: {"said": said, "sum": number}
        for total, number in spent.items()
        if (said := numeric(said_totals.get(total))) is not None and said != number
    }
    if wrong:
        yield FindingSpec(
            code="totals-disagree",
            sentence="The run's totals are not the sums of its records.",
            severity="low",
            evidence=wrong,
        )
