"""Mean absolute percent error of named quantities against their true values.

Answer and key are objects with a list `quantities` of `{item, value, unit, roomId?}`. The
reference rules let one answer serve many truths and never look at units once a name fits; the
strict rules match one to one, convert units or refuse them, and cut every error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from academy.bundle import JSON, RecordView
from academy.errors import ScoringError
from academy.scorers.base import Decisions, Mode, Scorer, Verdict
from academy.scorers.ecmascript import normalise, plain_mean, round_places, text_of, to_number

KEY = "percent_error"
PARAMS = ("pass_mark", "pass_mark_unit", "reference_pass_mark", "missing", "cap")
PASS_MARK_UNITS = {"percent": 1.0, "fraction": 100.0}
ZERO_TRUTH = 1e-9

# unit -> (dimension, how many of the dimension's first unit); all others agree only by name.
UNITS: Mapping[str, tuple[str, float]] = {
    "sf": ("area", 1.0),
    "sy": ("area", 9.0),
    "sm": ("area", 1 / 0.3048**2),
    "lf": ("length", 1.0),
    "lm": ("length", 1 / 0.3048),
    "ea": ("count", 1.0),
}

Quantity = Mapping[str, JSON]


@dataclass(frozen=True, slots=True)
class Match:
    """Which answer stands for a truth (None: missing) and the percent it is off."""

    position: int | None
    error: float


def quantities_of(value: JSON) -> list[Quantity]:
    """The quantities of an answer or a key; whatever is no object is no quantity."""
    listed = value.get("quantities") if isinstance(value, Mapping) else None
    if not isinstance(listed, Sequence) or isinstance(listed, str):
        return []
    return [item for item in listed if isinstance(item, Mapping)]


def first_fit(truth: Quantity, answers: Sequence[Quantity]) -> int | None:
    """The first answer of the same item, else of the same room, else of the same unit."""
    item = normalise(truth.get("item"))
    for position, answer in enumerate(answers):
        if normalise(answer.get("item")) == item:
            return position
    if text_of(truth.get("roomId")):
        room = normalise(truth.get("roomId"))
        for position, answer in enumerate(answers):
            if text_of(answer.get("roomId")) and normalise(answer.get("roomId")) == room:
                return position
    unit = normalise(truth.get("unit"))
    for position, answer in enumerate(answers):
        if normalise(answer.get("unit")) == unit:
            return position
    return None


def percent_off(value: float, truth: float) -> float:
    """100 · |value - truth| / |truth|, in this order of operations; a zero truth counts 1e-9."""
    return abs(value - truth) / (abs(truth) if truth != 0 else ZERO_TRUTH) * 100


def match_by_reference(
    truths: Sequence[Quantity], answers: Sequence[Quantity], missing: float
) -> list[Match]:
    """The original's matching: answers are not used up, extra ones are free."""
    matches = []
    for truth in truths:
        position = first_fit(truth, answers)
        if position is None:
            matches.append(Match(None, missing))
            continue
        answer = answers[position]
        value = to_number(answer["value"]) if "value" in answer else math.nan
        matches.append(Match(position, percent_off(value, to_number(truth.get("value")))))
    return matches


def converted(answer: Quantity, truth: Quantity) -> float | None:
    """The answer's value in the truth's unit, or None when the units do not agree."""
    value = answer.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    mine, wanted = normalise(answer.get("unit")), normalise(truth.get("unit"))
    if mine == wanted:
        return to_number(value)
    have, want = UNITS.get(mine), UNITS.get(wanted)
    if have is None or want is None or have[0] != want[0]:
        return None
    return to_number(value) * have[1] / want[1]


def same_item(truth: Quantity, answer: Quantity) -> bool:
    """Whether both name the same item."""
    name = normalise(truth.get("item"))
    return bool(name) and normalise(answer.get("item")) == name


def same_room(truth: Quantity, answer: Quantity) -> bool:
    """Whether both name the same room."""
    room = normalise(truth.get("roomId"))
    return bool(room) and normalise(answer.get("roomId")) == room


def same_item_and_room(truth: Quantity, answer: Quantity) -> bool:
    """Whether both name the same item in the same room."""
    return same_item(truth, answer) and same_room(truth, answer)


RULES: tuple[Callable[[Quantity, Quantity], bool], ...] = (
    same_item_and_room,
    same_item,
    same_room,
)


def pair_by_name(truths: Sequence[Quantity], answers: Sequence[Quantity]) -> dict[int, int]:
    """Truth -> answer, one to one: by item and room, then item, then room; units must fit."""
    pairs: dict[int, int] = {}
    for fits in RULES:
        for place, truth in enumerate(truths):
            if place in pairs:
                continue
            taken = set(pairs.values())
            for position, answer in enumerate(answers):
                free = position not in taken
                if free and fits(truth, answer) and converted(answer, truth) is not None:
                    pairs[place] = position
                    break
    return pairs


