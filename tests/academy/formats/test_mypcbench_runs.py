"""MyPCBench result folders: attempts, verdicts of both judges, and what scorers and readers see."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import RecordSpec, RecordStatus, RunUpload, SuiteSpec
from academy.errors import FormatError
from academy.formats.mypcbench import FORMAT
from academy.formats.reading import Files
from tests.academy.formats.mypcbench_making import (
    bundle,
    encoded,
    files_of,
    full_trajectory,
    rubric,
    suite_of,
    task,
)

ID = "retrieval-x001"
ROWS = [
    {
        "step_num": 1,
        "action_timestamp": "20260301@090000000000",
        "action": "click(1, 2)",
        "response": "Opening.",
        "screenshot_file": "step_1_a.png",
    },
    {
        "step_num": 2,
        "action_timestamp": "20260301@090001500000",
        "action": "DONE",
        "response": "Assam and Sencha.",
        "screenshot_file": "",
    },
]


def attempt(*verdicts: bool | str, **more: Any) -> dict[str, Any]:
    return {
        f"run-a/{ID}/traj.jsonl": ROWS,
        f"run-a/{ID}/rubric_bundle.json": bundle(task(), steps=2),
        f"run-a/{ID}/result.txt": "1.0\n",
        f"run-a/{ID}/osworld_full_traj_result.json": full_trajectory(task(), *verdicts),
        **{f"run-a/{ID}/{name}": value for name, value in more.items()},
    }


def parse(contents: dict[str, Any], suite: SuiteSpec | None = None) -> RunUpload:
    assert FORMAT.parse_run is not None
    return FORMAT.parse_run(files_of(contents), suite)


def only(contents: dict[str, Any], suite: SuiteSpec | None = None) -> RecordSpec:
    (record,) = parse(contents, suite).records()
    return record


def test_verdicts_of_the_full_trajectory_judge_become_decisions() -> None:
    record = only(attempt(True, "quota exceeded"), suite_of(task()))
    met, failed = record.decisions
    assert (met.criterion, met.value, met.state, met.reason) == ("R1", True, "value", "seen")
    assert (met.source, met.author, met.author_version) == (
        "judge",
        "example-judge",
        "full_trajectory",
    )
    assert (failed.criterion, failed.value, failed.state) == ("R2", None, "call_error")


def test_the_per_step_judge_is_another_judge_under_the_same_name() -> None:
    steps = [
        {"step_num": 1, "scores": [1, 0], "error": None},
        {"step_num": 2, "scores": [0, 0], "error": "no JSON"},
    ]
    per_step = {
        "model": "example-judge",
        "per_rubric_max": [1, 0],
        "per_step_scores": steps,
        "rubrics": task()["grading"]["rubrics"],
    }
    record = only(attempt(True, False, **{"rubric_result.json": per_step}))
    told = {(d.author_version, d.criterion): (d.value, d.state) for d in record.decisions}
    assert told == {
        ("full_trajectory", "R1"): (True, "value"),
        ("full_trajectory", "R2"): (False, "value"),
        ("per_step", "R1"): (True, "value"),
        ("per_step", "R2"): (None, "call_error"),
    }
    assert len({d.author_digest for d in record.decisions}) == 2


def test_the_content_digest_covers_neither_verdicts_nor_reported_scores() -> None:
    plain = only(attempt(True, True))
    other = only(attempt(False, True, **{"rubric_judge_result.json": {"result": 50}}))
    assert plain.content_digest == other.content_digest
    changed = dict(attempt(True, True))
    changed[f"run-a/{ID}/traj.jsonl"] = ROWS[:1]
    assert only(changed).content_digest != plain.content_digest


def test_nested_machines_are_one_run_and_plain_folders_are_runs_of_their_own() -> None:
    ended = {"result.txt": "0.0\n", "incomplete.txt": "errored\n"}
    upload = parse(
        {
            f"out/{place}/{name}": value
            for place in ("a/vm0/retrieval-x001", "a/vm12/retrieval-x002", "b/retrieval-x001")
            for name, value in ended.items()
        }
    )
    assert [run.entrant.name for run in upload.runs] == ["a", "b"]
    assert [(record.run, record.task_id) for record in upload.records()] == [
        (0, "retrieval-x001"),
        (0, "retrieval-x002"),
        (1, "retrieval-x001"),
    ]


def test_an_attempt_without_a_bundle_is_an_error_and_no_verdict() -> None:
    record = only({f"run-a/{ID}/result.txt": "0.0\n", f"run-a/{ID}/incomplete.txt": "errored\n"})
    assert (record.status, record.decisions) == (RecordStatus.ERROR, ())


def test_a_folder_that_is_no_attempt_is_told() -> None:
    contents = {**attempt(True, True), "run-a/retrieval-x002/traj.jsonl": ROWS}
    upload = parse(contents)
    reasons = {file.path: file.reason for file in upload.files if file.status == "recognised"}
    assert "no attempt" in reasons["run-a/retrieval-x002/traj.jsonl"]


def test_one_task_attempted_twice_is_refused_with_both_places() -> None:
    twice = {f"run-a/vm{n}/{ID}/result.txt": "0.0\n" for n in (0, 1)}
    with pytest.raises(FormatError, match=f"run-a/vm1/{ID}.*run-a/vm0/{ID}"):
        parse(twice)


def test_a_run_of_another_revision_is_refused_under_this_suite() -> None:
    later = suite_of(task(grading={"type": "llm_judge", "rubrics": [rubric("Names both", 1.0)]}))
    with pytest.raises(FormatError) as caught:
        parse(attempt(True, True), later)
    assert {problem.rule for problem in caught.value.problems} == {
        "other-revision",
        "rubrics-differ",
    }


def test_reported_numbers_come_from_the_grader() -> None:
    row = {"task_id": ID, "status": "judged", "score": 1.0, "raw": 100}
    scores = {"result_dir": "run-a", "perfect_rate": 1.0, "avg_score": 1.0, "rows": [row]}
    upload = parse({**attempt(True, True), "run-a/scores.json": scores})
    assert dict(upload.runs[0].results) == {"perfect": 1.0, "rubric": 1.0}
    (record,) = upload.records()
    assert {held.metric: held.value for held in record.reported} == {"perfect": 1.0, "rubric": 1.0}
    failed = {"result": ["cmd", "timeout", "", ""]}
    (held,) = only(attempt(True, True, **{"rubric_judge_result.json": failed})).reported
    assert (held.metric, held.value, held.note) == ("rubric", None, "judge_error")


def test_a_score_that_the_verdicts_do_not_give_is_told() -> None:
    contents = attempt(True, False)
    contents[f"run-a/{ID}/osworld_full_traj_result.json"]["score"] = 90
    assert [notice.rule for notice in parse(contents).notices] == ["score-differs"]


def test_the_view_shows_steps_and_never_a_verdict() -> None:
    messages = [
        {"role": "assistant", "tool_calls": [{"function": {"name": "bash", "arguments": "{}"}}]},
        {"role": "tool", "content": "sunday"},
        {"role": "user", "content": [{"type": "tool_result", "content": "monday"}]},
    ]
    record = only(attempt(True, "quota exceeded", **{"messages.json": messages}))
    assert FORMAT.view is not None
    seen = FORMAT.view(record.raw, suite_of(task()).tasks[0])
    assert [(event.kind, event.text) for event in seen.events] == [
        ("thought", "Opening."),
        ("action", "click(1, 2)"),
        ("message", "Assam and Sencha."),
        ("action", "DONE"),
        ("tool_call", "{}"),
        ("tool_result", "sunday"),
        ("tool_result", "monday"),
    ]
    assert [event.seq for event in seen.events] == list(range(7))
    assert seen.events[1].images == ("step_1_a.png",)
    assert seen.events[3].offset_ms == 1500
    assert seen.answer == "Assam and Sencha."
    assert "quota" not in repr(seen) and "example-judge" not in repr(seen)


def test_what_was_said_once_for_several_actions_is_shown_once() -> None:
    rows = [{"step_num": 1, "action": f"key({n})", "response": "Typing."} for n in range(3)]
    again = {"step_num": 2, "action": "key(9)", "response": "Typing."}
    contents = {f"run-a/{ID}/traj.jsonl": [*rows, again], f"run-a/{ID}/result.txt": "1.0\n"}
    assert FORMAT.view is not None
    events = FORMAT.view(only(contents).raw, None).events
    assert [event.text for event in events if event.kind == "thought"] == ["Typing.", "Typing."]


def test_a_crash_of_the_agent_is_shown_as_an_error() -> None:
    rows = [{"step_num": 1, "action": "PREDICT_CRASH", "response": "out of memory"}]
    record = only({f"run-a/{ID}/traj.jsonl": rows, f"run-a/{ID}/result.txt": "1.0\n"})
    assert FORMAT.view is not None
    (event,) = FORMAT.view(record.raw, None).events
    assert (event.kind, event.text) == ("error", "out of memory")


def test_steps_times_and_tokens_are_read_and_never_guessed() -> None:
    record = only(attempt(True, True, **{"usage.json": {"input_tokens": 9, "output_tokens": 2}}))
    assert (record.steps, record.wall_ms, record.tokens_in, record.tokens_out) == (2, 1500, 9, 2)
    untimed = attempt(True, True)
    untimed[f"run-a/{ID}/traj.jsonl"] = [{"step_num": 1}, ROWS[1]]
    record = only(untimed)
    assert (record.wall_ms, record.tokens_in) == (None, None)


def test_a_cut_trajectory_is_refused_at_its_line() -> None:
    contents = attempt(True, True)
    contents[f"run-a/{ID}/traj.jsonl"] = encoded("traj.jsonl", ROWS)[:-10]
    with pytest.raises(FormatError) as caught:
        parse(contents)
    assert caught.value.problems[0].line == 2


@pytest.mark.parametrize("said", [b"NaN", b"1e999", b'"met"', b"1"])
def test_a_verdict_must_be_true_or_false(said: bytes) -> None:
    contents = attempt(True, True)
    path = f"run-a/{ID}/osworld_full_traj_result.json"
    text = json.dumps(contents[path]).encode()
    contents[path] = text.replace(b'"success": true', b'"success": ' + said, 1)
    with pytest.raises(FormatError):
        parse(contents)


def test_what_was_imported_is_written_back_equal() -> None:
    contents = {
        **attempt(True, "quota", **{"usage.json": {"a": 1.0}, "incomplete.txt": "late\n"}),
        "run-a/summary.json": {"completed": 1},
    }
    suite = suite_of(task())
    upload = parse(contents, suite)
    assert FORMAT.export_run is not None
    written = FORMAT.export_run(suite, upload.runs[0], list(upload.records()))
    assert {path: read_again(path, data) for path, data in written.items()} == {
        path: read_again(path, encoded(path, value)) for path, value in contents.items()
    }
    assert parse(dict(written), suite).runs == upload.runs


def read_again(path: str, data: bytes) -> Any:
    if path.endswith(".txt"):
        return data
    return (
        [json.loads(line) for line in data.splitlines()] if path.endswith("l") else json.loads(data)
    )


@settings(max_examples=60)
@given(st.data())
def test_broken_bytes_are_refused_or_give_records(data: st.DataObject) -> None:
    contents = {path: encoded(path, value) for path, value in attempt(True, "quota").items()}
    path = data.draw(st.sampled_from(sorted(contents)))
    whole = contents[path]
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, len(whole)))
    contents[path] = whole[:start] + data.draw(st.binary(max_size=3)) + whole[end:]
    assert FORMAT.parse_run is not None
    assert FORMAT.view is not None
    suite = suite_of(task())
    try:
        records = list(FORMAT.parse_run(Files.of(contents), suite).records())
    except FormatError as error:
        assert error.problems
        return
    for record in records:
        FORMAT.view(record.raw, suite.tasks[0])


def test_the_empty_attempt_is_the_floor() -> None:
    made = suite_of(task()).tasks[0]
    answers = FORMAT.gate_answers(made)
    assert answers.null is not None and answers.reason
    assert FORMAT.view is not None
    assert FORMAT.view(answers.null, made).status is RecordStatus.ERROR
