"""Small suites and runs of the kinds that people rate, route and judge in meaning; all invented."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from academy.formats.neckbeard.export import write
from academy.formats.neckbeard.facts import COVERAGE, PHASES

DOC_BRIDGE = Path(__file__).parents[2] / "academy/formats/doc_bridge/samples/accept"
FIXTURE = "example-gate"
TRAJECTORY = "example-walk"
TRUTH = "The hinge is dry: nobody oiled it."
NOTE = "Scope discipline is decisive here."
SELECTED = ("technical-documentation", "qa-methodology", "gardening")
SKIPPED = {"backend-engineering": "no server code touched", "cli-builder": "no command touched"}
ROWS = 28


def rated_suite() -> dict[str, Any]:
    """One fixture that people rate."""
    fields = {
        "id": FIXTURE,
        "class": "refactor",
        "prompt": "The example gate squeaks. Say why.",
        "ground_truth": TRUTH,
        "expected_boundary": "unit",
        "scoring_notes": NOTE,
        "visibility": "public",
    }
    return {f"fixtures/refactor/{FIXTURE}/task.yaml": write(fields)}


def routed_suite() -> dict[str, Any]:
    """One trajectory: three specialists are selected, one of which is no row, and two skipped."""
    rules = COVERAGE["lightweight"]
    fields = {
        "kind": "trajectory",
        "id": TRAJECTORY,
        "path": "lightweight",
        "prompt": "Ticket 15 of the example garden: sweep the path.",
        "phases": " | ".join(f"{number}: {PHASES[number]}" for number in rules.phases),
        "skipped_phases": " | ".join(
            f"{number}: {PHASES[number]}: small change" for number in rules.conditional_phases
        ),
        "gates": " | ".join(f"{gate}: looked at: pass" for gate in rules.gates),
        "skipped_gates": " | ".join(f"{gate}: phase left out" for gate in rules.conditional_gates),
        "terminal_state": "merged",
        "routing_selected": ", ".join(SELECTED),
        "routing_skipped": " | ".join(f"{skill}: {why}" for skill, why in SKIPPED.items()),
        "visibility": "public",
    }
    return {f"fixtures/trajectories/{TRAJECTORY}/task.yaml": write(fields)}


def answered_run(suite: str, task: str, number: int, **more: Any) -> dict[str, Any]:
    """A run that answers one task."""
    header = {
        "academy_run": "1.0",
        "suite": suite,
        "run_id": f"r-{number}",
        "entrant": {"name": f"Example {number}", "model": "heron-5"},
    }
    line = {
        "task": task,
        "status": "answered",
        "answer": "The hinge is dry. Heron-5 said so.",
        "messages": [
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": "I am heron-5 and look at the hinge."},
        ],
        "usage": {"wall_ms": 1200, "tokens_in": 100, "tokens_out": 20},
        **more,
    }
    return {f"{number}.run.jsonl": [header, line]}


def routed_run(suite: str, number: int) -> dict[str, Any]:
    """A run that recorded its own routing, other than the task expects."""
    return answered_run(
        suite,
        TRAJECTORY,
        number,
        phases=[
            {"phase": "1", "state": "done"},
            {"phase": "5", "state": "skipped", "reason": "no plan was needed"},
            {"phase": "6", "state": "done"},
        ],
        routing={
            "selected": [{"skill": "qa-methodology"}, {"skill": "plumbing"}],
            "skipped": [{"skill": "backend-engineering", "reason": "no server was touched"}],
        },
    )


def judged_suite() -> dict[str, Any]:
    """A suite whose executions are judged in meaning."""
    return files_in("one-repository")


def judged_run() -> dict[str, Any]:
    """Observations of that suite."""
    return files_in("one-run")


def files_in(case: str) -> dict[str, Any]:
    """The files of a sample."""
    root = DOC_BRIDGE / case
    return {
        path.relative_to(root).as_posix(): json.loads(path.read_bytes())
        for path in sorted(root.rglob("*.json"))
    }
