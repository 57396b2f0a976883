"""What the original's judges and grader make of replies, steps and printed text.

Two judges exist: `full_trajectory` asks once per rubric, `per_step` once per step for all rubrics.
The grader runs one of them as a process and reads what it prints. Nothing is called from here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from academy.formats.mypcbench.rubrics import Rubric, effective_weight
from academy.scorers.rubric import tally

STATUS = re.compile(r"Status:\s*[\"']?(success|failure)", re.IGNORECASE)
THOUGHTS = re.compile(r"Thoughts:\s*(.+?)(?:Status:|$)", re.DOTALL)
INTEGER = re.compile(r"-?\d+")
TRUE_WORDS = frozenset({"1", "true", "yes", "pass", "passed", "y", "t"})
CALL_ERROR = "Error judging rubric"
PERFECT_FROM = 0.999
JUDGE_SECONDS = 300


@dataclass(frozen=True, slots=True)
class Reply:
    """What one reply says about one rubric."""

    success: bool
    reasoning: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says of one attempt. `fraction` is None where no rubric was looked at."""

    percent: int
    passed: bool
    reasoning: str
    fraction: float | None
    met: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Row:
    """What the grader notes for one attempt, as in `rows` of scores.json."""

    task_id: str
    status: str
    score: float | None
    raw: Any = None
    error: str = ""

    @property
    def perfect(self) -> bool:
        """Whether the row counts as perfect."""
        return self.score is not None and self.score >= PERFECT_FROM


def read_reply(text: str) -> Reply:
    """Read one reply of the full-trajectory judge: the first status in the text decides.

    `successful` counts (a prefix is enough); markdown between the label and the word does not.
    """
    text = text.strip()
    status = STATUS.search(text)
    thoughts = THOUGHTS.search(text)
    reasoning = thoughts[1].strip() if thoughts else text or "Empty judge response."
    success = status is not None and status[1].lower() == "success"
    return Reply(success, reasoning)


def failed_call(rubric: Rubric, error: str) -> Reply:
    """What the full-trajectory judge notes when a call raised: not met, and only words tell."""
    return Reply(False, f"{CALL_ERROR} {rubric.rubric_id}: {error}")


def is_failed_call(reasoning: object) -> bool:
    """Whether a stored reasoning tells of a failed call."""
    return isinstance(reasoning, str) and reasoning.startswith(CALL_ERROR)


def judge_trajectory(
    rubrics: Sequence[Rubric], replies: Sequence[Reply], *, steps: int, screenshots: int
) -> Judgement:
    """The full-trajectory judge's result for replies in the order of the rubrics."""
    if not rubrics:
        return Judgement(0, False, "no rubrics in bundle", None, ())
    if not steps and not screenshots:
        return Judgement(0, False, "no per-step artifacts (steps[] empty)", None, ())
    met = tuple(reply.success for reply in replies)
    result = tally([rubric.weight for rubric in rubrics], met)
    reasoning = (
        f"OSWorld full-trajectory per-rubric: {sum(met)}/{len(met)} rubrics passed; "
        f"weighted fraction={result.fraction:.4f}"
    )
    return Judgement(result.percent, result.passed, reasoning, round(result.fraction, 4), met)


def prompt_lines(listed: Sequence[object]) -> list[str]:
    """The rubrics that the per-step judge shows its model: those with a `criterion`, no others."""
    return [
        f"[{index}] {text} (weight={raw.get('weight')})"
        for index, raw in enumerate(listed)
        if isinstance(raw, Mapping) and (text := str(raw.get("criterion") or "").strip())
    ]


def counts_as_one(value: object) -> bool:
    """Whether a score in a per-step reply means met."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        return value >= 0.5
    return isinstance(value, str) and value.strip().lower() in TRUE_WORDS


def step_scores(reply: object, count: int) -> list[int]:
    """One step's 0 or 1 per rubric; a reply that cannot be read is a row of zeros."""
    scores = [0] * count
    given = reply.get("criterion_scores") if isinstance(reply, Mapping) else None
    if isinstance(given, list):
        pairs = list(enumerate(given))
    elif isinstance(given, Mapping):
        pairs = [(place, value) for key, value in given.items() if (place := _place(key)) >= 0]
    else:
        pairs = []
    for place, value in pairs:
        if place < count:
            scores[place] = int(counts_as_one(value))
    return scores


def _place(key: str) -> int:
    try:
        return int(key)
    except ValueError:
        return -1


