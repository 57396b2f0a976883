"""Rubrics as the original reads them, and as criteria of ours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.bundle import JSON, CriterionSpec, Grading
from academy.errors import Problems

DEFAULT_WEIGHT = 1.0
LONGEST_ID = 150


@dataclass(frozen=True, slots=True)
class Rubric:
    """One rubric as the full-trajectory judge sees it; `position` counts from 0 in the file."""

    rubric_id: str
    text: str
    verification: str
    weight: float
    position: int


def effective_weight(raw: object) -> float:
    """The weight that counts: the number if it is above 0, else 1.0, also for text and nothing."""
    try:
        weight = float(raw) if isinstance(raw, int | float | str) else 0.0
    except (ValueError, OverflowError):
        weight = 0.0
    return weight if weight > 0 else DEFAULT_WEIGHT


def rubric_of(raw: Mapping[str, Any], position: int) -> Rubric:
    """One rubric: `id` before `rubric_id` before the place; `criterion` before `requirement`."""
    name = raw.get("id") or raw.get("rubric_id") or f"R{position + 1}"
    text = raw.get("criterion") or raw.get("requirement") or ""
    return Rubric(
        rubric_id=str(name),
        text=str(text).strip(),
        verification=str(raw.get("verification") or "").strip(),
        weight=effective_weight(raw.get("weight")),
        position=position,
    )


def rubrics_of(listed: object) -> tuple[Rubric, ...]:
    """Every rubric of a list; what is not an object is dropped, as the original does."""
    if not isinstance(listed, list):
        return ()
    return tuple(
        rubric_of(raw, position) for position, raw in enumerate(listed) if isinstance(raw, Mapping)
    )


def unique_keys(rubrics: Sequence[Rubric]) -> tuple[str, ...]:
    """A key per rubric: its id, with its place appended where an id comes again."""
    taken: set[str] = set()
    keys = []
    for rubric in rubrics:
        key = rubric.rubric_id
        while key in taken:
            key = f"{key}-{rubric.position + 1}"
        taken.add(key)
        keys.append(key)
    return tuple(keys)


def criteria_of(listed: Sequence[Mapping[str, Any]], needs: tuple[str, ...]) -> list[CriterionSpec]:
    """The criteria of checked rubrics. `extra` holds what a rubric of the file has besides."""
    rubrics = rubrics_of(list(listed))
    return [
        CriterionSpec(
            key=key,
            text=str(raw.get("criterion") or raw.get("requirement") or ""),
            weight=rubric.weight,
            scale="met",
            decided_by="judge",
            needs=needs,
            extra=_besides(raw, rubric),
        )
        for raw, rubric, key in zip(listed, rubrics, unique_keys(rubrics), strict=True)
    ]


def _besides(raw: Mapping[str, Any], rubric: Rubric) -> dict[str, JSON]:
    """What `criterion_as_rubric` needs besides text and weight to write the rubric again."""
    text_key = next((key for key in ("criterion", "requirement") if raw.get(key)), "")
    left = {key: value for key, value in raw.items() if key != text_key}
    weighted = isinstance(left.get("weight"), float) and left["weight"] == rubric.weight
    if weighted:
        del left["weight"]
    return {"text_key": text_key, "fields": left, "weighted": weighted}


def criterion_as_rubric(criterion: CriterionSpec) -> dict[str, Any]:
    """The rubric that a criterion was read from, equal as a JSON value."""
    extra: Mapping[str, Any] = criterion.extra
    rubric = dict(extra["fields"])
    if extra["text_key"]:
        rubric[extra["text_key"]] = criterion.text
    if extra["weighted"]:
        rubric["weight"] = criterion.weight
    return rubric


def gradings_of(criteria: Iterable[CriterionSpec]) -> tuple[Grading, ...]:
    """Both metrics, each scored by `rubric` over the same criteria; none without criteria."""
    listed: list[JSON] = [
        {"key": criterion.key, "weight": criterion.weight} for criterion in criteria
    ]
    if not listed:
        return ()
    return tuple(
        Grading(metric=metric, scorer="rubric", params={"metric": metric, "criteria": listed})
        for metric in ("perfect", "rubric")
    )


def check_rubrics(listed: object, *, path: str, at: str, problems: Problems) -> bool:
    """Whether a list of rubrics can be decided by anybody; says what is wrong and what is odd."""
    if not isinstance(listed, list):
        problems.error(path, "rubrics-not-list", "The rubrics must be a list.", pointer=at)
        return False
    fine = [_check_rubric(raw, path, f"{at}/{n}", problems) for n, raw in enumerate(listed)]
    return all(fine)


def _check_rubric(raw: object, path: str, at: str, problems: Problems) -> bool:
    if not isinstance(raw, Mapping):
        problems.error(path, "rubric-not-object", "A rubric must be an object.", pointer=at)
        return False
    text = raw.get("criterion") or raw.get("requirement") or ""
    if not isinstance(text, str):
        problems.error(
            path, "rubric-text", "A rubric's criterion (or requirement) must be text.", pointer=at
        )
        return False
    if not text.strip():
        problems.warn(
            path,
            "rubric-without-text",
            "The rubric says nothing that could be decided; the original judges it all the same.",
            pointer=at,
        )
    name = raw.get("id") or raw.get("rubric_id")
    if name is not None and not (isinstance(name, str | int) and len(str(name)) <= LONGEST_ID):
        problems.error(
            path,
            "rubric-id-unusable",
            f"A rubric's id must be text of at most {LONGEST_ID} characters.",
            pointer=at,
        )
        return False
    return _check_weight(raw, path, at, problems)


def _check_weight(raw: Mapping[str, Any], path: str, at: str, problems: Problems) -> bool:
    weight = raw.get("weight")
    counted = effective_weight(weight)
    if not math.isfinite(counted):
        problems.error(
            path, "weight-not-finite", f"The weight {weight!r} is no number.", pointer=at
        )
        return False
    is_number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not is_number or weight != counted:
        said = repr(weight) if "weight" in raw else "missing"
        problems.warn(
            path,
            "weight-replaced",
            f"The weight is {said}; it counts as {counted:g}, by the rule of the original.",
            pointer=f"{at}/weight" if "weight" in raw else at,
        )
    return True
