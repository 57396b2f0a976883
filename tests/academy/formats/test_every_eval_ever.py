"""Every Eval Ever: what is read from aggregates and rows, what is refused, what is only told."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import PurePosixPath
from typing import Any

import pytest

from academy.bundle import RecordStatus, SuiteSpec, TaskSpec
from academy.errors import FormatError
from academy.formats.every_eval_ever import FORMAT
from academy.formats.every_eval_ever.judging import AGGREGATES, INSTANCES, validator
from academy.formats.every_eval_ever.native import export_submission
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.every_eval_ever.versions import AGGREGATE_SCHEMAS, ROW_SCHEMAS
from academy.formats.every_eval_ever.views import view
from academy.formats.reading import Files
from tests.academy.formats.every_eval_ever_making import (
    AGGREGATE,
    FOLDER,
    ROWS,
    UUID,
    aggregate,
    alone,
    declared,
    lines,
    pair,
    result,
    row,
)
from tests.academy.formats.every_eval_ever_telling import refused, told


def test_every_version_in_circulation_has_a_schema_that_compiles() -> None:
    for name in {*AGGREGATE_SCHEMAS.values(), *ROW_SCHEMAS.values()}:
        assert validator(name).is_valid({}) is False
    assert {f"aggregate-{version}" for version in AGGREGATES} == set(AGGREGATE_SCHEMAS.values())
    assert {f"instance-{version}" for version in INSTANCES} > set(ROW_SCHEMAS.values())


def test_two_lines_of_one_execution_are_one_record_with_two_reported_scores() -> None:
    rows = lines(row("q1", 1.0), row("q1", 0.25, metric="f1"), row("q2", 0.0))
    files = pair([result(), result("f1", 0.25)], rows)
    upload = parse_run(files, None)
    first, second = upload.records()
    assert [(one.metric, one.value, one.line) for one in first.reported] == [
        ("accuracy", 1.0, 1),
        ("f1", 0.25, 2),
    ]
    assert [one.metric for one in second.reported] == ["accuracy"]
    assert first.content_digest != second.content_digest


def test_lines_of_one_execution_may_lie_apart() -> None:
    rows = lines(
        row("q1", 1.0), row("q2", 0.0), row("q1", 0.5, metric="f1"), row("q2", 0.0, metric="f1")
    )
    upload = parse_run(pair([result(), result("f1", 0.25)], rows), None)
    records = list(upload.records())
    assert [len(record.reported) for record in records] == [2, 2]
    assert [one.line for record in records for one in record.reported] == [1, 3, 2, 4]
    assert records == list(upload.records())


def test_two_executions_of_one_sample_are_refused_with_both_lines() -> None:
    rows = lines(row("case-7"), row("other"), row("case-7", said="Malaga"))
    message = refused(pair([result()], rows))["two-executions"]
    assert "lines 1 and 3" in message
    assert "output" in message
    assert ROWS in message


@pytest.mark.parametrize("name", ["epoch", "attempt", "replicate"])
def test_two_executions_that_say_which_repetition_they_are_are_two_records(name: str) -> None:
    rows = lines(
        row("case-7", metadata={name: "1"}), row("case-7", said="Malaga", metadata={name: "2"})
    )
    records = list(parse_run(pair([result(score=1)], rows), None).records())
    assert [record.replicate for record in records] == [1, 2]
    assert len({record.task_id for record in records}) == 1


def test_one_result_with_two_scores_for_one_sample_is_refused() -> None:
    message = refused(pair([result()], lines(row("q1", 1.0), row("q1", 0.0))))["two-scores"]
    assert "lines 1 and 2" in message


def test_a_line_that_repeats_another_is_told_and_counts_once() -> None:
    files = pair([result(score=1)], lines(row("q1"), row("q1")))
    assert "double-row" in told(parse_suite(files))
    (record,) = parse_run(files, None).records()
    assert len(record.reported) == 1


def test_filters_of_lm_eval_are_metrics_of_one_execution() -> None:
    def filtered(name: str, metric: str, taken: str) -> dict[str, Any]:
        attribution = {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": taken,
            "extraction_method": "regex",
            "is_terminal": True,
        }
        return row(metric=metric, answer_attribution=[attribution], metadata={"filter": name})

    rows = lines(filtered("strict", "strict", "Cadiz"), filtered("loose", "loose", "Cad"))
    (record,) = parse_run(pair([result("strict", 1), result("loose", 1)], rows), None).records()
    assert [one.metric for one in record.reported] == ["strict", "loose"]


def test_errors_of_every_file_are_told_at_once_and_capped() -> None:
    rows = lines(*(row(f"q{n}", "many") for n in range(80)))
    files = {AGGREGATE: json.dumps(aggregate(result(), detailed_evaluation_results=declared(rows)))}
    files["data/x/y/z/bad.json"] = json.dumps(aggregate(result(score="0.5")))
    with pytest.raises(FormatError) as caught:
        parse_suite(Files.of({name: text.encode() for name, text in files.items()} | {ROWS: rows}))
    assert caught.value.total == 81
    assert len(caught.value.problems) == 50
    assert "and 31 more" in str(caught.value)


def test_rows_of_another_evaluation_or_model_are_refused() -> None:
    rules = refused(pair([result()], lines(row(evaluation_id="x"), row("q2", model_id="y"))))
    assert set(rules) == {"row-of-another-aggregate"}


def test_a_row_count_that_does_not_hold_is_refused_and_a_checksum_is_only_told() -> None:
    rows = lines(row())
    assert "row-count" in refused(pair([result()], rows, detail=declared(rows, total_rows=2)))
    files = pair([result(score=1)], rows, detail=declared(rows, checksum="0" * 64))
    assert "checksum" in told(parse_suite(files))


def test_rows_without_result_ids_join_by_name_where_that_is_one() -> None:
    def nameless(sample: str) -> dict[str, Any]:
        made = row(sample)
        del made["evaluation_result_id"]
        return made

    (record,) = parse_run(pair([result(score=1)], lines(nameless("q1"))), None).records()
    assert record.reported[0].metric == "accuracy"
    files = pair([result(score=1), result("f1", 1)], lines(nameless("q1")))
    assert "ambiguous-result" in told(parse_suite(files))


def test_a_null_result_id_is_read_as_none_and_told() -> None:
    files = pair([result(score=1)], lines(row(evaluation_result_id=None)))
    upload = parse_suite(files)
    assert "tolerated-type" in told(upload)
    (record,) = parse_run(files, None).records()
    assert record.reported[0].metric == "accuracy"


def test_values_of_string_maps_that_are_no_text_are_kept_and_told() -> None:
    files = pair([result(score=1)], lines(row(metadata={"difficulty": 3})))
    assert "tolerated-type" in told(parse_suite(files))
    (record,) = parse_run(files, None).records()
    assert json.loads(record.raw)["metadata"] == {"difficulty": 3}


def test_one_file_is_split_into_a_run_for_each_data_set() -> None:
    rows = lines(row("q1"), row("c1", data_set="capes"), row("q2"))
    results = [result(score=1), result(score=1, data_set="capes")]
    files = pair(results, rows)
    suites = parse_suite(files).suites
    assert [(suite.slug, len(suite.tasks), suite.mode) for suite in suites] == [
        ("capes", 1, "collection"),
        ("ports", 2, "collection"),
    ]
    upload = parse_run(files, None)
    assert [run.suite.slug for run in upload.runs] == ["ports", "capes"]
    assert [record.run for record in upload.records()] == [0, 1, 0]
    assert len({run.duplicate_digest for run in upload.runs}) == 1
    assert len({run.external_id for run in upload.runs}) == 2
    records = list(upload.records())
    parts = [
        (run, [record for record in records if record.run == place])
        for place, run in enumerate(upload.runs)
    ]
    assert export_submission(parts) == {str(path): files[path] for path in files}


def test_an_aggregate_without_rows_is_a_run_that_is_reported() -> None:
    upload = parse_run(alone(aggregate(result(score=0.7))), None)
    (run,) = upload.runs
    assert run.verification == "reported"
    assert dict(run.results) == {"accuracy": 0.7}
    assert list(upload.records()) == []


def test_the_same_evaluation_retrieved_again_changes_nothing_and_says_so() -> None:
    one = aggregate(result(score=0.7))
    again = one | {"retrieved_timestamp": "1760000000", "evaluation_id": "ports/x/1760000000"}
    files = Files.of({"a.json": json.dumps(one).encode(), "b.json": json.dumps(again).encode()})
    upload = parse_run(files, None)
    assert len(upload.runs) == 1
    (report,) = [one for one in upload.files if one.path == "b.json"]
    assert report.status == "recognised"
    assert "a.json" in report.reason


def test_a_task_is_the_same_whoever_brings_it() -> None:
    one = pair([result(score=1)], lines(row(metadata={"epoch": "1"})))
    two = pair([result(score=0)], lines(row(score=0, said="Malaga", sample_hash="ab" * 32)))
    (first,), (second,) = (parse_suite(files).suites[0].tasks for files in (one, two))
    assert first == second


def test_what_is_expected_is_sealed() -> None:
    (suite,) = parse_suite(pair([result(score=1)], lines(row()))).suites
    (task,) = suite.tasks
    assert task.key == {"reference": ["Cadiz"]}
    assert "Cadiz" not in repr((task.prompt, task.context, task.attributes, task.extra))


def test_a_prompt_with_nul_is_shown_with_a_symbol_and_kept_as_it_came() -> None:
    files = pair([result(score=1)], lines(row(input={"raw": "a\0b", "reference": ["c\0"]})))
    upload = parse_suite(files)
    assert "symbol-shown" in told(upload)
    assert upload.suites[0].tasks[0].prompt == "a\u2400b"
    (record,) = parse_run(files, None).records()
    assert json.loads(record.raw)["input"]["raw"] == "a\0b"


def test_a_name_with_nul_is_refused() -> None:
    assert "text" in refused(pair([result(score=1)], lines(row("q\0"))))
    assert "text" in refused(alone(aggregate(result("acc\0uracy"))))


def test_lines_are_cut_at_line_feeds_only() -> None:
    made = json.dumps(row(said="one\u2028two"), ensure_ascii=False).encode()
    rows = made + b"\r\n\n  \n" + lines(row("q2"))
    upload = parse_run(pair([result(score=1)], rows), None)
    assert [record.line for record in upload.records()] == [1, 4]


def test_a_file_of_blank_lines_only_is_an_error() -> None:
    assert "empty" in refused(pair([result()], b"\n \n", detail=declared(b"", total_rows=0)))


def test_rows_that_are_declared_and_not_here_are_told() -> None:
    held = aggregate(result(), detailed_evaluation_results=declared(b"", total_rows=3))
    upload = parse_suite(alone(held))
    assert "rows-missing" in told(upload)


def test_rows_beside_an_aggregate_that_does_not_declare_them_are_read() -> None:
    rows = lines(row())
    held = json.dumps(aggregate(result(score=1))).encode()
    upload = parse_suite(Files.of({"run.json": held, "run_samples.jsonl": rows}))
    assert "rows-undeclared" in told(upload)
    assert len(upload.suites[0].tasks) == 1


def test_a_trajectory_of_the_upload_is_kept_with_the_record_and_shown() -> None:
    steps = {"steps": [{"step_id": 1, "source": "agent", "message": "Sailing."}]}
    reference = {"type": "module_reference", "uri": "t.json"}
    files = pair([result(score=1)], lines(row(trajectory=reference)))
    whole = {str(path): files[path] for path in files}
    whole[f"{FOLDER}/t.json"] = json.dumps(steps).encode()
    upload = parse_run(Files.of(whole), None)
    (record,) = upload.records()
    assert [event.text for event in view(record.raw, None).events][-1] == "Sailing."
    assert {report.path for report in upload.files if report.status == "imported"} == set(whole)


def test_a_trajectory_with_another_digest_is_refused_by_name() -> None:
    reference = {"type": "module_reference", "uri": "t.json", "sha256": "0" * 64}
    files = pair([result(score=1)], lines(row(trajectory=reference)))
    whole = {str(path): files[path] for path in files} | {f"{FOLDER}/t.json": b"{}"}
    assert "t.json" in refused(Files.of(whole))["trajectory-sha256"]


@pytest.mark.parametrize(
    "uri", ["../../etc/hostname", "/etc/hostname", "C:\\t.json", "CON.json", "file:///etc/passwd"]
)
def test_a_trajectory_outside_of_the_upload_is_refused_by_name(uri: str) -> None:
    reference = {"type": "module_reference", "uri": uri}
    message = refused(pair([result()], lines(row(trajectory=reference))))["trajectory-path"]
    assert repr(uri) in message


def test_pairs_are_taken_for_a_suite_of_another_format_by_sample_id() -> None:
    task = TaskSpec(external_id="q1", prompt="Which port?")
    suite = SuiteSpec(
        slug="harbours", title="Harbours", format="other", version="1", tasks=(task,), metrics=()
    )
    upload = parse_run(pair([result(score=1)], lines(row("q1"))), suite)
    (record,) = upload.records()
    assert record.task_id == "q1"
    assert upload.runs[0].suite.slug == "harbours"


def test_samples_that_the_suite_lacks_are_passed_on_by_their_own_id() -> None:
    task = TaskSpec(external_id="q1", prompt="Which port?")
    suite = SuiteSpec(
        slug="harbours", title="Harbours", format="other", version="1", tasks=(task,), metrics=()
    )
    upload = parse_run(pair([result(score=1)], lines(row("q1"), row("q2", 0))), suite)
    assert [record.task_id for record in upload.records()] == ["q1", "q2"]


def test_a_record_says_how_it_ended_and_what_it_took() -> None:
    usage = {"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}
    rows = lines(
        row("q1", token_usage=usage, performance={"latency_ms": 12.6}),
        row("q2", 0, output={"raw": []}),
        row("q3", 0, error="timeout"),
    )
    first, second, third = parse_run(pair([result(score=1 / 3)], rows), None).records()
    assert (first.tokens_in, first.tokens_out, first.wall_ms) == (5, 2, 13)
    assert (second.status, third.status) == (RecordStatus.MISSING, RecordStatus.ERROR)
    assert first.status is RecordStatus.ANSWERED


def test_waiting_time_of_inspect_is_no_latency() -> None:
    rows = lines(row(performance={"latency_ms": 12.6}))
    files = pair([result(score=1)], rows, eval_library={"name": "inspect_ai", "version": "1"})
    (record,) = parse_run(files, None).records()
    assert record.wall_ms is None


def test_the_answer_is_what_was_extracted_as_final() -> None:
    def attributed(value: str, final: bool) -> dict[str, Any]:
        return {
            "turn_idx": 0,
            "source": "output.raw",
            "extracted_value": value,
            "extraction_method": "regex",
            "is_terminal": final,
        }

    made = row(answer_attribution=[attributed("x", True), attributed("y", False)])
    assert view(json.dumps(made).encode(), None).answer == "x"
    assert view(json.dumps(row()).encode(), None).answer == "Cadiz"


def test_reading_rows_takes_little_memory_whatever_their_number() -> None:
    peaks = []
    for number in (400, 4000):
        text = "".join(json.dumps(row(f"q{n}", said="x" * 2000)) + "\n" for n in range(number))
        files = pair([result(score=1)], text.encode())
        upload = parse_run(files, None)
        tracemalloc.start()
        assert sum(1 for _ in upload.records()) == number
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < peaks[0] + 2**20


def test_claims_never_raise_and_leave_other_files_alone() -> None:
    other = {"a.json": b"\xff\x00", "b.jsonl": b"", "c.txt": b"sample_id", "d.json": b"{}"}
    assert not FORMAT.claims(Files.of(other))
    assert FORMAT.claims(alone(aggregate()))
    assert FORMAT.claims(Files.of({"x/rows.jsonl": lines(row())}))


def test_both_verdicts_name_their_places() -> None:
    held = aggregate(result(score=73.4), surprise=1)
    problems = FORMAT.compatibility(alone(held))
    rules = {(problem.rule, problem.pointer) for problem in problems}
    assert ("schema-additional-properties", "") in rules
    assert ("reference-extra-forbidden", "/surprise") in rules
    assert ("reference-semantic-rule-error", "/evaluation_results/0") in rules


def test_an_index_names_records_and_holds_none() -> None:
    line = {
        "object_uuid": UUID,
        "object_path": f"flat/objects/4a/1c/{UUID}.json",
        "record_type": "aggregate",
        "sha256": "0" * 64,
    }
    files = {
        "flat/index.jsonl": json.dumps(line).encode(),
        f"flat/objects/4a/1c/{UUID}.json": json.dumps(aggregate(result())).encode(),
    }
    upload = parse_suite(Files.of(files))
    assert "index-digest" in told(upload)
    assert [str(PurePosixPath(report.path).suffix) for report in upload.files] == [
        ".jsonl",
        ".json",
    ]