def pair_by_unit(
    truths: Sequence[Quantity], answers: Sequence[Quantity], pairs: dict[int, int]
) -> None:
    """Pair a truth whose kind of unit no other truth has with the only free answer of that kind."""
    taken = set(pairs.values())
    for place, truth in enumerate(truths):
        if place in pairs or sum(kind_of(other) == kind_of(truth) for other in truths) > 1:
            continue
        free = [
            position
            for position, answer in enumerate(answers)
            if position not in taken and converted(answer, truth) is not None
        ]
        if len(free) == 1:
            pairs[place] = free[0]
            taken.add(free[0])


def kind_of(quantity: Quantity) -> str:
    """The dimension of a quantity's unit, or the unit itself where none is known."""
    unit = normalise(quantity.get("unit"))
    return UNITS[unit][0] if unit in UNITS else unit


def match_strictly(
    truths: Sequence[Quantity], answers: Sequence[Quantity], *, missing: float, cap: float
) -> list[Match]:
    """One answer for one truth, units that agree or convert, errors cut; else missing."""
    pairs = pair_by_name(truths, answers)
    pair_by_unit(truths, answers, pairs)
    matches = []
    for place, truth in enumerate(truths):
        position = pairs.get(place)
        value = None if position is None else converted(answers[position], truth)
        if value is None:
            matches.append(Match(None, missing))
        else:
            error = percent_off(value, to_number(truth.get("value")))
            matches.append(Match(position, min(error, cap)))
    return matches


def measures_of(matches: Sequence[Match], answers: Sequence[Quantity]) -> dict[str, JSON]:
    """What may be kept of the matching: errors and positions, never the truth itself."""
    used = {match.position for match in matches} - {None}
    return {
        "item_errors": [round_places(match.error, 2) for match in matches],
        "matched": [match.position for match in matches],
        "items": len(matches),
        "missing": sum(match.position is None for match in matches),
        "extra": len(answers) - len(used),
    }


def number(params: Mapping[str, JSON], name: str) -> float:
    """A parameter that `check` has seen to be a number."""
    return to_number(params[name])


def score_by_reference(
    record: RecordView, key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The original's score: an empty key is a perfect score, errors are never cut."""
    if key is None:
        return Verdict.unscorable("there is no answer key")
    answers = quantities_of(record.answer)
    matches = match_by_reference(quantities_of(key), answers, number(params, "missing"))
    value = round_places(plain_mean([match.error for match in matches]), 2)
    if not math.isfinite(value):
        return Verdict.unscorable("an answer's value is no number")
    return Verdict.scored(
        value,
        credit=1 - min(max(value, 0.0), 100.0) / 100,
        passed=value <= number(params, "reference_pass_mark"),
        measures=measures_of(matches, answers),
    )


def score_strictly(
    record: RecordView, key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The score that closes the holes: an empty key is no key, and every item counts once."""
    truths = quantities_of(key)
    if not truths:
        return Verdict.unscorable("there is no answer key with quantities")
    answers = quantities_of(record.answer)
    cap = number(params, "cap")
    matches = match_strictly(truths, answers, missing=number(params, "missing"), cap=cap)
    value = plain_mean([match.error for match in matches])
    mark = number(params, "pass_mark") * PASS_MARK_UNITS[str(params["pass_mark_unit"])]
    return Verdict.scored(
        value,
        credit=1 - min(value, cap) / cap,
        passed=value <= mark,
        measures=measures_of(matches, answers),
    )


def check(key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError unless every parameter is given and a key, if there, can be read."""
    check_params(params, PARAMS, PASS_MARK_UNITS)
    if number(params, "cap") <= 0:
        raise ScoringError("percent_error: 'cap' must be greater than 0.")
    if key is None:
        return
    if not isinstance(key, Mapping):
        raise ScoringError("percent_error: the key must be an object with 'quantities'.")
    for place, truth in enumerate(quantities_of(key)):
        if not is_number(truth.get("value")):
            raise ScoringError(f"percent_error: quantity {place} of the key has no numeric value.")


def check_params(
    params: Mapping[str, JSON], names: Sequence[str], units: Mapping[str, float]
) -> None:
    """Raise ScoringError unless exactly these parameters are there, numbers but for the unit."""
    if set(params) != set(names):
        wanted = ", ".join(names)
        raise ScoringError(f"The parameters must be exactly {wanted}, not {sorted(params)}.")
    for name in names:
        if name.endswith("_unit"):
            if params[name] not in units:
                raise ScoringError(f"{name!r} must be one of {', '.join(units)}.")
        elif not is_number(params[name]):
            raise ScoringError(f"{name!r} must be a finite number, not {params[name]!r}.")


def is_number(value: JSON) -> bool:
    """Whether a value is a finite number and no boolean."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(to_number(value))


SCORERS = (
    Scorer(key=KEY, version=1, mode=Mode.REFERENCE, score=score_by_reference, check=check),
    Scorer(key=KEY, version=1, mode=Mode.STRICT, score=score_strictly, check=check),
)
