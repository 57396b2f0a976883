"""Suites back to `evals.json`, fields in the order they were written."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from academy.bundle import JSON, SuiteSpec, TaskSpec
from academy.errors import AcademyError


def export_suite(suite: SuiteSpec, blobs: Mapping[str, bytes]) -> Mapping[str, bytes]:
    """The document, and each file of a case whose bytes are among `blobs`.

    Raises AcademyError without the answer keys, which hold what was expected.
    """
    values: dict[str, JSON] = {
        "schema_version": 1,
        "skill_name": suite.extra["skill_name"],
        "evals": [case_of(task) for task in suite.tasks],
    }
    order = suite.extra.get("top_order")
    document = {str(name): values[str(name)] for name in ordered(order, values)}
    text = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
    files = {str(suite.extra["path"]): text.encode("utf-8")}
    for path in suite.sources[1:]:
        if path in blobs:
            files[path] = blobs[path]
    return files


def case_of(task: TaskSpec) -> dict[str, JSON]:
    """A task as a case. Optional fields are written where they were."""
    if not isinstance(task.key, Mapping):
        raise AcademyError(f"The case {task.external_id} can only be written with its key.")
    values: dict[str, JSON] = {
        "id": task.external_id,
        "prompt": task.prompt,
        "expected_output": task.key["expected_output"],
        "assertions": [criterion.text for criterion in task.criteria],
        "files": task.context.get("files", []),
        "case_set": task.attributes["case_set"],
    }
    order = task.extra.get("field_order")
    return {name: values[name] for name in ordered(order, values)}


def ordered(order: JSON, values: Mapping[str, JSON]) -> list[str]:
    """The names as they were written, else as the schema lists them."""
    if not isinstance(order, Sequence) or isinstance(order, str):
        return list(values)
    return [str(name) for name in order]
