"""What the page of a version's scoring passes shows, and what curators do there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from academy import comparing, passes
from academy.models import ScoringPass, SuiteVersion
from academy.querysets import has_role

ACTS = ("stage", "publish", "pause", "resume")


def readable(version: SuiteVersion, user: Any) -> QuerySet[ScoringPass]:
    """The passes of a version that this person may read, newest first."""
    return passes.readable_by(version, curates=has_role(user, "curator"))


def chosen_pass(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> ScoringPass | None:
    """The pass that ?pass=N names if this person may read it, else the published one.

    Two passes of one sealed run side by side would give a corrected key away.
    """
    named = query.get("pass", "")
    sealed = version.sealed and version.state != SuiteVersion.State.RETIRED
    if named.isdecimal() and len(named) < 9 and (not sealed or has_role(user, "curator")):
        found: ScoringPass | None = readable(version, user).filter(number=int(named)).first()
        if found is not None:
            return found
    published: ScoringPass | None = version.passes.filter(state=passes.PUBLISHED).first()
    return published


def passes_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """All passes that may be read, and what the chosen one changes."""
    curates = has_role(user, "curator")
    listed = list(passes.readable_by(version, curates=curates))
    named = {str(row.number): row for row in listed}
    chosen = named.get(query.get("pass", ""), listed[0] if listed else None)
    before = comparing.pass_before(chosen) if chosen else None
    told: dict[str, Any] | None = None
    if chosen is not None and before is not None:
        told = comparing.differences(before, chosen, boards=curates).as_json()
        if not curates:
            told = comparing.shown_to_public(version, told)
    return {
        "version": version,
        "suite": version.suite,
        "passes": [{"pass": row, "progress": passes.progress(row)} for row in listed],
        "chosen": chosen,
        "before": before,
        "told": told,
        "curates": curates,
        "may_publish": curates and chosen is not None and chosen.state == passes.STAGED,
        "most": comparing.SHOWN_CHANGES,
    }


def act(version: SuiteVersion, name: str, *, number: int | None, reason: str, by: Any) -> str:
    """Do what a curator asked for; gives what was done as a sentence. Raises AcademyError."""
    if name == "stage":
        like = passes.find_pass(version, number) if number is not None else None
        made = passes.stage(version, reason=reason, by=by, like=like)
        return f"Pass {made.number} is staged; all runs are scored in it."
    chosen = passes.find_pass(version, number or 0)
    if name == "publish":
        passes.publish(chosen, reason=reason, by=by)
        return f"Pass {chosen.number} is published."
    if name == "pause":
        return f"{passes.pause(chosen, by=by)} units of pass {chosen.number} wait."
    return f"{passes.resume(chosen, by=by)} units of pass {chosen.number} go on."
