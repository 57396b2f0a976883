"""The four metrics, the competencies they measure, and the original's built-in bars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from academy.bundle import JSON, Direction, Grading, MetricKind, MetricSpec
from academy.scorers import percent_error, set_f1

MIXED = "general-takeoff"

METRIC_OF: Mapping[str, str] = {
    "area-takeoff": "ape",
    "fixture-count": "count-error",
    "scale-calibration": "scale-error",
    "scope-identification": "scope-f1",
}
COMPETENCY_OF: Mapping[str, str] = {metric: kind for kind, metric in METRIC_OF.items()}
COMPETENCIES = tuple(METRIC_OF)


@dataclass(frozen=True, slots=True)
class Placeholder:
    """A bar and a human baseline that the original assumes where nothing was measured."""

    bar: float
    baseline: float


PLACEHOLDERS: Mapping[str, Placeholder] = {
    "ape": Placeholder(6.0, 5.0),
    "count-error": Placeholder(5.0, 3.0),
    "scale-error": Placeholder(2.0, 1.5),
    "scope-f1": Placeholder(0.85, 0.90),
}

LABELS = {
    "ape": "Area error",
    "count-error": "Count error",
    "scale-error": "Scale error",
}


def metric_spec(key: str) -> MetricSpec:
    """The metric as the registry knows it; an item without an answer counts as wholly wrong."""
    if key == "scope-f1":
        return MetricSpec(
            key=key,
            label="Scope F1",
            direction=Direction.UP,
            kind=MetricKind.GRADED,
            low=0.0,
            high=1.0,
            run_aggregation="median",
            missing=0.0,
        )
    return MetricSpec(
        key=key,
        label=LABELS[key],
        direction=Direction.DOWN,
        kind=MetricKind.ERROR,
        unit="%",
        low=0.0,
        run_aggregation="median",
        missing=100.0,
    )


METRICS: Mapping[str, MetricSpec] = {key: metric_spec(key) for key in PLACEHOLDERS}


def is_better_or_equal(metric: str, value: float, bar: float) -> bool:
    """Whether a value meets a bar, in the metric's own direction."""
    return value >= bar if METRICS[metric].direction is Direction.UP else value <= bar


def is_better(metric: str, value: float, bar: float) -> bool:
    """Whether a value is past a bar, in the metric's own direction."""
    return value > bar if METRICS[metric].direction is Direction.UP else value < bar


def read_tolerance(metric: str, tolerance: float) -> str:
    """The unit that a task's tolerance seems to be written in.

    The original compares it with the score as it stands, although the public tasks write 0.06 for
    six percent. An error within 0..1 percent would hardly be asked for, and no F1 exceeds 1.
    """
    if metric == "scope-f1":
        return "percent" if tolerance > 1 else "fraction"
    return "fraction" if 0 < tolerance < 1 else "percent"


def grading_of(metric: str, tolerance: JSON) -> Grading:
    """How a task of this metric is scored, every parameter spelt out.

    `reference_pass_mark` is compared with the score without looking at units, as the original
    does; `pass_mark` with `pass_mark_unit` is what strict mode reads.
    """
    given = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
    mark = tolerance if given else PLACEHOLDERS[metric].bar
    assert isinstance(mark, int | float)
    usual = "fraction" if metric == "scope-f1" else "percent"
    unit = read_tolerance(metric, mark) if given else usual
    marks: dict[str, JSON] = {
        "pass_mark": mark,
        "pass_mark_unit": unit,
        "reference_pass_mark": mark,
    }
    if metric == "scope-f1":
        names: Mapping[str, JSON] = {
            "answer_list": "quantities",
            "answer_field": "item",
            "key_list": "scopeItems",
        }
        return Grading(metric=metric, scorer=set_f1.KEY, params={**names, **marks})
    return Grading(
        metric=metric,
        scorer=percent_error.KEY,
        params={**marks, "missing": 100.0, "cap": 100.0},
    )
