"""The closed lists of the fixture schema: fields, words, phases, gates and what each path asks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

FIXTURE_NAME = "task.yaml"
TRAJECTORIES = "trajectories"
TRAJECTORY = "trajectory"
SINGLE_TASK = "single-task"

CLASSES = (
    "bug-diagnosis",
    "feature-change",
    "refactor",
    "spec-ambiguity",
    "regression-prevention",
    "review-finding",
    "release-verification",
    "no-change-needed",
    "adversarial",
)
BOUNDARIES = ("unit", "integration", "end-to-end", "production")
VISIBILITIES = ("public", "holdout")
PATHS = ("lightweight", "full", "refactor", "high-risk")
TERMINAL_STATES = ("merged", "closed", "blocked", "released")
VERDICTS = ("pass", "conditional", "blocked")

SINGLE_REQUIRED = (
    "id",
    "class",
    "prompt",
    "ground_truth",
    "expected_boundary",
    "visibility",
)
SINGLE_OPTIONAL = ("context", "harness_constraints", "scoring_notes", "adversarial_intent")
TRAJECTORY_REQUIRED = (
    "kind",
    "id",
    "path",
    "prompt",
    "phases",
    "gates",
    "terminal_state",
    "visibility",
)
TRAJECTORY_OPTIONAL = (
    "skipped_phases",
    "skipped_gates",
    "final_head_sha",
    "routing_selected",
    "routing_skipped",
)
SINGLE_FIELDS = frozenset(SINGLE_REQUIRED + SINGLE_OPTIONAL)
TRAJECTORY_FIELDS = frozenset(TRAJECTORY_REQUIRED + TRAJECTORY_OPTIONAL)
# What only one of the two shapes has; tells them apart where `kind` does not.
SINGLE_MARKS = ("class", "ground_truth", "expected_boundary")
TRAJECTORY_MARKS = ("path", "phases", "gates", "terminal_state")

SINGLE_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"class": CLASSES, "expected_boundary": BOUNDARIES, "visibility": VISIBILITIES}
)
TRAJECTORY_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"path": PATHS, "terminal_state": TERMINAL_STATES, "visibility": VISIBILITIES}
)

PHASES: Mapping[str, str] = MappingProxyType(
    {
        "1": "Intake and provenance",
        "2": "Current-state discovery and reproduction",
        "3": "Architecture/design delta and risk assessment",
        "4": "Specification and work decomposition",
        "5": "Pre-implementation test and verification planning",
        "6": "Domain-specific implementation",
        "7": "Independent review and boundary verification",
        "8": "Readiness, CI/review feedback loops, and exact-final-head re-verification",
        "9": "Authorized post-merge release and closeout",
    }
)
REVIEW_PHASE = 7
REVIEW_GATES = frozenset({"gate-4", "gate-5"})

GATE_TOPICS: Mapping[str, str] = MappingProxyType(
    {
        "gate-1": "architecture/design delta approval",
        "gate-2": "QA-owned test and verification plan",
        "gate-3": "specification and task-plan completeness",
        "gate-4": "independent review",
        "gate-5": "boundary verification",
    }
)
GATES = tuple(GATE_TOPICS)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a path makes mandatory and what it lets be skipped with a reason."""

    phases: tuple[str, ...]
    conditional_phases: tuple[str, ...]
    gates: tuple[str, ...]
    conditional_gates: tuple[str, ...]


ALL = Coverage(tuple(PHASES), (), GATES, ())
COVERAGE: Mapping[str, Coverage] = MappingProxyType(
    {
        "lightweight": Coverage(
            ("1", "6", "7", "8", "9"),
            ("2", "3", "4", "5"),
            ("gate-4", "gate-5"),
            ("gate-1", "gate-2", "gate-3"),
        ),
        "full": ALL,
        "refactor": Coverage(
            ("1", "2", "3", "6", "7", "8", "9"),
            ("4", "5"),
            ("gate-1", "gate-4", "gate-5"),
            ("gate-2", "gate-3"),
        ),
        "high-risk": ALL,
    }
)
