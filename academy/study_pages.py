"""What the page of a study's plan shows: wanted, arrived, missing and surplus, and baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from academy import registry, studying
from academy.errors import AcademyError
from academy.models import Baseline, InstanceRecord, Plan, Run, SuiteVersion, Task
from academy.pass_pages import numbers_in
from academy.querysets import has_role, sees_drafts

SHOWN = 50
WHOLE = "whole"


def has_plans(version: SuiteVersion) -> bool:
    """Whether the format of a version can say what a study wants to be executed."""
    return registry.format_of(version.suite.format).plan is not None


def plan_context(version: SuiteVersion, user: Any, query: Mapping[str, str]) -> dict[str, Any]:
    """A plan of a version held against what has come: totals, strata, the missing and the surplus.

    `?plan=` names a kept plan by its key, or the whole study; `?all=1` shows whole lists. Visitors
    see what came in runs that have ended, names of held-out tasks are for curators.
    """
    kept = list(version.plans.order_by("pk"))
    for plan in kept:
        plan.version = version
    chosen = chosen_plan(kept, query.get("plan", ""))
    runs = None if sees_drafts(user) else Run.objects.visible_to(user).filter(version=version)
    status: dict[str, Any] | None = None
    problem = ""
    try:
        wanted = studying.kept_plan(chosen) if chosen else studying.make_plan(version, {})
        status = studying.status_of(version, wanted, runs=runs)
    except AcademyError as error:
        problem = str(error)
    shows_all = query.get("all") == "1"
    tasks = dict(
        Task.objects.visible_to(user).filter(version=version).values_list("external_id", "ordinal")
    )
    records = set() if status is None else visible_records(status["surplus_records"], version, user)
    lists = {
        name: rows_of(status[name] if status else (), tasks, records, shows_all=shows_all)
        for name in ("missing_executions", "surplus_records")
    }
    return {
        "version": version,
        "suite": version.suite,
        "kept": kept,
        "chosen": chosen,
        "named": str(chosen.pk) if chosen else WHOLE,
        "status": status,
        "problem": problem,
        "missing": lists["missing_executions"],
        "surplus": lists["surplus_records"],
        "is_cut": not shows_all and any(held["more"] for held in lists.values()),
        "counts_open": runs is None,
        "baselines": baselines_of(chosen) if chosen else [],
        "curates": has_role(user, "curator"),
    }


def chosen_plan(kept: list[Plan], named: str) -> Plan | None:
    """The kept plan that is asked for, or None for the whole study; the first one by default."""
    if named == WHOLE:
        return None
    by_key = {str(plan.pk): plan for plan in kept}
    return by_key.get(named) or (kept[0] if kept else None)


def visible_records(
    rows: Iterable[Mapping[str, Any]], version: SuiteVersion, user: Any
) -> set[int]:
    """The surplus records that this person may open."""
    visible = InstanceRecord.objects.visible_to(user).filter(run__version=version)
    listed = [row["record"] for row in rows]
    return set(visible.filter(pk__in=listed).values_list("pk", flat=True)) if listed else set()


def rows_of(
    listed: Iterable[Mapping[str, Any]],
    tasks: Mapping[str, int],
    records: set[int],
    *,
    shows_all: bool,
) -> dict[str, Any]:
    """Executions with the place of their task, cut unless all are asked for."""
    found = list(listed)
    shown = found if shows_all else found[:SHOWN]
    return {
        "rows": [
            {
                **row,
                "task": row["task"] if row["task"] in tasks else "",
                "ordinal": tasks.get(row["task"]),
                "record": row["record"] if row.get("record") in records else None,
            }
            for row in shown
        ],
        "total": len(found),
        "more": len(found) - len(shown),
    }


def baselines_of(plan: Plan) -> list[Baseline]:
    """The baselines of a plan, newest first, with what each replaced and was replaced by."""
    rows = plan.baselines.select_related("approver", "replaces", "replaced_by").order_by("-pk")
    return list(rows)


def act(version: SuiteVersion, given: Mapping[str, str], *, by: Any) -> str:
    """Do what a curator asked for; gives what was done as a sentence. Raises AcademyError."""
    name = given.get("act", "")
    if name == "keep":
        plan = studying.make_plan(version, {})
        title = given.get("name", "").strip()
        if not title:
            raise AcademyError("A plan that is kept needs a name.")
        kept = studying.keep_plan(version, plan, name=title, by=by)
        return f"The plan {kept.name} is kept with {kept.executions.count()} executions."
    if name == "execute":
        plan_named = _one_of(version.plans.all(), given.get("plan", ""), "plan")
        numbers = numbers_in(given.get("runs", ""))
        runs = list(Run.objects.filter(pk__in=numbers).select_related("entrant").order_by("pk"))
        unknown = sorted(set(numbers) - {run.pk for run in runs})
        if unknown:
            raise AcademyError(f"There is no run {unknown[0]}.")
        made = studying.execute_baseline(plan_named, runs, by=by)
        return f"Baseline {made.pk} is executed: {len(made.record_digests)} records."
    held = _one_of(
        Baseline.objects.filter(plan__version=version), given.get("baseline", ""), "baseline"
    )
    if name == "compare":
        studying.compare_baseline(held, by=by)
        return f"Baseline {held.pk} is compared."
    if name == "approve":
        studying.approve_baseline(held, by=by, reason=given.get("reason", ""))
        return f"Baseline {held.pk} is approved."
    raise AcademyError("Choose what is to be done.")


def _one_of(rows: Any, named: str, what: str) -> Any:
    found = rows.filter(pk=int(named)).first() if named.isdecimal() and len(named) < 9 else None
    if found is None:
        raise AcademyError(f"This version has no such {what}.")
    return found
