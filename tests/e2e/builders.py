"""What the browser tests look at: a small suite whose run waits for people."""

from __future__ import annotations

from typing import Any

from academy.models import Run
from adjudication.models import Guideline, Queue
from leaderboard.models import Board
from tests import factories as make
from tests.adjudication import builders as build

STEPS = [
    {"role": "user", "content": "Go on."},
    {"role": "assistant", "content": "I keep every ride to Slough Avenue.", "offset_ms": 38_000},
    {
        "role": "assistant",
        "tool_calls": [{"name": "bash", "arguments": "awk -F, '/Slough/' r.csv"}],
    },
    {"role": "tool", "tool": "bash", "content": "42 612.4", "offset_ms": 72_000},
]


def reviewer(name: str) -> Any:
    """A reviewer with a password."""
    return make.person(name, "reviewer")


def waiting(items: int = 2, *, criteria: int = 2, undo_seconds: int = 10) -> Queue:
    """A queue with the records of one run, its board, and a guideline."""
    version = build.rubric_version(items, criteria=criteria, notes=False)
    lines = [
        {**make.judged(f"q-{n}"), "answer": f"The sum of q-{n} is $612.40.", "messages": STEPS}
        for n in range(items)
    ]
    build.rubric_run(version, *lines, entrant={"name": "Grey Heron", "model": "heron-5"})
    queue = build.queue_of(version, undo_seconds=undo_seconds)
    build.make_boards(version)
    Guideline.objects.create(queue=queue, revision=1, text="Judge only the criterion.")
    return queue


def run_of(queue: Queue) -> Run:
    """The run that is under review."""
    return queue.version.runs.get(kind="entrant")


def board_of(queue: Queue) -> Board:
    """The board on which people's words count."""
    boards = Board.objects.filter(versions=queue.version, policy__metric="perfect")
    return boards.get(policy__mode="strict")
