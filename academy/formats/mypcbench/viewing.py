"""A stored attempt as scorers and readers see it: never with the verdicts of a judge."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, replace
from typing import Any

from academy.bundle import JSON, Event, RecordStatus, RecordView, TaskSpec
from academy.formats.message_forms import Messages, numbered
from academy.formats.mypcbench.attempts import BUNDLE, TRAJECTORY, member
from academy.formats.mypcbench.records import (
    reported_by,
    screenshot_count,
    stamp,
    status_of,
    step_count,
    steps_of,
    trajectory_of,
    usage_of,
)
from academy.formats.mypcbench.verdicts import judge_failure
from academy.formats.text_reading import pointer

DONE = "DONE"
TOOL_CALL = "TOOL_CALL"
CRASH = "PREDICT_CRASH"


def view(raw: bytes, task: TaskSpec | None) -> RecordView:
    """Open a stored attempt. The judge's verdicts stay out: they are decisions, kept sealed."""
    document = json.loads(raw)
    events = numbered(_events(document), first=0)
    evidence: dict[str, JSON] = {
        "steps": step_count(document),
        "screenshots": screenshot_count(document),
        "artifacts": document["artifacts"],
    }
    failure = judge_failure(document)
    if failure:
        evidence["judge_failure"] = failure
    return RecordView(
        answer=_answer(document),
        status=status_of(document),
        telemetry=asdict(usage_of(document)),
        events=events,
        reported={reported.metric: reported.value for reported in reported_by(document, None)},
        evidence=evidence,
    )


def _answer(document: Mapping[str, Any]) -> str | None:
    """What the agent said last; None when the attempt ended without anything to judge."""
    if status_of(document) is not RecordStatus.ANSWERED:
        return None
    said = [row.get("response") for row in _rows(document)]
    return next((text for text in reversed(said) if isinstance(text, str) and text.strip()), None)


def _placed_rows(document: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    """The rows with the JSON pointer of each in the stored attempt."""
    rows = _rows(document)
    has_lines = bool(trajectory_of(document))
    name = TRAJECTORY if has_lines else BUNDLE
    inside = () if has_lines else ("artifacts", "steps")
    held = member(document["files"].get(name), *inside)
    places = [n for n, row in enumerate(held or ()) if isinstance(row, Mapping)]
    return [(pointer("files", name, *inside, n), row) for n, row in zip(places, rows, strict=True)]


def _rows(document: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The trajectory's lines, or the bundle's steps in the same form."""
    rows = trajectory_of(document)
    if rows:
        return rows
    return [
        {
            "step_num": step.get("step_num"),
            "response": step.get("raw_response_text"),
            "screenshot_file": step.get("screenshot"),
            "action": member(step, "parsed_action_obj", "action"),
        }
        for step in steps_of(document)
    ]


def _events(document: Mapping[str, Any]) -> Iterator[Event]:
    rows = _placed_rows(document)
    times = [time for _place, row in rows if (time := stamp(row.get("action_timestamp")))]
    start = min(times) if times else None
    told: tuple[object, object] = (None, None)
    for place, row in rows:
        time = stamp(row.get("action_timestamp"))
        offset = None
        if time is not None and start is not None:
            offset = round((time - start).total_seconds() * 1000)
        said = (row.get("step_num"), row.get("response"))
        for event in _step(row, offset, repeated=said == told):
            yield replace(event, source=place)
        told = said
    incomplete = document["files"].get("incomplete.txt")
    if isinstance(incomplete, str) and incomplete.strip():
        place = pointer("files", "incomplete.txt")
        text = incomplete.strip()
        yield Event(seq=0, kind="error", title="Incomplete", text=text, source=place)
    yield from conversation(document["files"].get("messages.json"))


def _step(row: Mapping[str, Any], offset: int | None, *, repeated: bool) -> Iterator[Event]:
    """What was said and what was done in one line. Lines of one step repeat what was said."""
    number, action = row.get("step_num"), row.get("action")
    title = f"Step {number}" if number is not None else "Step"
    response = row.get("response")
    text = response if isinstance(response, str) else _shown(response)
    shot = row.get("screenshot_file")
    images = (shot,) if isinstance(shot, str) and shot else ()
    if action == CRASH:
        yield Event(
            seq=0,
            kind="error",
            title=f"{title}: the agent crashed",
            text=text,
            offset_ms=offset,
            images=images,
        )
        return
    if text and not repeated and action != TOOL_CALL:
        kind = "message" if action == DONE else "thought"
        yield Event(seq=0, kind=kind, title=title, text=text, role="assistant", offset_ms=offset)
    if action == TOOL_CALL:
        yield Event(
            seq=0,
            kind="tool_call",
            title=f"{title}: tools",
            text=text,
            role="assistant",
            data=row.get("info"),
            offset_ms=offset,
            images=images,
        )
    else:
        yield Event(
            seq=0, kind="action", title=title, text=_shown(action), offset_ms=offset, images=images
        )


def conversation(messages: JSON) -> Iterator[Event]:
    """Tool calls and their results from the kept conversation; what was said is in the steps."""
    if not isinstance(messages, list):
        return
    reader = Messages()
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping):
            continue
        for event in reader.events(message, pointer("files", "messages.json", place)):
            if event.kind in ("tool_call", "tool_result"):
                yield event


def _shown(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
