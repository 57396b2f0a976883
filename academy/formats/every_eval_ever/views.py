"""Opens one stored record: its answer, its events, and what the upload says of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from academy.bundle import JSON, Event, RecordView, TaskSpec
from academy.formats.every_eval_ever.metrics import key_of
from academy.formats.every_eval_ever.records import status_of
from academy.formats.every_eval_ever.row_upgrading import upgrade_row
from academy.formats.every_eval_ever.trajectories import reference_of, trajectory_events
from academy.formats.every_eval_ever.upgrading import Changes
from academy.formats.every_eval_ever.values import (
    as_list,
    as_map,
    as_number,
    as_text,
    as_whole,
    texts_of,
)
from academy.formats.json_reading import stored_json
from academy.formats.message_forms import Messages, numbered
from academy.formats.text_reading import pointer


def lines_of(raw: bytes) -> tuple[list[Mapping[str, JSON]], Mapping[str, JSON], str]:
    """The rows of a stored record, the trajectories that are kept beside them by uri, and the JSON
    pointer of the first row."""
    value = stored_json(raw)
    if isinstance(value, Mapping) and "lines" in value:
        lines = [as_map(line) for line in as_list(value["lines"])]
        return lines, as_map(value.get("trajectories")), "/lines/0"
    if isinstance(value, Mapping):
        return [value], {}, ""
    return [as_map(line) for line in as_list(value)], {}, "/0"


def answer_of(row: Mapping[str, JSON]) -> JSON:
    """The answer: what was extracted last as final, else what was said last."""
    attributed = [as_map(item) for item in as_list(row.get("answer_attribution"))]
    final = [item for item in attributed if item.get("is_terminal") is True] or attributed
    if final and "extracted_value" in final[-1]:
        return final[-1]["extracted_value"]
    said = texts_of(as_map(row.get("output")).get("raw"))
    if said:
        return said[0] if len(said) == 1 else said
    spoken = [
        as_text(as_map(message).get("content"))
        for message in as_list(row.get("messages"))
        if as_map(message).get("role") == "assistant"
    ]
    return next((text for text in reversed(spoken) if text), None)


def output_events(row: Mapping[str, JSON], source: str) -> Iterator[Event]:
    """The events of a single turn: what was asked, thought and said."""
    held = as_map(row.get("input"))
    asked = as_text(held.get("formatted")) or as_text(held.get("raw"))
    choices = texts_of(held.get("choices"))
    offered: JSON = {"choices": choices} if choices else None
    yield Event(
        seq=0, kind="message", text=asked, role="user", data=offered, source=f"{source}/input"
    )
    output, place = as_map(row.get("output")), f"{source}/output"
    for thought in texts_of(output.get("reasoning_trace")):
        yield Event(seq=0, kind="thought", text=thought, role="assistant", source=place)
    for said in texts_of(output.get("raw")):
        yield Event(seq=0, kind="message", text=said, role="assistant", source=place)


def events_of_row(
    row: Mapping[str, JSON], beside: Mapping[str, JSON], source: str = ""
) -> tuple[Event, ...]:
    """All events of a record: messages or output, then the trajectory, then the error.

    `source` is the JSON pointer of the row in the stored record.
    """
    events: list[Event] = []
    if row.get("messages") is None:
        events.extend(output_events(row, source))
    else:
        messages = Messages()
        for place, message in enumerate(as_list(row.get("messages"))):
            events.extend(messages.events(as_map(message), f"{source}/messages/{place}"))
    reference = reference_of(row)
    if reference is None:
        events.extend(trajectory_events(row.get("trajectory"), f"{source}/trajectory"))
    else:
        uri = as_text(reference.get("uri"))
        held = as_map(beside.get(uri))
        events.extend(trajectory_events(held.get("value"), pointer("trajectories", uri, "value")))
    if as_text(row.get("error")):
        events.append(Event(seq=0, kind="error", text=as_text(row["error"]), source=source))
    return numbered(events, first=0)


def names_of(row: Mapping[str, JSON], task: TaskSpec | None, alone: bool) -> Iterator[str]:
    """The names under which a line's score is told: its result's id and its evaluation.

    A line by itself for a task of one grading tells the value of that metric, whatever its name;
    metrics that were told apart by result ids end with them.
    """
    gradings = task.gradings if task is not None else ()
    result = as_text(row.get("evaluation_result_id"))
    for grading in gradings:
        if (alone and len(gradings) == 1) or (
            result and grading.metric.endswith(f"@{key_of(result)}")
        ):
            yield grading.metric
    for name in ("evaluation_name", "evaluation_result_id"):
        if as_text(row.get(name)):
            yield as_text(row[name])


def view(raw: bytes, task: TaskSpec | None) -> RecordView:
    """A stored record for scorers and pages.

    `reported` is by the names that the lines themselves give; the stored reported scores, which
    are by metric, are laid over it by whoever has them.
    """
    lines, beside, place = lines_of(raw)
    rows = [upgrade_row(line, Changes()) for line in lines]
    row = rows[0] if rows else {}
    reported: dict[str, float | None] = {}
    correct: dict[str, JSON] = {}
    for line in rows:
        evaluation = as_map(line.get("evaluation"))
        for name in names_of(line, task, alone=len(rows) == 1):
            reported.setdefault(name, as_number(evaluation.get("score")))
            correct.setdefault(name, evaluation.get("is_correct"))
    usage = as_map(row.get("token_usage"))
    return RecordView(
        answer=answer_of(row),
        status=status_of(row),
        telemetry={
            "steps": as_whole(as_map(row.get("evaluation")).get("num_turns")),
            "tokens_in": as_whole(usage.get("input_tokens")),
            "tokens_out": as_whole(usage.get("output_tokens")),
        },
        events=events_of_row(row, beside, place),
        reported=reported,
        evidence={
            "correct": correct,
            "metadata": as_map(row.get("metadata")),
            "performance": as_map(row.get("performance")),
            "answer_attribution": row.get("answer_attribution"),
        },
    )
