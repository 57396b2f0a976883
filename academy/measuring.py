"""Human baselines: the best complete results of recorded human runs, in revisions.

An entry is called better than people only against runs that people made here under the same tasks
and limits, scored in the same pass. A number that a suite publishes is no such run.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from django.db import connection

from academy import scheduling, sealing, work
from academy.models import HumanBaseline, Run, RunResult, ScoringPass, SuiteVersion

LOCK = 7402
STRICT = "strict"


def baselines_in(chosen: ScoringPass) -> dict[str, dict[str, float]]:
    """The current human baselines of a pass, by metric key and slice."""
    found: dict[str, dict[str, float]] = defaultdict(dict)
    rows = HumanBaseline.objects.filter(scoring_pass=chosen, current=True, value__isnull=False)
    for key, name, value in rows.values_list("metric__key", "slice", "value"):
        if value is not None:
            found[key][name] = value
    return dict(found)


def baseline_on(chosen: ScoringPass, metric: str, name: str) -> HumanBaseline | None:
    """The current human baseline of one metric and slice, if a human run stands."""
    found: HumanBaseline | None = (
        HumanBaseline.objects.filter(
            scoring_pass=chosen,
            metric__key=metric,
            slice=name,
            current=True,
            value__isnull=False,
        )
        .select_related("metric", "run__entrant", "scoring_pass__version")
        .first()
    )
    return found


def public_baseline(row: HumanBaseline) -> dict[str, Any]:
    """Where a human baseline comes from and its number; of a sealed version no finer than any
    other number of a run."""
    version = row.scoring_pass.version
    value: float | None = row.value
    if version.sealed and version.state != SuiteVersion.State.RETIRED:
        result = RunResult.objects.filter(
            run=row.run_id,
            scoring_pass=row.scoring_pass,
            metric=row.metric,
            mode=STRICT,
            slice=row.slice,
            origin="computed",
        ).first()
        coarse = result and sealing.coarse(result.value, result.low, result.high, result.n)
        value = coarse.value if coarse else None
    return {
        "run": row.run_id,
        "runs": len(row.runs),
        "revision": row.revision,
        "pass": row.scoring_pass.number,
        "value": value,
    }


def measure_again(version_id: int) -> None:
    """Measure the baselines of a version in every pass that is not retired."""
    for chosen in ScoringPass.objects.filter(version=version_id).exclude(state="retired"):
        measure(chosen)


def follow_end(run: Run) -> None:
    """Measure again what may rest on a run that ends, or stands from now on: human baselines, and
    what other runs of its entrant on the suite earned by it."""
    if run.kind == Run.Kind.HUMAN:
        measure_again(run.version_id)
    elif run.kind == Run.Kind.ENTRANT:
        others = Run.objects.filter(
            entrant=run.entrant_id,
            version__suite=run.version.suite_id,
            kind=Run.Kind.ENTRANT,
            state__in=("open", "closed"),
        ).exclude(pk=run.pk)
        for run_id, version_id in others.order_by("pk").values_list("pk", "version_id"):
            live = ScoringPass.objects.filter(version=version_id).exclude(state="retired")
            for pass_id in live.order_by("pk").values_list("pk", flat=True):
                scheduling.owe_sum(run_id, pass_id)


@work.owing()
def measure(chosen: ScoringPass) -> int:
    """Measure the human baselines of a pass from its stored results; gives how many changed.

    A change is a new revision, and the entrants' runs of the pass owe to be summed up with it.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [LOCK, chosen.pk])
    found = best_results(complete_results(chosen))
    held = {
        (row.metric_id, row.slice): row
        for row in HumanBaseline.objects.filter(scoring_pass=chosen, current=True)
    }
    changed = 0
    for place in sorted({*found, *held}):
        changed += _revise(chosen, place, held.get(place), found.get(place, ()))
    if changed:
        entered = Run.objects.filter(
            version=chosen.version_id, kind=Run.Kind.ENTRANT, state__in=("open", "closed")
        )
        for run_id in entered.order_by("pk").values_list("pk", flat=True):
            scheduling.owe_sum(run_id, chosen.pk)
    return changed


def complete_results(chosen: ScoringPass) -> list[RunResult]:
    """The strict results of closed human runs that left nothing out and wait for nobody."""
    return list(
        RunResult.objects.filter(
            scoring_pass=chosen,
            run__version=chosen.version_id,
            run__kind=Run.Kind.HUMAN,
            run__state=Run.State.CLOSED,
            mode=STRICT,
            origin="computed",
            value__isnull=False,
            waiting=0,
            missing=0,
            unscorable=0,
        )
        .select_related("metric")
        .order_by("run_id", "pk")
    )


def best_results(
    results: Iterable[RunResult],
) -> Mapping[tuple[int, str], tuple[RunResult, ...]]:
    """Results by metric and slice, the best first, among equals the earliest run."""
    found: dict[tuple[int, str], list[RunResult]] = defaultdict(list)
    for row in results:
        found[row.metric_id, row.slice].append(row)
    return {place: tuple(sorted(rows, key=_merit)) for place, rows in found.items()}


def _merit(row: RunResult) -> tuple[float, int]:
    value = row.value or 0.0
    return (-value if row.metric.direction == "up" else value), row.run_id


def _revise(
    chosen: ScoringPass,
    place: tuple[int, str],
    known: HumanBaseline | None,
    rows: tuple[RunResult, ...],
) -> int:
    """Store what a metric and slice come to, if it is not what stands; gives 1 where the value or
    its run moved."""
    facts: dict[str, Any] = {
        "value": rows[0].value if rows else None,
        "run_id": rows[0].run_id if rows else None,
        "runs": sorted(row.run_id for row in rows),
    }
    if known is not None and all(getattr(known, name) == value for name, value in facts.items()):
        return 0
    if known is not None:
        HumanBaseline.objects.filter(pk=known.pk).update(current=False)
    HumanBaseline.objects.create(
        scoring_pass=chosen,
        metric_id=place[0],
        slice=place[1],
        revision=known.revision + 1 if known else 1,
        **facts,
    )
    return int(known is None or known.value != facts["value"] or known.run_id != facts["run_id"])
