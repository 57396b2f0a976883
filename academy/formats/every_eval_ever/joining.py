"""Finds the result of an aggregate that a row belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from academy.bundle import JSON
from academy.formats.every_eval_ever.metrics import DataSet, Result
from academy.formats.every_eval_ever.values import as_text

DANGLING = "dangling-result-id"
AMBIGUOUS = "ambiguous-result"
UNNAMED = "unknown-evaluation"


@dataclass(frozen=True, slots=True)
class Joined:
    """What a row joins: its data set, and the result, or the rule by which there is none."""

    data_set: DataSet | None
    result: Result | None
    rule: str = ""


class Join:
    """The results of one aggregate by id and by name."""

    def __init__(self, results: Sequence[Result]) -> None:
        self.data_sets = tuple(dict.fromkeys(result.data_set for result in results))
        self.by_id = {result.result_id: result for result in reversed(results) if result.result_id}
        self.by_name: dict[str, list[Result]] = {}
        for result in results:
            self.by_name.setdefault(result.name, []).append(result)
        self.known: dict[tuple[str, str], Joined] = {}

    def find(self, row: Mapping[str, JSON]) -> Joined:
        """What a row joins: by result id, else by the name of the evaluation where that is one."""
        place = as_text(row.get("evaluation_result_id")), as_text(row.get("evaluation_name"))
        joined = self.known.get(place)
        if joined is None:
            joined = self.known[place] = self.look_up(*place)
        return joined

    def look_up(self, result_id: str, name: str) -> Joined:
        """The join without memory."""
        result = self.by_id.get(result_id)
        if result is not None:
            return Joined(result.data_set, result)
        named = self.by_name.get(name, [])
        sets = set(dict.fromkeys(result.data_set for result in named)) or set(self.data_sets)
        data_set = next(iter(sets)) if len(sets) == 1 else None
        if result_id:
            return Joined(data_set, None, DANGLING)
        if len(named) == 1:
            return Joined(data_set, named[0])
        return Joined(data_set, None, AMBIGUOUS if named else UNNAMED)
