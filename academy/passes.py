"""Scoring passes: which scorers and key revisions made the numbers of a version."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from academy import registry, specs
from academy.canonical import digest
from academy.models import ScoringPass, SuiteVersion
from academy.scorers.base import Mode


def scorer_versions(version: SuiteVersion) -> dict[str, int]:
    """The versions of the installed scorers that the version's gradings ask for."""
    named = {
        grading["scorer"]
        for gradings in version.tasks.values_list("gradings", flat=True)
        for grading in gradings
    }
    return {
        f"{key}/{mode}": scorer.version
        for key in sorted(named)
        for mode in Mode
        if (scorer := registry.scorer_of(key, mode))
    }


def evidence_of(version: SuiteVersion) -> dict[str, Any]:
    """Whose word counts in each mode: the version's own choice, else what its format proposes."""
    chosen = version.attributes.get("evidence")
    if isinstance(chosen, dict):
        return chosen
    proposals = registry.format_of(version.suite.format).board_policies(specs.suite_spec(version))
    found = {"reference": {"kind": "reference"}, "strict": {"kind": "people"}}
    for proposal in proposals:
        if proposal.mode is Mode.STRICT:
            found["strict"] = {"kind": proposal.evidence}
    return found


def open_first_pass(version: SuiteVersion) -> ScoringPass:
    """The pass in which a new version is scored from the start."""
    scorers = scorer_versions(version)
    evidence = evidence_of(version)
    keys = specs.latest_keys(version)
    commitments = {str(task_id): key.commitment for task_id, key in sorted(keys.items())}
    return ScoringPass.objects.create(
        version=version,
        number=1,
        state=ScoringPass.State.PUBLISHED,
        scorers=scorers,
        key_revisions={str(task_id): key.revision for task_id, key in keys.items()},
        digest=digest(
            {
                "version": version.digest,
                "scorers": scorers,
                "evidence": evidence,
                "keys": sorted(commitments.values()),
            }
        ),
        evidence=evidence,
        reason="first pass",
        published_at=timezone.now(),
    )


def published_pass(version: SuiteVersion) -> ScoringPass:
    """The pass whose numbers are shown."""
    return version.passes.get(state=ScoringPass.State.PUBLISHED)
