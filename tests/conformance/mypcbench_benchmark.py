"""MyPCBench: the oracle's whole runs, summed up by the product."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from academy.bundle import ScoredRecord, SuiteSpec, TaskSpec
from academy.formats.base import AggregateContext
from academy.formats.mypcbench import FORMAT
from academy.formats.mypcbench.aggregating import rows_of
from academy.formats.mypcbench.judging import (
    recorded_result,
    summarise,
)
from academy.formats.mypcbench.rubrics import rubrics_of
from academy.formats.reading import Files
from academy.scorers.base import Mode
from tests.conformance.base import Context
from tests.conformance.mypcbench_records import (
    COMMAND,
    differ,
    record_of_files,
    replies_of,
    scores_of,
)


def benchmark(case: Mapping[str, Any], context: Context) -> str | None:
    part: dict[str, Callable[[Any, Context], str | None]] = {
        "suite": benchmark_suite,
        "runs": benchmark_runs,
        "ranking": benchmark_ranking,
    }
    return part[case["id"]](case["case"], context)


def real_suite(folder: Path) -> SuiteSpec:
    """The suite of the real bucket files."""
    root = folder / "tasks"
    paths = [path for path in root.rglob("*") if path.is_file()]
    files = Files.of({str(path.relative_to(root)): path.read_bytes() for path in paths})
    assert FORMAT.parse_suite is not None
    return next(s for s in FORMAT.parse_suite(files).suites if s.slug == "final")


def suite_of(listed: Sequence[Mapping[str, Any]], folder: Path) -> SuiteSpec:
    """The tasks that the oracle names, out of the real suite."""
    suite = real_suite(folder)
    tasks = [task for item in listed if (task := suite.task(item["task_id"])) is not None]
    return SuiteSpec(
        slug=suite.slug,
        title=suite.title,
        format=suite.format,
        tasks=tuple(tasks),
        metrics=suite.metrics,
        mode=suite.mode,
    )


def benchmark_suite(listed: Sequence[Mapping[str, Any]], context: Context) -> str | None:
    suite = suite_of(listed, context.folder)
    found = [
        {
            "task_id": task.external_id,
            "category": task.attributes["category"],
            "difficulty": task.attributes["difficulty"],
            "bucket": task.attributes["app"],
            "collection": task.attributes["collection"],
            "n_apps": task.attributes["apps"],
            "n_rubrics": len(task.criteria),
        }
        for task in suite.tasks
    ]
    return differ(list(listed), found)


def attempt_files(
    item: Mapping[str, Any], task: TaskSpec, legend: Mapping[str, str]
) -> dict[str, Any]:
    """The files that an attempt of a run left, made from its markers and verdicts."""
    contents: dict[str, Any] = {}
    for marker in item["markers"]:
        name, _, content = marker.partition("=")
        contents[name] = f"{content}\n"
    if "rubric_bundle.json" in contents:
        contents["rubric_bundle.json"] = {"artifacts": {"steps": [{"step_num": 1}]}}
    if "timeout" in item["state"]:
        result = recorded_result({"timeout": True}, command=COMMAND)
        contents["rubric_judge_result.json"] = {"result": result}
    elif "verdicts" in item:
        rubrics = rubrics_of([{"criterion": criterion.text} for criterion in task.criteria])
        replies = replies_of(rubrics, item["verdicts"], legend)
        contents["osworld_full_traj_result.json"] = {
            "model": "example-judge",
            "rubric_results": [
                {"criterion": rubric.text, "success": reply.success, "reasoning": reply.reasoning}
                for rubric, reply in zip(rubrics, replies, strict=True)
            ],
        }
    return contents


def run_scores(run: Mapping[str, Any], suite: SuiteSpec, context: Context) -> list[ScoredRecord]:
    """Every attempt of a run through import, decisions and scorer."""
    scores: list[ScoredRecord] = []
    for item in run["input"]:
        task = suite.task(item["task_id"])
        assert task is not None
        contents = attempt_files(item, task, context.oracle["verdict_legend"])
        if contents:
            scores += scores_of(task, record_of_files(task.external_id, contents))
    return scores


SLICED = {
    "by_category": "category",
    "by_difficulty": "difficulty",
    "by_bucket": "app",
    "by_collection": "collection",
    "by_number_of_apps": "apps",
}


def benchmark_runs(runs: Sequence[Mapping[str, Any]], context: Context) -> str | None:
    suite = suite_of(context.oracle["benchmark"]["suite"], context.folder)
    for run in runs:
        scores = run_scores(run, suite, context)
        if told := run_difference(run, scores, suite):
            return f"{run['run']}: {told}"
    return None


def run_difference(
    run: Mapping[str, Any], scores: Sequence[ScoredRecord], suite: SuiteSpec
) -> str | None:
    expected = run["expected"]
    results = FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=Mode.REFERENCE))
    details = {result.slice: result.details for result in results if result.metric == "rubric"}
    values = {(result.metric, result.slice): result.value for result in results}
    found: dict[str, Any] = {"overall": details[""]}
    for name, attribute in SLICED.items():
        found[name] = {value: details[f"{attribute}={value}"] for value in expected[name]}
    rows = [{"status": r.status, "score": r.score, "task_id": r.task_id} for r in rows_of(scores)]
    wanted_rows = [{key: row[key] for key in rows[0]} for row in expected["rows"]]
    headline = {"perfect_rate": values["perfect", ""], "avg_score": values["rubric", ""]}
    strict = FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=Mode.STRICT))
    return (
        differ({name: expected[name] for name in found}, found)
        or differ(wanted_rows, rows, "rows")
        or differ({key: expected["overall"][key] for key in headline}, headline, "headline")
        or differ(expected["suite_size"], details[""]["suite"], "suite_size")
        or differ(expected["attempted"], details[""]["tasks"], "attempted")
        or differ(
            expected["overall_if_never_started_counted_as_zero"],
            {
                key: next(r for r in strict if (r.metric, r.slice) == (metric, "")).details["worst"]
                for key, metric in (("perfect_rate", "perfect"), ("avg_score", "rubric"))
            },
            "whole suite",
        )
    )


def groups(values: Iterable[tuple[str, float]]) -> list[list[str]]:
    """Names by falling value, equal values together."""
    listed = list(values)
    distinct = sorted({value for _, value in listed}, reverse=True)
    return [[name for name, held in listed if held == value] for value in distinct]


def benchmark_ranking(ranking: Mapping[str, Any], context: Context) -> str | None:
    listed = context.oracle["benchmark"]
    suite = suite_of(listed["suite"], context.folder)
    measured: dict[str, dict[str, Any]] = {}
    for run in listed["runs"]:
        scores = run_scores(run, suite, context)
        summary = summarise(rows_of(scores))
        strict = FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=Mode.STRICT))
        worst = {r.metric: r.details["worst"] for r in strict if r.slice == ""}
        measured[run["run"]] = {
            **summary,
            "perfect_rate_over_whole_suite": worst["perfect"],
            "avg_score_over_whole_suite": worst["rubric"],
        }
    found = {
        name: groups((run, held[name.removeprefix("by_")]) for run, held in measured.items())
        for name in ranking
        if name != "note"
    }
    return differ({name: ranking[name] for name in found}, found)
