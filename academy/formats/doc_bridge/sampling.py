"""Samples with the faults of the original's selection put right; offered beside it, by name.

Of every size that is a multiple of the strata, up to the whole matrix, all replicates included:
each model and scenario gets the same number of executions, spread over categories as evenly as
the tasks allow, so that no category belongs to a model, and both arms of a pair share the wording.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from academy.formats.doc_bridge.hashing import normalized_hash
from academy.formats.doc_bridge.plans import PAIRWISE
from academy.formats.doc_bridge.primitives import CATEGORIES
from academy.formats.doc_bridge.selection import Execution, SelectionError, counter_key


def interleaved(suite: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Tasks in an order nobody can aim at, categories taking turns."""
    seed = suite["ordering"]["seed"]
    by_hash = sorted(
        suite["tasks"], key=lambda task: normalized_hash({"seed": seed, "taskId": task["id"]})
    )
    queues = [[task for task in by_hash if task["category"] == category] for category in CATEGORIES]
    longest = max((len(queue) for queue in queues), default=0)
    return [queue[turn] for turn in range(longest) for queue in queues if turn < len(queue)]


def select_corrected(
    suite: Mapping[str, Any],
    size: float | None = None,
    sampling: Mapping[str, Any] | None = None,
) -> list[Execution]:
    """A sample of that size, in counter order. Raises SelectionError."""
    asked = sampling or {}
    pairwise = asked.get("strategy") == PAIRWISE
    scenarios = scenarios_of(suite, asked) if pairwise else list(suite["scenarioIds"])
    tasks = interleaved(suite)
    strata = [(scenario, model) for scenario in scenarios for model in suite["modelIds"]]
    replicates = int(suite["replicatesPerTask"])
    each = per_stratum(size, len(tasks) * replicates, len(strata))
    chosen: list[Execution] = []
    for number, (scenario, model) in enumerate(strata):
        # A pair needs the same tasks in both arms; otherwise strata begin at different tasks.
        shift = 0 if pairwise else number * len(tasks) // len(strata)
        for draw in range(each):
            position = (draw + shift) % len(tasks)
            task, replicate = tasks[position], draw // len(tasks)
            chosen.append(
                Execution(
                    task["id"],
                    task["repositoryId"],
                    task["category"],
                    scenario,
                    model,
                    replicate,
                    wording(task, position, suite["modelIds"].index(model), replicate),
                )
            )
    seed = suite["ordering"]["seed"]
    return sorted(chosen, key=lambda execution: counter_key(seed, execution))


def scenarios_of(suite: Mapping[str, Any], asked: Mapping[str, Any]) -> list[str]:
    """Two different scenarios of the suite."""
    chosen = list(asked.get("scenarioIds") or ())
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise SelectionError("Pairwise sampling requires exactly two different scenarios.")
    unknown = [scenario for scenario in chosen if scenario not in suite["scenarioIds"]]
    if unknown:
        raise SelectionError(f"The suite has no scenario {unknown[0]}.")
    return chosen


def per_stratum(size: float | None, most: int, strata: int) -> int:
    """How many executions each model and scenario gets."""
    if size is None:
        return most
    highest = most * strata
    whole = isinstance(size, int) or (isinstance(size, float) and size.is_integer())
    if isinstance(size, bool) or not whole or not 1 <= size <= highest:
        raise SelectionError(f"Sample size must be an integer between 1 and {highest}.")
    if size % strata:
        raise SelectionError(
            f"Sample size must be divisible by the {strata} model/scenario strata."
        )
    return int(size) // strata


def wording(task: Mapping[str, Any], position: int, model: int, replicate: int) -> str:
    """The wording of a task for a model and replicate, the same in every scenario."""
    variants: Sequence[Mapping[str, Any]] = task["variants"]
    return str(
        variants[(position // len(CATEGORIES) + position + model + replicate) % len(variants)]["id"]
    )
