"""Slices of a board: every entry's score over tasks that share an attribute."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from leaderboard.digits import shown_all
from leaderboard.entries import Entry, ItemTable, Policy, item_table
from leaderboard.inputs import Inputs, entry_of
from leaderboard.slices import SliceScores, slice_medians, slice_scores

IntArray = npt.NDArray[np.int64]
FEWEST_ITEMS = 2
MOST_SLICES = 60
MEDIAN_ROUNDS = 2_000
FIGURES = ("n", "score", "low", "high", "shown", "shown_low", "shown_high")


def members_of(inputs: Inputs) -> dict[str, IntArray]:
    """The items of each slice that the policy names, by "attribute=value"."""
    found: dict[str, list[IntArray]] = defaultdict(list)
    start = 0
    for part in inputs.parts:
        for attribute in inputs.policy.slices:
            for name, places in part.graded.groups(attribute).items():
                found[name].append(places + start)
        start += len(part.tasks)
    joined = {name: np.concatenate(found[name]) for name in sorted(found)}
    held = {name: places for name, places in joined.items() if FEWEST_ITEMS <= len(places) < start}
    return dict(list(held.items())[:MOST_SLICES])


def slice_rows(inputs: Inputs, policy: Policy) -> list[dict[str, Any]]:
    """The slices of a board with the score and interval of each entry that has item records.

    Shown, not ranked. A slice is summed up by the statistic of the board.
    """
    return rows_over(inputs, policy, members_of(inputs))


def rows_over(
    inputs: Inputs, policy: Policy, members: Mapping[str, Sequence[int] | IntArray]
) -> list[dict[str, Any]]:
    """The same over given slices: "attribute=value" to the places of the items."""
    entries = [entry_of(held) for held in inputs.candidates]
    if not members or not entries:
        return []
    table = item_table(entries, policy)
    # Struck items have left the table.
    truth = np.zeros((len(members), len(inputs.tasks)), dtype=np.bool_)
    for line, held in enumerate(members.values()):
        truth[line, held] = True
    truth = truth[:, table.positions]
    cells = _cells(table.entries, _scores(inputs, policy, table, truth), policy)
    return [
        {
            "name": name,
            "attribute": name.partition("=")[0],
            "value": name.partition("=")[2],
            "n": int(truth[line].sum()),
            "entries": cells[line],
        }
        for line, name in enumerate(members)
    ]


def _scores(
    inputs: Inputs, policy: Policy, table: ItemTable, truth: npt.NDArray[np.bool_]
) -> SliceScores:
    if policy.statistic == "median":
        rounds = min(policy.rounds, MEDIAN_ROUNDS)
        return slice_medians(
            table.counted, truth, table.codes, inputs.seed_digest, rounds, policy.confidence
        )
    low, high = policy.limits or (None, None)
    return slice_scores(table.counted, truth, policy.confidence, low, high)


def _cells(
    entries: Sequence[Entry], scores: SliceScores, policy: Policy
) -> list[dict[str, dict[str, Any]]]:
    """What each slice shows of each entry, by its key."""
    keys = [entry.key for entry in entries]
    figures = [held.ravel() for held in (scores.mean, scores.low, scores.high)]
    numbers = [[None if value != value else value for value in held.tolist()] for held in figures]
    texts = [shown_all(held, policy.digits, policy.scale) for held in figures]
    rows = zip(scores.n.ravel().tolist(), *numbers, *texts, strict=True)
    cells = [dict(zip(FIGURES, row, strict=True)) for row in rows]
    size = len(keys)
    return [
        dict(zip(keys, cells[start : start + size], strict=True))
        for start in range(0, len(cells), size)
    ]
