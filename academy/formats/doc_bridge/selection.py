"""Which executions a study wants, in the original's counter order, row for row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from academy.bundle import JSON
from academy.errors import AcademyError
from academy.formats.doc_bridge.hashing import normalized_hash
from academy.formats.doc_bridge.plans import PAIRWISE


class SelectionError(AcademyError):
    """A sample that the original cannot select."""


class Execution(NamedTuple):
    """One execution that is wanted. The names are the original's, since they are hashed."""

    taskId: str
    repositoryId: str
    category: str
    scenarioId: str
    modelId: str
    replicate: int
    variantId: str

    def as_json(self) -> dict[str, JSON]:
        """The row as the original has it."""
        return self._asdict()

    @property
    def row(self) -> str:
        """The row on one line."""
        return "|".join(
            (self.taskId, self.scenarioId, self.modelId, str(self.replicate), self.variantId)
        )


def counter_key(seed: str, row: Execution) -> str:
    """The hash that puts executions in an order nobody can aim at."""
    return normalized_hash({"seed": seed, **row._asdict()})


def cell_key(seed: str, row: Execution) -> str:
    """The same before there is a wording, by which wordings are given out."""
    cell = row._asdict()
    del cell["variantId"]
    return normalized_hash({"seed": seed, **cell})


def all_executions(suite: Mapping[str, Any], scenarios: Sequence[str]) -> list[Execution]:
    """Every execution of the matrix in counter order; wordings alternate inside each task."""
    seed = suite["ordering"]["seed"]
    every: list[Execution] = []
    for task in suite["tasks"]:
        place = (task["id"], task["repositoryId"], task["category"])
        cells = [
            Execution(*place, scenario, model, replicate, "")
            for scenario in scenarios
            for model in suite["modelIds"]
            for replicate in range(int(suite["replicatesPerTask"]))
        ]
        cells.sort(key=lambda cell: cell_key(seed, cell))
        variants = task["variants"]
        every += [
            cell._replace(variantId=variants[index % len(variants)]["id"])
            for index, cell in enumerate(cells)
        ]
    every.sort(key=lambda row: counter_key(seed, row))
    return every


def select_executions(
    suite: Mapping[str, Any],
    size: float | None = None,
    sampling: Mapping[str, Any] | None = None,
) -> list[Execution]:
    """The original's selection. Raises SelectionError where it has none.

    The balanced strategy works only up to one execution per task, whatever the announced maximum;
    pairwise neither asks whether its scenarios are the suite's nor whether they differ.
    """
    pairwise = sampling is not None and sampling.get("strategy") == PAIRWISE
    scenarios = list(suite["scenarioIds"])
    if pairwise and sampling is not None:
        scenarios = list(sampling.get("scenarioIds") or ())
        if len(scenarios) != 2:
            raise SelectionError("Pairwise sampling requires exactly two scenarios.")
    ordered = all_executions(suite, scenarios)
    if size is None or size == len(ordered):
        return ordered
    wanted = checked_size(size, len(suite["tasks"]), len(suite["modelIds"]) * len(scenarios))
    if pairwise:
        return pairwise_sample(suite, ordered, wanted, len(suite["modelIds"]) * len(scenarios))
    return balanced_sample(suite, ordered, wanted)


def checked_size(size: float, tasks: int, strata: int) -> int:
    """The size as a whole number, in range and a multiple of the strata."""
    highest = tasks * strata
    whole = isinstance(size, int) or (isinstance(size, float) and size.is_integer())
    if isinstance(size, bool) or not whole or not 1 <= size <= highest:
        raise SelectionError(f"Sample size must be an integer between 1 and {highest}.")
    if size % strata:
        raise SelectionError(
            f"Sample size must be divisible by the {strata} model/scenario strata."
        )
    return int(size)


def pairwise_sample(
    suite: Mapping[str, Any], ordered: Sequence[Execution], size: int, strata: int
) -> list[Execution]:
    """Both arms and all models of the first tasks by hash, first replicate only."""
    seed = suite["ordering"]["seed"]
    by_hash = sorted(
        suite["tasks"], key=lambda task: normalized_hash({"seed": seed, "taskId": task["id"]})
    )
    chosen = {task["id"] for task in by_hash[: size // strata]}
    rows = [row for row in ordered if row.taskId in chosen and row.replicate == 0]
    return rows[:size]


def balanced_sample(
    suite: Mapping[str, Any], ordered: Sequence[Execution], size: int
) -> list[Execution]:
    """One row per task in suite order, scenarios and models taking turns."""
    tasks, models, scenarios = suite["tasks"], suite["modelIds"], suite["scenarioIds"]
    place = {
        (row.taskId, row.scenarioId, row.modelId): row for row in ordered if row.replicate == 0
    }
    chosen: list[Execution] = []
    for index in range(size):
        if index >= len(tasks):
            raise SelectionError(f"Unable to select a balanced execution for task {index}.")
        scenario = scenarios[index // len(models) % len(scenarios)]
        chosen.append(place[tasks[index]["id"], scenario, models[index % len(models)]])
    return chosen
