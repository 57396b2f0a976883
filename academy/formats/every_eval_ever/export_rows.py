"""Writes one scored item as a row of version 0.3.0."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from academy.bundle import (
    JSON,
    Event,
    RecordSpec,
    RecordStatus,
    RecordView,
    ScoredRecord,
    SuiteSpec,
    TaskSpec,
)
from academy.formats.every_eval_ever.hashing import canonical_json_hash
from academy.formats.every_eval_ever.values import as_map, as_text, texts_of
from academy.formats.every_eval_ever.versions import NEWEST

WITHHELD = "withheld"
TOOLS = frozenset({"tool_call", "tool_result", "action", "observation"})


def text_of(value: JSON) -> str:
    """A value as text: text as it is, all else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def arguments_of(data: JSON) -> dict[str, str]:
    """The arguments of a call as a string map."""
    if data is None:
        return {}
    held = as_map(data) or {"value": data}
    return {name: text_of(value) for name, value in held.items()}


def message_of(event: Event, turn: int) -> dict[str, JSON]:
    """One event as a message."""
    if event.kind in ("tool_call", "action"):
        call: dict[str, JSON] = {
            "id": event.title or f"call_{turn}",
            "name": event.tool or event.title or event.kind,
            "arguments": arguments_of(event.data),
        }
        said = event.text or None
        return {"turn_idx": turn, "role": "assistant", "content": said, "tool_calls": [call]}
    if event.kind in ("tool_result", "observation"):
        shown = event.text or ("" if event.data is None else text_of(event.data))
        return {"turn_idx": turn, "role": "tool", "content": shown}
    if event.kind == "thought":
        return {
            "turn_idx": turn,
            "role": event.role or "assistant",
            "content": None,
            "reasoning_trace": event.text,
        }
    role = "system" if event.kind == "error" else event.role or "assistant"
    return {"turn_idx": turn, "role": role, "content": event.text}


def interaction_of(events: Sequence[Event]) -> str:
    """Agentic when tools were used, several turns when more than one thing was said."""
    if any(event.kind in TOOLS for event in events):
        return "agentic"
    said = sum(event.kind == "message" and event.role == "assistant" for event in events)
    return "multi_turn" if said > 1 else "single_turn"


@dataclass(frozen=True, slots=True)
class RowWriter:
    """Writes the rows of one run. References are written only where that was asked for."""

    suite: SuiteSpec
    evaluation_id: str
    model_id: str
    references: bool = False

    def line(
        self,
        record: RecordSpec,
        opened: RecordView,
        task: TaskSpec | None,
        score: ScoredRecord,
        result_id: str,
    ) -> bytes:
        """One line, with its line feed."""
        hidden = task is None or task.holdout
        interaction = "single_turn" if hidden else interaction_of(opened.events)
        row: dict[str, JSON] = {
            "schema_version": NEWEST,
            "evaluation_id": self.evaluation_id,
            "model_id": self.model_id,
            "evaluation_name": self.suite.slug,
            "evaluation_result_id": result_id,
            "sample_id": self.sample_id(record, task),
            "interaction_type": interaction,
            "input": self.input_of(task),
            "answer_attribution": [],
            "evaluation": evaluation_of(score, opened, interaction),
            "metadata": metadata_of(record, hidden=hidden),
        }
        if hidden:
            row["output"] = {"raw": []}
        else:
            asked = as_map(row["input"])
            row["sample_hash"] = canonical_json_hash(
                as_text(asked.get("raw")), texts_of(asked.get("reference"))
            )
            row |= said_in(opened, interaction)
        row |= telemetry_of(record, opened, hidden=hidden)
        return json.dumps(row, ensure_ascii=True, allow_nan=False).encode() + b"\n"

    def sample_id(self, record: RecordSpec, task: TaskSpec | None) -> str:
        """The sample's own id where the task keeps one."""
        kept = as_text(task.extra.get("sample_id")) if task is not None else ""
        return kept or record.task_id

    def input_of(self, task: TaskSpec | None) -> dict[str, JSON]:
        """What was asked. Holdout prompts and sealed keys are never written."""
        if task is None or task.holdout:
            return {"raw": "", "reference": []}
        reference: list[str] = []
        if self.references and not self.suite.sealed:
            reference = texts_of(as_map(task.key).get("reference"))
        choices = texts_of(task.context.get("choices") or task.extra.get("choices"))
        asked: dict[str, JSON] = {"raw": task.prompt, "reference": reference}
        return asked | ({"choices": choices} if choices else {})


def said_in(opened: RecordView, interaction: str) -> dict[str, JSON]:
    """Messages, or the output of a single turn with the answer that was taken from it."""
    if interaction != "single_turn":
        return {"messages": [message_of(event, turn) for turn, event in enumerate(opened.events)]}
    said = [
        event.text
        for event in opened.events
        if event.kind == "message" and event.role == "assistant" and event.text
    ]
    answer = None if opened.answer is None else text_of(opened.answer)
    thoughts = [event.text for event in opened.events if event.kind == "thought"]
    output: dict[str, JSON] = {"raw": said or ([] if answer is None else [answer])}
    if thoughts:
        output["reasoning_trace"] = thoughts
    if answer is None:
        return {"output": output}
    attribution: JSON = [
        {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": answer,
            "extraction_method": "academy",
            "is_terminal": True,
        }
    ]
    return {"output": output, "answer_attribution": attribution}


def evaluation_of(score: ScoredRecord, opened: RecordView, interaction: str) -> dict[str, JSON]:
    """The number and whether it passed; turns and calls as they were counted."""
    turns = 1
    if interaction != "single_turn":
        turns = max(1, sum(event.role == "assistant" for event in opened.events))
    calls = sum(event.kind in ("tool_call", "action") for event in opened.events)
    return {
        "score": score.value,
        "is_correct": score.passed,
        "num_turns": turns,
        "tool_calls_count": calls,
    }


def metadata_of(record: RecordSpec, *, hidden: bool) -> dict[str, str]:
    """Which repetition a row tells of, how it ended, and what is not shown."""
    metadata = {"replicate": str(record.replicate), "status": record.status.value}
    if record.variant:
        metadata["variant"] = str(record.variant)
    return metadata | ({"prompt": WITHHELD} if hidden else {})


def telemetry_of(record: RecordSpec, opened: RecordView, *, hidden: bool) -> dict[str, JSON]:
    """Tokens when both counts are known, time when it is, and the error, but not of holdouts."""
    told: dict[str, JSON] = {}
    if record.tokens_in is not None and record.tokens_out is not None:
        told["token_usage"] = {
            "input_tokens": record.tokens_in,
            "output_tokens": record.tokens_out,
            "total_tokens": record.tokens_in + record.tokens_out,
        }
    if record.wall_ms is not None:
        told["performance"] = {"latency_ms": record.wall_ms}
    if record.status is RecordStatus.ERROR:
        errors = [event.text for event in opened.events if event.kind == "error" and event.text]
        plain = "the execution ended with an error"
        told["error"] = errors[-1] if errors and not hidden else plain
    return told
