"""Example tasks and result folders of MyPCBench for tests; nothing here is real."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from academy.bundle import SuiteSpec
from academy.formats.mypcbench import FORMAT
from academy.formats.reading import Files

BUCKET = "tearoom.rubrics.json"


def task(task_id: str = "retrieval-x001", **changes: Any) -> dict[str, Any]:
    """A task of a bucket file, with whatever is to be otherwise; None takes a key away."""
    made = {
        "id": task_id,
        "category": "retrieval",
        "instruction": "Which teas are left?",
        "apps_involved": ["Tearoom"],
        "difficulty": "easy",
        "grading": {
            "type": "llm_judge",
            "rubrics": [rubric("Opens the shelf"), rubric("Names both")],
        },
        "_world_notes": "Example note for graders.",
        **changes,
    }
    return {key: value for key, value in made.items() if value is not None}


def rubric(criterion: str, weight: Any = 0.5) -> dict[str, Any]:
    return {"criterion": criterion, "type": "llm_judge", "weight": weight}


def files_of(contents: Mapping[str, Any]) -> Files:
    """Files with JSON for values, lines for lists under .jsonl, and text as it is."""
    return Files.of({path: encoded(path, value) for path, value in contents.items()})


def encoded(path: str, value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if path.endswith(".jsonl"):
        return b"".join(f"{json.dumps(line)}\n".encode() for line in value)
    return json.dumps(value).encode()


def suite_of(*tasks: dict[str, Any]) -> SuiteSpec:
    """The suite of a bucket file with these tasks."""
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(files_of({BUCKET: list(tasks)})).suites[0]


def bundle(of: Mapping[str, Any], *, steps: int = 1) -> dict[str, Any]:
    return {
        "task": {"id": of["id"], "instruction": of["instruction"].strip()},
        "grading_manifest": {"rubrics": of["grading"]["rubrics"]},
        "artifacts": {"steps": [{"step_num": n + 1, "screenshot": "s.png"} for n in range(steps)]},
    }


def full_trajectory(of: Mapping[str, Any], *verdicts: bool | str) -> dict[str, Any]:
    """The file of the judge that was asked once per rubric; a text is the error of a call."""
    results = []
    for n, (held, said) in enumerate(zip(of["grading"]["rubrics"], verdicts, strict=True), 1):
        failed = isinstance(said, str)
        results.append(
            {
                "rubric_id": f"R{n}",
                "criterion": held["criterion"],
                "success": said is True,
                "reasoning": f"Error judging rubric R{n}: {said}" if failed else "seen",
            }
        )
    return {"model": "example-judge", "max_images": 200, "rubric_results": results}


def load(root: Path) -> Files:
    """The files of a folder, or one file by its name."""
    if root.is_file():
        return Files.of({root.name: root.read_bytes()})
    return Files.of(
        {
            str(path.relative_to(root)): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file()
        }
    )
