"""The boards that a suite proposes, what raters may see, and what the original would say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy.bundle import JSON, SuiteSpec, TaskSpec
from academy.errors import FormatError, Problem
from academy.formats.base import BoardPolicy, GateAnswers
from academy.formats.doc_bridge.artifacts import Defects, Kind, read
from academy.formats.doc_bridge.documents import KINDS
from academy.formats.doc_bridge.tasks import ADJUDICATED_SUCCESS, AUTOMATIC_SUCCESS, HUMAN_SUCCESS
from academy.formats.reading import Files, line_of, pointer, read_json
from academy.scorers.base import Mode


def board_policies(suite: SuiteSpec) -> tuple[BoardPolicy, ...]:
    """One board: success by program and people; scenarios are never ranked together."""
    population = suite.attributes.get("population")
    count = len(population) if isinstance(population, list | tuple) else 0
    told = (
        f"{suite.attributes.get('tasks')} tasks on {count} repositories, "
        f"{suite.attributes.get('replicates')} replicates"
    )
    pilot = "A pilot, never the full study: " if suite.attributes.get("is_pilot") else ""
    return (
        BoardPolicy(
            slug="adjudicated-success",
            title="Adjudicated success" + (" (pilot)" if pilot else ""),
            metric=ADJUDICATED_SUCCESS,
            mode=Mode.STRICT,
            evidence="people",
            secondary=(AUTOMATIC_SUCCESS, HUMAN_SUCCESS),
            slices=("category", "difficulty", "repository"),
            cluster="repository" if count > 1 else "",
            ranked=False,
            note=f"{pilot}{told}. Success needs the program and people. Scenarios stand side by "
            "side; there is no rank across scenarios.",
        ),
    )


def rater_view(task: TaskSpec) -> dict[str, JSON]:
    """What people decide by: the rubric, the expected outcome, what evidence is asked for."""
    key: Mapping[str, Any] = task.key if isinstance(task.key, Mapping) else {}
    native = key.get("native") or {}
    return {
        "objective": task.prompt,
        "expected_outcome": task.context["expected_outcome"],
        "rubric": native.get("rubric"),
        "evidence_requirements": task.context["evidence_requirements"],
        "acceptance_checks": task.context["acceptance_checks"],
        "surfaces": task.extra.get("surfaces"),
    }


def gate_answers(_task: TaskSpec) -> GateAnswers:
    """None: an execution that claims everything looks to the program like one that did it."""
    return GateAnswers(
        reason="the program reads only what the agent says of itself, so no record can be told to "
        "be at the ceiling; people decide what it is worth"
    )


def compatibility(files: Files) -> tuple[Problem, ...]:
    """What the original would say of each artifact: all issues of its shape, or its first error."""
    problems: list[Problem] = []
    for path in files:
        if path.suffix != ".json":
            continue
        try:
            data = files[path]
            value = read_json(data, path=str(path))
        except FormatError as error:
            problems += error.problems
            continue
        named = value.get("type") if isinstance(value, dict) else None
        kind = KINDS.get(named) if isinstance(named, str) else None
        if kind is not None:
            problems += original_says(str(path), data, value, kind)
    return tuple(problems)


def original_says(path: str, data: bytes, value: Any, kind: Kind) -> list[Problem]:
    """The original's answer to one artifact, read by the rules of the second edition."""
    try:
        read(kind, value)
    except Defects as defects:
        found = [(issue.code, issue.message, issue.path) for issue in defects.issues]
        found = found or [("error", defects.message, defects.path)]
        return [
            Problem(
                path,
                f"original-{code.replace('_', '-')}",
                message,
                line_of(data, place := pointer(*(str(part) for part in where))),
                place,
            )
            for code, message, where in found
        ]
    return []
