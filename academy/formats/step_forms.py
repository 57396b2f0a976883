"""Steps of trajectories as events: the Agent Trajectory Interchange Format, messages in a list,
and other lists of steps as far as the usual names of their parts are known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from academy.bundle import JSON, Event
from academy.formats import clocks
from academy.formats.message_forms import (
    ROLES,
    Messages,
    Parts,
    error_text,
    is_failure,
    own_thoughts,
    whole,
)

LISTS = ("steps", "events", "messages")
STARTS = ("started_at", "startedAt", "start_time", "startTime", "start", "timestamp", "time", "ts")
ENDS = ("ended_at", "endedAt", "end_time", "endTime", "end", "finished_at", "completed_at")
OFFSETS = ("offset_ms", "tOffsetMs")
TIMES = frozenset({*STARTS, *ENDS, *OFFSETS, "duration_ms", "tokens_in", "tokens_out"})
KINDS = {
    "message": "message",
    "user": "message",
    "assistant": "message",
    "system": "message",
    "thought": "thought",
    "thinking": "thought",
    "reasoning": "thought",
    "tool_call": "tool_call",
    "tool_use": "tool_call",
    "function_call": "tool_call",
    "tool_result": "tool_result",
    "function_call_output": "tool_result",
    "action": "action",
    "observation": "observation",
    "error": "error",
}
TOOLS = ("tool", "tool_name", "function_name", "name")
GIVEN = ("arguments", "args", "input", "params")
SAID = ("text", "content", "message", "output", "result", "thought", "action", "observation")


def listed_steps(trajectory: JSON, source: str = "") -> tuple[Sequence[JSON], str]:
    """The list of steps of a trajectory and the pointer to it, wherever a known form keeps it."""
    if isinstance(trajectory, list | tuple):
        return trajectory, source
    if not isinstance(trajectory, Mapping):
        return (), source
    for name in LISTS:
        listed = trajectory.get(name)
        if isinstance(listed, list | tuple) and listed:
            return listed, f"{source}/{name}"
    inner = trajectory.get("trajectory")
    if isinstance(inner, Mapping | list):
        return listed_steps(inner, f"{source}/trajectory")
    return (), source


def step_list_events(listed: Sequence[JSON], source: str = "") -> Iterator[Event]:
    """The events of a list of steps, with what is known of their times, not yet numbered.

    Where several events are read from one step, the first has its duration, all have its start.
    """
    held = [step if isinstance(step, Mapping) else {} for step in listed]
    spans = clocks.spans([(first_of(step, STARTS), first_of(step, ENDS)) for step in held])
    messages = Messages()
    for place, (step, span) in enumerate(zip(listed, spans, strict=True)):
        told = step if isinstance(step, Mapping) else {}
        offset = next((n for key in OFFSETS if (n := whole(told.get(key))) is not None), None)
        is_first = True
        for event in step_events(messages, step, f"{source}/{place}"):
            yield replace(
                event,
                offset_ms=span.offset_ms if offset is None else offset,
                duration_ms=duration_of(told, span) if is_first else None,
                doubt=span.doubt if is_first and offset is None else "",
            )
            is_first = False


def duration_of(step: Mapping[str, Any], span: clocks.Span) -> int | None:
    """How long a step took: what it says itself, else by its stamps."""
    said = whole(step.get("duration_ms"))
    return span.duration_ms if said is None else said


def first_of(step: Mapping[str, Any], names: Sequence[str]) -> JSON:
    """The first of some members that is there."""
    value: JSON = next((step[name] for name in names if step.get(name) is not None), None)
    return value


def step_events(messages: Messages, step: JSON, source: str) -> Iterator[Event]:
    """The events of one step."""
    if not isinstance(step, Mapping):
        text = step if isinstance(step, str) else ""
        yield Event(
            seq=0, kind="observation", text=text, data=None if text else step, source=source
        )
        return
    events = list(interchange_events(messages, step, source))
    if not events and "role" in step:
        events = list(messages.events(step, source))
    yield from events or other_events(step, source)


def interchange_events(messages: Messages, step: Mapping[str, Any], source: str) -> Iterator[Event]:
    """A step of the Agent Trajectory Interchange Format (ATIF 1.x): thoughts, message, calls with
    the usage of the step, then what was observed."""
    observation = step.get("observation")
    is_step = "source" in step or isinstance(observation, Mapping)
    if not is_step or not ({"message", "tool_calls", "observation"} & set(step)):
        return
    role = step.get("source") if isinstance(step.get("source"), str) else "agent"
    usage = step.get("metrics")
    metrics = usage if isinstance(usage, Mapping) else {}
    has_told = False
    said = {"role": role, "content": step.get("message"), "tool_calls": step.get("tool_calls")}
    said["reasoning_content"] = next(own_thoughts(step), None)
    for event in messages.events(said, source):
        if has_told:
            yield event
        elif event.text or event.data is not None or event.images or event.tool:
            has_told = True
            tokens = (metrics.get("prompt_tokens"), metrics.get("completion_tokens"))
            yield replace(event, tokens_in=whole(tokens[0]), tokens_out=whole(tokens[1]))
    results = observation.get("results") if isinstance(observation, Mapping) else None
    for result in results if isinstance(results, list) else ():
        yield observed(messages, result if isinstance(result, Mapping) else {}, source)


def observed(messages: Messages, result: Mapping[str, Any], source: str) -> Event:
    """One result of an observation."""
    parts = Parts.of(result.get("content"))
    rest = {key: result[key] for key in ("subagent_trajectory_ref",) if result.get(key)}
    return Event(
        seq=0,
        kind="tool_result",
        role="tool",
        text=parts.text,
        data=parts.data if not rest else {**rest, "content": parts.data},
        images=tuple(parts.images),
        tool=messages.tools.get(str(result.get("source_call_id")), ""),
        failed=is_failure(result),
        source=source,
    )


def other_events(step: Mapping[str, Any], source: str) -> Iterator[Event]:
    """A step of another form: kind, tool and text by their usual names, all of it as data."""
    named = first_of(step, ("kind", "type", "event"))
    name = named if isinstance(named, str) else ""
    tool = next((step[key] for key in TOOLS if isinstance(step.get(key), str)), "")
    given = first_of(step, GIVEN)
    spoken = next((key for key in SAID if isinstance(step.get(key), str | list)), "")
    parts = Parts.of(step.get(spoken))
    said = step.get("role", step.get("source"))
    text = parts.text or error_text(step.get("error"))
    plain = "message" if text and not name and not tool else "observation"
    kind = KINDS.get(name, "tool_call" if tool and given is not None else plain)
    known = {spoken, *TIMES, "role", "source", "kind", "type", "event", *TOOLS, *GIVEN}
    if kind != "tool_call":
        known -= set(GIVEN)
    rest: dict[str, JSON] = {
        key: value for key, value in step.items() if key not in known and value is not None
    }
    if kind == "tool_call" and given is not None:
        rest = {"arguments": given, **rest}
    yield Event(
        seq=0,
        kind="error" if step.get("error") and kind in (plain, "observation") else kind,
        title="" if name in KINDS else name,
        text=text,
        data=given if list(rest) == ["arguments"] else (rest or parts.data),
        role=ROLES.get(said, said) if isinstance(said, str) else "",
        tool=tool,
        tokens_in=whole(step.get("tokens_in")),
        tokens_out=whole(step.get("tokens_out")),
        images=tuple(parts.images),
        failed=is_failure(step),
        source=source,
    )
