"""What can be said of a version before anybody trusts a board over it.

Gate results, limits, bars with the recorded human beside them, how small a difference it can show,
and how much room is left on it. Of a sealed version nothing that is about single tasks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from academy import gating, measuring, sealing, specs, summing
from academy.aggregation import ItemState
from academy.models import (
    HumanBaseline,
    Metric,
    Run,
    RunResult,
    RunVector,
    ScoringPass,
    SubmissionLimit,
    SuiteVersion,
    Task,
)
from academy.querysets import has_role
from leaderboard.digits import shown
from leaderboard.inputs import is_sealed
from leaderboard.models import Board, Snapshot
from leaderboard.power import items_needed, smallest_detectable_difference

Json = dict[str, Any]
DISCORDANT = (0.1, 0.2, 0.5)
POINTS = 0.03
MOST_RUNS = 400
MOST_CELLS = 4_000_000
KINDS = {
    "null": "does nothing",
    "shotgun": "says everything",
    "oracle": "knows the answers",
    "human": "people",
}


def version_facts(version: SuiteVersion, user: Any) -> Json:
    """All that the page of a version says beside its tasks and runs."""
    chosen = version.passes.filter(state=ScoringPass.State.PUBLISHED).first()
    closed = is_sealed(version) and not has_role(user, "curator")
    metrics = list(version.metrics.order_by("ordinal", "pk"))
    boards = list(Board.objects.visible_to(user).filter(versions=version).order_by("title", "pk"))
    return {
        "gate": gate_rows(version, chosen, metrics, user, closed=closed),
        "gate_note": gate_note(version),
        "limits": dict(version.limits),
        "submission_limits": SubmissionLimit.objects.filter(version=version).order_by("pk"),
        "bars": bar_rows(version),
        "humans": human_rows(chosen),
        "detectable": detectable_rows(version, metrics),
        "points": f"{POINTS * 100:g}",
        "measured": [] if closed else measured_rows(boards),
        "saturation": [] if closed or chosen is None else saturation_rows(chosen, metrics),
        "closed": closed,
    }


def gate_rows(
    version: SuiteVersion,
    chosen: ScoringPass | None,
    metrics: Sequence[Metric],
    user: Any,
    *,
    closed: bool,
) -> list[Json]:
    """The runs made to show floor and ceiling, and those of people, with their results."""
    runs = Run.objects.visible_to(user).filter(
        version=version, kind__in=tuple(KINDS), state=Run.State.CLOSED
    )
    listed = list(runs.select_related("entrant").order_by("pk")[:MOST_RUNS])
    results = {
        (row.run_id, row.metric_id): row
        for row in RunResult.objects.filter(
            run__in=listed, scoring_pass=chosen, mode="strict", slice="", origin="computed"
        )
    }
    rows = [
        {
            "run": run,
            "what": KINDS[run.kind],
            "cells": [
                {"metric": metric, "value": _value(results.get((run.pk, metric.pk)), closed=closed)}
                for metric in metrics
            ],
        }
        for run in listed
    ]
    return sorted(rows, key=lambda row: (list(KINDS).index(row["run"].kind), row["run"].pk))


def _value(row: RunResult | None, *, closed: bool) -> float | None:
    if row is None or not closed:
        return row.value if row else None
    found = sealing.coarse(row.value, row.low, row.high, row.n)
    return found.value if found else None


def gate_note(version: SuiteVersion) -> str:
    """What the gate means for this version, in a sentence."""
    if version.mode != SuiteVersion.Mode.RANKED:
        return "Only ranked versions pass a gate before they are published."
    machine, people = gating.deciders(specs.suite_spec(version))
    if not people:
        return (
            "Before it was published an empty run and one that says everything stayed under the "
            "bars, and the answer key itself was perfect."
        )
    told = "Oracle and shotgun do not apply where people or judges decide"
    return f"{told} ({', '.join(people)}): only the empty run was tested." if not machine else told


def bar_rows(version: SuiteVersion) -> list[Json]:
    """The bars and published numbers of a version by name, as the suite states them."""
    return [
        {"name": name, "facts": {key: value for key, value in held.items() if value != ""}}
        for name, held in version.thresholds.items()
        if isinstance(held, dict)
    ]


def human_rows(chosen: ScoringPass | None) -> list[Json]:
    """The recorded human baselines of a pass with the runs that they come from."""
    if chosen is None:
        return []
    rows = HumanBaseline.objects.filter(
        scoring_pass=chosen, current=True, value__isnull=False
    ).select_related("metric", "run__entrant", "scoring_pass__version")
    return [
        {"metric": row.metric, "slice": row.slice, **measuring.public_baseline(row), "row": row}
        for row in rows.order_by("metric__ordinal", "slice", "pk")
    ]


def detectable_rows(version: SuiteVersion, metrics: Sequence[Metric]) -> list[Json]:
    """For shares between 0 and 1: the difference that all items would find, before anybody runs.

    The variance of a paired difference of passes is at most the share of items on which two
    entries differ, 0.5 for two coins.
    """
    rows = []
    for metric in metrics:
        is_share = metric.kind in ("pass", "graded") and metric.run_aggregation == "mean"
        graded = version.tasks.filter(gradings__contains=[{"metric": metric.key}]).count()
        if not is_share or not graded:
            continue
        found = [smallest_detectable_difference(share, graded) for share in DISCORDANT]
        rows.append(
            {
                "metric": metric,
                "n": graded,
                "cells": [
                    {
                        "differ": f"{share * 100:g}",
                        "points": None if d is None else shown(d, 1, 100),
                    }
                    for share, d in zip(DISCORDANT, found, strict=True)
                ],
                "needed": [items_needed(POINTS, share) for share in DISCORDANT],
            }
        )
    return rows


def measured_rows(boards: Sequence[Board]) -> list[Json]:
    """What the newest snapshot of each board measured between its first two entries."""
    found = Snapshot.objects.newest_of(boards)
    rows = []
    for board in boards:
        snapshot = found.get(board.pk)
        if snapshot is None or snapshot.standings.get("detectable") is None:
            continue
        standings = snapshot.standings
        unit = standings["metric"]["unit"]
        rows.append(
            {
                "board": board,
                "shown": shown(
                    standings["detectable"], standings["digits"], standings["metric"]["scale"]
                ),
                # Per cent of a difference of per cents would be something else.
                "unit": "points" if unit == "%" else unit,
            }
        )
    return rows


def saturation_rows(chosen: ScoringPass, metrics: Sequence[Metric]) -> list[Json]:
    """How many tasks every entry solves, and how many none does.

    The newest runs are looked at, so many that a page bears it. A task counts as solved at the best
    end of the metric's range; metrics without such an end, and fewer than two entries, say nothing.
    """
    tasks = Task.objects.filter(version=chosen.version_id).count()
    most = max(2, min(MOST_RUNS, MOST_CELLS // max(1, tasks)))
    rows = []
    for metric in metrics:
        best = metric.high if metric.direction == "up" else metric.low
        if metric.kind == "pass" and metric.direction == "up":
            best = 1.0
        vectors = RunVector.objects.filter(
            metric=metric,
            scoring_pass=chosen,
            mode="strict",
            run__kind=Run.Kind.ENTRANT,
            run__state=Run.State.CLOSED,
        ).order_by("-run_id")[:most]
        held = [summing.decode_arrays(bytes(row.values), bytes(row.states)) for row in vectors]
        size = max((len(codes) for _numbers, codes in held), default=0)
        whole = [pair for pair in held if len(pair[1]) == size and size]
        if best is None or len(whole) < 2:
            continue
        numbers = np.column_stack([pair[0] for pair in whole])
        codes = np.column_stack([pair[1] for pair in whole])
        kept = ~(codes == ItemState.STRUCK).any(axis=1)
        solved = numbers[kept] == best
        known = (codes[kept] == ItemState.SCORED).sum(axis=1) >= 2
        rows.append(
            {
                "metric": metric,
                "entries": len(whole),
                "tasks": int(known.sum()),
                "by_all": int((solved.sum(axis=1) == solved.shape[1])[known].sum()),
                "by_none": int((solved.sum(axis=1) == 0)[known].sum()),
            }
        )
    return rows
