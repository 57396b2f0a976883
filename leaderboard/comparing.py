"""Two to four entrants of a board side by side, by the test of the statistic that ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import combinations
from typing import Any
from urllib.parse import urlencode

from academy import sealing
from academy.errors import AcademyError
from academy.models import InstanceRecord, Run
from leaderboard.candidates import Candidate
from leaderboard.comparison import Comparison, compare
from leaderboard.difference_figures import figures, signed, slice_figure
from leaderboard.digits import shown
from leaderboard.entries import Entry, Policy
from leaderboard.inputs import Inputs, entry_of, rank_policy, read_inputs
from leaderboard.models import Board
from leaderboard.presenting import TESTS
from leaderboard.slicing import members_of, slice_rows

Json = dict[str, Any]

FEWEST, MOST = 2, 4
ITEMS = 20
MOST_SLICES = 24
ADJUSTMENTS = {"holm": "Holm", "benjamini_hochberg": "Benjamini–Hochberg"}


def comparison_context(
    board: Board,
    keys: Sequence[str],
    user: Any,
    *,
    adjustment: str = "holm",
    offset: int = 0,
    side: str = "",
    measure: str = "",
) -> Json:
    """All pairs of the chosen entrants, their slices, and for one pair the items that differ;
    `side` keeps to those on which the "first" or the "second" is higher, and `measure` is one of
    the board's second metrics to compare by.

    Raises AcademyError for a board without scores, unknown entrants, or too few or too many.
    """
    inputs, measures = _inputs(board, measure)
    chosen = _chosen(inputs, keys)
    policy = rank_policy(inputs)
    adjust = "benjamini_hochberg" if adjustment == "benjamini_hochberg" else "holm"
    entries = [entry_of(candidate) for candidate in chosen]
    results = compare(entries, policy, inputs.seed_digest, adjust)  # type: ignore[arg-type]
    pairs = [
        _pair(result, *held, inputs, policy)
        for result, held in zip(results, combinations(chosen, 2), strict=True)
    ]
    metric = inputs.newest.metric
    context: Json = {
        "board": board,
        "metric": metric,
        "unit": "points" if policy.scale == 100 else metric.unit,
        "chosen": [_facts(candidate, inputs) for candidate in chosen],
        "pairs": pairs,
        "single": pairs[0] if len(pairs) == 1 else None,
        "n": len(inputs.tasks),
        "sealed": inputs.sealed,
        "adjustment": adjust,
        "adjustment_label": ADJUSTMENTS[adjust],
        "version": inputs.newest.version,
        "scoring_pass": inputs.newest.scoring_pass,
        "percent": f"{policy.confidence * 100:g}",
        **_addresses(board, chosen, inputs, measures, adjust),
    }
    if len(chosen) == FEWEST and not inputs.sealed:
        context |= {
            "slices": _slices(chosen, inputs, policy),
            **_items(results[0], chosen, inputs, user, policy, offset, side),
        }
    elif not inputs.sealed:
        context["slices_of_all"] = _slices_of_all(chosen, inputs, policy)
    return context


def _inputs(board: Board, measure: str) -> tuple[Inputs, dict[str, str]]:
    """The inputs by a measure of the board, and the labels of all of them by key, the board's own
    first. A sealed version has one: two side by side would say more of its items."""
    inputs = read_inputs(board)
    if inputs is None:
        raise AcademyError("This board has nothing that could be compared yet.")
    if inputs.sealed:
        return inputs, {}
    keys = (inputs.policy.metric, *inputs.policy.secondary)
    found = inputs.newest.version.metrics.filter(key__in=keys).values_list("key", "label")
    labels = dict(sorted(found, key=lambda held: keys.index(held[0])))
    if measure in labels and measure != inputs.policy.metric:
        other = copy(board)
        other.policy = {**board.policy, "metric": measure}
        inputs = read_inputs(other) or inputs
    return inputs, labels


def _addresses(
    board: Board,
    chosen: Sequence[Candidate],
    inputs: Inputs,
    measures: Mapping[str, str],
    adjustment: str,
) -> Json:
    """Where the same entries are compared otherwise: turned round, by another measure, or with
    another correction; what is not named stays as it is."""
    keys = [candidate.key for candidate in chosen]
    shown_by = inputs.newest.metric.key
    usual = {"measure": board.policy["metric"], "adjust": "holm"}

    def address(keys: Sequence[str] = keys, **changes: str) -> str:
        said = {"measure": shown_by, "adjust": adjustment, **changes}
        others = [(name, text) for name, text in said.items() if text != usual[name]]
        return "?" + urlencode([("board", board.slug), *(("entry", key) for key in keys), *others])

    return {
        "address": address(),
        "swapped": address(keys[::-1]),
        "measures": [
            {"label": label, "on": key == shown_by, "url": address(measure=key)}
            for key, label in measures.items()
        ],
        "adjusted_otherwise": [
            {"label": label, "url": address(adjust=key)}
            for key, label in ADJUSTMENTS.items()
            if key != adjustment
        ],
    }


def _chosen(inputs: Inputs, keys: Sequence[str]) -> list[Candidate]:
    by_key = {candidate.key: candidate for candidate in inputs.candidates}
    wanted = list(dict.fromkeys(keys))
    unknown = [key for key in wanted if key not in by_key]
    if unknown:
        listed = ", ".join(f"“{key}”" for key in unknown)
        raise AcademyError(f"This board has no entry {listed}. Choose among those below.")
    if not FEWEST <= len(wanted) <= MOST:
        chosen = f"{len(wanted)} {'is' if len(wanted) == 1 else 'are'} chosen"
        raise AcademyError(f"Choose {FEWEST} to {MOST} different entries; {chosen}.")
    bare = [key for key in wanted if not any(v is not None for v in by_key[key].values)]
    if bare:
        raise AcademyError(f"Nothing to pair: {', '.join(bare)} has no item with a value.")
    return [by_key[key] for key in wanted]


def _facts(candidate: Candidate, inputs: Inputs) -> Json:
    run = candidate.run
    usage = inputs.summaries.get(run.pk, ("", {}))[1]
    return {
        "key": candidate.key,
        "name": run.entrant.name,
        "slug": run.entrant.slug,
        "settings": " · ".join(p for p in (run.entrant.harness, run.arm, run.scenario) if p),
        "run": run,
        "verification": run.get_verification_display(),
        "usage": {name: usage.get(name) for name in ("cost_micros", "tokens_out", "wall_ms")},
    }


def _pair(
    result: Comparison, first: Candidate, second: Candidate, inputs: Inputs, policy: Policy
) -> Json:
    """One pair as it is shown; of a sealed version no count of items, and a coarse difference."""
    of = result.result
    names = {"first": first.run.entrant.name, "second": second.run.entrant.name}
    if inputs.sealed:
        return {**names, **_sealed_pair(result, inputs, policy)}
    ends = (of.difference, of.low, of.high)
    texts = [None if end is None else signed(end, policy.digits, policy.scale) for end in ends]
    scores = [
        None if score is None else shown(score, policy.digits, policy.scale)
        for score in (result.first_score, result.second_score)
    ]
    detectable = result.detectable
    return {
        **names,
        "first_score": scores[0],
        "second_score": scores[1],
        "difference": of.difference,
        "low": of.low,
        "high": of.high,
        "shown": texts[0],
        "shown_low": texts[1],
        "shown_high": texts[2],
        "p": of.p,
        "p_adjusted": result.p_adjusted,
        "is_separable": result.is_separable,
        "better": _better(of.difference, names, policy),
        "test": TESTS.get(of.test, of.test),
        "n": of.n,
        "note": of.note,
        "only_first": of.only_first,
        "only_second": of.only_second,
        "table": _mcnemar(result, first, second, policy),
        "detectable": None
        if detectable is None
        else shown(detectable, policy.digits, policy.scale),
        "needed": result.needed,
        "figures": figures(of.difference, of.low, of.high, policy.scale),
    }


def _sealed_pair(result: Comparison, inputs: Inputs, policy: Policy) -> Json:
    of = result.result
    found = sealing.coarse(of.difference, of.low, of.high, len(inputs.tasks))
    hidden = dict.fromkeys(
        (
            "first_score", "second_score", "difference", "low", "high", "shown", "shown_low",
            "shown_high", "p", "p_adjusted", "only_first", "only_second", "table", "detectable",
            "needed", "better",
        )
    )  # fmt: skip
    said: Json = {
        **hidden,
        "is_separable": result.is_separable,
        "test": TESTS.get(of.test, of.test),
        "n": len(inputs.tasks),
        "note": "" if found else sealing.why_hidden(len(inputs.tasks)),
        "figures": [],
    }
    if found is None:
        return {**said, "is_separable": None}
    decimals = max(0, found.decimals - len(str(policy.scale)) + 1)
    return {
        **said,
        "shown": signed(found.value, decimals, policy.scale),
        "shown_low": signed(found.low, decimals, policy.scale),
        "shown_high": signed(found.high, decimals, policy.scale),
        "figures": figures(found.value, found.low, found.high, policy.scale),
    }


def _better(difference: float | None, names: Json, policy: Policy) -> str | None:
    if not difference:
        return None
    return str(names["first" if (difference > 0) == (policy.direction == "up") else "second"])


def _mcnemar(
    result: Comparison, first: Candidate, second: Candidate, policy: Policy
) -> Json | None:
    """Counts of items for a pass rate: both, one, the other, neither."""
    if result.result.test != "mcnemar":
        return None
    missing = policy.missing_value
    pairs = [
        (missing if one is None else one, missing if other is None else other)
        for one, other in zip(first.values, second.values, strict=True)
    ]
    both = sum(1 for one, other in pairs if one == other == 1.0)
    only = result.result.only_first, result.result.only_second
    return {
        "both": both,
        "first": only[0],
        "second": only[1],
        "neither": result.result.n - both - only[0] - only[1],
    }


def _slices(chosen: Sequence[Candidate], inputs: Inputs, policy: Policy) -> list[Json]:
    """The pair in every slice; their p-values stand alone and are not adjusted."""
    rows = []
    for name, held in list(members_of(inputs).items())[:MOST_SLICES]:
        places = held.tolist()
        entries = [_cut(entry_of(candidate), places) for candidate in chosen]
        labels = inputs.clusters
        cut = None if labels is None else [labels[place] for place in places]
        result = compare(entries, replace(policy, clusters=cut), inputs.seed_digest)[0]
        of = result.result
        rows.append(
            {
                "name": name.replace("=", ": "),
                "n": of.n,
                "first": _score(result.first_score, policy),
                "second": _score(result.second_score, policy),
                "shown": None
                if of.difference is None
                else signed(of.difference, policy.digits, policy.scale),
                "figure": slice_figure(of.difference, of.low, of.high, policy),
                "only_first": of.only_first,
                "only_second": of.only_second,
                "p": of.p,
            }
        )
    return rows


def _slices_of_all(chosen: Sequence[Candidate], inputs: Inputs, policy: Policy) -> list[Json]:
    """The score of each of several entrants in every slice, with its interval; not tested."""
    return [
        {
            "name": row["name"].replace("=", ": "),
            "n": row["n"],
            "cells": [row["entries"].get(candidate.key) for candidate in chosen],
        }
        for row in slice_rows(inputs, policy)[:MOST_SLICES]
    ]


def _score(value: float | None, policy: Policy) -> str | None:
    return None if value is None else shown(value, policy.digits, policy.scale)


def _cut(entry: Entry, places: Sequence[int]) -> Entry:
    states = entry.states if entry.states is not None else []
    return replace(
        entry,
        values=[entry.values[place] for place in places],
        states=[int(states[place]) for place in places],
    )


def _items(
    result: Comparison,
    chosen: Sequence[Candidate],
    inputs: Inputs,
    user: Any,
    policy: Policy,
    offset: int,
    side: str,
) -> Json:
    """A page of the items on which two entrants differ, linked where they may be seen."""
    sides = {"first": result.only_first, "second": result.only_second}
    places = sorted(sides.get(side, (*result.only_first, *result.only_second)))
    offset = offset if offset < len(places) else 0
    page = places[offset : offset + ITEMS]
    tasks = [inputs.tasks[place] for place in page]
    links = [_records(candidate, tasks, user) for candidate in chosen]
    rows = [
        {
            "task": task,
            "sides": [
                {
                    "shown": _side(candidate, place, policy),
                    "higher": (place in result.only_first) == (side == 0),
                    "record": links[side].get(task.pk),
                }
                for side, candidate in enumerate(chosen)
            ],
        }
        for place, task in zip(page, tasks, strict=True)
        if not task.holdout
    ]
    return {
        "differing": len(result.only_first) + len(result.only_second),
        "side": side if side in sides else "",
        "sides": [
            ("", "All", len(result.only_first) + len(result.only_second)),
            ("first", _one_side(chosen[0], inputs), len(result.only_first)),
            ("second", _one_side(chosen[1], inputs), len(result.only_second)),
        ],
        "shown_items": len(places),
        "last": min(offset + ITEMS, len(places)),
        "items": rows,
        "offset": offset,
        "previous_offset": max(0, offset - ITEMS) if offset else None,
        "next_offset": offset + ITEMS if offset + ITEMS < len(places) else None,
    }


def _one_side(candidate: Candidate, inputs: Inputs) -> str:
    """What the items have in common on which one of two stands higher."""
    name = candidate.run.entrant.name
    return f"Only {name}" if inputs.newest.metric.kind == "pass" else f"{name} higher"


def _side(candidate: Candidate, place: int, policy: Policy) -> str:
    value = candidate.values[place]
    if value is None:
        return candidate.states[place].name.lower()
    return shown(value, policy.digits, policy.scale)


def _records(candidate: Candidate, tasks: Sequence[Any], user: Any) -> dict[int, int]:
    """The first record of each task that this person may open."""
    found: dict[int, int] = {}
    ids = {task.pk for task in tasks}
    for run in candidate.runs:
        rows = InstanceRecord.objects.visible_to(user).of_run(run.pk).filter(task_id__in=ids)
        for pk, task_id in rows.order_by("-id").values_list("id", "task_id"):
            found[task_id] = pk
    return found


def boards_to_compare(user: Any) -> list[Board]:
    """The boards with at least two entries whose runs this person may see."""
    versions = Run.objects.visible_to(user).ranking().values("version")
    boards = Board.objects.visible_to(user).filter(versions__in=versions).distinct()
    return list(boards.order_by("title", "pk"))
