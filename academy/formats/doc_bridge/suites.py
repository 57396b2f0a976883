"""Task suites: their shape by edition and their cross checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from academy.formats.doc_bridge.artifacts import Edition, Kind
from academy.formats.doc_bridge.primitives import (
    CATEGORIES,
    DIFFICULTIES,
    IDENTIFIER,
    OUTCOMES,
    POSITIVE,
    REFERENCE,
    SAFE_LIST,
    SAFE_TEXT,
    SURFACES,
    VERSION_1,
    maybe,
    unique,
)
from academy.formats.doc_bridge.shapes import (
    Issue,
    Optional,
    Path,
    Rule,
    Shape,
    boolean,
    closed,
    listed,
    one_of,
    refine,
)

SURFACE = closed(
    {"required": boolean, "reason": maybe(SAFE_TEXT)},
    refine(
        lambda surface: bool(surface["required"] or surface.get("reason")),
        "Non-applicable surfaces require a reason.",
        ("reason",),
    ),
)
CHECK = closed({"id": IDENTIFIER, "command": SAFE_TEXT, "expected": SAFE_TEXT})
EVIDENCE = closed(
    {
        "id": IDENTIFIER,
        "description": SAFE_TEXT,
        "source": one_of("runner", "artifact", "human", "agent"),
    }
)
VARIANT = closed({"id": IDENTIFIER, "label": SAFE_TEXT, "context": SAFE_TEXT})
CHECKED_LINE = closed(
    {
        "text": SAFE_TEXT,
        "check": one_of("acceptance-checks", "evidence-coverage", "retrieval-expectations"),
    }
)


def rubric_line(value: Any, path: Path, issues: list[Issue]) -> Any:
    """A line of the third edition: text, or text that a program decides."""
    below: list[Issue] = []
    shape = SAFE_TEXT if isinstance(value, str) else CHECKED_LINE
    checked = shape(value, path, below)
    if below:
        issues.append(Issue("invalid_union", path, "expected a text or a text with a check"))
    return checked


RUBRIC = closed(dict.fromkeys(OUTCOMES, SAFE_LIST))
RUBRIC_WITH_CHECKS = closed(dict.fromkeys(OUTCOMES, listed(rubric_line, 1, 32)))
EXPECTATION_FIELDS: Mapping[str, Optional] = {
    "expectedEntities": maybe(listed(REFERENCE, 0, 16)),
    "expectedDocuments": maybe(listed(REFERENCE, 0, 16)),
    "retrievalQueries": maybe(listed(SAFE_TEXT, 1, 8)),
}


def expects_something(task: Any) -> bool:
    """Whether queries come with something that they should find."""
    return "retrievalQueries" not in task or bool(
        "expectedEntities" in task or "expectedDocuments" in task
    )


EXPECTATION_RULES: tuple[Rule, ...] = (
    refine(
        lambda task: task.get("expectedEntities") != [],
        "Declare at least one expected entity or omit the field.",
        ("expectedEntities",),
    ),
    refine(
        lambda task: task.get("expectedDocuments") != [],
        "Declare at least one expected document or omit the field.",
        ("expectedDocuments",),
    ),
    refine(
        expects_something,
        "Retrieval queries need expected entities or documents.",
        ("retrievalQueries",),
    ),
)


def task_shape(edition: Edition) -> Shape:
    """The shape of one task."""
    third = edition is Edition.THIRD
    fields: dict[str, Shape | Optional] = {
        "id": IDENTIFIER,
        "repositoryId": IDENTIFIER,
        "category": one_of(*CATEGORIES),
        "difficulty": one_of(*DIFFICULTIES),
        "objective": SAFE_TEXT,
        "initialContext": SAFE_LIST,
        "allowedTools": SAFE_LIST,
        "forbiddenActions": SAFE_LIST,
        "expectedOutcome": SAFE_TEXT,
        "evidenceRequirements": listed(EVIDENCE, 1, 16),
        "acceptanceChecks": listed(CHECK, 1, 16),
        "budget": closed({"maxTokens": POSITIVE, "maxRuntimeMs": POSITIVE}),
        "surfaces": closed(dict.fromkeys(SURFACES, SURFACE)),
        "rubric": RUBRIC_WITH_CHECKS if third else RUBRIC,
        "variantGroup": IDENTIFIER,
        "variants": listed(VARIANT, 2, 2),
    }
    if third:
        return closed({**fields, **EXPECTATION_FIELDS}, *EXPECTATION_RULES)
    return closed(fields)


TASKS = {edition: task_shape(edition) for edition in Edition}


def suite_fields(edition: Edition) -> Mapping[str, Shape | Optional]:
    """The keys of a suite. The first edition studies exactly six repositories."""
    low, high = (6, 6) if edition is Edition.FIRST else (1, 64)
    return {
        "type": one_of("study-task-suite"),
        "schemaVersion": VERSION_1,
        "suiteVersion": REFERENCE,
        "protocolVersion": REFERENCE,
        "title": SAFE_TEXT,
        "population": listed(IDENTIFIER, low, high),
        "modelIds": listed(IDENTIFIER, 2, 2),
        "scenarioIds": listed(IDENTIFIER, 3, 3),
        "maxTokensPerTask": POSITIVE,
        "maxRuntimeMsPerTask": POSITIVE,
        "maxRuns": POSITIVE,
        "replicatesPerTask": POSITIVE,
        "ordering": closed({"strategy": one_of("balanced-counter-order"), "seed": REFERENCE}),
        "tasks": listed(TASKS[edition], 0, 128),
    }


def planned_runs(suite: Mapping[str, Any]) -> int:
    """How many executions the whole matrix has."""
    return int(
        len(suite["tasks"])
        * len(suite["modelIds"])
        * len(suite["scenarioIds"])
        * suite["replicatesPerTask"]
    )


def check_suite(suite: Any, edition: Edition) -> Iterator[tuple[str, Path]]:
    """The cross checks in the order of the original, which stops at the first."""
    yield from unique(suite["population"], "population", ("population",))
    yield from unique(suite["modelIds"], "model", ("modelIds",))
    yield from unique(suite["scenarioIds"], "scenario", ("scenarioIds",))
    yield from unique((task["id"] for task in suite["tasks"]), "task", ("tasks",))
    expected = 24 if edition is Edition.FIRST else 4 * len(suite["population"])
    if len(suite["tasks"]) != expected:
        yield (
            f"The controlled task suite must contain exactly {expected} tasks; "
            f"received {len(suite['tasks'])}.",
            ("tasks",),
        )
    for index, repository in enumerate(suite["population"]):
        yield from check_repository(suite, repository, ("population", index))
    for index, task in enumerate(suite["tasks"]):
        yield from check_task(suite, task, ("tasks", index))
    planned = planned_runs(suite)
    if planned > suite["maxRuns"]:
        yield f"Planned runs {planned} exceed maxRuns {suite['maxRuns']}.", ("maxRuns",)


def check_repository(suite: Any, repository: str, path: Path) -> Iterator[tuple[str, Path]]:
    """Four tasks for a repository, one of each category."""
    own = [task for task in suite["tasks"] if task["repositoryId"] == repository]
    if len(own) != len(CATEGORIES):
        yield f"Repository {repository} must contain exactly four tasks.", path
    elif {task["category"] for task in own} != set(CATEGORIES):
        yield (
            f"Repository {repository} must cover discovery, architecture, documentation, "
            "and implementation.",
            path,
        )


def check_task(suite: Any, task: Any, path: Path) -> Iterator[tuple[str, Path]]:
    """One task against its suite. The unknown repository is out of the original's reach."""
    name = task["id"]
    if task["repositoryId"] not in suite["population"]:
        yield (
            f"Task {name} references unknown repository {task['repositoryId']}.",
            (*path, "repositoryId"),
        )
    budget = task["budget"]
    if (
        budget["maxTokens"] > suite["maxTokensPerTask"]
        or budget["maxRuntimeMs"] > suite["maxRuntimeMsPerTask"]
    ):
        yield f"Task {name} exceeds the suite budget.", (*path, "budget")
    if task["variantGroup"] != name:
        yield f"Task {name} must own its variant group.", (*path, "variantGroup")
    for key, label in (
        ("acceptanceChecks", "acceptance check"),
        ("evidenceRequirements", "evidence requirement"),
        ("variants", "variant"),
    ):
        ids = (item["id"] for item in task[key])
        yield from unique(ids, f"{label} for {name}", (*path, key))
    if task["variants"][0]["label"] == task["variants"][1]["label"]:
        yield f"Task {name} variants must be distinguishable.", (*path, "variants")


SUITE = Kind(
    "study-task-suite", "task suite", suite_fields, check_suite, "Invalid task-suite content hash."
)


def edition_of(document: Any) -> Edition:
    """The edition by whose rules a document is read: the third where only it has the words."""
    tasks = document.get("tasks") if isinstance(document, dict) else None
    listed_tasks = tasks if isinstance(tasks, list) else []
    return (
        Edition.THIRD
        if any(speaks_third(task) for task in listed_tasks if isinstance(task, dict))
        else Edition.SECOND
    )


def speaks_third(task: Mapping[str, Any]) -> bool:
    """Whether a task uses a word that only the third edition knows."""
    rubric = task.get("rubric")
    lines = rubric.values() if isinstance(rubric, dict) else ()
    return any(key in task for key in EXPECTATION_FIELDS) or any(
        isinstance(line, dict)
        for listed_lines in lines
        if isinstance(listed_lines, list)
        for line in listed_lines
    )
