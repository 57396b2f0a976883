"""A board of many entrants and items in the database, made of invented results."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from django.utils import timezone

from academy.aggregation import SCALE
from academy.models import (
    Entrant,
    Metric,
    Run,
    RunResult,
    RunVector,
    ScoringPass,
    Suite,
    SuiteVersion,
    Summary,
    Task,
)
from leaderboard.boards import StoredPolicy
from leaderboard.models import Board

ENTRANTS, ITEMS, REPLICATES = 50, 5000, 3
TOPICS, LEVELS = 16, 5
SLICES = TOPICS + LEVELS
METRIC = "correct"


def results(entrants: int, items: int, replicates: int) -> npt.NDArray[np.float64]:
    """Shares of passed replicates, shape (items, entrants): items are hard or easy for all alike,
    entrants a little better or worse."""
    random = np.random.Generator(np.random.PCG64(20_261_130))
    ease = random.normal(0.3, 1.2, size=(items, 1))
    skill = np.linspace(-0.6, 0.6, entrants)[None, :]
    chance = 1 / (1 + np.exp(-(ease + skill)))
    passes = random.binomial(replicates, chance)
    return np.asarray(passes / replicates, dtype=np.float64)


def fill(values: npt.NDArray[np.float64], replicates: int) -> Board:
    """Store a board with these results as the product keeps them."""
    items, entrants = values.shape
    suite = Suite.objects.create(slug="bench", format="academy_run", title="Benchmark")
    version = SuiteVersion.objects.create(
        suite=suite, name="1", title="Benchmark", mode="ranked", digest="b" * 64,
        source_digest="b" * 64,
    )  # fmt: skip
    metric = Metric.objects.create(
        version=version, key=METRIC, label="Correct", direction="up", kind="graded", low=0.0,
        high=1.0, missing=0.0,
    )  # fmt: skip
    Task.objects.bulk_create(tasks_of(version, items), batch_size=5000)
    chosen = ScoringPass.objects.create(
        version=version, number=1, state="published", digest="c" * 64
    )
    SuiteVersion.objects.filter(pk=version.pk).update(
        state="published", published_at=timezone.now()
    )
    runs = runs_of(version, entrants)
    RunVector.objects.bulk_create(
        RunVector(
            run=run, metric=metric, mode="strict", scoring_pass=chosen,
            values=np.rint(values[:, column] * SCALE).astype("<i8").tobytes(),
            states=bytes(items),
        )
        for column, run in enumerate(runs)
    )  # fmt: skip
    Summary.objects.bulk_create(
        Summary(run=run, scoring_pass=chosen, records=items * replicates, scored=items,
                usage=usage_of(column, replicates), digest=f"{column:064d}")
        for column, run in enumerate(runs)
    )  # fmt: skip
    RunResult.objects.bulk_create(
        RunResult(run=run, metric=metric, mode=mode, scoring_pass=chosen, origin="computed",
                  value=float(values[:, column].mean()), n=items)
        for mode in ("strict", "reference")
        for column, run in enumerate(runs)
    )  # fmt: skip
    policy = StoredPolicy(metric=METRIC, slices=("topic", "level"), publishing="by_hand")
    board = Board.objects.create(slug="bench", title="Benchmark", policy=policy.as_json())
    board.versions.add(version)
    return board


def tasks_of(version: SuiteVersion, items: int) -> list[Task]:
    """Tasks with two attributes to cut by."""
    return [
        Task(
            version=version, ordinal=place, external_id=f"t-{place}", title=f"Task {place}",
            gradings=[{"metric": METRIC, "scorer": "reported", "params": {}}],
            attributes={"topic": f"topic {place % TOPICS}", "level": f"level {place % LEVELS}"},
            digest=f"{place:064d}",
        )
        for place in range(items)
    ]  # fmt: skip


def runs_of(version: SuiteVersion, entrants: int) -> list[Run]:
    """A closed run for each entrant."""
    now = timezone.now()
    people = Entrant.objects.bulk_create(
        Entrant(slug=f"bench-{place:02d}", name=f"Entrant {place:02d}", harness="example harness")
        for place in range(entrants)
    )
    return Run.objects.bulk_create(
        Run(version=version, entrant=held, form="academy_run", state="closed", closed_at=now,
            verification=3, digest=f"{place:064d}")
        for place, held in enumerate(people)
    )  # fmt: skip


def usage_of(column: int, replicates: int) -> dict[str, Any]:
    """What a run has used, different for each."""
    return {
        "replicates": replicates,
        "cost_micros": {"total": 1, "median": 90_000.0 + 7_000 * column, "share": 1.0},
        "tokens_out": {"total": 1, "median": 1_500.0 + 10 * column, "share": 1.0},
        "wall_ms": {"total": 1, "median": 20_000.0 + 300 * column, "share": 1.0},
    }