def judge_steps(listed: Sequence[object], replies: Sequence[object]) -> Judgement:
    """The per-step judge's result: a rubric is met if any step met it, whatever came later."""
    count = len(listed)
    if not count:
        return Judgement(0, False, "no rubrics in bundle", None, ())
    rows = [step_scores(reply, count) for reply in replies]
    met = tuple(any(row[place] for row in rows) for place in range(count))
    if not rows:
        return Judgement(0, False, "no per-step artifacts (context/ empty)", None, met)
    weighed = [
        (effective_weight(raw.get("weight")), is_met)
        for raw, is_met in zip(listed, met, strict=True)
        if isinstance(raw, Mapping)
    ]
    result = tally([weight for weight, _ in weighed], [is_met for _, is_met in weighed])
    reasoning = f"per-step max-reduce over {len(rows)} of {len(rows)} steps"
    return Judgement(result.percent, result.passed, reasoning, round(result.fraction, 4), met)


def read_output(printed: str) -> int | None:
    """The percent that a judge process printed, or None when nothing can be read from it.

    Raises ValueError or OverflowError for NaN and infinity, as the original's conversion does.
    """
    text = printed.strip()
    try:
        parsed = json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        parsed = None
    read = _percent_of(parsed)
    if read is None and isinstance(parsed, Mapping):
        read = _percent_in(parsed)
    if read is not None:
        return read
    if text.lower() in ("true", "pass", "passed", "yes"):
        return 100
    if text.lower() in ("false", "fail", "failed", "no"):
        return 0
    found = INTEGER.search(text)
    return int(found[0]) if found else None


def _percent_of(value: object) -> int | None:
    if isinstance(value, bool):
        return 100 if value else 0
    return int(value) if isinstance(value, int | float) else None


def _percent_in(parsed: Mapping[str, object]) -> int | None:
    for key in ("score", "result", "value"):
        value = parsed.get(key)
        read = _percent_of(value)
        if read is not None:
            return read
        if isinstance(value, str) and (found := INTEGER.search(value.strip())):
            return int(found[0])
    passed = parsed.get("passed")
    return _percent_of(passed) if isinstance(passed, bool) else None


def unit_score(recorded: object) -> float | None:
    """A recorded result as a score of 0..1, or None where it tells of a failure."""
    if not isinstance(recorded, int | float):
        return None
    return max(0.0, min(1.0, float(recorded) / 100.0))


def recorded_result(process: Mapping[str, Any], *, command: str) -> int | list[str]:
    """What the grader records of a finished judge process: a percent, or four texts saying why.

    `process` holds `rc`, `stdout` and `stderr`, or `timeout`.
    """
    if process.get("timeout"):
        seconds = process.get("seconds", JUDGE_SECONDS)
        return [command, "timeout", f"Judge timed out after {seconds}s", ""]
    printed = str(process.get("stdout") or "").strip()
    errors = str(process.get("stderr") or "").strip()
    if process.get("rc"):
        return [command, str(process["rc"]), printed, errors]
    percent = read_output(printed)
    return [command, "parse_error", printed, errors] if percent is None else percent


def grade_recorded(task_id: str, recorded: object, *, cached: bool) -> Row:
    """The row of a result that was recorded now, or in an earlier grading."""
    score = unit_score(recorded)
    status = "judge_error" if score is None else "cached" if cached else "judged"
    return Row(task_id, status, score, recorded)


def grade_process(task_id: str, process: Mapping[str, Any], *, command: str) -> Row:
    """The row of an attempt whose judge process has ended."""
    try:
        recorded = recorded_result(process, command=command)
    except (ValueError, OverflowError) as error:
        return Row(task_id, "judge_error", None, error=f"{type(error).__name__}: {error}")
    return grade_recorded(task_id, recorded, cached=False)


def grade_earlier_file(task_id: str, data: bytes) -> Row | None:
    """The row of an earlier result file, or None where it is no JSON and is judged anew."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return grade_earlier(task_id, document)


def grade_earlier(task_id: str, document: object) -> Row:
    """The row of a result document that an earlier grading left; failures are not tried again."""
    if not isinstance(document, Mapping):
        error = f"AttributeError: '{type(document).__name__}' object has no attribute 'get'"
        return Row(task_id, "judge_error", None, error=error)
    return grade_recorded(task_id, document.get("result"), cached=True)


def summarise(rows: Sequence[Row]) -> dict[str, Any]:
    """The numbers of scores.json over attempts; one without a score counts 0 in `avg_score`."""
    count = len(rows)
    graded = [row.score for row in rows if row.score is not None]
    perfect = sum(row.perfect for row in rows)
    total = sum(graded)
    return {
        "tasks": count,
        "graded": len(graded),
        "no_bundle": sum(row.status == "no_bundle" for row in rows),
        "judge_errors": sum(row.status == "judge_error" for row in rows),
        "perfect": perfect,
        "perfect_rate": perfect / count if count else 0.0,
        "avg_score": total / count if count else 0.0,
        "avg_graded": total / len(graded) if graded else None,
    }
