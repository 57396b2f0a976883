"""What people are asked about an execution: meaning, documentation, and claims no check proves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from academy.bundle import CriterionSpec
from academy.formats.doc_bridge.primitives import OUTCOMES

AUTOMATIC: Final = "automatic-outcome"
SEMANTIC: Final = "semantic-correctness"
DOCUMENTATION: Final = "documentation-quality"
UNPROVEN_SOURCES: Final = ("human", "agent")
SCALE: Final = "outcome"


def criteria_of(task: Mapping[str, Any]) -> tuple[CriterionSpec, ...]:
    """The criteria of a task: the program's own first, then those for people."""
    return (
        CriterionSpec(
            key=AUTOMATIC,
            text="What the deterministic rubric gives from status, checks and evidence.",
            scale=SCALE,
            decided_by="machine",
            weight=0.0,
        ),
        *asked_of_people(task),
    )


def asked_of_people(task: Mapping[str, Any]) -> Iterator[CriterionSpec]:
    """What only a person can say."""
    yield person_criterion(
        SEMANTIC,
        "Is the result right in meaning? Expected: " + task["expectedOutcome"],
        needs=("objective", "expected_outcome", "rubric", "evidence_requirements"),
    )
    if wants_documentation(task):
        yield person_criterion(
            DOCUMENTATION,
            "Is what the execution says of the documentation, or wrote into it, correct, "
            "complete, clear and maintainable?",
            needs=("objective", "expected_outcome", "rubric"),
        )
    for evidence in task["evidenceRequirements"]:
        if evidence["source"] in UNPROVEN_SOURCES:
            yield person_criterion(
                f"evidence-{evidence['id']}",
                f"No check proves this evidence: {evidence['description']}",
                needs=("evidence_requirements",),
            )
    yield from unchecked_lines(task)


def unchecked_lines(task: Mapping[str, Any]) -> Iterator[CriterionSpec]:
    """Rubric lines that no check decides.

    A line of success says what must hold. A line of another outcome either applies, and then the
    answer is that outcome, or does not, and then it is not applicable.
    """
    for outcome in OUTCOMES:
        for number, line in enumerate(task["rubric"][outcome], start=1):
            if not isinstance(line, str):
                continue
            asks = "Does this hold?" if outcome == "success" else f"Does this make it {outcome}?"
            yield person_criterion(
                f"rubric-{outcome}-{number}",
                f"{asks} {line}",
                needs=("rubric",),
                allows_na=outcome != "success",
            )


def wants_documentation(task: Mapping[str, Any]) -> bool:
    """Whether documentation is the task, or one of its surfaces."""
    return bool(task["category"] == "documentation" or task["surfaces"]["docs"]["required"])


def person_criterion(
    key: str, text: str, *, needs: tuple[str, ...], allows_na: bool = False
) -> CriterionSpec:
    """A criterion that a person decides on the scale of outcomes."""
    return CriterionSpec(
        key=key, text=text, scale=SCALE, decided_by="person", needs=needs, allows_na=allows_na
    )
