"""Studies: what a plan wants and what has come of it, and baselines that a person approves."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from academy import auditing, registry, specs
from academy.canonical import digest
from academy.errors import AcademyError
from academy.models import (
    Baseline,
    InstanceRecord,
    Membership,
    Plan,
    PlannedExecution,
    Run,
    SuiteVersion,
)
from academy.querysets import has_role

Place = tuple[str, str, str, int]
KEPT_RUNS = (Run.State.OPEN, Run.State.CLOSED)


def make_plan(version: SuiteVersion, options: Mapping[str, Any]) -> dict[str, Any]:
    """What a study of a version wants to be executed, in the original's order.

    Raises AcademyError for a sample that cannot be selected, before anything runs.
    """
    fmt = registry.format_of(version.suite.format)
    if fmt.plan is None:
        raise AcademyError(f"The format {fmt.key} has no plans.")
    made: Any = fmt.plan(specs.suite_spec(version), options)
    return dict(made)


@dataclass(frozen=True, slots=True)
class Arrived:
    """One record as a plan sees it: its place in the matrix and the wording it was given."""

    place: Place
    variant: int
    record: int


def arrived(version: SuiteVersion, models: Iterable[str], runs: Any = None) -> list[Arrived]:
    """The records of entrants' runs on a version, by task, model, scenario and replicate; of some
    runs only where these are given.

    A model of the plan is found by the id that its entrant's settings carry, else by its name.
    """
    known = set(models)
    records = InstanceRecord.objects.filter(
        run__version=version, run__kind=Run.Kind.ENTRANT, run__state__in=KEPT_RUNS
    )
    if runs is not None:
        records = records.filter(run__in=runs)
    rows = records.order_by("id").values_list(
        "id",
        "task__external_id",
        "run__entrant__settings",
        "run__entrant__model",
        "run__entrant__slug",
        "run__scenario",
        "replicate",
        "variant",
    )
    found = []
    for record, task, settings, model, slug, scenario, replicate, variant in rows.iterator(2000):
        names = (settings.get("id") if isinstance(settings, dict) else None, model, slug)
        named = next((name for name in names if name in known), model or slug)
        found.append(Arrived((task, str(named), scenario, replicate), variant, record))
    return found


def status_of(
    version: SuiteVersion, plan: Mapping[str, Any], *, runs: Any = None
) -> dict[str, Any]:
    """Wanted, arrived, missing and surplus executions of a plan, in all and per model, scenario and
    replicate, and which are missing and surplus. `repeated` are records of an execution that came
    before, in another run. Of some runs only where these are given, a queryset."""
    wanted = {_place(row["record"]): row["record"] for row in plan["executions"]}
    seen: dict[Place, list[Arrived]] = defaultdict(list)
    for one in arrived(version, {place[1] for place in wanted}, runs):
        seen[one.place].append(one)
    strata: dict[tuple[str, str, int], Counter[str]] = defaultdict(Counter)
    other_wording = []
    for place, row in wanted.items():
        counts = strata[place[1:]]
        counts["wanted"] += 1
        counts["arrived" if place in seen else "missing"] += 1
        counts["repeated"] += max(len(seen[place]) - 1, 0) if place in seen else 0
        if any(one.variant != row.get("variant", one.variant) for one in seen.get(place, ())):
            other_wording.append(list(place))
    surplus = [one for place, found in seen.items() if place not in wanted for one in found]
    for one in surplus:
        strata[one.place[1:]]["surplus"] += 1
    names = ("wanted", "arrived", "missing", "surplus", "repeated")
    return {
        **{name: sum(counts[name] for counts in strata.values()) for name in names},
        "other_wording": other_wording,
        "missing_executions": [_named(place) for place in wanted if place not in seen],
        "surplus_records": [{**_named(one.place), "record": one.record} for one in surplus],
        "strata": [
            {
                "model": model,
                "scenario": scenario,
                "replicate": replicate,
                **{name: counts[name] for name in names},
            }
            for (model, scenario, replicate), counts in sorted(strata.items())
        ],
    }


def _place(record: Mapping[str, Any]) -> Place:
    return record["task"], record["model"], record["scenario"], int(record["replicate"])


def _named(place: Place) -> dict[str, Any]:
    return dict(zip(("task", "model", "scenario", "replicate"), place, strict=True))


def kept_plan(plan: Plan) -> dict[str, Any]:
    """A kept plan as `status_of` takes it: by its rows, which do not say the wording, or by the
    document that came with the suite. Raises AcademyError when the format selects it no more."""
    rows = plan.executions.order_by("position").values_list(
        "task__external_id", "model", "scenario", "replicate"
    )
    executions = [{"record": _named(row)} for row in rows]
    return (
        {"executions": executions} if executions else make_plan(plan.version, {"plan": plan.name})
    )


@transaction.atomic
def keep_plan(version: SuiteVersion, plan: Mapping[str, Any], *, name: str, by: Any = None) -> Plan:
    """Keep a plan with its executions as rows. The same plan again gives the one that is kept."""
    content = {key: value for key, value in plan.items() if key != "executions"}
    hashed = str(plan.get("normalized_hash") or digest(plan["executions"]))
    kept, is_new = Plan.objects.get_or_create(
        version=version,
        plan_hash=hashed,
        defaults={
            "name": name[:200],
            "suite_hash": str(plan.get("suite_hash") or "")[:64],
            "seed": str(plan.get("seed") or "")[:100],
            "strategy": str(plan.get("strategy") or "")[:40],
            "sample": plan.get("sample"),
            "population": int(plan.get("planned_executions") or len(plan["executions"])),
            "is_pilot": bool(plan.get("is_pilot")),
            "content": content,
        },
    )
    if is_new or not kept.executions.exists():
        tasks = dict(version.tasks.values_list("external_id", "pk"))
        PlannedExecution.objects.bulk_create(
            [
                PlannedExecution(
                    plan=kept,
                    position=position,
                    task_id=tasks[row["record"]["task"]],
                    model=row["record"]["model"],
                    scenario=row["record"]["scenario"],
                    replicate=row["record"]["replicate"],
                )
                for position, row in enumerate(plan["executions"])
            ],
            batch_size=1000,
        )
        auditing.note("plan.keep", f"plan:{kept.pk}", by=by, plan_hash=hashed)
    return kept


def execute_baseline(plan: Plan, runs: Sequence[Run], *, by: Any = None) -> Baseline:
    """Note what was executed for a plan, by the digest of every record; nothing is approved yet."""
    if not runs:
        raise AcademyError("A baseline needs at least one run.")
    wrong = [
        run.pk for run in runs if run.version_id != plan.version_id or run.state not in KEPT_RUNS
    ]
    if wrong:
        raise AcademyError(f"Run {wrong[0]} is no run of the plan's version that stands.")
    digests: dict[str, str] = {}
    for run in runs:
        rows = InstanceRecord.objects.of_run(run.pk).order_by("id")
        for task, replicate, variant, content in rows.values_list(
            "task__external_id", "replicate", "variant", "content_digest"
        ):
            place = f"{run.entrant.slug}/{run.scenario}/{task}/{replicate}/{variant}"
            digests[f"{run.pk}/{place}"] = bytes(content).hex()
    made: Baseline = Baseline.objects.create(
        plan=plan,
        record_digests=digests,
        digest=digest({"plan": plan.plan_hash, "records": digests}),
    )
    auditing.note("baseline.execute", f"baseline:{made.pk}", by=by, digest=made.digest)
    return made


@transaction.atomic
def compare_baseline(baseline: Baseline, *, by: Any = None) -> Baseline:
    """Hold an executed baseline against the plan and the approved one; approves nothing."""
    held = (
        Baseline.objects.select_for_update(of=("self",)).select_related("plan").get(pk=baseline.pk)
    )
    if held.state not in (Baseline.State.EXECUTED, Baseline.State.COMPARED):
        raise AcademyError(f"Baseline {held.pk} is {held.state}; only an executed one is compared.")
    approved = approved_baseline(held.plan)
    before = _by_execution(approved.record_digests) if approved else {}
    after = _by_execution(held.record_digests)
    held.comparison = {
        "with": approved.pk if approved else None,
        "records": len(after),
        "planned": len(kept_plan(held.plan)["executions"]),
        "same": sum(1 for name, content in after.items() if before.get(name) == content),
        "changed": sorted(
            n for n, content in after.items() if n in before and before[n] != content
        ),
        "new": len(after.keys() - before.keys()),
        "gone": sorted(before.keys() - after.keys()),
    }
    held.state = Baseline.State.COMPARED
    held.save(update_fields=["comparison", "state"])
    auditing.note("baseline.compare", f"baseline:{held.pk}", by=by)
    return held


def _by_execution(digests: Mapping[str, str]) -> dict[str, str]:
    """Digests without the runs, which differ between two executions of a plan."""
    return {name.partition("/")[2]: content for name, content in digests.items()}


def approved_baseline(plan: Plan) -> Baseline | None:
    """The baseline of a plan that stands."""
    found: Baseline | None = plan.baselines.filter(state=Baseline.State.APPROVED).first()
    return found


@transaction.atomic
def approve_baseline(baseline: Baseline, *, by: Any, reason: str) -> Baseline:
    """Approve a compared baseline; one that stood is replaced and stays linked.

    Raises AcademyError without a reason, for somebody who is no curator or owns a run of it, for
    one that was not compared, and when its records are no longer what they were.
    """
    if not reason.strip():
        raise AcademyError("An approval needs a reason.")
    if not has_role(by, "curator"):
        raise AcademyError("Only a curator approves a baseline.")
    plan = Plan.objects.select_for_update().get(pk=baseline.plan_id)
    held = Baseline.objects.select_for_update(of=("self",)).get(pk=baseline.pk)
    if held.state != Baseline.State.COMPARED:
        raise AcademyError(f"Baseline {held.pk} is {held.state}; it must be compared first.")
    runs = Run.objects.filter(pk__in={int(name.partition("/")[0]) for name in held.record_digests})
    refuse_owner(by, runs.select_related("entrant", "submission"))
    before = approved_baseline(plan)
    if before is not None:
        Baseline.objects.filter(pk=before.pk).update(state=Baseline.State.REPLACED)
        held.replaces = before
    held.state, held.approver, held.reason = Baseline.State.APPROVED, by, reason
    held.approved_at = timezone.now()
    held.save(update_fields=["state", "approver", "reason", "approved_at", "replaces"])
    auditing.note(
        "baseline.approve", f"baseline:{held.pk}", by=by, reason=reason, digest=held.digest
    )
    return held


def refuse_owner(person: Any, runs: Iterable[Run]) -> None:
    """Raise AcademyError when a person uploaded a run or enters for its entrant's organisation."""
    own = set(
        Membership.objects.filter(user=person, role="entrant").values_list(
            "organization", flat=True
        )
    )
    for run in runs:
        uploaded = run.submission is not None and run.submission.account_id == person.pk
        if uploaded or run.entrant.organization_id in own - {None}:
            raise AcademyError(f"Run {run.pk} is your own; somebody else must approve it.")
