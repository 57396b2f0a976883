"""Brings rows of every version in circulation to the form of 0.3.0, and tells every change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from academy.bundle import JSON
from academy.formats.every_eval_ever.upgrading import Changes, copied, text_of
from academy.formats.every_eval_ever.values import as_list, as_map
from academy.formats.every_eval_ever.versions import NEWEST, row_version

# The top level of a row, closed since 0.2.1.
MEMBERS = frozenset(
    {
        *("schema_version", "evaluation_id", "model_id", "evaluation_name", "sample_id"),
        *("evaluation_result_id", "sample_hash", "interaction_type", "trajectory", "input"),
        *("output", "messages", "answer_attribution", "evaluation", "token_usage"),
        *("performance", "error", "metadata"),
    }
)


def upgrade_row(row: Mapping[str, JSON], changes: Changes) -> Mapping[str, JSON]:
    """A row in the form of 0.3.0. A row that needs no change is given back as it is."""
    if row_version(row) == "0.2.0":
        return from_first_form(row, changes)
    if row.get("evaluation_result_id", "") is None:
        changes.note("took a null for an absent member", "/evaluation_result_id")
        return {key: held for key, held in row.items() if key != "evaluation_result_id"}
    return row


def from_first_form(row: Mapping[str, JSON], changes: Changes) -> Mapping[str, JSON]:
    """0.2.0: bare texts for lists, whole numbers for ids, booleans for scores, open maps."""
    record: dict[str, Any] = copied(row)
    if "interactions" in record:
        record["messages"] = record.pop("interactions")
        changes.note("renamed interactions to messages", "/interactions")
    if not isinstance(record.get("sample_id"), str):
        record["sample_id"] = text_of(record["sample_id"])
        changes.note("turned a sample id into text", "/sample_id")
    wrap(record, "input", ("reference",), changes)
    wrap(record, "output", ("raw", "reasoning_trace"), changes)
    for index, message in enumerate(as_list(record.get("messages"))):
        wrap_message(message, f"/messages/{index}", changes)
    evaluation = record.get("evaluation")
    if isinstance(evaluation, dict) and isinstance(evaluation.get("score"), bool):
        evaluation["score"] = int(evaluation["score"])
        changes.note("turned a boolean score into 1 or 0", "/evaluation/score")
    if isinstance(record.get("metadata"), dict):
        record["metadata"] = as_texts(record["metadata"], "/metadata", changes)
    for key in [key for key in record if key not in MEMBERS]:
        record["metadata"] = {**as_map(record.get("metadata")), key: text_of(record.pop(key))}
        changes.note("moved an unknown member into metadata", f"/{key}")
    record["schema_version"] = NEWEST
    changes.note(f"read as version 0.2.0 and upgraded to {NEWEST}", "/schema_version")
    return record


def wrap(record: dict[str, Any], part: str, names: tuple[str, ...], changes: Changes) -> None:
    """Put bare texts of one part of a row into lists."""
    held = record.get(part)
    for name in names:
        if isinstance(held, dict) and isinstance(held.get(name), str):
            held[name] = [held[name]]
            changes.note("wrapped a bare text in a list", f"/{part}/{name}")


def wrap_message(message: Any, place: str, changes: Changes) -> None:
    """A message's tool call ids are a list, its calls' arguments are texts."""
    if not isinstance(message, dict):
        return
    if isinstance(message.get("tool_call_id"), str):
        message["tool_call_id"] = [message["tool_call_id"]]
        changes.note("wrapped a bare text in a list", f"{place}/tool_call_id")
    for call in as_list(message.get("tool_calls")):
        if isinstance(call, dict) and isinstance(call.get("arguments"), dict):
            call["arguments"] = as_texts(call["arguments"], f"{place}/tool_calls", changes)


def as_texts(held: Mapping[str, JSON], place: str, changes: Changes) -> dict[str, str]:
    """A map whose values are texts."""
    if any(not isinstance(part, str) for part in held.values()):
        changes.note("turned a detail into text", place)
    return {name: text_of(part) for name, part in held.items()}
