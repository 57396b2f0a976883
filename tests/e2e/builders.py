"""What the browser tests look at: a small suite whose run waits for people."""

from __future__ import annotations

from typing import Any

from academy.models import Run, SuiteVersion
from adjudication import assigning
from adjudication.models import Guideline, Queue
from leaderboard.models import Board
from tests import factories as make
from tests.adjudication import builders as build
from tests.adjudication import example_suites as examples

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


def imported(files: dict[str, Any], name: tuple[str, str]) -> SuiteVersion:
    """A published version of some files."""
    return make.version_of(make.import_files(files, rename=name, publish=True))


def rated() -> Queue:
    """A queue in which one record is rated."""
    version = imported(examples.rated_suite(), ("rated", "1"))
    make.record_files(examples.answered_run("rated@1", examples.FIXTURE, 1), version)
    return queue_of(version, "ratings")


def routed() -> Queue:
    """A queue in which the routing of a task and that of a run are reviewed."""
    version = imported(examples.routed_suite(), ("routed", "1"))
    make.record_files(examples.routed_run("routed@1", 2), version)
    return queue_of(version, "routing")


def queue_of(version: SuiteVersion, kind: str) -> Queue:
    """The queue of a kind, after all that is owed was done."""
    build.do_work()
    assigning.fill_queue(version)
    build.do_work()
    return version.queues.get(kind=kind)


def split(criteria: int = 3) -> Queue:
    """A queue with one item on which two reviewers differ in all but the first criterion."""
    queue = waiting(1, criteria=criteria)
    build.add_seats(queue, 2)
    for name, rest in (("ada", True), ("bea", False)):
        person = build.reviewer(name)
        seat = build.claimed(queue, person)
        build.decide(seat, person, True, *[rest] * (criteria - 1), reason=f"{name} looked")
    return queue
