"""Native tasks and suites as plain values, and back without loss."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from academy.bundle import (
    JSON,
    Direction,
    Grading,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    TaskSpec,
)
from academy.formats.doc_bridge.artifacts import Edition
from academy.formats.doc_bridge.criteria import asked_of_people, criteria_of
from academy.formats.doc_bridge.suites import EXPECTATION_FIELDS, planned_runs

FORMAT_KEY: Final = "doc_bridge"
AUTOMATIC_SUCCESS: Final = "automatic_success"
HUMAN_SUCCESS: Final = "human_success"
ADJUDICATED_SUCCESS: Final = "adjudicated_success"
TITLE_LENGTH: Final = 300
NAME_LENGTH: Final = 100
# What an agent is shown, under these names.
SHOWN: Final = {
    "difficulty": "difficulty",
    "initialContext": "initial_context",
    "expectedOutcome": "expected_outcome",
    "evidenceRequirements": "evidence_requirements",
    "acceptanceChecks": "acceptance_checks",
    "allowedTools": "allowed_tools",
    "forbiddenActions": "forbidden_actions",
    "variants": "variants",
    "budget": "budget",
}
SEALED: Final = ("rubric", *EXPECTATION_FIELDS)
PUBLIC: Final = ("id", "objective", "category", "repositoryId", *SHOWN)


def success_metric(key: str, label: str) -> MetricSpec:
    """A share of executions; one that is not there counts as none."""
    return MetricSpec(
        key=key,
        label=label,
        direction=Direction.UP,
        kind=MetricKind.PASS,
        low=0.0,
        high=1.0,
        missing=0.0,
    )


METRICS: Final = (
    success_metric(ADJUDICATED_SUCCESS, "Adjudicated success"),
    success_metric(AUTOMATIC_SUCCESS, "Automatic success"),
    success_metric(HUMAN_SUCCESS, "Success by people"),
)


def task_spec(task: Mapping[str, Any], *, source: str) -> TaskSpec:
    """A native task. The rubric is sealed, since the original does not show it to agents."""
    asked: list[JSON] = [criterion.key for criterion in asked_of_people(task)]
    key: dict[str, JSON] = {
        "checks": [check["id"] for check in task["acceptanceChecks"]],
        "evidence": [evidence["id"] for evidence in task["evidenceRequirements"]],
        "asked": asked,
        "native": {name: task[name] for name in SEALED if name in task},
    }
    return TaskSpec(
        external_id=task["id"],
        prompt=task["objective"],
        title=task["objective"] if len(task["objective"]) <= TITLE_LENGTH else task["id"],
        kind=task["category"],
        context={ours: task[theirs] for theirs, ours in SHOWN.items()},
        gradings=gradings(task),
        criteria=criteria_of(task),
        key=key,
        attributes={
            "category": task["category"],
            "difficulty": task["difficulty"],
            "repository": task["repositoryId"],
        },
        extra={name: item for name, item in task.items() if name not in (*PUBLIC, *SEALED)},
        source=source,
    )


def gradings(task: Mapping[str, Any]) -> tuple[Grading, ...]:
    """The three metrics; every parameter that could change a verdict stands here.

    `edition` is the original's rule. `task_budget` says whether the strict mode only tells that a
    task's own budget was exceeded, or does not count such an execution as a success ("enforced").
    """
    params: dict[str, JSON] = {
        "edition": int(Edition.SECOND),
        "task_budget": "told",
        "max_tokens": task["budget"]["maxTokens"],
        "max_runtime_ms": task["budget"]["maxRuntimeMs"],
    }
    return (
        Grading(metric=ADJUDICATED_SUCCESS, scorer="doc_bridge_adjudicated", params=params),
        Grading(metric=AUTOMATIC_SUCCESS, scorer="doc_bridge_automatic", params=params),
        Grading(metric=HUMAN_SUCCESS, scorer="doc_bridge_human", params=params),
    )


def native_task(task: TaskSpec) -> dict[str, JSON]:
    """The task as the format has it."""
    key = task.key if isinstance(task.key, Mapping) else {}
    sealed = key.get("native")
    return {
        "id": task.external_id,
        "repositoryId": task.attributes["repository"],
        "category": task.kind,
        "objective": task.prompt,
        **{theirs: task.context[ours] for theirs, ours in SHOWN.items()},
        **(sealed if isinstance(sealed, Mapping) else {}),
        **task.extra,
    }


def suite_spec(
    suite: Mapping[str, Any], *, path: str, edition: Edition, companions: Mapping[str, Any]
) -> SuiteSpec:
    """A native suite with the documents that belong to it."""
    head = {name: item for name, item in suite.items() if name != "tasks"}
    return SuiteSpec(
        slug=slug_of(path, suite["suiteVersion"]),
        title=suite["title"][:TITLE_LENGTH],
        format=FORMAT_KEY,
        version=suite["suiteVersion"] if len(suite["suiteVersion"]) <= NAME_LENGTH else "",
        tasks=tuple(task_spec(task, source=path) for task in suite["tasks"]),
        metrics=METRICS,
        limits={
            "max_tokens_per_task": suite["maxTokensPerTask"],
            "max_runtime_ms_per_task": suite["maxRuntimeMsPerTask"],
            "max_runs": suite["maxRuns"],
        },
        attributes={
            "suite_hash": suite["contentHash"],
            "edition": int(edition),
            "protocol_version": suite["protocolVersion"],
            "population": list(suite["population"]),
            "tasks": len(suite["tasks"]),
            "models": list(suite["modelIds"]),
            "scenarios": list(suite["scenarioIds"]),
            "replicates": int(suite["replicatesPerTask"]),
            "planned_executions": planned_runs(suite),
            "seed": suite["ordering"]["seed"],
            "is_pilot": is_pilot(suite),
        },
        extra={"path": path, "head": head, "companions": dict(companions)},
        sources=(path, *companions),
    )


def is_pilot(suite: Mapping[str, Any]) -> bool:
    """Whether the suite calls itself a pilot."""
    return any("pilot" in str(suite[name]).lower() for name in ("suiteVersion", "title"))


def slug_of(path: str, version: str) -> str:
    """A name for a suite from its file, without the version at the end."""
    stem = path.rsplit("/", 1)[-1].removesuffix(".json")
    stem = stem.removesuffix(f"-{version}") if stem != version else stem
    stem = re.sub(r"[-_.]v[0-9]+$", "", stem)
    slug = re.sub(r"[^a-z0-9]+", "-", stem.lower()).strip("-")[:NAME_LENGTH].strip("-")
    return slug or "task-suite"


def native_suite(suite: SuiteSpec) -> dict[str, Any]:
    """The suite as the format has it."""
    head = suite.extra.get("head")
    known = dict(head) if isinstance(head, Mapping) else {}
    return {**known, "tasks": [native_task(task) for task in suite.tasks]}
