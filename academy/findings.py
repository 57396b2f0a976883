"""General checks on records and runs: plain facts that raise a question, never an accusation.

Each finding names a code, a sentence, the evidence (records by task, steps by number) and a
severity. Nothing here deletes, ranks or scores anything.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from academy.bundle import JSON, Event, FindingSpec, RecordStatus, RecordView, TaskSpec, nothing

LIMIT_NAMES: Mapping[str, tuple[str, ...]] = {
    "steps": ("max_steps", "maxSteps", "steps"),
    "wall_ms": ("max_wall_ms", "maxWallMs", "maxRuntimeMs", "wall_ms"),
    "tokens_in": ("max_tokens_in", "maxInputTokens"),
    "tokens_out": ("max_tokens_out", "maxOutputTokens", "max_output_tokens"),
}
TOOL_LISTS = ("toolset", "tools", "allowed_tools")
UNITS = {"steps": "steps", "wall_ms": "ms", "tokens_in": "tokens in", "tokens_out": "tokens out"}
SHOWN_STEPS = 20
SAME_ANSWERS = 3
FIELD = 4
FAR_LONGER, LONG_BYTES = 10, 4000
WORDS_IN_A_SHINGLE, FEWEST_SHINGLES = 5, 12
NEAR, FAR_BELOW = 0.8, 0.3
TRIVIAL = 24


def record_findings(
    view: RecordView,
    task: TaskSpec,
    *,
    limits: Mapping[str, JSON] = nothing(),
    canaries: Sequence[str] = (),
) -> tuple[FindingSpec, ...]:
    """The questions that one record raises by itself. `limits` are those of the suite."""
    found: list[FindingSpec] = []
    found += step_order(view.events)
    found += clock_order(view.events)
    found += beyond_limits(view, {**limits, **own_limits(task)})
    found += foreign_tools(view.events, task)
    found += leaked(view, canaries)
    return tuple(found)


def step_order(events: Sequence[Event]) -> Iterator[FindingSpec]:
    """Steps whose numbers repeat, go back, or leave gaps."""
    numbers = [event.seq for event in events]
    pairs = list(pairwise(numbers))
    wrong = [after for before, after in pairs if after <= before]
    if wrong:
        yield FindingSpec(
            code="step-order",
            sentence=f"{len(wrong)} steps are numbered no higher than the step before them.",
            severity="medium",
            steps=tuple(wrong[:SHOWN_STEPS]),
            evidence={"steps": len(numbers), "out_of_order": len(wrong)},
        )
    gaps = [after for before, after in pairs if after > before + 1]
    if gaps:
        lost = sum(after - before - 1 for before, after in pairs if after > before + 1)
        yield FindingSpec(
            code="step-gap",
            sentence=f"{lost} step numbers are missing between the steps that are there.",
            severity="low",
            steps=tuple(gaps[:SHOWN_STEPS]),
            evidence={"missing": lost},
        )


def clock_order(events: Sequence[Event]) -> Iterator[FindingSpec]:
    """Steps that begin before an earlier step did, or before the record itself.

    Steps are taken by their numbers. A step without a time is left out and counted.
    """
    timed = [e for e in sorted(events, key=lambda e: e.seq) if e.offset_ms is not None]
    latest: int | None = None
    back = []
    for event in timed:
        assert event.offset_ms is not None
        if event.offset_ms < 0 or (latest is not None and event.offset_ms < latest):
            back.append(event.seq)
        latest = event.offset_ms if latest is None else max(latest, event.offset_ms)
    if back:
        yield FindingSpec(
            code="clock-disorder",
            sentence=f"The clock goes backwards at {len(back)} of {len(timed)} timed steps.",
            severity="medium",
            steps=tuple(back[:SHOWN_STEPS]),
            evidence={"timed": len(timed), "untimed": len(events) - len(timed)},
        )


def own_limits(task: TaskSpec) -> Mapping[str, JSON]:
    """The limits that a task states for itself, among what the agent is shown."""
    found: dict[str, JSON] = {}
    for name in ("limits", "budget"):
        held = task.context.get(name)
        if isinstance(held, Mapping):
            found.update(held)
    return found


def number(value: JSON) -> float | None:
    """A number, or None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value)


def beyond_limits(view: RecordView, limits: Mapping[str, JSON]) -> Iterator[FindingSpec]:
    """Measures of a record that lie beyond the declared limits."""
    for measure, names in LIMIT_NAMES.items():
        most = next(
            (held for name in names if (held := number(limits.get(name))) is not None), None
        )
        used = view.telemetry.get(measure)
        if most is None or used is None or used <= most:
            continue
        yield FindingSpec(
            code="limit-exceeded",
            sentence=f"The record used {used:g} {UNITS[measure]}; the limit is {most:g}.",
            severity="high",
            evidence={"measure": measure, "used": used, "limit": most},
        )


def foreign_tools(events: Sequence[Event], task: TaskSpec) -> Iterator[FindingSpec]:
    """Calls of tools that the task does not list; silent where it lists none."""
    allowed: set[str] | None = None
    for name in TOOL_LISTS:
        listed = task.context.get(name)
        if isinstance(listed, Sequence) and not isinstance(listed, str):
            allowed = (allowed or set()) | {tool for tool in listed if isinstance(tool, str)}
    if not allowed:
        return
    used: dict[str, list[int]] = defaultdict(list)
    for event in events:
        if event.kind == "tool_call" and event.tool and event.tool not in allowed:
            used[event.tool].append(event.seq)
    for tool, steps in sorted(used.items()):
        yield FindingSpec(
            code="foreign-tool",
            sentence=f"The tool {tool[:100]!r} was called {len(steps)} times and is not among "
            "those of the task.",
            severity="high",
            steps=tuple(steps[:SHOWN_STEPS]),
            evidence={"tool": tool[:100], "calls": len(steps)},
        )


