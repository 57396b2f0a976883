"""Which version of the format a document follows, and the schema that judges it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from academy.bundle import JSON

ROW_PREFIX = "instance_level_eval_"
NEWEST = "0.3.0"
AGGREGATE_SCHEMAS: Mapping[str, str] = {
    "0.0.1": "aggregate-0.0.1",
    "0.1.0": "aggregate-0.1.0",
    "0.2.0": "aggregate-0.2.0",
    "0.2.1": "aggregate-0.2.1",
    "0.2.2": "aggregate-0.2.2",
    "0.2.3": "aggregate-0.3.0",
    "0.3.0": "aggregate-0.3.0",
}
ROW_SCHEMAS: Mapping[str, str] = {
    "0.2.0": "instance-0.2.0",
    "0.2.1": "instance-0.2.1",
    "0.2.2": "instance-0.3.0",
    "0.2.3": "instance-0.3.0",
    "0.3.0": "instance-0.3.0",
}
TRAJECTORY_SCHEMA = "instance-trajectory"


def said_version(value: Mapping[str, JSON]) -> str:
    """What a document says of its version, without the prefix that rows also write it with."""
    said = value.get("schema_version")
    return said.removeprefix(ROW_PREFIX) if isinstance(said, str) else ""


def aggregate_version(value: Mapping[str, JSON]) -> str:
    """The version whose rules an aggregate follows: the one it says, else the one it looks like."""
    said = said_version(value)
    if said in AGGREGATE_SCHEMAS:
        return said
    return "0.1.0" if "source_data" in value else NEWEST


def row_version(value: Mapping[str, JSON]) -> str:
    """The version whose rules a row follows."""
    said = said_version(value)
    if said in ROW_SCHEMAS:
        return said
    return "0.2.0" if "interactions" in value else NEWEST


def row_schema(value: Mapping[str, JSON]) -> str:
    """The schema that judges a row; rows with trajectories or event ids have one of their own."""
    version = row_version(value)
    if version == NEWEST and (
        "trajectory" in value or names_events(value.get("answer_attribution"))
    ):
        return TRAJECTORY_SCHEMA
    return ROW_SCHEMAS[version]


def names_events(attributions: JSON) -> bool:
    """Whether an answer is attributed to an event of a trajectory."""
    if isinstance(attributions, str) or not isinstance(attributions, Sequence):
        return False
    return any(isinstance(item, Mapping) and "event_id" in item for item in attributions)
