"""The eight rating dimensions: criteria for people, a metric each, and no composite of them."""

from __future__ import annotations

from dataclasses import dataclass

from academy.bundle import CriterionSpec, Direction, Grading, MetricKind, MetricSpec

LOW, HIGH = 0, 3
SCORER = "neckbeard_rating"


@dataclass(frozen=True, slots=True)
class Dimension:
    """A dimension with one anchor for each rating, from 0 up."""

    key: str
    label: str
    asks: str
    anchors: tuple[str, ...]
    allows_na: bool = False


DIMENSIONS = (
    Dimension(
        "correctness",
        "Correctness",
        "whether the contract or ground truth is met",
        (
            "misses the stated problem or solves another",
            "core case works, stated criteria not all met",
            "contract met, small gaps",
            "contract and ground truth met in full",
        ),
    ),
    Dimension(
        "regression_safety",
        "Regression safety",
        "whether what worked still works",
        (
            "something that worked or a test is broken",
            "breakage likely and not dealt with",
            "behaviour kept; risk named, not fully covered",
            "behaviour kept and a check covers the risk",
        ),
    ),
    Dimension(
        "security_accessibility",
        "Security / accessibility constraints",
        "whether the non-negotiables were kept",
        (
            "a security, accessibility or data-safety violation is brought in or left",
            "violation there, but flagged",
            "kept, and the constraint confirmed",
            "kept, and verified explicitly at a boundary",
        ),
        allows_na=True,
    ),
    Dimension(
        "test_adequacy",
        "Test adequacy",
        "whether the checks suffice for the declared boundary",
        (
            "no relevant check, or one that cannot catch this kind of failure",
            "a check weaker than the declared boundary, not owned up to",
            "adequate for the boundary, gap noted",
            "at the declared boundary, and a regression would not get by it",
        ),
    ),
    Dimension(
        "integration_boundary",
        "Integration-boundary validation",
        "whether the declared boundary was in fact exercised",
        (
            "not exercised, not disclosed",
            "not exercised, disclosed",
            "a weaker boundary exercised, and how far it falls short is said",
            "the declared boundary was exercised, with success",
        ),
    ),
    Dimension(
        "scope_discipline",
        "Scope discipline",
        "whether the intervention is in proportion",
        (
            "far too large or too small, or needed code deleted by reflex",
            "plainly mis-sized",
            "in proportion, a small mismatch",
            "smallest safe intervention, small because understood",
        ),
    ),
    Dimension(
        "maintainability",
        "Maintainability",
        "whether a person can read, review and extend it",
        (
            "opaque to a reviewer",
            "can be followed with effort, reasons unclear",
            "readable, reasons present",
            "clean and reviewable, reasons clear, decision record where due",
        ),
    ),
    Dimension(
        "honest_uncertainty",
        "Honest uncertainty",
        "whether assumptions, gaps and unverified boundaries are stated",
        (
            "inference passed off as fact, gaps hidden",
            "a few gaps named, weighty assumptions concealed",
            "assumptions and the main gaps named",
            "every assumption, open boundary and rollback trigger spelled out",
        ),
    ),
)


def dimension_criteria(needs: tuple[str, ...]) -> tuple[CriterionSpec, ...]:
    """The dimensions as criteria; only security and accessibility may not apply."""
    return tuple(
        CriterionSpec(
            key=one.key,
            text=f"{one.label}: {one.asks}",
            scale="rating",
            decided_by="person",
            low=LOW,
            high=HIGH,
            anchors=one.anchors,
            allows_na=one.allows_na,
            needs=needs,
        )
        for one in DIMENSIONS
    )


def dimension_metrics() -> tuple[MetricSpec, ...]:
    """A metric per dimension. None has a missing value, and none is summed up by the core."""
    return tuple(
        MetricSpec(
            key=one.key,
            label=one.label,
            direction=Direction.UP,
            kind=MetricKind.RATING,
            low=LOW,
            high=HIGH,
            run_aggregation="none",
        )
        for one in DIMENSIONS
    )


def dimension_gradings() -> tuple[Grading, ...]:
    """How a rating becomes a score, every parameter spelled out."""
    return tuple(
        Grading(
            metric=one.key,
            scorer=SCORER,
            params={
                "criterion": one.key,
                "low": LOW,
                "high": HIGH,
                "allows_na": one.allows_na,
            },
        )
        for one in DIMENSIONS
    )
