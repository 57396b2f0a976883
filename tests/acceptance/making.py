"""Suites and runs as files, for checks; all names and numbers are invented."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.academy.formats import mypcbench_making as rubrics
from tests.academy.formats import opentakeoff_examples as takeoff


def takeoff_suite(
    slug: str, tasks: int, *, area: float = 100, sealed: bool = False
) -> dict[str, Any]:
    """A ranked takeoff suite that asks for areas, each on a drawing of its own."""
    files: dict[str, Any] = {}
    for place in range(tasks):
        key = {"quantities": [{"item": f"t-{place}", "value": area, "unit": "sf"}]}
        made = takeoff.task(
            f"t-{place}",
            suite={"id": slug, "version": "1.0"},
            title=f"Area {place}",
            prompt=f"Measure area {place}.",
            planset={
                "assetRef": f"d-{place}.svg",
                "assetHash": hashlib.sha256(f"{slug} {place}".encode()).hexdigest(),
                "knownScale": None,
            },
            groundTruth=key,
        )
        if sealed:
            del made["groundTruth"]
            files[f"keys/t-{place}.groundtruth.json"] = {"taskId": f"t-{place}", **key}
        files[f"{place}.task.json"] = made
    changes = {"keys": "withheld"} if sealed else {}
    manifest = takeoff.manifest(id=slug, mode="ranked", title=f"Example {slug}", **changes)
    return {"suite.json": manifest, **files}


def takeoff_run(slug: str, name: str, areas: Mapping[int, float], number: int) -> dict[str, Any]:
    """A bundle that answers some tasks."""
    entries = [
        takeoff.entry(f"t-{place}", takeoff.quantity(area, f"t-{place}"))
        for place, area in areas.items()
    ]
    document = takeoff.bundle(
        *entries,
        runId=f"run_example-{number:06d}",
        suite={"id": slug, "version": "1.0", "mode": "ranked"},
        contestant={"name": name, "modelId": "example-model", "adapter": "mcp"},
    )
    return {f"{number}/run.bundle.json": document}


def rubric_suite(tasks: int) -> dict[str, Any]:
    """Rubric tasks with one criterion each, half of them easy."""
    listed = [
        rubrics.task(
            f"q-{place}",
            difficulty="easy" if place % 2 else "hard",
            grading={
                "type": "llm_judge",
                "rubrics": [rubrics.rubric(f"Step of q-{place} is done", 1)],
            },
            _world_notes=None,
        )
        for place in range(tasks)
    ]
    return {rubrics.BUCKET: listed}


def judged_run(
    suite: str, name: str, tasks: Iterable[int], passes: Sequence[int], number: int
) -> dict[str, Any]:
    """A run whose judge calls some tasks met; tasks it does not name are missing."""
    header = {
        "academy_run": "1.0", "suite": suite, "run_id": f"r-{number}", "entrant": {"name": name},
    }  # fmt: skip
    lines = [
        {
            "task": f"q-{place}",
            "status": "answered",
            "answer": "done",
            "decisions": [
                {
                    "criterion": "R1",
                    "value": place in passes,
                    "source": "judge",
                    "author": "example-judge",
                }
            ],
        }
        for place in tasks
    ]
    # A run says something of a task at least, if only that nothing came.
    return {f"{number}.run.jsonl": [header, *(lines or [{"task": "q-0", "status": "missing"}])]}
