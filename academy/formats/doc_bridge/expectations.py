"""Retrieval expectations of the third edition: local files that say what a reference stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from academy.formats.doc_bridge.primitives import HASH, IDENTIFIER, REFERENCE
from academy.formats.doc_bridge.shapes import (
    Issue,
    issues_of,
    length,
    listed,
    mapping,
    text,
)

HIT_WITHIN: Final = 3
TARGETS = mapping(IDENTIFIER, mapping(REFERENCE, listed(text(*length(1, 2048)), 1, 32)))


@dataclass(frozen=True, slots=True)
class RetrievalCase:
    """One query and the targets of which one must be among the first results.

    Without `targets` the reference is unresolved, which fails.
    """

    task_id: str
    query: str
    reference: str
    targets: tuple[str, ...]


def is_expectations(value: Any) -> bool:
    """Whether a document holds local expectations; the specification does not name its type."""
    return (
        isinstance(value, dict)
        and value.get("scope") == "local"
        and isinstance(value.get("repositories"), dict)
    )


def issues_in(value: Mapping[str, Any]) -> list[Issue]:
    """What is wrong with expectations: the suite's hash and the map of targets."""
    issues: list[Issue] = []
    HASH(suite_hash_of(value), ("suiteHash",), issues)
    return issues + issues_of(TARGETS, value["repositories"])[1]


def suite_hash_of(value: Mapping[str, Any]) -> Any:
    """The hash of the suite that expectations are bound to."""
    return value.get("suiteHash", value.get("suiteContentHash", ""))


def cases_of(task: Mapping[str, Any], targets: Mapping[str, Any]) -> list[RetrievalCase]:
    """The retrieval cases of a task; none for a task that expects nothing: it is unchecked."""
    wanted = [*task.get("expectedEntities", ()), *task.get("expectedDocuments", ())]
    queries = task.get("retrievalQueries") or [task["objective"]]
    known = targets.get(task["repositoryId"], {})
    return [
        RetrievalCase(task["id"], query, reference, tuple(known.get(reference, ())))
        for query in queries
        for reference in wanted
    ]


def is_hit(case: RetrievalCase, results: Sequence[str]) -> bool:
    """Whether one of the targets is among the first three results."""
    return any(result in case.targets for result in results[:HIT_WITHIN])


def verdict_on(task: Mapping[str, Any], outcomes: Sequence[bool]) -> str:
    """Passed, failed, or unchecked for a task that expects nothing."""
    if not task.get("expectedEntities") and not task.get("expectedDocuments"):
        return "unchecked"
    return "passed" if outcomes and all(outcomes) else "failed"
