"""What is ranked and by which rules: entries, the policy of a board, and who may rank at all."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemState
from academy.bundle import Direction, MetricKind
from academy.intervals import cluster_codes
from leaderboard.paired import Statistic
from leaderboard.resampling import Sense

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
UInt8Array = npt.NDArray[np.uint8]


class Place(StrEnum):
    """Where an entry stands. Only RANKED has a rank; the others are listed apart, with a reason."""

    RANKED = "ranked"
    REPORTED = "reported"
    PROVISIONAL = "provisional"
    INCOMPLETE = "incomplete"
    LISTED = "listed"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One entrant's run: a value (or None, or NaN) and a state for each item, in the fixed order.

    Without `states` an item with a value is SCORED and one without is MISSING. Without any values
    the entry has no item records. `reported` is the number its source states; `held_back` is the
    sentence that says why it is listed and not ranked, if it is.
    """

    key: str
    values: Sequence[float | None] | FloatArray = ()
    states: Sequence[int] | UInt8Array | None = None
    reported: float | None = None
    held_back: str = ""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Policy:
    """The rules of a board.

    `missing_value` is what a missing or failed item counts; None ranks no incomplete run.
    `coverage` is the least share of submitted items. `origin` says which number ranks; `test` is
    "auto" for the test that `statistic`, `kind`, `replicates` and `clusters` call for. `range` is
    the metric's (low, high). `clusters` has a label for each item. A shown number is multiplied by
    `scale` (100 for per cent) and has at least `digits` decimals. ValueError for rules that cannot
    be.
    """

    direction: Sense
    kind: MetricKind | Literal["pass", "graded", "error", "rating", "count"]
    missing_value: float | None
    coverage: float = 0.95
    statistic: Statistic = "mean"
    origin: Literal["computed", "reported"] = "computed"
    test: Literal["auto", "mcnemar", "t", "bootstrap"] = "auto"
    replicates: int = 1
    ranked: bool = True
    range: tuple[float, float] | None = None
    clusters: Sequence[Hashable] | None = None
    confidence: float = 0.95
    rounds: int = 10_000
    digits: int = 3
    scale: int = 1

    def __post_init__(self) -> None:
        Direction(self.direction)
        MetricKind(self.kind)
        if not (0 <= self.coverage <= 1 and 0 < self.confidence < 1):
            raise ValueError("coverage and confidence are shares")
        if self.rounds < 1 or self.digits < 0 or self.scale < 1 or self.replicates < 1:
            raise ValueError("rounds, scale and replicates start at 1, digits at 0")
        if self.missing_value is not None and not math.isfinite(self.missing_value):
            raise ValueError("a missing value is finite")
        if self.range is not None and not self.range[0] < self.range[1]:
            raise ValueError(f"a range goes up, not like {self.range}")

    @property
    def limits(self) -> tuple[float, float] | None:
        """The metric's range; a pass lies in 0..1 without saying so."""
        return (0.0, 1.0) if self.range is None and self.kind == "pass" else self.range


@dataclass(frozen=True, slots=True, eq=False)
class ItemTable:
    """Entries in the order of their keys, as columns over the items that nobody has struck.

    `values` has NaN wherever the state is not SCORED; in `counted` the policy's missing value
    stands for missing and failed items. `codes` numbers the cluster of each item, None if each
    is its own. `positions` says which of all items the rows are; `struck` have left.
    """

    entries: tuple[Entry, ...]
    values: FloatArray
    counted: FloatArray
    states: UInt8Array
    codes: IntArray | None
    clusters: int
    positions: IntArray
    struck: int

    def count(self, state: ItemState) -> IntArray:
        """How many items of each entry are in a state."""
        return np.asarray((self.states == state).sum(axis=0), dtype=np.int64)


@dataclass(frozen=True, slots=True)
class Placement:
    """The place of an entry with the sentence that explains it, and the counts behind it."""

    place: Place
    reason: str
    n: int
    scored: int
    missing: int
    failed: int
    waiting: int
    unscorable: int

    @property
    def coverage(self) -> float:
        """1 - the share not submitted; what waits or failed through us never lowers it."""
        return (self.n - self.missing) / self.n if self.n else 0.0


