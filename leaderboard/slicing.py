"""Slices of a board: every entry's score over tasks that share an attribute."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from academy.aggregation import ItemVector, slices_of
from leaderboard.digits import shown
from leaderboard.entries import Entry, ItemTable, Policy, item_table
from leaderboard.inputs import Inputs, entry_of
from leaderboard.slices import SliceScores, slice_medians, slice_scores

FEWEST_ITEMS = 2
MOST_SLICES = 60
MEDIAN_ROUNDS = 2_000


def members_of(inputs: Inputs) -> dict[str, list[int]]:
    """The items of each slice that the policy names, by "attribute=value"."""
    attributes = [task.attributes for task in inputs.tasks]
    nothing = ItemVector((None,) * len(attributes), ())
    found = slices_of(nothing, attributes, inputs.policy.slices)
    held = {
        name: places
        for name, places in found.items()
        if FEWEST_ITEMS <= len(places) < len(attributes)
    }
    return dict(list(held.items())[:MOST_SLICES])


def slice_rows(inputs: Inputs, policy: Policy) -> list[dict[str, Any]]:
    """The slices of a board with the score and interval of each entry that has item records.

    Shown, not ranked. A slice is summed up by the statistic of the board.
    """
    return rows_over(inputs, policy, members_of(inputs))


def rows_over(
    inputs: Inputs, policy: Policy, members: Mapping[str, Sequence[int]]
) -> list[dict[str, Any]]:
    """The same over given slices: "attribute=value" to the places of the items."""
    entries = [entry_of(held) for held in inputs.candidates]
    if not members or not entries:
        return []
    table = item_table(entries, policy)
    places = {int(position): row for row, position in enumerate(table.positions)}
    truth = np.zeros((len(members), len(table.values)), dtype=np.bool_)
    for line, held in enumerate(members.values()):
        truth[line, [places[place] for place in held if place in places]] = True
    scores = _scores(inputs, policy, table, truth)
    return [
        {
            "name": name,
            "attribute": name.partition("=")[0],
            "value": name.partition("=")[2],
            "n": int(truth[line].sum()),
            "entries": _cells(table.entries, scores, line, policy),
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
    entries: Sequence[Entry], scores: Any, line: int, policy: Policy
) -> dict[str, dict[str, Any]]:
    made = {}
    figures = [held[line].tolist() for held in (scores.mean, scores.low, scores.high)]
    for entry, n, *held in zip(entries, scores.n[line].tolist(), *figures, strict=True):
        numbers = [None if math.isnan(value) else value for value in held]
        texts = [
            None if value is None else shown(value, policy.digits, policy.scale)
            for value in numbers
        ]
        made[entry.key] = {
            "n": int(n),
            "score": numbers[0],
            "low": numbers[1],
            "high": numbers[2],
            "shown": texts[0],
            "shown_low": texts[1],
            "shown_high": texts[2],
        }
    return made
