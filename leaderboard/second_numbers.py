"""Second numbers of a board: results of whole runs in the metrics that its policy names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from academy.models import Metric, RunResult
from leaderboard.candidates import Candidate
from leaderboard.digits import writing_of
from leaderboard.graded import graded_tasks
from leaderboard.inputs import Inputs

Json = dict[str, Any]


def columns(inputs: Inputs) -> list[Json]:
    """The second numbers: metrics that the policy names, and the reference figure.

    They are results of whole runs, so that there are none where the board counts other items.
    """
    if inputs.sealed or len(inputs.parts) > 1 or _counts_some_only(inputs):
        return []
    metrics = {
        metric.key: metric
        for metric in Metric.objects.filter(
            version=inputs.newest.version, key__in=inputs.policy.secondary
        )
    }
    found = [
        _told(metric)
        for key in inputs.policy.secondary
        if (metric := metrics.get(key)) and key != inputs.policy.metric
    ]
    if inputs.policy.mode == "strict":
        told = {**_told(inputs.newest.metric), "key": "reference", "label": "Reference"}
        found.append({**told, "mode": "reference"})
    return found


def _counts_some_only(inputs: Inputs) -> bool:
    """Whether the policy leaves out tasks that the metric grades."""
    version, metric = inputs.newest.version, inputs.newest.metric
    return len(inputs.newest.tasks) < len(graded_tasks(version, metric.key, {}).tasks)


def _told(metric: Metric) -> Json:
    """A metric as a column, with how its numbers are written."""
    digits, scale = writing_of(metric.kind, metric.unit, metric.low, metric.high)
    return {
        "key": metric.key,
        "label": metric.label,
        "direction": metric.direction,
        "kind": metric.kind,
        "unit": "%" if scale == 100 else metric.unit,
        "scale": scale,
        "digits": digits,
        "low": metric.low,
        "high": metric.high,
    }


def beside(inputs: Inputs) -> dict[int, Json]:
    """Second numbers by run: the metrics the policy names, and details such as a tier."""
    held = (*inputs.candidates, *inputs.baselines, *inputs.withdrawn)
    results = _results(inputs, held)
    names = ("reference", *inputs.policy.secondary)
    found: dict[int, Json] = {}
    for candidate in held:
        run = candidate.run.pk
        found[run] = {"metrics": {}, "measures": {}, "details": {}}
        if main := results.get((run, "")):
            found[run]["details"] = main.details
        for name in names:
            rows = [
                row for one in _runs_told(candidate, inputs) if (row := results.get((one, name)))
            ]
            if rows:
                found[run]["metrics"][name], found[run]["measures"][name] = _second(rows)
    return found


def _runs_told(candidate: Candidate, inputs: Inputs) -> list[int]:
    """The runs whose results a second number sums up: one, unless the board takes the mean."""
    runs = candidate.attempts if inputs.policy.attempts == "mean" else (candidate.run,)
    return [run.pk for run in runs]


def _results(inputs: Inputs, held: Sequence[Candidate]) -> dict[tuple[int, str], RunResult]:
    """The stored results of runs, by run and by what a column is called; "" is the main one."""
    policy = inputs.policy
    rows = RunResult.objects.filter(
        run__in={run for candidate in held for run in _runs_told(candidate, inputs)},
        scoring_pass__in=[part.scoring_pass for part in inputs.parts],
        slice="",
        origin="computed",
    ).select_related("metric")
    found: dict[tuple[int, str], RunResult] = {}
    for row in rows.order_by("pk"):
        if row.metric.key == policy.metric and row.mode == policy.mode:
            found[row.run_id, ""] = row
        if row.metric.key == policy.metric and row.mode == "reference":
            found[row.run_id, "reference"] = row
        if row.metric.key in policy.secondary and row.mode == policy.mode:
            found[row.run_id, row.metric.key] = row
    return found


def _second(rows: Sequence[RunResult]) -> tuple[float | None, Json]:
    """One number for some runs and its interval, which the mean of several has none of."""
    values = [row.value for row in rows if row.value is not None]
    mean = math.fsum(values) / len(values) if values else None
    if len(rows) > 1:
        return mean, {"low": None, "high": None, "n": rows[-1].n}
    return mean, {"low": rows[0].low, "high": rows[0].high, "n": rows[0].n}
