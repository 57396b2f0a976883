"""Where an observation belongs in its suite: its task, and the wording that was used."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from academy.bundle import SuiteSpec, TaskSpec
from academy.errors import Problems
from academy.formats.doc_bridge.pieces import Found

LETTERED: Final = re.compile(r"variant-([a-z])")
MOST_REPLICATES: Final = 1022


class Placing:
    """Finds the number of a wording, and what an observation says against its suite."""

    def __init__(self, suite: SuiteSpec | None) -> None:
        self.suite = suite
        self.tasks: dict[str, TaskSpec] = (
            {task.external_id: task for task in suite.tasks} if suite is not None else {}
        )

    def place(self, found: Found, problems: Problems) -> int | None:
        """The number of the wording, or None when the observation does not fit its suite.

        Without the suite, or for a task that it lacks, only ids such as variant-b have a number.
        """
        before = problems.total
        task = found.observation["task"]
        if task["replicate"] > MOST_REPLICATES:
            refuse(found, problems, f"replicate {task['replicate']} is above {MOST_REPLICATES}")
        known = self.tasks.get(task["taskId"])
        if known is None:
            number = lettered(task["variantId"])
            if number is None:
                refuse(
                    found, problems, f"the wording {task['variantId']} has no number without suite"
                )
        else:
            number = self.in_task(known, found, problems)
        return number if problems.total == before else None

    def in_task(self, known: TaskSpec, found: Found, problems: Problems) -> int | None:
        """The number of the wording in a known task, whose other facts must agree."""
        task = found.observation["task"]
        for name, ours in (
            ("repositoryId", known.attributes["repository"]),
            ("category", known.kind),
            ("difficulty", known.attributes["difficulty"]),
        ):
            if task.get(name, ours) != ours:
                refuse(found, problems, f"{name} is {task[name]}, in the suite it is {ours}")
        assert self.suite is not None
        for name, listed in (("scenarioId", "scenarios"), ("modelId", "models")):
            allowed = self.suite.attributes.get(listed)
            if isinstance(allowed, Sequence) and task[name] not in allowed:
                refuse(found, problems, f"{name} {task[name]} is not one of the suite's {listed}")
        replicates = self.suite.attributes.get("replicates")
        if isinstance(replicates, int) and task["replicate"] >= replicates:
            refuse(
                found,
                problems,
                f"replicate {task['replicate']}, but the suite has {replicates}, counted from 0",
            )
        variants = [variant["id"] for variant in variants_of(known)]
        if task["variantId"] not in variants:
            refuse(found, problems, f"the task has no wording {task['variantId']}")
            return None
        return variants.index(task["variantId"])


def variants_of(task: TaskSpec) -> Sequence[Mapping[str, Any]]:
    """The wordings of a task."""
    listed = task.context["variants"]
    assert isinstance(listed, Sequence)
    return [variant for variant in listed if isinstance(variant, Mapping)]


def lettered(variant: str) -> int | None:
    """The number behind variant-a, variant-b and so on."""
    found = LETTERED.fullmatch(variant)
    return ord(found[1]) - ord("a") if found else None


def refuse(found: Found, problems: Problems, message: str) -> None:
    """Note what does not fit."""
    task = found.observation["task"]["taskId"]
    problems.error(
        found.file,
        "suite-mismatch",
        f"observation {found.index} of {task}: {message}",
        line=found.line,
    )
