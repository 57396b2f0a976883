"""MyPCBench: verdict words of the oracle as files, records, decisions and scores of the product."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from academy.bundle import DecisionSpec, RecordSpec, ScoredRecord, TaskSpec
from academy.effective import Decided, Evidence, EvidencePolicy, effective
from academy.formats.mypcbench import FORMAT
from academy.formats.mypcbench.judging import (
    Reply,
    failed_call,
    read_reply,
)
from academy.formats.mypcbench.rubrics import Rubric, rubrics_of
from academy.formats.reading import Files
from academy.scorers.base import Mode
from academy.scorers.rubric import SCORERS

COMMAND = "<command>"
CLOSE = 1e-9
REFERENCE = EvidencePolicy(kind=Evidence.REFERENCE)
SCORE = next(scorer.score for scorer in SCORERS if scorer.mode is Mode.REFERENCE)


def differ(expected: Any, found: Any, path: str = "") -> str | None:
    """The first place where two values differ; numbers agree within 1e-9."""
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        for key, value in expected.items():
            if key not in found:
                return f"{path}.{key} is absent"
            if told := differ(value, found[key], f"{path}.{key}"):
                return told
        return None
    if isinstance(expected, list) and isinstance(found, list | tuple):
        if len(expected) != len(found):
            return f"{path}: {len(found)} items, expected {len(expected)}"
        pairs = enumerate(zip(expected, found, strict=True))
        return next((t for n, (e, f) in pairs if (t := differ(e, f, f"{path}[{n}]"))), None)
    numbers = not isinstance(expected, bool) and not isinstance(found, bool)
    if numbers and isinstance(expected, int | float) and isinstance(found, int | float):
        return None if abs(expected - found) <= CLOSE else f"{path}: {found!r}, not {expected!r}"
    same = type(expected) is type(found) and expected == found
    return None if same else f"{path}: {found!r}, not {expected!r}"


def replies_of(
    rubrics: Sequence[Rubric], verdicts: Sequence[str], legend: Mapping[str, str]
) -> list[Reply]:
    """The judge's replies for the words of a case."""
    return [
        failed_call(rubric, legend[word]) if word == "error" else read_reply(legend[word])
        for rubric, word in zip(rubrics, verdicts, strict=True)
    ]


def task_of(rubrics: Sequence[Any], task_id: str = "example-1") -> TaskSpec:
    """A task with these rubrics, as the product imports it."""
    document = [
        {
            "id": task_id,
            "category": "retrieval",
            "instruction": "Do it.",
            "grading": {"type": "llm_judge", "rubrics": list(rubrics)},
        }
    ]
    files = Files.of({"example.rubrics.json": json.dumps(document).encode()})
    assert FORMAT.parse_suite is not None
    return FORMAT.parse_suite(files).suites[0].tasks[0]


def record_with(
    task: TaskSpec, replies: Sequence[Reply], *, steps: int, screenshots: int
) -> RecordSpec:
    """A result folder with a judge's file, as the product imports it."""
    rubrics = rubrics_of([{"criterion": criterion.text} for criterion in task.criteria])
    listed = [{"step_num": n + 1} for n in range(steps)]
    result = {
        "model": "example-judge",
        "rubric_results": [
            {"criterion": rubric.text, "success": reply.success, "reasoning": reply.reasoning}
            for rubric, reply in zip(rubrics, replies, strict=True)
        ],
    }
    return record_of_files(
        task.external_id,
        {
            "rubric_bundle.json": {
                "artifacts": {"steps": listed, "screenshots": ["s.png"] * screenshots}
            },
            "osworld_full_traj_result.json": result,
        },
    )


def record_of_files(task_id: str, contents: Mapping[str, Any]) -> RecordSpec:
    files = Files.of(
        {
            f"run/{task_id}/{name}": value.encode()
            if isinstance(value, str)
            else json.dumps(value).encode()
            for name, value in contents.items()
        }
    )
    assert FORMAT.parse_run is not None
    return next(FORMAT.parse_run(files, None).records())


def scores_of(task: TaskSpec, record: RecordSpec) -> list[ScoredRecord]:
    """Both metrics of a record in reference mode, over the decisions that came with it."""
    assert FORMAT.view is not None
    opened = FORMAT.view(record.raw, task)
    values = {
        criterion.key: effective(decided(record.decisions, place), REFERENCE)
        for place, criterion in enumerate(task.criteria)
    }
    scores = []
    for grading in task.gradings:
        verdict = SCORE(opened, task.key, values, grading.params)
        scores.append(
            ScoredRecord(
                task_id=task.external_id,
                metric=grading.metric,
                status=verdict.status,
                value=verdict.value,
                credit=verdict.credit,
                passed=verdict.passed,
                measures=verdict.measures,
            )
        )
    return scores


def decided(decisions: Sequence[DecisionSpec], place: int) -> list[Decided]:
    """The decision on one criterion, by position: ids of rubrics need not be unique."""
    return [
        Decided(
            source=decision.source,
            state=decision.state,
            value=decision.value,
            author=decision.author,
            version=decision.author_version,
            digest=decision.author_digest,
        )
        for decision in decisions[place : place + 1]
    ]
