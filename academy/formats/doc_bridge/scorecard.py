"""The readiness scorecard: criteria against thresholds, dimensions by their worst, one decision."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from academy.formats.doc_bridge.primitives import IDENTIFIER, REFERENCE, VERSION_1
from academy.formats.doc_bridge.shapes import (
    boolean,
    closed,
    length,
    listed,
    mapping,
    number,
    one_of,
    text,
)

SCORECARD_TYPE: Final = "doc-bridge-quality-scorecard-matrix"
# From the best to the worst; missing evidence is worse than half of it.
STATUSES: Final = ("pass", "partial", "not-analyzed", "fail")
SCORECARD = closed(
    {
        "type": one_of(SCORECARD_TYPE),
        "schemaVersion": VERSION_1,
        "matrixVersion": REFERENCE,
        "policy": closed(
            {
                "statuses": listed(one_of(*STATUSES), 1, len(STATUSES)),
                "requiredCriteriaMustPassForReady": boolean,
                "missingEvidenceIsNotPass": boolean,
                "currencyClaimsRequireObservedUsd": boolean,
            }
        ),
        "thresholds": mapping(text(*length(1, 128)), number()),
        "dimensions": listed(IDENTIFIER, 1, 32),
    }
)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion of the scorecard with its status."""

    key: str
    dimension: str
    status: str
    required: bool = True


def status_against(value: float | None, threshold: float, *, at_most: bool = False) -> str:
    """Pass or fail against a threshold; what was not measured is not analysed."""
    if value is None:
        return "not-analyzed"
    return "pass" if (value <= threshold if at_most else value >= threshold) else "fail"


def success_status(arms: Iterable[float | None], threshold: float) -> str:
    """Task success must reach the threshold in every arm; the worst arm speaks."""
    return worst(status_against(rate, threshold) for rate in arms)


def worst(statuses: Iterable[str]) -> str:
    """The worst status of several; of none, not analysed."""
    return max(statuses, key=STATUSES.index, default="not-analyzed")


def dimensions_of(criteria: Iterable[Criterion]) -> Mapping[str, str]:
    """Each dimension with the worst status of its criteria."""
    found: dict[str, list[str]] = {}
    for criterion in criteria:
        found.setdefault(criterion.dimension, []).append(criterion.status)
    return {dimension: worst(statuses) for dimension, statuses in found.items()}


def is_ready(criteria: Iterable[Criterion]) -> bool:
    """Whether every required criterion passes; without criteria nothing is ready."""
    required = [criterion for criterion in criteria if criterion.required]
    return bool(required) and all(criterion.status == "pass" for criterion in required)
