"""MyPCBench: every list of its oracle, run against the product."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from academy.errors import FormatError
from academy.formats.mypcbench.judging import (
    Judgement,
    Reply,
    grade_earlier,
    grade_earlier_file,
    grade_process,
    judge_steps,
    judge_trajectory,
    prompt_lines,
    read_reply,
    recorded_result,
    unit_score,
)
from academy.formats.mypcbench.rubrics import rubrics_of
from academy.formats.mypcbench.schemas import Form, schema_errors
from academy.formats.mypcbench.validating import validate
from tests.conformance.base import Check, Context
from tests.conformance.mypcbench_benchmark import benchmark
from tests.conformance.mypcbench_records import (
    COMMAND,
    differ,
    record_with,
    replies_of,
    scores_of,
    task_of,
)

NOT_CASES = {"verdict_legend", "constants", "layout_examples"}


def summary_of(made: Judgement) -> dict[str, Any]:
    score = unit_score(made.percent)
    return {
        "score_percent": made.percent,
        "task_score": score,
        "passed": made.passed,
        "final_fraction_4dp": made.fraction,
        "counts_as_perfect": score is not None and score >= 0.999,
        "reasoning": made.reasoning,
        "per_rubric_max": [int(met) for met in made.met],
    }


def scoring(case: Mapping[str, Any], context: Context) -> str | None:
    """The judge's own arithmetic, and the same verdicts through import, decisions and scorer."""
    rubrics = rubrics_of(case["rubrics"])
    words = case["verdicts"]
    if len(words) == len(case["rubrics"]):
        words = [words[rubric.position] for rubric in rubrics]
    replies = replies_of(rubrics, words, context.oracle["verdict_legend"])
    made = judge_trajectory(
        rubrics, replies, steps=case["n_steps"], screenshots=case["n_screenshots"]
    )
    found = summary_of(made)
    found["rubrics"] = [
        {"rubric_id": rubric.rubric_id, "effective_weight": rubric.weight, "success": met}
        for rubric, met in zip(rubrics, made.met, strict=False)
    ]
    return differ(case["expected"], found) or scored_alike(case, replies, made)


def scored_alike(case: Mapping[str, Any], replies: Sequence[Reply], made: Judgement) -> str | None:
    """Whether a record with these verdicts gets the same score; no record has no rubrics."""
    if not replies:
        return None
    try:
        task = task_of([rubric for rubric in case["rubrics"] if isinstance(rubric, dict)])
    except FormatError:
        # Rubrics that no import takes have no record; the judge's arithmetic was compared above.
        return None
    record = record_with(task, replies, steps=case["n_steps"], screenshots=case["n_screenshots"])
    scores = {score.metric: score for score in scores_of(task, record)}
    expected = {"rubric": made.percent / 100, "perfect": float(made.passed)}
    return differ(expected, {metric: score.value for metric, score in scores.items()}, "scorer")


def per_step(case: Mapping[str, Any], _context: Context) -> str | None:
    made = judge_steps(case["rubrics"], case["step_replies"])
    lines = prompt_lines(case["rubrics"])
    return differ(case["expected"], summary_of(made)) or differ(
        case["prompt_lists_rubrics"], lines, "prompt"
    )


def judge_reply(case: Mapping[str, Any], _context: Context) -> str | None:
    reply = read_reply(case["reply"])
    expected = [case["expected_success"], case["expected_reasoning"]]
    return differ(expected, [reply.success, reply.reasoning])


def judge_process(case: Mapping[str, Any], _context: Context) -> str | None:
    row = grade_process("t", case["process"], command=COMMAND)
    found: dict[str, Any] = {"status": row.status, "score": row.score, "error": row.error}
    if not row.error:
        found["recorded_result"] = recorded_result(case["process"], command=COMMAND)
    return differ(case["expected"], found)


def cached_result(case: Mapping[str, Any], _context: Context) -> str | None:
    stored = case["rubric_judge_result.json"]
    if isinstance(stored, str):
        row = grade_earlier_file("t", stored.encode())
    else:
        row = grade_earlier("t", stored)
    if row is None:
        kept = case["expected"].get("status") in ("cached", "judge_error")
        return "judged anew" if kept else None
    found = {"status": row.status, "score": row.score, "perfect": row.perfect}
    return differ(case["expected"], found)


FORMS = {"strict": Form.STRICT, "paper": Form.PAPER, "without_jsonschema": None}


def malformed(case: Mapping[str, Any], _context: Context) -> str | None:
    files = case["files"]
    graded = files["tasks/final/all_tasks_with_grading.json"]
    shards = {path: value for path, value in files.items() if path.endswith(".rubrics.json")}
    for name, expected in case["expected_validator"].items():
        made = validate(graded, files["tasks/final/all_tasks.json"], shards, FORMS[name])
        found = {
            "exit_code": made.exit_code,
            "crashed": made.crashed,
            "failures": made.failures,
            "summary": made.summary,
        }
        if told := differ(expected, found, name):
            return told
    found_errors = [
        {
            "task": task.get("id") if isinstance(task, dict) else None,
            **{name: errors_of(task, FORMS[name]) for name in ("strict", "paper")},
        }
        for task in graded
    ]
    return differ(case["schema_errors_per_bundle_task"], found_errors, "schema")


def errors_of(task: object, form: Form | None) -> list[dict[str, str]]:
    assert form is not None
    return [
        {
            "path": "/".join(map(str, error.path)),
            "keyword": error.keyword,
            "message": error.message,
        }
        for error in schema_errors(task, form)
    ]


CHECKS: dict[str, Check] = {
    "scoring_cases": scoring,
    "per_step_cases": per_step,
    "judge_reply_cases": judge_reply,
    "judge_process_cases": judge_process,
    "cached_result_cases": cached_result,
    "malformed_task_files": malformed,
    "benchmark": benchmark,
}