def leaked(view: RecordView, canaries: Sequence[str]) -> Iterator[FindingSpec]:
    """Marks that only a leaked suite carries, in the answer or the steps."""
    answer = as_text(view.answer)
    for canary in canaries:
        if not canary:
            continue
        steps = [e.seq for e in view.events if canary in e.text or canary in as_text(e.data)]
        if steps or canary in answer:
            yield FindingSpec(
                code="canary-seen",
                sentence="A mark that is only in the suite's own files is in the record.",
                severity="high",
                steps=tuple(steps[:SHOWN_STEPS]),
                evidence={"in_answer": canary in answer, "in_steps": len(steps)},
            )


def as_text(value: JSON) -> str:
    """A value as text: a text as it is, the rest as JSON with sorted keys."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(_plain(value), sort_keys=True, ensure_ascii=False)


def _plain(value: JSON) -> JSON:
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(part) for part in value]
    return value


@dataclass(slots=True)
class RunChecks:
    """Looks at the records of a run one after the other; `found()` is what they raise together.

    Only the answers' texts are kept, and of long ones their digest.
    """

    tasks: int
    answers: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    seen: int = 0

    def add(self, task_id: str, view: RecordView) -> None:
        """Note one record."""
        if view.status is not RecordStatus.ANSWERED:
            return
        text = as_text(view.answer)
        self.seen += 1
        if text and text not in ("{}", "[]", '""'):
            self.answers[text].append(task_id)

    def found(self) -> tuple[FindingSpec, ...]:
        """Answers that are the same over several tasks."""
        repeated = {
            text: sorted(set(ids)) for text, ids in self.answers.items() if len(set(ids)) > 1
        }
        answered = len({name for ids in self.answers.values() for name in ids})
        if len(self.answers) == 1 and answered >= SAME_ANSWERS:
            ids = next(iter(repeated.values()))
            return (
                FindingSpec(
                    code="constant-answer",
                    sentence=f"All {answered} answered tasks have the same answer.",
                    severity="high",
                    evidence={"tasks": list(ids[:SHOWN_STEPS])},
                ),
            )
        return tuple(
            FindingSpec(
                code="duplicated-answer",
                sentence=f"{len(ids)} tasks have one and the same long answer.",
                severity="medium",
                evidence={"tasks": list(ids[:SHOWN_STEPS])},
            )
            for text, ids in sorted(repeated.items(), key=lambda pair: pair[1])
            if len(text) > TRIVIAL and (len(ids) >= SAME_ANSWERS or len(text) > 10 * TRIVIAL)
        )


def declared_limits(
    declared: Mapping[str, JSON], suite: Mapping[str, JSON]
) -> Iterator[FindingSpec]:
    """Limits that a run declares beyond those of its suite."""
    for name, most in suite.items():
        allowed, said = number(most), number(declared.get(name))
        if allowed is not None and said is not None and said > allowed:
            yield FindingSpec(
                code="declared-limit",
                sentence=f"The run declares {name} {said:g}; the suite allows {allowed:g}.",
                severity="high",
                evidence={"limit": name, "declared": said, "suite": allowed},
            )


def surplus_records(ids: Iterable[str], total: int) -> Iterator[FindingSpec]:
    """Records of tasks that the suite does not have; they were left out of every count.

    `ids` are the tasks of those that are known by name, `total` is the number of all.
    """
    listed = sorted(ids)
    if total:
        yield FindingSpec(
            code="surplus-records",
            sentence=f"{total} records of unknown tasks came along and count nowhere.",
            severity="low",
            evidence={"records": total, "tasks": list(dict.fromkeys(listed))[:SHOWN_STEPS]},
        )


def far_longer(length: int, field_lengths: Sequence[int]) -> FindingSpec | None:
    """Whether a record is far longer, in bytes, than those of the others on the same task."""
    if len(field_lengths) < FIELD or length < LONG_BYTES:
        return None
    usual = median(field_lengths)
    if length <= FAR_LONGER * max(usual, 1):
        return None
    return FindingSpec(
        code="far-longer",
        sentence=f"The record is {length / max(usual, 1):.0f} times as long as is usual here.",
        severity="low",
        evidence={"bytes": length, "usual_bytes": usual, "others": len(field_lengths)},
    )


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Every run of five words of a text, without regard to case and marks."""
    words = re.findall(r"\w+", text.casefold())
    return frozenset(
        tuple(words[place : place + WORDS_IN_A_SHINGLE])
        for place in range(len(words) - WORDS_IN_A_SHINGLE + 1)
    )


def similarity(answer: JSON, reference: JSON) -> float | None:
    """The share of the reference's word sequences that the answer repeats; None for a reference
    too short for that to mean anything."""
    wanted = shingles(as_text(reference))
    if len(wanted) < FEWEST_SHINGLES:
        return None
    return len(wanted & shingles(as_text(answer))) / len(wanted)


def near_reference(own: float | None, others: Sequence[float]) -> FindingSpec | None:
    """Whether an answer repeats the reference where the field hardly does."""
    if own is None or own < NEAR or len(others) < FIELD or median(others) >= FAR_BELOW:
        return None
    return FindingSpec(
        code="near-reference",
        sentence=f"The answer repeats {own:.0%} of the reference; others repeat "
        f"{median(others):.0%}.",
        severity="high",
        evidence={"share": round(own, 4), "others": len(others)},
    )
