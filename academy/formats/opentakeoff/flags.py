"""The original's five provenance flags, in its order and with its constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from academy.bundle import JSON, RecordView, TaskSpec
from academy.formats.opentakeoff.keys import items
from academy.formats.opentakeoff.manifests import mapping
from academy.scorers import percent_error, set_f1
from academy.scorers.base import NO_DECISIONS, Verdict
from academy.scorers.ecmascript import to_number

NO_MATCHING_TASK = "no-matching-task"
MISSING_EMIT = "missing-emit-provenance"
HASH_MISMATCH = "planset-hash-mismatch"
IMPLAUSIBLE_SPEED = "implausible-speed"
NOT_MEASURED = "answered-without-measurement"

MS_PER_QUANTITY = 1.0
TOLERATED_ERROR = 15.0
TOLERATED_F1 = 0.999

ANCHOR = "planset"
EMIT = "emit_quantity"
MEASURING = ("set_scale", "measure_area", "measure_length", "count", "identify_scope")

Step = Mapping[str, JSON]


def trace_of(record: RecordView) -> list[Step]:
    """The steps of a record as they came."""
    return [mapping(step) for step in items(mapping(record.evidence).get("trace"))]


def quantities(record: RecordView) -> Sequence[JSON]:
    """What a record answers."""
    return items(mapping(record.answer).get("quantities"))


def calls(trace: Sequence[Step], *tools: str) -> list[Step]:
    """The calls of these tools; steps of other types never count as calls."""
    return [step for step in trace if step.get("type") == "tool_call" and step.get("tool") in tools]


def anchor_of(trace: Sequence[Step]) -> Step | None:
    """The step that records which drawing was measured: the first planset with an object."""
    return next(
        (
            step
            for step in trace
            if step.get("tool") == ANCHOR and isinstance(step.get("result"), Mapping | list)
        ),
        None,
    )


def is_missing_emits(record: RecordView) -> bool:
    """Whether fewer quantities were emitted than are reported; names are not compared."""
    wanted = len(quantities(record))
    return wanted > 0 and len(calls(trace_of(record), EMIT)) < wanted


def is_other_drawing(record: RecordView, task: TaskSpec) -> bool:
    """Whether the anchor names a hash that is not the task's; no anchor, no flag."""
    anchor = anchor_of(trace_of(record))
    measured = mapping(anchor.get("result")).get("assetHash") if anchor else None
    declared = task.assets[0].sha256 if task.assets else ""
    return bool(measured) and measured != declared


def is_too_fast(record: RecordView, ms_per_quantity: float = MS_PER_QUANTITY) -> bool:
    """Whether less time or fewer steps went by than any measuring could take."""
    wanted = len(quantities(record))
    telemetry = mapping(mapping(record.evidence).get("telemetry"))
    wall, steps = (to_number(telemetry.get(name)) for name in ("wallMs", "steps"))
    return wanted > 0 and (wall < ms_per_quantity * wanted or steps < 1)


def is_not_measured(
    record: RecordView, task: TaskSpec, tolerated_error: float = TOLERATED_ERROR
) -> bool:
    """Whether a right answer was emitted although nothing was ever measured."""
    trace = trace_of(record)
    measured = calls(trace, *MEASURING) or any(step.get("type") == "mcp_call" for step in trace)
    if task.key is None or measured or not calls(trace, EMIT):
        return False
    verdict = reference_verdict(record, task)
    if verdict is None or verdict.value is None:
        return False
    if task.gradings[0].scorer == set_f1.KEY:
        return verdict.value >= TOLERATED_F1
    return verdict.value <= tolerated_error


def reference_verdict(record: RecordView, task: TaskSpec) -> Verdict | None:
    """The reference score of a record, or None for a task without a grading."""
    if not task.gradings:
        return None
    grading = task.gradings[0]
    score = set_f1.score_by_reference
    if grading.scorer == percent_error.KEY:
        score = percent_error.score_by_reference
    return score(record, task.key, NO_DECISIONS, grading.params)


def flags_of(
    record: RecordView,
    task: TaskSpec,
    *,
    ms_per_quantity: float = MS_PER_QUANTITY,
    tolerated_error: float = TOLERATED_ERROR,
) -> tuple[str, ...]:
    """The original's flags for one answer to a known task, in the original's order."""
    raised = {
        MISSING_EMIT: is_missing_emits(record),
        HASH_MISMATCH: is_other_drawing(record, task),
        IMPLAUSIBLE_SPEED: is_too_fast(record, ms_per_quantity),
        NOT_MEASURED: is_not_measured(record, task, tolerated_error),
    }
    return tuple(flag for flag, is_raised in raised.items() if is_raised)
