"""Perfect % and Rubric % of a run, with breakdowns: as the grader counts, and over the suite.

The reference counts attempts: a task that was never started does not exist, an attempt without a
score counts 0. The strict result is over the whole suite, and what waits or cannot be known is
left out with bounds, never counted as 0.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from academy.bundle import JSON, ResultSpec, ScoredRecord, SuiteSpec, TaskSpec
from academy.formats.base import AggregateContext, BoardPolicy
from academy.formats.mypcbench.judging import Row, summarise
from academy.scorers.base import Mode

SLICES = ("category", "difficulty", "app", "collection", "apps")
MANY_APPS = (4, 7)


def aggregate(scores: Sequence[ScoredRecord], context: AggregateContext) -> tuple[ResultSpec, ...]:
    """Both metrics over all tasks and over every slice."""
    make = reference_results if context.mode is Mode.REFERENCE else strict_results
    return make(scores, context.suite)


def slice_names(task: TaskSpec) -> list[str]:
    """The slices that a task is in, "attribute=value"; `apps=4+` and `7+` join those of many."""
    names = [f"{name}={task.attributes[name]}" for name in SLICES if name in task.attributes]
    apps = task.attributes.get("apps")
    if isinstance(apps, int):
        names += [f"apps={many}+" for many in MANY_APPS if apps >= many]
    return names


def slices_of(suite: SuiteSpec) -> dict[str, list[str]]:
    """Task ids by slice; "" is the whole suite."""
    found: dict[str, list[str]] = {"": []}
    for task in suite.tasks:
        for name in ("", *slice_names(task)):
            found.setdefault(name, []).append(task.external_id)
    return found


def rows_of(scores: Iterable[ScoredRecord]) -> list[Row]:
    """The grader's rows for the scored attempts, in the order of task ids."""
    rows = []
    for score in sorted(scores, key=lambda score: (score.task_id, score.replicate)):
        if score.metric != "rubric" or not score.status:
            continue
        if score.measures.get("ended", "answered") != "answered":
            rows.append(Row(score.task_id, "no_bundle", None))
        elif score.status == "scored":
            rows.append(Row(score.task_id, "judged", score.value))
        else:
            status = "judge_error" if score.status == "unscorable" else "not_judged"
            rows.append(Row(score.task_id, status, None))
    return rows


def reference_results(scores: Sequence[ScoredRecord], suite: SuiteSpec) -> tuple[ResultSpec, ...]:
    """What the grader's summary says, for all attempts and for the attempts of each slice.

    The grader counts an attempt that nobody has judged as 0. Such a sum is no value here: it stands
    in the details, and the value is empty until every attempt is judged.
    """
    rows = rows_of(scores)
    results: list[ResultSpec] = []
    for name, task_ids in slices_of(suite).items():
        wanted = set(task_ids)
        own = [row for row in rows if row.task_id in wanted]
        if not own:
            continue
        summary: dict[str, JSON] = {**summarise(own), "suite": len(task_ids)}
        waiting = sum(row.status == "not_judged" for row in own)
        note = f"Provisional: {waiting} attempts are not judged yet." if waiting else ""
        for metric, key in (("perfect", "perfect_rate"), ("rubric", "avg_score")):
            value = summary[key]
            results.append(
                ResultSpec(
                    metric=metric,
                    slice=name,
                    value=None if waiting or not isinstance(value, int | float) else float(value),
                    method="mean over attempts, without a score 0",
                    n=len(own),
                    waiting=waiting,
                    unscorable=sum(row.status == "judge_error" for row in own),
                    missing=len(wanted - {row.task_id for row in own}),
                    note=note,
                    details=summary,
                )
            )
    return tuple(results)


def strict_results(scores: Sequence[ScoredRecord], suite: SuiteSpec) -> tuple[ResultSpec, ...]:
    """Means over the whole suite and its slices, with coverage and the bounds of what is open."""
    # Intervals need SciPy, which is slow to load and which reading and checking files do without.
    from academy.aggregation import ItemState, item_vector, run_result

    results = []
    for metric in suite.metrics:
        graded = [task.external_id for task in suite.tasks if task.gradings]
        vector = item_vector(graded, [score for score in scores if score.metric == metric.key])
        places = {task_id: place for place, task_id in enumerate(graded)}
        for name, task_ids in slices_of(suite).items():
            positions = [places[task_id] for task_id in task_ids if task_id in places]
            if not positions:
                continue
            result = run_result(metric, vector, positions, slice_name=name)
            struck = sum(vector.states[position] is ItemState.STRUCK for position in positions)
            known = sum(vector.values[position] or 0.0 for position in positions)
            details = bounds(result, len(positions), struck, known)
            results.append(replace(result, details=details))
    return tuple(results)


def bounds(result: ResultSpec, count: int, struck: int, known: float) -> dict[str, JSON]:
    """Coverage, and the mean if all that is open came out worst or best.

    What waits or cannot be known never lowers the coverage; what was not submitted does.
    """
    details: dict[str, JSON] = {"suite": count, "struck": struck}
    counted = count - struck
    if counted:
        details["coverage"] = 1 - result.missing / counted
        details["worst"] = known / counted
        details["best"] = (known + result.waiting + result.unscorable) / counted
    return details


def board_policies(suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """The strict board of an edition, and the reference figures in a second one."""
    ranked = suite.mode == "ranked"
    slices = tuple(name for name in SLICES if any(name in task.attributes for task in suite.tasks))
    return (
        BoardPolicy(
            slug="perfect",
            title=f"{suite.title}: Perfect %",
            metric="perfect",
            mode=Mode.STRICT,
            evidence="judge_audited",
            ranked=ranked,
            note="Ranked once each entrant has 30 audited records; before that listed as judged, "
            "not audited.",
            secondary=("rubric",),
            slices=slices,
        ),
        BoardPolicy(
            slug="perfect-reference",
            title=f"{suite.title}: Perfect %, as the original counts",
            metric="perfect",
            mode=Mode.REFERENCE,
            evidence="judge",
            ranked=ranked,
            note="Judged by one named judge, not audited. Cannot tell, defective and failed judge "
            "calls count as not met.",
            secondary=("rubric",),
            slices=slices,
        ),
    )
