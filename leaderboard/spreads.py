"""Ratings that must not be averaged: per dimension and arm how often each was given."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from academy.models import Decision, Metric, Run, Score
from leaderboard.inputs import Inputs
from leaderboard.usage import rating_distribution

NO_ARM = "all runs"


def rating_table(inputs: Inputs) -> list[dict[str, Any]]:
    """A row for each rated dimension, in the order of the policy, with a cell for each arm.

    Only for a board that is not ranked and whose metrics are ratings; else nothing.
    """
    part = inputs.newest
    if inputs.policy.ranked or part.metric.kind != "rating":
        return []
    keys = [inputs.policy.metric, *inputs.policy.secondary]
    metrics = {m.key: m for m in Metric.objects.filter(version=part.version, key__in=keys)}
    runs = {run.pk: run for held in inputs.candidates for run in held.attempts}
    ratings = _ratings(inputs, runs)
    raters = _raters(runs)
    arms = sorted({run.arm or NO_ARM for run in runs.values()})
    rows = []
    for key in dict.fromkeys(keys):
        metric = metrics.get(key)
        if metric is None or metric.kind != "rating":
            continue
        low = 0 if metric.low is None else int(metric.low)
        high = 3 if metric.high is None else int(metric.high)
        scale = range(low, high + 1)
        rows.append(
            {
                "key": key,
                "label": metric.label,
                "scale": list(scale),
                "arms": [
                    _cell(arm, ratings[key, arm], raters.get((key, arm), 0), scale) for arm in arms
                ],
            }
        )
    return rows


def _cell(arm: str, held: dict[str, Any], raters: int, scale: range) -> dict[str, Any]:
    spread = rating_distribution([*held["given"], *[None] * held["na"]], scale, held["waiting"])
    return {
        "arm": arm,
        "counts": list(spread.counts),
        "n": spread.n,
        "not_applicable": spread.not_applicable,
        "waiting": spread.waiting,
        "unscorable": held["unscorable"],
        "raters": raters,
    }


def _ratings(inputs: Inputs, runs: dict[int, Run]) -> dict[tuple[str, str], dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = defaultdict(
        lambda: {"given": [], "na": 0, "waiting": 0, "unscorable": 0}
    )
    rows = Score.objects.filter(
        record__run__in=list(runs),
        scoring_pass=inputs.newest.scoring_pass,
        mode=inputs.policy.mode,
        current=True,
    ).values_list("record__run_id", "metric__key", "status", "value", "measures")
    for run_id, key, status, value, measures in rows:
        cell = found[key, runs[run_id].arm or NO_ARM]
        if status == "scored" and value is not None:
            cell["given"].append(int(value))
        elif status == "needs_human":
            cell["waiting"] += 1
        elif measures.get("na"):
            cell["na"] += 1
        else:
            cell["unscorable"] += 1
    return found


def _raters(runs: dict[int, Run]) -> dict[tuple[str, str], int]:
    """How many people rated; a dimension's criterion has its key."""
    people: dict[tuple[str, str], set[int]] = defaultdict(set)
    rows = Decision.objects.filter(
        record__run__in=list(runs), source__in=("person", "resolution"), current=True, counts=True
    ).values_list("record__run_id", "criterion__key", "person_id")
    for run_id, key, person in rows:
        people[key, runs[run_id].arm or NO_ARM].add(person)
    return {place: len(held) for place, held in people.items()}
