"""Every Eval Ever: scores within bounds, metrics told apart, and boards of what was reported."""

from __future__ import annotations

import json

import pytest

from academy.bundle import Direction
from academy.formats.every_eval_ever import FORMAT
from academy.formats.every_eval_ever.metrics import key_of, slug_of
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.reading import Files
from tests.academy.formats.every_eval_ever_making import (
    ROWS,
    aggregate,
    alone,
    lines,
    pair,
    result,
    row,
)
from tests.academy.formats.every_eval_ever_telling import refused, told


@pytest.mark.parametrize(
    ("score", "rule"),
    [
        ("NaN", "not-finite"),
        ("Infinity", "not-finite"),
        ("1e999", "number-range"),
        ('"nan"', "schema-type"),
        ("true", "schema-type"),
        ("null", "schema-type"),
    ],
)
def test_what_is_no_number_is_refused_where_it_stands(score: str, rule: str) -> None:
    rows = lines(row("q0"), row("q1", 0.123)).replace(b"0.123", score.encode())
    message = refused(pair([result()], rows))[rule]
    assert f"{ROWS}:2 /evaluation/score" in message


def test_means_that_differ_and_ids_that_dangle_are_told() -> None:
    files = pair([result(score=0.9)], lines(row("q1", 1), row("q2", 0), row("q3", metric="f9")))
    rules = told(parse_suite(files))
    assert {"mean-differs", "dangling-result-id"} <= rules
    (record,) = [r for r in parse_run(files, None).records() if r.task_id.startswith("q3")]
    assert record.reported[0].metric == "?ports:f9"
    assert record.reported[0].value == 1.0


def test_minus_one_outside_of_the_bounds_is_a_missing_score() -> None:
    files = alone(aggregate(result(score=-1), result("f1", 0.5)))
    (suite,), (run,) = parse_suite(files).suites, parse_run(files, None).runs
    assert dict(run.results) == {"f1": 0.5}
    assert {metric.key for metric in suite.metrics} == {"accuracy", "f1"}
    not_scored = run.extra["not_scored"]
    assert isinstance(not_scored, dict)
    assert "missing" in not_scored["accuracy"]


def test_minus_one_of_a_row_is_a_missing_score_and_no_part_of_the_mean() -> None:
    files = pair([result(score=1)], lines(row("q1", 1.0), row("q2", -1)))
    upload = parse_suite(files)
    assert "missing-sentinel" in told(upload)
    assert "mean-differs" not in told(upload)
    values = [record.reported[0].value for record in parse_run(files, None).records()]
    assert values == [1.0, None]


def test_a_score_outside_of_its_own_bounds_is_left_out_and_told() -> None:
    files = alone(aggregate(result(score=73.4)))
    assert "score-outside-bounds" in told(parse_suite(files))
    assert dict(parse_run(files, None).runs[0].results) == {}


def test_numbers_of_different_tests_and_scales_never_share_a_metric() -> None:
    easy = result(evaluation_name="ports_easy", evaluation_result_id="easy")
    hard = result(evaluation_name="ports_hard", evaluation_result_id="hard")
    percent = result("share")
    percent["metric_config"] |= {"max_score": 100}
    lower = result("latency")
    lower["metric_config"] |= {"lower_is_better": True}
    (suite,) = parse_suite(alone(aggregate(easy, hard, percent, lower))).suites
    keys = {metric.key: metric.direction for metric in suite.metrics}
    assert keys == {
        "ports_easy:accuracy": Direction.UP,
        "ports_hard:accuracy": Direction.UP,
        "share-percent": Direction.UP,
        "latency": Direction.DOWN,
    }


def test_results_of_one_metric_are_told_apart_by_their_ids() -> None:
    results = [
        result(evaluation_result_id="accuracy:test"),
        result(evaluation_result_id="accuracy:test:robustness"),
    ]
    (suite,) = parse_suite(alone(aggregate(*results))).suites
    assert [metric.key for metric in suite.metrics] == [
        "accuracy@accuracy:test",
        "accuracy@accuracy:test:robustness",
    ]


def test_two_files_that_disagree_about_what_is_better_are_refused() -> None:
    other = result()
    other["metric_config"] |= {"lower_is_better": True}
    one, two = aggregate(result()), aggregate(other)
    files = Files.of({"a.json": json.dumps(one).encode(), "b.json": json.dumps(two).encode()})
    assert set(refused(files)) == {"metric-direction"}


def test_names_become_slugs_and_keys_without_meeting() -> None:
    assert slug_of("NaturalQuestions (open-book)") == "naturalquestions-open-book"
    assert slug_of("C") != slug_of("C++")
    assert slug_of("Größe") != slug_of("Grosse")
    assert slug_of("x" * 200) != slug_of("x" * 201)
    assert key_of("MMLU - EM") == "MMLU-EM"
    assert len(key_of("k" * 300)) <= 100


def test_every_metric_of_a_data_set_has_a_board_of_what_was_reported() -> None:
    (suite,) = parse_suite(alone(aggregate(result(), result("f1", 0.2)))).suites
    policies = FORMAT.board_policies(suite)
    assert [policy.metric for policy in policies] == ["accuracy", "f1"]
    assert {policy.origin for policy in policies} == {"reported"}
    assert len({policy.slug for policy in policies}) == 2
