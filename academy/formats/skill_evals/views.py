"""What raters and boards see of the cases of a skill."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from academy.bundle import JSON, SuiteSpec, TaskSpec
from academy.formats.base import BoardPolicy
from academy.formats.skill_evals.parse import METRIC


def rater_view(task: TaskSpec) -> Mapping[str, JSON]:
    """What was expected; empty without the key."""
    return task.key if isinstance(task.key, Mapping) else MappingProxyType({})


def board_policies(suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """One board per skill; sentences are decided by people alone."""
    return (
        BoardPolicy(
            slug=suite.slug,
            title=suite.title,
            metric=METRIC,
            evidence="people",
            slices=("case_set",),
        ),
    )