def item_table(entries: Sequence[Entry], policy: Policy) -> ItemTable:
    """Lay the entries side by side.

    ValueError for a key that comes twice, lists of different lengths, a SCORED item without a
    finite value, a reported value that is not finite, or cluster labels that do not match the
    items.
    """
    ordered = tuple(sorted(entries, key=lambda entry: entry.key))
    keys = [entry.key for entry in ordered]
    if len(set(keys)) < len(keys):
        raise ValueError("two entries have the same key")
    for entry in ordered:
        if entry.reported is not None and not math.isfinite(entry.reported):
            raise ValueError(f"{entry.key} reports a value that is not finite")
    items = max((len(entry.values) for entry in ordered), default=0)
    if policy.clusters is not None and items and len(policy.clusters) != items:
        raise ValueError(f"{items} items came with {len(policy.clusters)} cluster labels")
    by_entry, told = _rows(ordered, items)
    # Turned once: a column at a time goes through the whole table each time.
    values, states = np.ascontiguousarray(by_entry.T), np.ascontiguousarray(told.T)
    kept = ~(states == ItemState.STRUCK).any(axis=1)
    if not kept.all():
        values, states = values[kept], states[kept]
    missing = math.nan if policy.missing_value is None else policy.missing_value
    absent = (states == ItemState.MISSING) | (states == ItemState.FAILED)
    codes, clusters = _clusters(policy, kept)
    counted = np.where(absent, missing, values)
    positions = np.flatnonzero(kept)
    struck = items - len(positions)
    return ItemTable(ordered, values, counted, states, codes, clusters, positions, struck)


def placements(table: ItemTable, policy: Policy) -> list[Placement]:
    """The place of each entry of the table, in its order."""
    counts = np.column_stack(
        [table.count(state) for state in ItemState if state is not ItemState.STRUCK]
    )
    return [
        _placement(entry, policy, len(table.values), [int(count) for count in row])
        for entry, row in zip(table.entries, counts, strict=True)
    ]


def _rows(entries: Sequence[Entry], items: int) -> tuple[FloatArray, UInt8Array]:
    """Values and states of shape (entries, items); an entry without any has them missing."""
    values = np.full((len(entries), items), np.nan)
    states = np.full((len(entries), items), ItemState.MISSING, dtype=np.uint8)
    for row, entry in enumerate(entries):
        if not len(entry.values):
            continue
        if len(entry.values) != items:
            raise ValueError(f"{entry.key} has {len(entry.values)} items where others have {items}")
        values[row] = entry.values
        if entry.states is None:
            states[row] = np.where(np.isnan(values[row]), ItemState.MISSING, ItemState.SCORED)
        elif len(entry.states) == items:
            states[row] = entry.states
        else:
            raise ValueError(f"{entry.key} needs one known state for each of {items} items")
    if unknown := _first(entries, states > max(ItemState)):
        raise ValueError(f"{unknown} needs one known state for each of {items} items")
    scored = states == ItemState.SCORED
    if unsaid := _first(entries, scored & ~np.isfinite(values)):
        raise ValueError(f"{unsaid} has a scored item without a finite value")
    values[~scored] = np.nan
    return values, states


def _first(entries: Sequence[Entry], wrong: npt.NDArray[np.bool_]) -> str:
    """The key of the first entry with something wrong, or nothing."""
    return entries[int(wrong.any(axis=1).argmax())].key if wrong.any() else ""


def _clusters(policy: Policy, kept: npt.NDArray[np.bool_]) -> tuple[IntArray | None, int]:
    if policy.clusters is None:
        return None, int(kept.sum())
    labels = [label for label, stays in zip(policy.clusters, kept, strict=False) if stays]
    return cluster_codes(labels, len(labels))


def _placement(entry: Entry, policy: Policy, n: int, counts: list[int]) -> Placement:
    place, reason = _place(entry, policy, n, *counts)
    return Placement(place, reason, n, *counts)


def _place(
    entry: Entry,
    policy: Policy,
    n: int,
    scored: int,
    missing: int,
    failed: int,
    waiting: int,
    unscorable: int,
) -> tuple[Place, str]:
    if entry.held_back:
        return Place.LISTED, entry.held_back
    if missing == n:
        return _without_records(entry)
    if policy.origin == "reported" and entry.reported is None:
        return Place.UNSCORED, "Its source reports no value."
    if n - missing < round(policy.coverage * n, 9):
        needed = f"a rank needs {policy.coverage * 100:.6g} % of them"
        return Place.INCOMPLETE, f"{n - missing} of {n} items were submitted; {needed}."
    if policy.missing_value is None and missing + failed:
        absent = f"{missing + failed} of {n} items have no value"
        return Place.INCOMPLETE, f"{absent}, and this metric has none for missing items."
    if waiting or unscorable:
        return Place.PROVISIONAL, _provisional_reason(n, waiting, unscorable)
    if not policy.ranked:
        return Place.LISTED, "This board is not ranked."
    return Place.RANKED, ""


def _without_records(entry: Entry) -> tuple[Place, str]:
    if entry.reported is not None:
        return Place.REPORTED, "Reported by its source without item records."
    return Place.UNSCORED, "No item has been submitted."


def _provisional_reason(n: int, waiting: int, unscorable: int) -> str:
    parts = []
    if waiting:
        parts.append(f"{waiting} of {n} items wait for a person")
    if unscorable:
        parts.append(f"{unscorable} of {n} could not be scored through no fault of the entrant")
    return " and ".join(parts) + "."
