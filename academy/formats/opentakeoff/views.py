"""A stored record opened again for scorers and pages, and what agents and raters may see."""

from __future__ import annotations

import json
from collections.abc import Mapping

from academy.bundle import JSON, Event, RecordStatus, RecordView, TaskSpec
from academy.formats.opentakeoff.keys import items
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.opentakeoff.runs import whole

KINDS = {
    "model_message": "message",
    "tool_call": "tool_call",
    "tool_result": "tool_result",
    "mcp_call": "tool_call",
    "mcp_result": "tool_result",
    "error": "error",
}
TITLES = {
    "model_message": "Model",
    "tool_call": "Call",
    "tool_result": "Result",
    "mcp_call": "Call of the entrant's own tool",
    "mcp_result": "Result of the entrant's own tool",
    "error": "Refused",
}
TELEMETRY = {
    "steps": "steps",
    "wall_ms": "wallMs",
    "tokens_in": "tokensIn",
    "tokens_out": "tokensOut",
    "tool_calls": "toolCalls",
    "mcp_calls": "mcpCalls",
}


def view(raw: bytes, _task: TaskSpec | None) -> RecordView:
    """Open one stored entry; the task is not needed for that."""
    return view_entry(mapping(json.loads(raw)))


def view_entry(entry: Mapping[str, JSON]) -> RecordView:
    """An entry as scorers, findings and pages see it; `evidence` holds the trace as it came."""
    telemetry = mapping(entry.get("telemetry"))
    trace = items(entry.get("trace"))
    return RecordView(
        answer=entry.get("answer"),
        status=RecordStatus.ANSWERED,
        telemetry={
            ours: number
            for ours, theirs in TELEMETRY.items()
            if (number := whole(telemetry.get(theirs))) is not None
        },
        events=tuple(event_of(place, mapping(step)) for place, step in enumerate(trace)),
        evidence={"trace": trace, "telemetry": telemetry},
    )


def event_of(place: int, step: Mapping[str, JSON]) -> Event:
    """One step of a trace; a message's text is shown as text, all else as data."""
    kind = str(step.get("type"))
    result = mapping(step.get("result"))
    said = result.get("content")
    text = said if kind == "model_message" and isinstance(said, str) else ""
    data: dict[str, JSON] = {
        name: step[name]
        for name in ("server", "args", "result")
        if name in step and not (name == "result" and text and list(result) == ["content"])
    }
    tokens = mapping(step.get("tokens"))
    seq = whole(step.get("seq"))
    return Event(
        seq=place if seq is None else seq,
        kind=KINDS.get(kind, "message"),
        title=TITLES.get(kind, kind),
        text=text,
        data=data or None,
        role="assistant" if kind == "model_message" else "",
        tool=str(step.get("tool") or ""),
        offset_ms=whole(step.get("tOffsetMs")),
        tokens_in=whole(tokens.get("in")),
        tokens_out=whole(tokens.get("out")),
        failed=says_failure(result),
        source=f"/trace/{place}",
    )


def says_failure(result: Mapping[str, JSON]) -> bool:
    """Whether a tool's result says that the call failed."""
    return result.get("ok") is False or result.get("isError") is True or bool(result.get("error"))


def agent_view(task: TaskSpec) -> Mapping[str, JSON]:
    """What an agent is shown: the task as it was written, without its key."""
    return {**task.context, "title": task.title, "prompt": task.prompt}


def rater_view(task: TaskSpec) -> Mapping[str, JSON]:
    """What a person who measures or judges may see besides the task: nothing of the key.

    Raters measure alone. What they measure is said by the prompt, where on is said here.
    """
    return {"planset": task.context.get("planset")}
