"""Transcripts of every form become steps with all their parts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy import json_slices, steps
from academy.bundle import Event
from academy.formats import clocks
from academy.formats.academy_run.viewing import view as view_line
from academy.formats.every_eval_ever.views import view as view_rows
from academy.formats.message_forms import Messages
from academy.formats.mypcbench.viewing import view as view_attempt
from academy.formats.opentakeoff.views import view as view_entry
from academy.formats.step_forms import step_list_events
from academy.formats.text_reading import pointer

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def told(events: tuple[Event, ...]) -> list[tuple[str, str, str, str]]:
    return [(event.kind, event.role, event.tool, event.text) for event in events]


def of(*messages: dict[str, Any]) -> tuple[Event, ...]:
    reader = Messages()
    return tuple(event for message in messages for event in reader.events(message))


def test_messages_of_the_openai_style_have_all_their_parts() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    call = {"id": "c1", "type": "function", "function": {"name": "bash", "arguments": '{"a": 1}'}}
    events = of(
        {"role": "user", "content": [{"type": "text", "text": "Look"}, picture]},
        {"role": "assistant", "content": None, "reasoning_content": "Hm", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
        {"role": "assistant", "content": "", "refusal": "I will not"},
    )
    assert told(events) == [
        ("message", "user", "", "Look"),
        ("thought", "assistant", "", "Hm"),
        ("tool_call", "assistant", "bash", '{"a": 1}'),
        ("tool_result", "tool", "bash", "done"),
        ("message", "assistant", "", "I will not"),
    ]
    assert events[0].images == ("data:image/png;base64,AA==",)
    assert events[4].title == "Refusal"


def test_parts_of_content_that_call_tools_are_taken_apart() -> None:
    source = {"type": "base64", "media_type": "image/png", "data": "A" * 300}
    events = of(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm"},
                {"type": "text", "text": "I look"},
                {"type": "tool_use", "id": "t1", "name": "look", "input": {"at": 2}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "t1",
                    "is_error": True,
                    "content": [
                        {"type": "text", "text": "no"},
                        {"type": "image", "source": source},
                    ],
                }
            ],
        },
        {"role": "user", "content": [{"type": "audio", "url": "a.wav"}]},
    )
    assert told(events) == [
        ("thought", "assistant", "", "Hm"),
        ("message", "assistant", "", "I look"),
        ("tool_call", "assistant", "look", ""),
        ("tool_result", "user", "look", "no"),
        ("message", "user", "", ""),
    ]
    assert events[2].data == {"at": 2}
    assert events[3].failed
    assert events[3].images == (f"data:image/png;base64,{'A' * 300}",)
    assert events[4].data == {"type": "audio", "url": "a.wav"}


INTERCHANGE = {
    "schema_version": "ATIF-v1.4",
    "agent": {"name": "example"},
    "steps": [
        {
            "step_id": 1,
            "source": "user",
            "timestamp": "2026-03-01T10:00:00Z",
            "message": "Count the apples",
        },
        {
            "step_id": 2,
            "source": "agent",
            "timestamp": "2026-03-01T10:00:02.500Z",
            "reasoning_content": "Look first",
            "message": "I count",
            "tool_calls": [{"tool_call_id": "c", "function_name": "ls", "arguments": {"p": "/"}}],
            "observation": {
                "results": [
                    {"source_call_id": "c", "content": "3 apples"},
                    {"content": [{"type": "image", "source": {"path": "shots/2.png"}}]},
                ]
            },
            "metrics": {"prompt_tokens": 9, "completion_tokens": 4},
        },
        {"step_id": 3, "source": "agent", "timestamp": "2026-03-01T10:00:04Z", "message": "3"},
    ],
}


@pytest.mark.parametrize("form", ["line", "row"])
def test_steps_of_the_interchange_format_are_the_same_in_every_form(form: str) -> None:
    if form == "line":
        raw = {"task": "t", "status": "answered", "trajectory": INTERCHANGE}
        events = view_line(json.dumps(raw).encode(), None).events
    else:
        row = {"schema_version": "0.3.0", "messages": [], "trajectory": INTERCHANGE}
        events = view_rows(json.dumps(row).encode(), None).events
    assert told(events) == [
        ("message", "user", "", "Count the apples"),
        ("thought", "assistant", "", "Look first"),
        ("message", "assistant", "", "I count"),
        ("tool_call", "assistant", "ls", ""),
        ("tool_result", "tool", "ls", "3 apples"),
        ("tool_result", "tool", "", ""),
        ("message", "assistant", "", "3"),
    ]
    assert [event.offset_ms for event in events] == [0, 2500, 2500, 2500, 2500, 2500, 4000]
    assert (events[1].tokens_in, events[1].tokens_out) == (9, 4)
    assert events[5].images == ("shots/2.png",)
    assert [event.source for event in events][:2] == ["/trajectory/steps/0", "/trajectory/steps/1"]


def test_steps_of_other_forms_keep_what_they_say() -> None:
    listed = [
        {"type": "model_output", "output": "thinking aloud", "weight": 2},
        {"tool": "search", "arguments": {"q": "tea"}, "started_at": "2026-03-01T10:00:00Z"},
        {"type": "error", "error": {"message": "gone"}},
        "a bare text",
        7,
    ]
    events = tuple(step_list_events(listed))
    assert told(events)[:4] == [
        ("observation", "", "", "thinking aloud"),
        ("tool_call", "", "search", ""),
        ("error", "", "", "gone"),
        ("observation", "", "", "a bare text"),
    ]
    assert events[0].title == "model_output"
    assert events[0].data == {"weight": 2}
    assert events[1].data == {"q": "tea"}
    assert events[4].data == 7


@given(JSON)
def test_any_value_can_stand_where_a_transcript_is_expected(value: Any) -> None:
    raw = json.dumps({"task": "t", "status": "answered", "trajectory": value}).encode()
    for event in view_line(raw, None).events:
        assert event.kind in steps.KINDS
    tuple(step_list_events([value, {"message": value, "source": value, "observation": value}]))
    of({"role": "user", "content": value, "tool_calls": value}, {"role": value, "name": value})


@given(st.lists(st.tuples(JSON, JSON), max_size=6))
def test_no_stamp_gives_a_negative_duration(stamps: list[Any]) -> None:
    for span in clocks.spans(stamps):
        assert span.duration_ms is None or span.duration_ms >= 0
        assert not (span.doubt and span.duration_ms is not None)


def test_stamps_of_one_unit_are_read_whatever_it_is() -> None:
    for factor in (1, 1_000, 1_000_000, 1_000_000_000):
        listed = [(1_772_359_200 * factor, 1_772_359_201 * factor)]
        assert clocks.spans(listed) == [clocks.Span(0, 1000)]


@given(JSON, st.booleans())
def test_the_text_of_every_part_of_a_document_is_found(value: Any, is_spread: bool) -> None:
    text = json.dumps(value, indent=2 if is_spread else None)
    parts = list(walked(value, ""))
    found = json_slices.slices(text, [path for path, _part in parts])
    for path, part in parts:
        start, end = found[path]
        assert json.loads(text[start:end]) == part


def walked(value: Any, path: str) -> Any:
    yield path, value
    if not isinstance(value, dict | list):
        return
    for name, held in value.items() if isinstance(value, dict) else enumerate(value):
        yield from walked(held, path + pointer(name))


def test_a_document_that_breaks_off_gives_what_came_before() -> None:
    assert json_slices.slices('{"a": [1, 2', ["/a/0", "/a", "/b"]) == {"/a/0": (7, 8)}


def sourced(raw: bytes, events: tuple[Event, ...]) -> None:
    """Every step names a part of the record, and the part is there."""
    text = raw.decode()
    pointers = {event.source for event in events}
    assert set(json_slices.slices(text, sorted(pointers))) == pointers


@pytest.mark.data
def test_traces_of_real_takeoff_runs_are_steps_with_times(conformance_data: Path) -> None:
    seen = 0
    for path in sorted((conformance_data / "opentakeoff").glob("*/*/*.bundle.json")):
        for entry in json.loads(path.read_bytes())["tasks"]:
            raw = json.dumps(entry).encode()
            events = view_entry(raw, None).events
            assert len(events) == len(entry["trace"])
            assert all(event.tool or event.role for event in events)
            assert all(event.offset_ms is not None for event in events)
            sourced(raw, events)
            seen += len(events)
    assert seen > 20


@pytest.mark.data
def test_messages_of_real_instance_rows_lose_nothing(conformance_data: Path) -> None:
    results = 0
    for path in sorted((conformance_data / "eee" / "instances").rglob("*.jsonl")):
        for line in path.read_bytes().splitlines():
            row = json.loads(line)
            events = view_rows(line, None).events
            assert events
            shown = json.dumps([(e.text, e.data, e.tool) for e in events], default=str)
            for message in row.get("messages") or ():
                content = message.get("content") or ""
                assert json.dumps(content)[1:-1] in shown
                for call in message.get("tool_calls") or ():
                    assert call["name"] in shown
            results += sum(event.kind == "tool_result" and bool(event.tool) for event in events)
            if row["schema_version"] != "0.2.0":
                sourced(line, events)
    assert results > 0


def test_attempts_show_rubric_steps_calls_and_results() -> None:
    document = {
        "files": {
            "rubric_bundle.json": {
                "artifacts": {
                    "steps": [
                        {
                            "step_num": 1,
                            "raw_response_text": "I click",
                            "screenshot": "step_1.png",
                            "parsed_action_obj": {"action": "click(1, 2)"},
                        }
                    ]
                }
            },
            "messages.json": [
                {
                    "role": "assistant",
                    "content": [
                        {"type": "tool_use", "id": "a", "name": "sh", "input": {"c": "ls"}}
                    ],
                },
                {
                    "role": "user",
                    "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x.ods"}],
                },
            ],
        },
        "artifacts": [],
    }
    raw = json.dumps(document).encode()
    events = view_attempt(raw, None).events
    assert told(events) == [
        ("thought", "assistant", "", "I click"),
        ("action", "", "", "click(1, 2)"),
        ("tool_call", "assistant", "sh", ""),
        ("tool_result", "user", "sh", "x.ods"),
    ]
    assert events[1].images == ("step_1.png",)
    sourced(raw, events)
