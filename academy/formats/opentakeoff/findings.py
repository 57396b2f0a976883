"""Questions about a record: the original's flags, and what these are too easy on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

from academy.bundle import JSON, FindingSpec, RecordView, TaskSpec
from academy.formats.opentakeoff import flags
from academy.formats.opentakeoff.flags import Step, anchor_of, calls, quantities, trace_of
from academy.formats.opentakeoff.manifests import mapping, numeric
from academy.formats.opentakeoff.runs import whole
from academy.formats.opentakeoff.schemas import TOOLS
from academy.scorers.ecmascript import normalise

AGREES = 0.001
CENT = 0.01

SENTENCES: Mapping[str, tuple[str, str]] = {
    flags.MISSING_EMIT: ("Fewer quantities were emitted than are reported.", "medium"),
    flags.HASH_MISMATCH: ("Another drawing was measured than the task declares.", "high"),
    flags.IMPLAUSIBLE_SPEED: ("The answer came faster than anything can be measured.", "high"),
    flags.NOT_MEASURED: ("A right answer was emitted although nothing was measured.", "high"),
}

Look = Callable[[RecordView, TaskSpec], Iterable[FindingSpec]]


def seqs(steps: Iterable[Step]) -> tuple[int, ...]:
    """The sequence numbers of steps."""
    return tuple(seq for step in steps if (seq := whole(step.get("seq"))) is not None)


def find_flags(record: RecordView, task: TaskSpec) -> Iterable[FindingSpec]:
    """The original's own flags."""
    for flag in flags.flags_of(record, task):
        sentence, severity = SENTENCES[flag]
        yield FindingSpec(code=flag, sentence=sentence, severity=severity)


