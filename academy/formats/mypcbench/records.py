"""One attempt as a record: its stored form, what it reports, how it ended, what it cost."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from academy.bundle import JSON, DecisionSpec, RecordSpec, RecordStatus, ReportedSpec
from academy.canonical import digest
from academy.formats.mypcbench.attempts import (
    BUNDLE,
    GRADED,
    TRAJECTORY,
    VERDICTS,
    bundle_of,
    member,
)
from academy.formats.mypcbench.judging import PERFECT_FROM, grade_earlier

STAMP = "%Y%m%d@%H%M%S%f"
TOKENS_IN = ("input_tokens", "prompt_tokens", "tokens_in")
TOKENS_OUT = ("output_tokens", "completion_tokens", "tokens_out")
COST = ("cost_usd", "total_cost_usd")
LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Usage:
    """What an attempt took; None where the upload does not say."""

    steps: int | None
    wall_ms: int | None
    tokens_in: int | None
    tokens_out: int | None
    cost: float | None


def write_raw(document: Mapping[str, Any]) -> bytes:
    """The stored form of an attempt: one JSON document with its native files by name."""
    return json.dumps(document, separators=(",", ":")).encode()


def record_of(
    task_id: str,
    document: Mapping[str, Any],
    *,
    run: int,
    folder: str,
    decisions: Sequence[DecisionSpec],
    row: Mapping[str, Any] | None,
) -> RecordSpec:
    """The record of one attempt; `row` is what the grader's summary says of it."""
    files = document["files"]
    usage = usage_of(document)
    return RecordSpec(
        task_id=task_id,
        raw=write_raw(document),
        run=run,
        status=status_of(document),
        steps=usage.steps,
        wall_ms=usage.wall_ms,
        tokens_in=usage.tokens_in,
        tokens_out=usage.tokens_out,
        cost=usage.cost,
        reported=reported_by(document, row),
        decisions=tuple(decisions),
        content_digest=digest(
            {name: value for name, value in files.items() if name not in VERDICTS}
        ),
        file=folder,
    )


def usage_of(document: Mapping[str, Any]) -> Usage:
    """Steps by the trajectory, time by its stamps, tokens and cost by what the harness counted."""
    counted = document["files"].get("usage.json")
    rows = trajectory_of(document)
    return Usage(
        steps=len({str(row.get("step_num")) for row in rows}) if rows else step_count(document),
        wall_ms=wall_ms(rows),
        tokens_in=_whole(_first_number(counted, TOKENS_IN)),
        tokens_out=_whole(_first_number(counted, TOKENS_OUT)),
        cost=_first_number(counted, COST),
    )


def trajectory_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The lines of the trajectory that are objects; the original skips others too."""
    rows = document["files"].get(TRAJECTORY)
    return [row for row in rows if isinstance(row, Mapping)] if isinstance(rows, list) else []


def steps_of(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The steps that a judge is shown: those of the bundle."""
    steps = member(bundle_of(document), "artifacts", "steps")
    return [step for step in steps if isinstance(step, Mapping)] if isinstance(steps, list) else []


def step_count(document: Mapping[str, Any]) -> int:
    """How many steps there are to judge."""
    if BUNDLE in document["files"]:
        return len(steps_of(document))
    return len(trajectory_of(document))


def screenshot_count(document: Mapping[str, Any]) -> int:
    """How many screenshots the steps to judge have, or the bundle's flat list names."""
    if BUNDLE in document["files"]:
        flat = member(bundle_of(document), "artifacts", "screenshots")
        shown = sum(bool(step.get("screenshot")) for step in steps_of(document))
        return max(shown, len(flat) if isinstance(flat, list) else 0)
    return sum(bool(row.get("screenshot_file")) for row in trajectory_of(document))


def status_of(document: Mapping[str, Any]) -> RecordStatus:
    """Answered when there is something to judge; without bundle and verdict it is an error."""
    files = document["files"]
    judged = BUNDLE in files or any(name in files for name in VERDICTS)
    return RecordStatus.ANSWERED if judged else RecordStatus.ERROR


def reported_by(
    document: Mapping[str, Any], row: Mapping[str, Any] | None
) -> tuple[ReportedSpec, ...]:
    """The score that the grader reports: its summary's, else that of its file in the folder."""
    score: object = None
    note = ""
    if row is not None:
        score, note = row.get("score"), str(row.get("status", ""))
    elif GRADED in document["files"]:
        graded = grade_earlier("", document["files"][GRADED])
        score, note = graded.score, graded.status
    else:
        return ()
    if isinstance(score, bool) or not isinstance(score, int | float):
        return (ReportedSpec(metric="rubric", value=None, note=note),)
    full = score >= PERFECT_FROM
    return (
        ReportedSpec(metric="perfect", value=float(full), correct=full, note=note),
        ReportedSpec(metric="rubric", value=float(score), correct=full, note=note),
    )


def stamp(value: object) -> datetime | None:
    """The time of an action, or None where it is not in the runner's form."""
    if not isinstance(value, str):
        return None
    try:
        return datetime.strptime(value, STAMP).replace(tzinfo=UTC)
    except ValueError:
        return None


def wall_ms(rows: Sequence[Mapping[str, Any]]) -> int | None:
    """Milliseconds from the first to the last action, or None when that cannot be known."""
    times = [time for row in rows if (time := stamp(row.get("action_timestamp"))) is not None]
    if len(times) < 2 or len(times) < len(rows):
        return None
    return round((max(times) - min(times)).total_seconds() * 1000)


def _first_number(usage: JSON, names: Sequence[str]) -> float | None:
    for name in names:
        value = usage.get(name) if isinstance(usage, Mapping) else None
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return float(value)
    return None


def _whole(value: float | None) -> int | None:
    return int(value) if value is not None and value <= LARGEST else None
