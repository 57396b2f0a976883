"""The strict result: one per metric and competency, with every task of the suite counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from academy.bundle import JSON, ResultSpec, ScoredRecord, SuiteSpec, TaskSpec
from academy.formats.opentakeoff.bootstrap import cluster_bootstrap
from academy.formats.opentakeoff.manifests import bars_of, mapping, numeric
from academy.formats.opentakeoff.metrics import METRICS, is_better, is_better_or_equal
from academy.scorers.ecmascript import plain_mean, plain_median, to_number

METHOD = "seeded cluster bootstrap of the median task score, clustered by drawing"
WINDOWS_NEEDED = 3

Options = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Items:
    """The task scores behind one result: (drawing, value) of each task that counts."""

    values: tuple[tuple[str, float], ...]
    missing: int
    waiting: int
    unscorable: int


@dataclass(frozen=True, slots=True)
class Tier:
    """A tier, or none, and the sentence that says by which rule."""

    name: str | None
    reason: str
    bar: float | None = None
    baseline: float | None = None


def strict_results(
    scores: Sequence[ScoredRecord], suite: SuiteSpec, options: Options
) -> tuple[ResultSpec, ...]:
    """One result per metric, and one per competency within it.

    A task without an answer counts as the metric's missing value, a task without a key counts for
    nobody. `options` may hold `earlier_windows` (ranked windows passed before, a number or by
    competency), `windows_needed`, and `human_baseline` (by competency, from recorded human runs).
    """
    by_task: dict[tuple[str, str], list[ScoredRecord]] = {}
    for score in scores:
        if score.status:
            by_task.setdefault((score.task_id, score.metric), []).append(score)
    rows: list[ResultSpec] = []
    for metric in METRICS:
        tasks = [task for task in suite.tasks if metric_of(task) == metric]
        if not tasks:
            continue
        competencies = sorted({competency_of(task) for task in tasks})
        only = competencies[0] if len(competencies) == 1 else ""
        rows.append(result(metric, "", only, tasks, by_task, suite, options))
        if only:
            rows.append(replace(rows[-1], slice=f"competency={only}"))
            continue
        for competency in competencies:
            mine = [task for task in tasks if competency_of(task) == competency]
            name = f"competency={competency}"
            rows.append(result(metric, name, competency, mine, by_task, suite, options))
    return tuple(rows)


def metric_of(task: TaskSpec) -> str:
    """The metric a task is scored by."""
    return task.gradings[0].metric if task.gradings else ""


def competency_of(task: TaskSpec) -> str:
    """The competency a task measures."""
    return str(task.attributes.get("competency") or "")


def gather(
    metric: str,
    tasks: Sequence[TaskSpec],
    by_task: Mapping[tuple[str, str], Sequence[ScoredRecord]],
) -> Items:
    """The score of each task: the mean of its replicates, or what its absence counts."""
    absent = METRICS[metric].missing
    values: list[tuple[str, float]] = []
    missing = waiting = unscorable = 0
    for task in tasks:
        found = by_task.get((task.external_id, metric), ())
        scored = [to_number(score.value) for score in found if score.value is not None]
        drawing = str(task.attributes.get("drawing") or task.external_id)
        if scored:
            values.append((drawing, plain_mean(scored)))
        elif not found and absent is not None:
            missing += 1
            values.append((drawing, absent))
        elif any(score.status == "needs_human" for score in found):
            waiting += 1
        else:
            unscorable += 1
    return Items(tuple(values), missing, waiting, unscorable)


def result(
    metric: str,
    name: str,
    competency: str,
    tasks: Sequence[TaskSpec],
    by_task: Mapping[tuple[str, str], Sequence[ScoredRecord]],
    suite: SuiteSpec,
    options: Options,
) -> ResultSpec:
    """One row: the median of the task scores with its interval, and the tier it earns."""
    found = gather(metric, tasks, by_task)
    numbers = [value for _, value in found.values]
    interval = cluster_bootstrap(found.values, plain_median)
    value = plain_median(numbers) if numbers else None
    complete = not found.missing and not found.waiting and not found.unscorable
    tier = earn_tier(metric, value, competency, suite, options, complete=complete)
    return ResultSpec(
        metric=metric,
        value=value,
        slice=name,
        low=interval.lower if interval else None,
        high=interval.upper if interval else None,
        method=METHOD if interval else "",
        n=len(numbers),
        waiting=found.waiting,
        missing=found.missing,
        unscorable=found.unscorable,
        note=interval.note if interval else "",
        details={
            "competency": competency,
            "mean": plain_mean(numbers) if numbers else None,
            "drawings": len({drawing for drawing, _ in found.values}),
            "tier": tier.name,
            "tier_reason": tier.reason,
            "bar": tier.bar,
            "baseline": tier.baseline,
        },
    )


def earn_tier(
    metric: str,
    value: float | None,
    competency: str,
    suite: SuiteSpec,
    options: Options,
    *,
    complete: bool,
) -> Tier:
    """Each tier by its own bar: apprentice, journeyman over windows, master over a measured human.

    A published baseline that no recorded run stands behind makes nobody a master, and a tie with
    a human does not beat them.
    """
    if suite.mode != "ranked":
        return Tier(None, "practice runs earn no tier")
    if value is None:
        return Tier(None, "nothing could be scored")
    if not complete:
        return Tier(None, "not every task of the suite is answered and scored")
    bars = bars_of(suite.thresholds, competency)
    if bars.metric not in ("", metric):
        return Tier(None, f"the suite's bars for {competency} are for {bars.metric}")
    low = bars.journeyman if bars.apprentice is None else bars.apprentice
    high = bars.apprentice if bars.journeyman is None else bars.journeyman
    if low is None or high is None:
        return Tier(None, "the suite names no bar for this competency")
    if metric == "scope-f1" and max(low, high) > 1:
        return Tier(None, f"the bar {max(low, high)} is no F1")
    baseline = numeric(mapping(options.get("human_baseline")).get(competency))
    if not is_better_or_equal(metric, value, low):
        return Tier(None, f"the apprentice bar {low} is not met", low, baseline)
    if not is_better_or_equal(metric, value, high):
        return Tier("apprentice", f"meets {low}, not the journeyman bar {high}", low, baseline)
    if baseline is not None and is_better(metric, value, baseline):
        return Tier("master", f"better than the recorded human {baseline}", high, baseline)
    return by_windows(competency, high, baseline, options)


def by_windows(competency: str, bar: float, baseline: float | None, options: Options) -> Tier:
    """Journeyman for a bar that was held long enough, else apprentice."""
    given = options.get("earlier_windows")
    by_competency = given.get(competency) if isinstance(given, Mapping) else given
    windows = int(numeric(by_competency) or 0) + 1
    needed = int(numeric(options.get("windows_needed")) or WINDOWS_NEEDED)
    reason = f"meets {bar} in {windows} of {needed} windows"
    return Tier("journeyman" if windows >= needed else "apprentice", reason, bar, baseline)
