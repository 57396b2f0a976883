"""Records of tasks that a version lacks: left out of every count, and told wherever a run is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from academy.models import Run

# A run keeps so many of them by name, and of the others the number.
MOST_KEPT = 1000
MOST_NAMED = 20

Execution = tuple[str, int, int]


def kept(executions: Sequence[Execution]) -> dict[str, Any]:
    """What was left out as a JSON value: how many records, and the first by task, replicate and
    variant."""
    return {"records": len(executions), "executions": [list(one) for one in executions[:MOST_KEPT]]}


def task_ids(held: Mapping[str, Any]) -> list[str]:
    """The tasks of what was left out, one for each record that is kept by name."""
    return [str(one[0]) for one in held.get("executions", ())]


def note(run: Run, executions: Sequence[Execution]) -> None:
    """Add to what a run left out, not stored yet. The same records again add nothing."""
    known = [(str(t), int(r), int(v)) for t, r, v in run.left_out.get("executions", ())]
    fresh = [one for one in dict.fromkeys(executions) if one not in set(known)]
    if fresh:
        before = int(run.left_out.get("records", 0))
        run.left_out = {**kept([*known, *fresh]), "records": before + len(fresh)}


def sentence_on(held: Mapping[str, Any]) -> str:
    """What was left out, in a sentence, or ""."""
    count = held.get("records", 0)
    if not count:
        return ""
    names = list(dict.fromkeys(task_ids(held)))
    listed = ", ".join(names[:MOST_NAMED]) + (", …" if len(names) > MOST_NAMED else "")
    records = "1 record" if count == 1 else f"{count:,} records"
    return f"{records} of tasks that the version lacks came along and count nowhere: {listed}."
