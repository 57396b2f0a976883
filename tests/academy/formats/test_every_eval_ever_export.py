"""Runs of any format as pairs of 0.3.0: accepted by the original's rules, and honest."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from academy.bundle import (
    Direction,
    EntrantSpec,
    Event,
    MetricKind,
    MetricSpec,
    RecordSpec,
    RecordStatus,
    RecordView,
    ResultSpec,
    RunSpec,
    ScoredRecord,
    SuiteSpec,
    TaskSpec,
)
from academy.formats.every_eval_ever.export import Pair, Publisher, export_pair
from academy.formats.every_eval_ever.judging import judge
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.reference import judge_file
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.reading import Files

PASS = MetricSpec(
    key="pass", label="Passed", direction=Direction.UP, kind=MetricKind.PASS, low=0, high=1
)
ERROR = MetricSpec(
    key="error", label="Error", direction=Direction.DOWN, kind=MetricKind.ERROR, unit="percent"
)
SUITE = SuiteSpec(
    slug="harbours",
    title="Harbours",
    format="somewhere",
    version="1",
    tasks=tuple(
        TaskSpec(external_id=name, prompt=f"Where is {name}?", key={"secret": "canary-key"})
        for name in ("a", "b", "c", "d")
    ),
    metrics=(PASS, ERROR),
)
RUN = RunSpec(
    entrant=EntrantSpec(name="Example", model="example-model", developer="example-org"),
    external_id="run-1",
    started_at="2026-01-02T03:04:05+00:00",
)


def record(task: str, **changes: Any) -> RecordSpec:
    return RecordSpec(task_id=task, raw=json.dumps({"said": f"at {task}"}).encode(), **changes)


def opened(raw: bytes, _task: TaskSpec | None) -> RecordView:
    answer = json.loads(raw)["said"]
    return RecordView(answer=answer, events=(Event(seq=0, kind="message", role="user", text="?"),))


def score(task: str, metric: str, status: str = "scored", **changes: Any) -> ScoredRecord:
    return ScoredRecord(task_id=task, metric=metric, status=status, **changes)


SCORES = (
    score("a", "pass", value=1.0, passed=True),
    score("b", "pass", value=0.0, passed=False),
    score("c", "pass", "needs_human"),
    score("d", "pass", ""),
    score("a", "error", value=12.5),
    score("b", "error", "unscorable"),
)


def export(
    suite: SuiteSpec = SUITE,
    scores: Sequence[ScoredRecord] = SCORES,
    run: RunSpec = RUN,
    **changes: Any,
) -> Pair:
    records = [record(name) for name in ("a", "b", "c", "d")]
    publisher = Publisher(retrieved_at="1790000000")
    given: dict[str, Any] = {"view": opened, "publisher": publisher} | changes
    return export_pair(suite, run, records, scores, **given)


def rows_of(pair: Pair) -> list[dict[str, Any]]:
    return [json.loads(line) for line in pair.rows.splitlines()]


def test_the_originals_rules_and_both_schemas_take_the_pair() -> None:
    files = export().files()
    assert len(files) == 2
    for path, data in files.items():
        verdict = judge_file(path, files)
        assert verdict.errors == ()
        assert verdict.warnings == ()
        if path.endswith(".json"):
            assert judge(json.loads(data), "aggregate-0.3.0") == ()
    for row in rows_of(export()):
        assert judge(row, "instance-0.3.0") == ()


def test_what_is_known_of_weights_is_written_and_read_again() -> None:
    for weights, said in (("open", "open_weights"), ("closed", "closed_weights"), ("", "unknown")):
        run = replace(RUN, entrant=replace(RUN.entrant, weights=weights))
        files = export(run=run).files()
        (aggregate,) = (json.loads(data) for path, data in files.items() if path.endswith(".json"))
        assert aggregate["model_info"]["additional_details"]["model_availability"] == said
        assert parse_run(Files.of(files), None).runs[0].entrant.weights == weights


def test_only_scored_items_are_rows_and_correct_means_passed() -> None:
    rows = rows_of(export())
    assert [(row["sample_id"], row["evaluation"]["is_correct"]) for row in rows] == [
        ("a", True),
        ("b", False),
    ]
    assert {row["evaluation_result_id"] for row in rows} == {"harbours:pass:strict"}


def test_a_metric_without_a_pass_mark_is_in_the_aggregate_alone() -> None:
    pair = export(scores=SCORES[4:])
    assert pair.rows == b""
    assert list(pair.files()) == [pair.aggregate_path]
    (result,) = json.loads(pair.aggregate)["evaluation_results"]
    assert result["score_details"]["score"] == 12.5
    assert "detailed_evaluation_results" not in json.loads(pair.aggregate)


def test_what_waits_is_missing_or_cannot_be_scored_is_counted_beside_the_number() -> None:
    results = json.loads(export().aggregate)["evaluation_results"]
    told = {
        result["metric_config"]["metric_id"]: result["metric_config"]["additional_details"]
        for result in results
    }
    assert told["pass"] == {
        "scored": "2",
        "waiting": "1",
        "missing": "1",
        "unscorable": "0",
        "mode": "strict",
    }
    assert told["error"]["unscorable"] == "1"


def test_published_numbers_are_taken_as_they_are_with_their_interval() -> None:
    published = ResultSpec(metric="pass", value=0.25, low=0.1, high=0.6, method="wilson", n=4)
    results = json.loads(export(results=[published]).aggregate)["evaluation_results"]
    details = results[0]["score_details"]
    assert details["score"] == 0.25
    interval = details["uncertainty"]["confidence_interval"]
    assert (interval["lower"], interval["upper"], interval["method"]) == (0.1, 0.6, "wilson")


def test_no_number_is_made_of_several_dimensions() -> None:
    dimensions = tuple(
        MetricSpec(key=f"d{n}", label=f"D{n}", direction=Direction.UP, kind=MetricKind.RATING)
        for n in range(3)
    )
    suite = SuiteSpec(
        slug="skills", title="Skills", format="x", tasks=SUITE.tasks, metrics=dimensions
    )
    scores = [score("a", metric.key, value=n) for n, metric in enumerate(dimensions)]
    aggregate = json.loads(export(suite, scores).aggregate)
    assert [r["metric_config"]["metric_id"] for r in aggregate["evaluation_results"]] == [
        "d0",
        "d1",
        "d2",
    ]


def test_repetitions_are_averaged_inside_their_task_first() -> None:
    scores = (
        score("a", "pass", value=1.0, replicate=1, passed=True),
        score("a", "pass", value=0.0, replicate=2, passed=False),
        score("b", "pass", value=1.0, passed=True),
    )
    (result,) = json.loads(export(scores=scores).aggregate)["evaluation_results"]
    assert result["score_details"]["score"] == 0.75


def test_answer_keys_never_leave_and_holdout_prompts_neither() -> None:
    hidden = SuiteSpec(
        slug="harbours",
        title="Harbours",
        format="somewhere",
        tasks=tuple(
            TaskSpec(external_id=t.external_id, prompt="canary-prompt", key=t.key, holdout=True)
            for t in SUITE.tasks
        ),
        metrics=SUITE.metrics,
    )
    for suite in (SUITE, hidden):
        for references in (False, True):
            publisher = Publisher(retrieved_at="1790000000", references=references)
            pair = export(suite, publisher=publisher)
            assert b"canary" not in pair.aggregate + pair.rows
    assert b"at a" not in export(hidden).rows


def test_the_same_run_gives_the_same_bytes_and_modes_have_places_of_their_own() -> None:
    assert export() == export()
    reference = Publisher(retrieved_at="1790000000", mode="reference")
    assert export(publisher=reference).aggregate_path != export().aggregate_path


def test_a_name_that_cannot_be_a_folder_is_kept_as_text() -> None:
    for name in ("CON", "a?b", "..", "data", "x/", "unknown", "  "):
        run = RunSpec(entrant=EntrantSpec(name=name or "x", model=name, developer=""))
        files = export(run=run).files()
        for path in files:
            assert judge_file(path, files).errors == (), (name, path)


def test_tools_and_thoughts_become_messages() -> None:
    events = (
        Event(seq=0, kind="message", role="user", text="Go."),
        Event(seq=1, kind="thought", text="Hm."),
        Event(seq=2, kind="tool_call", tool="map", data={"zoom": 3, "at": "x"}),
        Event(seq=3, kind="tool_result", text="a map"),
        Event(seq=4, kind="message", role="assistant", text="Done."),
    )
    view = RecordView(answer="Done.", events=events, status=RecordStatus.ANSWERED)
    pair = export(view=lambda _raw, _task: view)
    files = pair.files()
    assert all(judge_file(path, files).accepted for path in files)
    (first, _second) = rows_of(pair)
    assert first["interaction_type"] == "agentic"
    assert first["messages"][2]["tool_calls"][0]["arguments"] == {"zoom": "3", "at": "x"}
    assert first["evaluation"]["tool_calls_count"] == 1


def test_an_exported_pair_can_be_read_again() -> None:
    files = Files.of(export().files())
    (suite,) = parse_suite(files).suites
    assert suite.slug == "harbours"
    upload = parse_run(files, None)
    assert [record.reported[0].value for record in upload.records()] == [1.0, 0.0]
    assert dict(upload.runs[0].results) == {"pass": 0.5, "error": 12.5}
