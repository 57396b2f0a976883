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
    """A tier, or none, the sentence that says by which rule, and whether the pass mark was met.

    The pass mark is the journeyman bar; `windows` counts those in which it was.
    """

    name: str | None
    reason: str
    bar: float | None = None
    baseline: float | None = None
    passed: bool | None = None
    windows: int | None = None


def strict_results(
    scores: Sequence[ScoredRecord], suite: SuiteSpec, options: Options
) -> tuple[ResultSpec, ...]:
    """One result per metric, and one per competency within it.

    A task without an answer counts as the metric's missing value, a task without a key counts for
    nobody. `options` may hold `earlier_windows`, `in_window` and `human_baseline` (see
    `AggregateContext.facts`; by metric and slice), and `windows_needed`.
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
            "passed": tier.passed,
            "windows": tier.windows,
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
    baseline = numeric(recorded(options, "human_baseline", metric, competency))
    if not is_better_or_equal(metric, value, low):
        reason = f"the apprentice bar {low:g} is not met"
        return Tier(None, reason, low, baseline, passed=False)
    if not is_better_or_equal(metric, value, high):
        reason = f"meets {low:g}, not the journeyman bar {high:g}"
        return Tier("apprentice", reason, low, baseline, passed=False)
    by_time = by_windows(metric, competency, high, options)
    if baseline is not None and is_better(metric, value, baseline):
        reason = f"better than the recorded human {baseline:g}"
        return replace(by_time, name="master", reason=reason, baseline=baseline)
    return replace(by_time, baseline=baseline)


def by_windows(metric: str, competency: str, bar: float, options: Options) -> Tier:
    """Journeyman for a bar that was held long enough, else apprentice.

    A run outside every window adds none, however good it is.
    """
    earlier = numeric(recorded(options, "earlier_windows", metric, competency)) or 0
    outside = recorded(options, "in_window", metric, competency) is False
    windows = int(earlier) + (not outside)
    needed = int(numeric(options.get("windows_needed")) or WINDOWS_NEEDED)
    reason = f"meets {bar:g} in {windows} of {needed} windows"
    name = "journeyman" if windows >= needed else "apprentice"
    return Tier(name, reason, bar, passed=True, windows=windows)


def recorded(options: Options, name: str, metric: str, competency: str) -> JSON:
    """A recorded fact of one competency: for all alike, or by metric and slice."""
    held = options.get(name)
    if not isinstance(held, Mapping):
        return held
    return mapping(held.get(metric)).get(f"competency={competency}")
