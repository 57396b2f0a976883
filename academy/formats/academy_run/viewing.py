"""A line as scorers, findings and pages see it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from academy.bundle import JSON, Event, RecordStatus, RecordView, TaskSpec
from academy.formats import clocks
from academy.formats.json_reading import stored_json
from academy.formats.message_forms import Messages, numbered
from academy.formats.step_forms import listed_steps, step_list_events

OBSERVED = ("phases", "gates", "routing", "terminal_state", "head_sha", "error", "artifacts")
STAMPS = ("started_at", "ended_at")


def view(raw: bytes, _task: TaskSpec | None) -> RecordView:
    """Open one line. `evidence` holds what was observed and the line's own evidence, by name."""
    value = mapping(stored_json(raw))
    usage = mapping(value.get("usage"))
    return RecordView(
        answer=value.get("answer"),
        status=RecordStatus(value["status"]),
        telemetry={name: float(number) for name, number in usage.items()},
        events=numbered(events_of(value), first=1),
        reported={score["metric"]: score["value"] for score in value.get("scores", ())},
        evidence={
            **{name: value[name] for name in OBSERVED if name in value},
            **mapping(value.get("evidence")),
        },
    )


def mapping(value: JSON) -> Mapping[str, Any]:
    """The value as an object, or an empty one."""
    return value if isinstance(value, Mapping) else {}


def events_of(value: Mapping[str, Any]) -> Iterator[Event]:
    """The steps of a record: its messages, then its events, then its trajectory, then its error."""
    messages = Messages()
    for place, message in enumerate(value.get("messages", ())):
        yield from message_events(messages, message, f"/messages/{place}")
    yield from own_events(value.get("events", ()))
    yield from trajectory_events(value.get("trajectory"))
    error = value.get("error")
    if error is not None:
        title, text = error.get("code", ""), error["message"]
        yield Event(seq=0, kind="error", title=title, text=text, source="/error")


def message_events(messages: Messages, message: Mapping[str, Any], source: str) -> Iterator[Event]:
    """A message, its thoughts before it and its tool calls after it; the usage is of all."""
    events = list(messages.events(message, source))
    told = next((n for n, event in enumerate(events) if event.kind != "thought"), 0)
    for place, event in enumerate(events):
        counted = message if place == told else {}
        yield replace(
            event,
            offset_ms=message.get("offset_ms"),
            tokens_in=counted.get("tokens_in"),
            tokens_out=counted.get("tokens_out"),
        )


def own_events(events: Sequence[Mapping[str, Any]]) -> Iterator[Event]:
    """Events in the form of this project; stamps stand where no offset is told."""
    stamps = [(event.get("started_at"), event.get("ended_at")) for event in events]
    for place, (event, span) in enumerate(zip(events, clocks.spans(stamps), strict=True)):
        told = {name: held for name, held in event.items() if name not in STAMPS}
        is_placed = "offset_ms" in event
        yield Event(
            **{
                "seq": 0,
                "duration_ms": span.duration_ms,
                "doubt": "" if is_placed and "ended_at" not in event else span.doubt,
                **({} if is_placed else {"offset_ms": span.offset_ms}),
                **told,
                "images": tuple(event.get("images", ())),
                "source": f"/events/{place}",
            }
        )


def trajectory_events(trajectory: JSON) -> Iterator[Event]:
    """The steps of a transcript in another form, each shown as far as its parts are known."""
    listed, source = listed_steps(trajectory, "/trajectory")
    if not listed:
        if trajectory:
            yield Event(seq=0, kind="observation", data=trajectory, source="/trajectory")
        return
    yield from step_list_events(listed, source)