def find_anchor(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """An answer that does not say which drawing it measured, or could not check it."""
    anchor = anchor_of(trace_of(record))
    if anchor is None:
        yield FindingSpec(
            code="anchor-missing",
            sentence="The trace does not record which drawing was measured.",
            severity="low",
        )
    elif mapping(anchor.get("result")).get("verified") is not True:
        yield FindingSpec(
            code="anchor-unverified",
            sentence="The drawing's hash was declared, not checked.",
            severity="low",
            steps=seqs([anchor]),
        )


def as_emitted(quantity: Mapping[str, JSON]) -> tuple[str, float | None, str]:
    """What has to agree between an emitted and a reported quantity."""
    return (
        normalise(quantity.get("item")),
        numeric(quantity.get("value")),
        normalise(quantity.get("unit")),
    )


def find_emitted(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """Reported quantities that were never emitted as they stand."""
    emits = calls(trace_of(record), flags.EMIT)
    emitted = [as_emitted(mapping(step.get("args"))) for step in emits]
    other = []
    for quantity in map(mapping, quantities(record)):
        said = as_emitted(quantity)
        if said in emitted:
            emitted.remove(said)
        else:
            other.append(str(quantity.get("item")))
    if emits and other:
        yield FindingSpec(
            code="emitted-other-values",
            sentence="Reported quantities differ from the emitted ones.",
            severity="high",
            steps=seqs(emits),
            evidence={"items": other},
        )


def numbers_in(value: JSON) -> Iterable[float]:
    """Every number anywhere in a result."""
    found = numeric(value)
    if found is not None:
        yield found
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from numbers_in(item)
    elif isinstance(value, Sequence) and not isinstance(value, str):
        for item in value:
            yield from numbers_in(item)


def is_sum(value: float, parts: Sequence[float]) -> bool:
    """Whether a value is one of the measured numbers, or a sum of some, to the cent.

    Few numbers are tried in every combination; of many only each alone and all together.
    """
    near = max(CENT, abs(value) * AGREES)
    if any(abs(part - value) <= near for part in parts):
        return True
    if len(parts) > 12:
        return abs(math.fsum(parts) - value) <= near
    sums = [0.0]
    for part in parts:
        sums += [total + part for total in sums]
    return any(abs(total - value) <= near for total in sums[1:])


def find_measured(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """Values behind which no measured number stands."""
    trace = trace_of(record)
    results = [
        step
        for step in trace
        if step.get("type") in ("tool_result", "mcp_result")
        and step.get("tool") not in (flags.ANCHOR, flags.EMIT)
    ]
    if not results:
        return
    parts = [number for step in results for number in measured_in(step)]
    unfounded = [
        str(quantity.get("item"))
        for quantity in map(mapping, quantities(record))
        if (value := numeric(quantity.get("value"))) is not None and not is_sum(value, parts)
    ]
    if unfounded:
        yield FindingSpec(
            code="value-not-measured",
            sentence="No measured value, and no sum of some, stands behind a reported one.",
            severity="medium",
            steps=seqs(results),
            evidence={"items": unfounded},
        )


def measured_in(step: Step) -> Iterable[float]:
    """The numbers of a result that may stand for a quantity: no coordinates."""
    result = step.get("result")
    if isinstance(result, Mapping):
        for name, value in result.items():
            found = numeric(value)
            if found is not None and name != "areaPx":
                yield found
    else:
        yield from numbers_in(result)


def find_calibration(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """Areas that do not follow from their pixels and the scale that was set before."""
    scale: float | None = None
    wrong = []
    for step in trace_of(record):
        if step.get("type") != "tool_result":
            continue
        result = mapping(step.get("result"))
        if step.get("tool") == "set_scale":
            scale = numeric(result.get("pxPerUnit")) or inverse(result.get("ftPerPx"))
        elif step.get("tool") == "measure_area" and scale:
            area, pixels = numeric(result.get("area")), numeric(result.get("areaPx"))
            if area and pixels and abs(pixels / scale**2 - area) > abs(area) * AGREES:
                wrong.append(step)
    if wrong:
        yield FindingSpec(
            code="calibration-disagrees",
            sentence="Measured areas do not follow from the scale that was set.",
            severity="high",
            steps=seqs(wrong),
        )


def inverse(value: JSON) -> float | None:
    """1 / value, or None where that is nothing."""
    number = numeric(value)
    return 1 / number if number else None


def find_order(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """Steps that are not numbered one by one, or whose clock goes backwards or past the end."""
    trace = trace_of(record)
    numbers = [step.get("seq") for step in trace]
    if numbers != list(range(len(trace))):
        yield FindingSpec(
            code="steps-out-of-order",
            sentence="The steps are not numbered one by one from 0.",
            severity="medium",
        )
    wall = record.telemetry.get("wall_ms")
    last = 0.0
    odd = []
    for step in trace:
        offset = numeric(step.get("tOffsetMs"))
        if offset is None:
            continue
        if offset < last or (wall is not None and offset > wall):
            odd.append(step)
        last = max(last, offset)
    if odd:
        yield FindingSpec(
            code="clock-out-of-order",
            sentence="Steps lie before an earlier one or after the end of the run.",
            severity="medium",
            steps=seqs(odd),
        )


def find_budget(record: RecordView, task: TaskSpec) -> Iterable[FindingSpec]:
    """More steps, time or tokens than the task allows."""
    budget = mapping(task.context.get("budget"))
    spent = record.telemetry
    tokens = [spent.get("tokens_in"), spent.get("tokens_out")]
    used = {
        "maxSteps": spent.get("steps"),
        "maxWallMs": spent.get("wall_ms"),
        "maxTokens": sum(token or 0 for token in tokens) if any(tokens) else None,
    }
    over: dict[str, JSON] = {
        name: number
        for name, number in used.items()
        if number is not None and (limit := numeric(budget.get(name))) is not None
        if number > limit
    }
    if over:
        yield FindingSpec(
            code="over-budget",
            sentence="More was spent than the task's budget allows.",
            severity="medium",
            evidence=over,
        )


def find_tools(record: RecordView, task: TaskSpec) -> Iterable[FindingSpec]:
    """Calls of the Academy's tools that the task does not offer."""
    offered = task.context.get("toolset")
    allowed = list(offered) if isinstance(offered, Sequence) else []
    barred = calls(trace_of(record), *(tool for tool in TOOLS if tool not in allowed))
    if barred:
        yield FindingSpec(
            code="tool-not-offered",
            sentence="Tools were called that the task does not offer.",
            severity="medium",
            steps=seqs(barred),
            evidence={"tools": sorted({str(step.get("tool")) for step in barred})},
        )


def find_counts(record: RecordView, _task: TaskSpec) -> Iterable[FindingSpec]:
    """Telemetry that counts other calls than the trace shows."""
    trace = trace_of(record)
    shown = {
        "tool_calls": sum(step.get("type") == "tool_call" for step in trace),
        "mcp_calls": sum(step.get("type") == "mcp_call" for step in trace),
    }
    wrong: dict[str, JSON] = {
        name: {"telemetry": said, "trace": count}
        for name, count in shown.items()
        if (said := record.telemetry.get(name)) is not None and said != count
    }
    if wrong:
        yield FindingSpec(
            code="telemetry-disagrees",
            sentence="The telemetry counts other calls than the trace shows.",
            severity="low",
            evidence=wrong,
        )


def find_extras(record: RecordView, task: TaskSpec) -> Iterable[FindingSpec]:
    """More quantities than were asked for; they cost nothing in reference mode."""
    asked = mapping(task.key).get("quantities")
    wanted = len(asked) if isinstance(asked, Sequence) else 0
    given = len(quantities(record))
    if wanted and given > wanted:
        yield FindingSpec(
            code="extra-quantities",
            sentence="More quantities were reported than the task asks for.",
            severity="low",
            evidence={"reported": given},
        )


LOOKS: tuple[Look, ...] = (
    find_flags,
    find_anchor,
    find_emitted,
    find_measured,
    find_calibration,
    find_order,
    find_budget,
    find_tools,
    find_counts,
    find_extras,
)


def findings(record: RecordView, task: TaskSpec) -> tuple[FindingSpec, ...]:
    """Everything that is asked about one record; the original's flags come first."""
    return tuple(finding for look in LOOKS for finding in look(record, task))
