"""The suite result of the original: one metric, its median, the bar, the tier, the interval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from academy.bundle import JSON, Direction, ResultSpec, ScoredRecord, SuiteSpec
from academy.formats.opentakeoff.agreement import Ceiling, ceiling_of, spreads_of
from academy.formats.opentakeoff.bootstrap import LEVEL, METHOD, Interval, cluster_bootstrap
from academy.formats.opentakeoff.keys import items
from academy.formats.opentakeoff.manifests import mapping, numeric, suite_config
from academy.formats.opentakeoff.metrics import METRICS, MIXED, PLACEHOLDERS, is_better_or_equal
from academy.scorers.ecmascript import plain_mean, plain_median, to_number

WINDOWS_NEEDED = 3
DEFAULT_METRIC = "ape"

Options = Mapping[str, JSON]


def dominant_metric(metrics: Iterable[str]) -> str:
    """The metric of most answers; among equals the one that reaches the number first."""
    counts: dict[str, int] = {}
    best, best_count = DEFAULT_METRIC, 0
    for metric in metrics:
        counts[metric] = counts.get(metric, 0) + 1
        if counts[metric] > best_count:
            best, best_count = metric, counts[metric]
    return best


def chosen(options: Options, name: str, metric: str, from_suite: float | None) -> float | None:
    """An option: one number, else the number of this metric, else the manifest's, else None."""
    single = numeric(options.get(name))
    if single is not None:
        return single
    by_metric = numeric(mapping(options.get(f"{name}s")).get(metric))
    return from_suite if by_metric is None else by_metric


def tier_of(*, passed: bool, beats: bool, earlier: float, needed: float) -> str | None:
    """The original's tier: whoever passes and meets the baseline is master at once."""
    if not passed:
        return None
    if beats:
        return "master"
    return "journeyman" if earlier + 1 >= (needed or WINDOWS_NEEDED) else "apprentice"


def competency_of(suite: SuiteSpec) -> str:
    """The one kind of all tasks of the suite, or the word for a mixed or nameless one."""
    kinds = {task.kind for task in suite.tasks if task.kind}
    return kinds.pop() if len(kinds) == 1 else MIXED


def in_order(scores: Sequence[ScoredRecord], options: Options) -> list[ScoredRecord]:
    """The scores in the order of the bundle, where the run still knows it."""
    order = {str(task_id): place for place, task_id in enumerate(items(options.get("order")))}
    there = [score for score in scores if score.status]
    return sorted(there, key=lambda score: order.get(score.task_id, len(order)))


def item_errors(scores: Iterable[ScoredRecord]) -> list[tuple[str, float]]:
    """Every item's error with its task, which stands for one plan set."""
    return [
        (score.task_id, to_number(error))
        for score in scores
        for error in items(score.measures.get("item_errors"))
    ]


def ceiling_details(ceiling: Ceiling | None) -> JSON:
    """The agreement of people without their names, which belong to the answer keys."""
    if ceiling is None:
        return None
    return {
        "raters": ceiling.raters,
        "items": ceiling.items,
        "median_error": ceiling.median_error,
        "mean_error": ceiling.mean_error,
        "alpha": ceiling.alpha,
        "icc": ceiling.icc,
    }


def reference_result(
    scores: Sequence[ScoredRecord], suite: SuiteSpec, options: Options
) -> ResultSpec:
    """The original's one result of a run.

    Tasks that the run leaves out are ignored, tasks without a key only vote for the metric.
    `options` may hold `threshold`, `baseline` (numbers), `thresholds`, `baselines` (by metric),
    `consistencyWindows`, `journeymanWindows`, `order` (the bundle's task ids) and
    `ignore_manifest` (then only the built-in placeholders stand behind the options).
    """
    answered = in_order(scores, options)
    metric = dominant_metric(score.metric for score in answered)
    mine = [score for score in answered if score.metric == metric and score.value is not None]
    values = [to_number(score.value) for score in mine]
    from_suite = None if options.get("ignore_manifest") else suite
    bar, baseline = bars(metric, from_suite, options)
    middle = plain_median(values)
    passed = bool(values) and is_better_or_equal(metric, middle, bar)
    beats = bool(values) and is_better_or_equal(metric, middle, baseline)
    interval = cluster_bootstrap(item_errors(mine))
    ceiling = ceiling_of(spreads_of(task.key for task in suite.tasks))
    within = None
    if metric == DEFAULT_METRIC and ceiling is not None:
        within = middle <= ceiling.median_error
    earlier, needed = (
        numeric(options.get(name)) or 0 for name in ("consistencyWindows", "journeymanWindows")
    )
    return ResultSpec(
        metric=metric,
        value=middle if values else None,
        low=interval.lower if interval else None,
        high=interval.upper if interval else None,
        method=METHOD if interval else "",
        n=len(values),
        unscorable=sum(score.status == "unscorable" for score in answered),
        waiting=sum(score.status == "needs_human" for score in answered),
        note=interval.note if interval else "",
        details={
            "competency": competency_of(suite),
            "direction": "higher" if METRICS[metric].direction is Direction.UP else "lower",
            "median": middle,
            "mean": plain_mean(values),
            "threshold": bar,
            "baseline": baseline,
            "passed": passed,
            "beats_baseline": beats,
            "tier": tier_of(passed=passed, beats=beats, earlier=earlier, needed=needed),
            "interval": interval_details(interval),
            "human_ceiling": ceiling_details(ceiling),
            "within_human_floor": within,
        },
    )


def bars(metric: str, suite: SuiteSpec | None, options: Options) -> tuple[float, float]:
    """Bar and baseline: by hand, else of the manifest, else the original's placeholders."""
    config = suite_config(
        suite.thresholds if suite else {}, [task.kind for task in suite.tasks] if suite else []
    )
    usual = PLACEHOLDERS[metric]
    bar = chosen(options, "threshold", metric, config.threshold)
    baseline = chosen(options, "baseline", metric, config.baseline)
    return (
        usual.bar if bar is None else bar,
        usual.baseline if baseline is None else baseline,
    )


def interval_details(interval: Interval | None) -> JSON:
    """The interval over items as the original reports it."""
    if interval is None:
        return None
    return {
        "point": interval.point,
        "lower": interval.lower,
        "upper": interval.upper,
        "level": LEVEL,
        "items": interval.items,
        "clusters": interval.clusters,
        "note": interval.note,
    }
