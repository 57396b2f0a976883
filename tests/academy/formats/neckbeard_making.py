"""Builds small fixtures of Neckbeard for tests; every one is invented."""

from __future__ import annotations

from typing import Any

from academy.bundle import SuiteUpload
from academy.formats.neckbeard import FORMAT
from academy.formats.neckbeard.export import write
from academy.formats.neckbeard.facts import COVERAGE, PHASES
from academy.formats.reading import Files

SINGLE = {
    "id": "dry-hinge",
    "class": "refactor",
    "prompt": "The example gate squeaks. Say why.",
    "ground_truth": "The hinge is dry: nobody oiled it.",
    "expected_boundary": "unit",
    "visibility": "public",
}
SINGLE_PATH = "fixtures/refactor/dry-hinge/task.yaml"
JOURNEY_PATH = "fixtures/trajectories/walk/task.yaml"


def parse(contents: dict[str, bytes]) -> SuiteUpload:
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(Files.of(contents))


def export(upload: SuiteUpload) -> dict[str, bytes]:
    assert FORMAT.export_suite is not None
    return dict(FORMAT.export_suite(upload.suites[0], {}))


def single(**fields: Any) -> bytes:
    return write({**SINGLE, **fields}).encode()


def journey(path: str = "lightweight", **changes: Any) -> bytes:
    """A whole journey of a path: what is conditional is skipped for a reason."""
    rules = COVERAGE[path]
    fields = {
        "kind": "trajectory",
        "id": "walk",
        "path": path,
        "prompt": "Ticket 15 of the example garden: sweep the path.",
        "phases": " | ".join(f"{number}: {PHASES[number]}" for number in rules.phases),
        "skipped_phases": " | ".join(
            f"{number}: {PHASES[number]}: small change" for number in rules.conditional_phases
        ),
        "gates": " | ".join(f"{gate}: looked at: pass" for gate in rules.gates),
        "skipped_gates": " | ".join(f"{gate}: phase left out" for gate in rules.conditional_gates),
        "terminal_state": "merged",
        "final_head_sha": "0" * 40,
        "visibility": "public",
        **changes,
    }
    return write({name: value for name, value in fields.items() if value}).encode()
