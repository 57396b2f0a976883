"""What the page of a version's scoring passes shows, and what curators do there."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet

from academy import comparing, passes, rescoring
from academy.errors import AcademyError
from academy.models import ScoringPass, SuiteVersion
from academy.querysets import has_role
from academy.worker_pages import workers_context

ACTS = ("stage", "publish", "pause", "resume", "again")


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


def numbers_in(text: str) -> list[int]:
    """Whole numbers between commas or blanks. Raises AcademyError for anything else."""
    words = text.replace(",", " ").split()
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 9):
            raise AcademyError(f"{word[:40]!r} is no number of a run.")
    return [int(word) for word in words]


def table_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """The part of the page that moves: all passes that may be read, with their progress."""
    curates = has_role(user, "curator")
    listed = list(passes.readable_by(version, curates=curates))
    named = {str(row.number): row for row in listed}
    rows: list[dict[str, Any]] = [{"pass": row, "progress": passes.progress(row)} for row in listed]
    return {
        "version": version,
        "suite": version.suite,
        **workers_context(),
        "passes": rows,
        "chosen": named.get(query.get("pass", ""), listed[0] if listed else None),
        "curates": curates,
        "is_moving": any(row["progress"]["owed"] for row in rows),
    }


def passes_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """All passes that may be read, and what the chosen one changes."""
    table = table_context(version, user, query)
    curates, chosen = table["curates"], table["chosen"]
    before = comparing.pass_before(chosen) if chosen else None
    told: dict[str, Any] | None = None
    if chosen is not None and before is not None:
        told = comparing.differences(before, chosen, boards=curates).as_json()
        if not curates:
            told = comparing.shown_to_public(version, told)
    return {
        **table,
        "before": before,
        "told": told,
        "may_publish": curates and chosen is not None and chosen.state == passes.STAGED,
        "most": comparing.SHOWN_CHANGES,
    }


def act(
    version: SuiteVersion, name: str, *, number: int | None, reason: str, by: Any, runs: str = ""
) -> str:
    """Do what a curator asked for; gives what was done as a sentence. Raises AcademyError.

    `runs` are the numbers of runs to score again; none means all.
    """
    if name == "again":
        chosen_runs = rescoring.chosen_runs(version, numbers_in(runs))
        units = rescoring.score_again(chosen_runs, reason=reason, by=by)
        return f"{units} units of work are owed for {len(chosen_runs)} runs."
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
