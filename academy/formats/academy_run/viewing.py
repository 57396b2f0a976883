"""A line as scorers, findings and pages see it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from academy.bundle import JSON, Event, RecordStatus, RecordView, TaskSpec
from academy.formats.reading import read_json

OBSERVED = ("phases", "gates", "routing", "terminal_state", "head_sha", "error", "artifacts")
SOURCES = {"agent": "assistant", "environment": "tool"}


def view(raw: bytes, _task: TaskSpec | None) -> RecordView:
    """Open one line. `evidence` holds what was observed and the line's own evidence, by name."""
    value = mapping(read_json(raw, path="record"))
    usage = mapping(value.get("usage"))
    return RecordView(
        answer=value.get("answer"),
        status=RecordStatus(value["status"]),
        telemetry={name: float(number) for name, number in usage.items()},
        events=numbered(events_of(value)),
        reported={score["metric"]: score["value"] for score in value.get("scores", ())},
        evidence={
            **{name: value[name] for name in OBSERVED if name in value},
            **mapping(value.get("evidence")),
        },
    )


def mapping(value: JSON) -> Mapping[str, Any]:
    """The value as an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def numbered(events: Iterable[Event]) -> tuple[Event, ...]:
    """The events with their place as sequence number, from 1."""
    return tuple(replace(event, seq=place) for place, event in enumerate(events, start=1))


def events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    """The steps of a record: its messages, then its events, then its trajectory, then its error."""
    for message in value.get("messages", ()):
        yield from message_events(message)
    for event in value.get("events", ()):
        yield Event(seq=0, **{**event, "images": tuple(event.get("images", ()))})
    yield from trajectory_events(value.get("trajectory"))
    error = value.get("error")
    if error is not None:
        yield Event(seq=0, kind="error", title=error.get("code", ""), text=error["message"])


def message_events(message: Mapping[str, Any]) -> Iterator[Event]:
    """A message, its thoughts before it and its tool calls after it."""
    role, offset = message["role"], message.get("offset_ms")
    if message.get("thinking"):
        yield Event(seq=0, kind="thought", text=message["thinking"], role=role, offset_ms=offset)
    content = message.get("content")
    text, data = (content, None) if isinstance(content, str) else ("", content)
    calls = message.get("tool_calls", ())
    if content is not None or not calls:
        yield Event(
            seq=0,
            kind="tool_result" if role == "tool" else "message",
            text=text,
            data=data,
            role=role,
            tool=message.get("tool", ""),
            offset_ms=offset,
            tokens_in=message.get("tokens_in"),
            tokens_out=message.get("tokens_out"),
        )
    for call in calls:
        arguments = call.get("arguments")
        said, given = (arguments, None) if isinstance(arguments, str) else ("", arguments)
        yield Event(
            seq=0,
            kind="tool_call",
            text=said,
            data=given,
            role=role,
            tool=call["name"],
            offset_ms=offset,
        )


def trajectory_events(trajectory: JSON) -> Iterator[Event]:
    """The steps of a transcript in another form, each shown as far as its parts are known."""
    steps = trajectory.get("steps") if isinstance(trajectory, Mapping) else trajectory
    if not isinstance(steps, list):
        if trajectory is not None:
            yield Event(seq=0, kind="observation", data=trajectory)
        return
    for step in steps:
        said = mapping(step)
        role = next((said[key] for key in ("role", "source") if isinstance(said.get(key), str)), "")
        words = (said.get(key) for key in ("message", "content", "text"))
        text = next((word for word in words if isinstance(word, str)), "")
        yield Event(seq=0, kind="message", text=text, data=step, role=SOURCES.get(role, role))
