"""The tasks of a version that a metric grades and a policy counts, in their fixed order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemVector, slices_of
from academy.models import SuiteVersion, Task

IntArray = npt.NDArray[np.int64]
KEPT = 8
FIELDS = ("external_id", "ordinal", "attributes", "gradings", "version_id", "title", "holdout")


@dataclass(frozen=True, slots=True, eq=False)
class Graded:
    """Tasks, and their places in the vectors of runs, which hold all tasks that are graded."""

    tasks: tuple[Task, ...]
    places: IntArray
    known: dict[str, dict[str, IntArray]] = field(default_factory=dict)

    def groups(self, attribute: str) -> Mapping[str, IntArray]:
        """Positions in `tasks` by "attribute=value"; worked out once."""
        if attribute not in self.known:
            nothing = ItemVector((None,) * len(self.tasks), ())
            found = slices_of(nothing, [task.attributes for task in self.tasks], (attribute,))
            self.known[attribute] = {name: np.array(held) for name, held in found.items()}
        return self.known[attribute]


def graded_tasks(version: SuiteVersion, metric: str, where: Mapping[str, Any]) -> Graded:
    """The tasks of a public version that a metric grades, with the attributes that `where` asks."""
    return _graded(version.pk, version.digest, metric, json.dumps(where, sort_keys=True))


@lru_cache(maxsize=KEPT)
def _graded(version_id: int, version_digest: str, metric: str, where: str) -> Graded:
    """Kept, since tasks are frozen with the digest."""
    asked = json.loads(where)
    tasks = Task.objects.filter(version=version_id).order_by("ordinal").only(*FIELDS)
    graded = [task for task in tasks if any(one["metric"] == metric for one in task.gradings)]
    chosen = [
        place
        for place, task in enumerate(graded)
        if all(task.attributes.get(name) == value for name, value in asked.items())
    ]
    return Graded(
        tasks=tuple(graded[place] for place in chosen),
        places=np.array(chosen, dtype=np.int64),
    )
