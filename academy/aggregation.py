"""From the scores of a run to its results: item values in task order and plain run results."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

from academy.bundle import JSON, MetricSpec, ResultSpec, ScoredRecord
from academy.intervals import Interval, t_interval, wilson

SCALE = 2**20


class ItemState(IntEnum):
    """What became of one item in one run; the numbers are stored in RunVector.states.

    MISSING was not submitted and lowers coverage. FAILED was submitted without a value by the
    entrant's own doing (error, refusal, over budget). WAITING needs a person; UNSCORABLE failed
    through us. STRUCK (a defective criterion, or a failure of ours closed unrepaired) is out for
    every entry, whichever entry says so.
    """

    SCORED = 0
    MISSING = 1
    FAILED = 2
    WAITING = 3
    UNSCORABLE = 4
    STRUCK = 5


@dataclass(frozen=True, slots=True)
class ItemVector:
    """One value per task in task order; None where the state is not SCORED."""

    values: tuple[float | None, ...]
    states: tuple[ItemState, ...]

    def count(self, state: ItemState) -> int:
        """How many tasks are in a state."""
        return sum(1 for held in self.states if held is state)


STATE_OF = {"needs_human": ItemState.WAITING, "unscorable": ItemState.UNSCORABLE}


def item_vector(task_ids: Sequence[str], scores: Sequence[ScoredRecord]) -> ItemVector:
    """Values of the tasks in order, replicates averaged first.

    A task with any replicate that waits is waiting, else one that is unscorable is unscorable.
    """
    by_task: dict[str, list[ScoredRecord]] = defaultdict(list)
    for score in scores:
        by_task[score.task_id].append(score)
    values: list[float | None] = []
    states: list[ItemState] = []
    for task_id in task_ids:
        value, state = _item(by_task.get(task_id, []))
        values.append(value)
        states.append(state)
    return ItemVector(tuple(values), tuple(states))


def _item(scores: Sequence[ScoredRecord]) -> tuple[float | None, ItemState]:
    if not scores or all(score.status == "" for score in scores):
        return None, ItemState.MISSING
    states = {STATE_OF.get(score.status, ItemState.SCORED) for score in scores}
    for state in (ItemState.WAITING, ItemState.UNSCORABLE):
        if state in states:
            if state is ItemState.UNSCORABLE and all(
                score.measures.get("struck") for score in scores
            ):
                return None, ItemState.STRUCK
            return None, state
    values = [score.value for score in scores if score.value is not None]
    return math.fsum(values) / len(values), ItemState.SCORED


def slices_of(
    vector: ItemVector, attributes: Sequence[Mapping[str, JSON]], names: Sequence[str]
) -> dict[str, list[int]]:
    """Positions of the tasks of each slice "name=value", in the order of values."""
    found: dict[str, list[int]] = {}
    for name in names:
        groups: dict[str, list[int]] = defaultdict(list)
        for position, held in enumerate(attributes[: len(vector.values)]):
            value = held.get(name)
            if isinstance(value, list | tuple):
                for part in value:
                    if part is not None:
                        groups[str(part)].append(position)
            elif value is not None:
                groups[str(value)].append(position)
        found |= {f"{name}={value}": places for value, places in groups.items()}
    return dict(sorted(found.items()))


def run_result(
    metric: MetricSpec, vector: ItemVector, positions: Sequence[int], *, slice_name: str = ""
) -> ResultSpec:
    """The plain result over some tasks: the mean, or median, with missing answers charged.

    While a task waits for a person, or cannot be scored through us, there is no final value: the
    number covers what is decided and its note says so.
    """
    states = [vector.states[position] for position in positions]
    counts = {state: states.count(state) for state in ItemState}
    values = [
        value for position in positions if (value := _charged(metric, vector, position)) is not None
    ]
    interval = _interval(metric, values)
    note = interval.note if interval else "There is nothing to sum up."
    open_items = counts[ItemState.WAITING] + counts[ItemState.UNSCORABLE]
    if open_items:
        note = f"Provisional: {open_items} of {len(positions)} items have no value yet."
    return ResultSpec(
        metric=metric.key,
        slice=slice_name,
        value=interval.point if interval else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        method=interval.method if interval else "",
        n=len(values),
        waiting=counts[ItemState.WAITING],
        missing=counts[ItemState.MISSING],
        unscorable=counts[ItemState.UNSCORABLE],
        note=note,
    )


def _charged(metric: MetricSpec, vector: ItemVector, position: int) -> float | None:
    if vector.states[position] in (ItemState.MISSING, ItemState.FAILED):
        return metric.missing
    return vector.values[position]


def _interval(metric: MetricSpec, values: Sequence[float]) -> Interval | None:
    if not values or metric.run_aggregation == "none":
        return None
    if metric.run_aggregation == "sum":
        return Interval(math.fsum(values), None, None, "sum", len(values))
    if metric.run_aggregation == "median":
        ordered = sorted(values)
        middle = len(ordered) // 2
        point = ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
        return Interval(point, None, None, "median", len(values))
    if metric.kind == "pass" and all(value in (0.0, 1.0) for value in values):
        return wilson(int(sum(values)), len(values))
    return t_interval(values, low=metric.low, high=metric.high)
