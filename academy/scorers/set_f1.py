"""F1 of the set of named things in an answer against the set of true ones.

The names come from a list in the answer (`answer_list`, of objects with `answer_field`) and a list
of texts in the key (`key_list`). Names are compared trimmed, lower-case, with single spaces.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from academy.bundle import JSON, RecordView
from academy.errors import ScoringError
from academy.scorers.base import Decisions, Mode, Scorer, Verdict
from academy.scorers.ecmascript import normalise, round_places, to_number
from academy.scorers.percent_error import check_params

KEY = "set_f1"
FIELDS = ("answer_list", "answer_field", "key_list")
MARKS = ("pass_mark", "pass_mark_unit", "reference_pass_mark")
PASS_MARK_UNITS = {"fraction": 1.0, "percent": 0.01}


def list_in(value: JSON, name: JSON) -> Sequence[JSON]:
    """The list of that name in an object; anything else is an empty list."""
    listed = value.get(str(name)) if isinstance(value, Mapping) else None
    return listed if isinstance(listed, Sequence) and not isinstance(listed, str) else ()


def named_in(record: RecordView, params: Mapping[str, JSON]) -> set[str]:
    """The names an answer gives; blank ones are dropped."""
    field = str(params["answer_field"])
    listed = list_in(record.answer, params["answer_list"])
    names = {normalise(item.get(field)) for item in listed if isinstance(item, Mapping)}
    return names - {""}


def compare(named: set[str], truth: set[str]) -> tuple[float, dict[str, JSON]]:
    """F1, not rounded, and what it is made of."""
    hits = len(named & truth)
    precision = hits / len(named) if named else 0.0
    recall = hits / len(truth) if truth else 0.0
    total = precision + recall
    f1 = 2 * precision * recall / total if total > 0 else 0.0
    return f1, {
        "precision": round_places(precision, 4),
        "recall": round_places(recall, 4),
        "hits": hits,
        "named": len(named),
        "true": len(truth),
    }


def score_by_reference(
    record: RecordView, key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The original's score: rounded to four places, and an empty truth is a perfect score."""
    if key is None:
        return Verdict.unscorable("there is no answer key")
    truth = {normalise(item) for item in list_in(key, params["key_list"])}
    if truth:
        f1, measures = compare(named_in(record, params), truth)
        value = round_places(f1, 4)
    else:
        value, measures = 1.0, {}
    passed = value >= to_number(params["reference_pass_mark"])
    return Verdict.scored(value, credit=value, passed=passed, measures=measures)


def score_strictly(
    record: RecordView, key: JSON, _decisions: Decisions, params: Mapping[str, JSON]
) -> Verdict:
    """The score that closes the holes: an empty truth is no key."""
    truth = {normalise(item) for item in list_in(key, params["key_list"])} - {""}
    if not truth:
        return Verdict.unscorable("there is no answer key with names")
    value, measures = compare(named_in(record, params), truth)
    mark = to_number(params["pass_mark"]) * PASS_MARK_UNITS[str(params["pass_mark_unit"])]
    return Verdict.scored(value, credit=value, passed=value >= mark, measures=measures)


def check(key: JSON, params: Mapping[str, JSON]) -> None:
    """Raise ScoringError unless every parameter is given and a key, if there, can be read."""
    for name in FIELDS:
        if not isinstance(params.get(name), str) or not params[name]:
            raise ScoringError(f"set_f1: {name!r} must name a field.")
    marks = {name: value for name, value in params.items() if name not in FIELDS}
    check_params(marks, MARKS, PASS_MARK_UNITS)
    if key is not None and not isinstance(key, Mapping):
        raise ScoringError(f"set_f1: the key must be an object with {params['key_list']!r}.")


SCORERS = (
    Scorer(key=KEY, version=1, mode=Mode.REFERENCE, score=score_by_reference, check=check),
    Scorer(key=KEY, version=1, mode=Mode.STRICT, score=score_strictly, check=check),
)
