"""Every published statistic under its documented name, and a door to call them with JSON.

`FUNCTIONS` maps names to functions; `evaluate({"function": name, "arguments": {...}})` calls one
and returns plain JSON values. Arguments go by name (an object) or by position (a list), null is a
missing value. `rank`, `compare` and `pair_matrix` take entries as objects with the fields of
`leaderboard.entries.Entry` (states by name or number) and the policy as one with those of `Policy`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import wraps
from typing import Any

import numpy as np

from academy.aggregation import ItemState
from academy.bundle import JSON
from academy.calling import call
from academy.draws import bootstrap_weights, draw_indices, stream, weights_seed
from academy.intervals import (
    Interval,
    clustered_interval,
    standard_error,
    t_interval,
    wilson,
)
from leaderboard.attempts import (
    choose_attempt,
    item_means,
    ladder,
    mean_pass_at_k,
    mean_pass_hat_k,
    pass_at_k,
    pass_hat_k,
    within_item_variance,
)
from leaderboard.audit import audited_values, judge_audited
from leaderboard.comparison import compare, pair_matrix
from leaderboard.entries import Entry, Policy
from leaderboard.multiplicity import benjamini_hochberg, holm
from leaderboard.paired import (
    Difference,
    mcnemar_exact,
    paired_bootstrap,
    paired_difference,
    paired_mcnemar,
    paired_t,
)
from leaderboard.power import fragility, items_needed, smallest_detectable_difference
from leaderboard.ranking import rank
from leaderboard.slices import slice_scores
from leaderboard.usage import pareto_front, rating_distribution, saturation, usage_summary

__all__ = [
    "FUNCTIONS",
    "Difference",
    "Interval",
    "as_json",
    "audited_values",
    "benjamini_hochberg",
    "choose_attempt",
    "clustered_interval",
    "evaluate",
    "fragility",
    "holm",
    "item_means",
    "items_needed",
    "judge_audited",
    "ladder",
    "mcnemar_exact",
    "mean_pass_at_k",
    "mean_pass_hat_k",
    "paired_bootstrap",
    "paired_difference",
    "paired_mcnemar",
    "paired_t",
    "pareto_front",
    "pass_at_k",
    "pass_hat_k",
    "rating_distribution",
    "saturation",
    "slice_scores",
    "smallest_detectable_difference",
    "standard_error",
    "t_interval",
    "usage_summary",
    "wilson",
    "within_item_variance",
]


def random_indices(version_digest: str, clusters: int, rounds: int, count: int) -> list[int]:
    """The first `count` indices that a version's bootstrap draws."""
    generator = stream(weights_seed(version_digest, clusters, rounds))
    return [int(index) for index in draw_indices(generator, count, clusters)]


def weights_of(version_digest: str, clusters: int, rounds: int) -> Sequence[Sequence[int]]:
    """The bootstrap weights of a version, a list for each round."""
    seed = weights_seed(version_digest, clusters, rounds)
    weights: list[list[int]] = bootstrap_weights(seed, clusters, rounds).tolist()
    return weights


def seed_hex(version_digest: str, clusters: int, rounds: int) -> str:
    """The seed of a version's bootstrap as 64 hexadecimal digits."""
    return weights_seed(version_digest, clusters, rounds).hex()


def _of_entries(function: Callable[..., object]) -> Callable[..., object]:
    """A function of entries and a policy, taking both as plain objects."""

    @wraps(function)
    def called(
        entries: Sequence[Mapping[str, Any]], policy: Mapping[str, Any], *rest: Any, **more: Any
    ) -> object:
        read = [_entry(entry) for entry in entries]
        return function(read, Policy(**policy), *rest, **more)

    return called


def _entry(plain: Mapping[str, Any]) -> Entry:
    states = plain.get("states")
    if states is None:
        return Entry(**plain)
    numbers = [ItemState[s.upper()] if isinstance(s, str) else ItemState(s) for s in states]
    return Entry(**{**plain, "states": numbers})


FUNCTIONS: dict[str, Callable[..., object]] = {
    "audited_values": audited_values,
    "benjamini_hochberg": benjamini_hochberg,
    "bootstrap_weights": weights_of,
    "choose_attempt": choose_attempt,
    "clustered_interval": clustered_interval,
    "compare": _of_entries(compare),
    "fragility": fragility,
    "holm": holm,
    "item_means": item_means,
    "items_needed": items_needed,
    "judge_audited": judge_audited,
    "ladder": ladder,
    "mcnemar_exact": mcnemar_exact,
    "mean_pass_at_k": mean_pass_at_k,
    "mean_pass_hat_k": mean_pass_hat_k,
    "pair_matrix": _of_entries(pair_matrix),
    "paired_bootstrap": paired_bootstrap,
    "paired_difference": paired_difference,
    "paired_mcnemar": paired_mcnemar,
    "paired_t": paired_t,
    "pareto_front": pareto_front,
    "pass_at_k": pass_at_k,
    "pass_hat_k": pass_hat_k,
    "random_indices": random_indices,
    "rank": _of_entries(rank),
    "rating_distribution": rating_distribution,
    "saturation": saturation,
    "seed": seed_hex,
    "slice_scores": slice_scores,
    "smallest_detectable_difference": smallest_detectable_difference,
    "standard_error": standard_error,
    "t_interval": t_interval,
    "usage_summary": usage_summary,
    "wilson": wilson,
    "within_item_variance": within_item_variance,
}


def evaluate(
    case: Mapping[str, Any], functions: Mapping[str, Callable[..., object]] = FUNCTIONS
) -> JSON:
    """Call the function that a case names with its arguments, as plain JSON values.

    ValueError for anything else than such a case, for a name that is not documented and for an
    argument that is not of its kind; whatever the function raises goes through.
    """
    if not isinstance(case, Mapping) or not isinstance(case.get("function"), str):
        raise ValueError('a case is an object with "function", a name, and "arguments"')
    name, arguments = case["function"], case.get("arguments", {})
    if name not in functions:
        raise ValueError(f"{name!r} is no documented function; there are {', '.join(functions)}")
    return as_json(call(functions[name], arguments))


def as_json(value: object) -> JSON:
    """Turn a result into plain JSON values: dataclasses to objects, arrays to lists, NaN to null.

    ValueError for an infinite number, TypeError for anything that JSON cannot say.
    """
    if isinstance(value, Enum):
        return as_json(value.value)
    if isinstance(value, np.ndarray | np.generic):
        return as_json(value.tolist())
    if isinstance(value, float):
        if math.isinf(value):
            raise ValueError("an infinite number cannot be written as JSON")
        return None if math.isnan(value) else value
    if value is None or isinstance(value, bool | int | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): as_json(item) for key, item in value.items()}
    if isinstance(value, Sequence):
        return [as_json(item) for item in value]
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
