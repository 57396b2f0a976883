"""MyPCBench: what the original's judges, grader, schema and validator would say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import ScoredRecord
from academy.formats.base import AggregateContext
from academy.formats.mypcbench import FORMAT
from academy.formats.mypcbench.judging import (
    grade_earlier,
    grade_earlier_file,
    grade_process,
    read_output,
    read_reply,
    step_scores,
)
from academy.formats.mypcbench.schemas import Form, schema_errors, schema_of
from academy.formats.mypcbench.validating import form_of, validate
from academy.scorers.base import Mode
from tests.academy.formats.mypcbench_making import files_of, load, rubric, suite_of, task


@pytest.mark.parametrize(
    ("text", "success", "reasoning"),
    [
        ("Thoughts: seen\nStatus: success", True, "seen"),
        ('Status: "Successful"', True, 'Status: "Successful"'),
        ("Thoughts: seen\n**Status:** success", False, "seen\n**"),
        ("Status: failure\nStatus: success", False, "Status: failure\nStatus: success"),
        ("Thoughts: a\nb\nStatus: partial", False, "a\nb"),
        ("", False, "Empty judge response."),
        ("success", False, "success"),
    ],
)
def test_the_first_status_of_a_reply_decides(text: str, success: bool, reasoning: str) -> None:
    reply = read_reply(text)
    assert (reply.success, reply.reasoning) == (success, reasoning)


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ({"criterion_scores": {"0": True, "1": "Yes", "2": 0.5, "3": 0.49}}, [1, 1, 1, 0]),
        ({"criterion_scores": ["t", None, 1, 0, 1]}, [1, 0, 1, 0]),
        ({"criterion_scores": {"4": 1, "-1": 1, "x": 1}}, [0, 0, 0, 0]),
        ({"criterion_scores": "all"}, [0, 0, 0, 0]),
        ("no JSON", [0, 0, 0, 0]),
        (None, [0, 0, 0, 0]),
    ],
)
def test_a_step_gives_nought_or_one_per_rubric(reply: Any, expected: list[int]) -> None:
    assert step_scores(reply, 4) == expected


@pytest.mark.parametrize(
    ("printed", "percent"),
    [
        ("87.9", 87),
        ("true", 100),
        (" No ", 0),
        ('{"score": "72 of 100"}', 72),
        ('{"score": [], "value": false}', 0),
        ('{"passed": "yes"}', None),
        ('"about 40"', 40),
        ("warning 404\n{}", 404),
        ("null", None),
        ("", None),
    ],
)
def test_a_percent_is_read_from_what_a_judge_printed(printed: str, percent: int | None) -> None:
    assert read_output(printed) == percent


def test_a_printed_number_that_is_none_is_a_judge_error() -> None:
    for printed in ('{"score": NaN}', '{"score": Infinity}'):
        row = grade_process("t", {"rc": 0, "stdout": printed}, command="judge")
        assert (row.status, row.score) == ("judge_error", None)
        assert row.error


def test_an_earlier_result_is_kept_unless_it_is_no_json() -> None:
    assert grade_earlier("t", {"result": 99.95}).perfect is True
    assert grade_earlier("t", [100]).status == "judge_error"
    assert grade_earlier_file("t", b"{cut") is None
    kept = grade_earlier_file("t", b'{"result": 40}')
    assert kept is not None and (kept.status, kept.score) == ("cached", 0.4)


@pytest.mark.data
def test_our_schemas_are_the_published_ones_in_other_words(conformance_data: Path) -> None:
    files = load(conformance_data / "mypcbench" / "tasks")
    names = {"schema.json": Form.STRICT, "schema.paper_v1.json": Form.PAPER}
    for name, form in (*names.items(), ("schema.seed_v2.json", Form.PAPER)):
        renamed = files_of({"schema.json": files[name]})
        assert form_of(renamed, next(iter(renamed))) is form
        published = json.loads(files[name])
        assert list(published["properties"]) == list(schema_of(form)["properties"])


odd = st.none() | st.booleans() | st.integers(-1, 2) | st.floats(-1, 2) | st.text(max_size=2)
odd_rubric = st.dictionaries(
    st.sampled_from(["criterion", "requirement", "type", "weight", "rubric_id"]),
    odd | st.just("llm_judge"),
)
odd_task = st.fixed_dictionaries(
    {},
    optional={
        "id": st.sampled_from(["retrieval-x1", "X-1", "a-b\n", "a-b\n\n", ""]) | odd,
        "category": st.sampled_from(["retrieval", "other"]) | odd,
        "instruction": odd,
        "persona": st.just("michael_scott") | odd,
        "grading": odd
        | st.fixed_dictionaries(
            {},
            optional={
                "type": st.just("llm_judge") | odd,
                "rubrics": odd | st.lists(odd_rubric | odd, max_size=3),
            },
        ),
        "time_limit_seconds": st.just(300.0) | odd,
        "apps_involved": odd | st.lists(odd, max_size=2),
        "difficulty": st.just("easy") | odd,
        "horizon": odd,
        "app": odd,
    },
)


@settings(max_examples=150)
@given(odd_task | odd, st.sampled_from(list(Form)))
def test_schema_errors_are_those_of_pythons_jsonschema(document: Any, form: Form) -> None:
    validator = jsonschema.Draft202012Validator(schema_of(form))
    expected = [
        (tuple(error.path), error.validator, error.message)
        for error in validator.iter_errors(document)
    ]
    found = [(error.path, error.keyword, error.message) for error in schema_errors(document, form)]
    assert found == expected


def check_corpus(graded: list[Any], **more: Any) -> Any:
    bare = [{k: v for k, v in t.items() if k != "grading"} for t in graded]
    shards = more.get("shards", {"tasks/final/tearoom/tearoom.rubrics.json": graded})
    return validate(graded, more.get("ungraded", bare), shards, more.get("form", Form.STRICT))


def test_a_clean_corpus_is_green() -> None:
    made = check_corpus([task()])
    assert (made.exit_code, made.summary) == (0, "checked 1 tasks, 2 rubric items: GREEN")


@pytest.mark.parametrize(
    ("changes", "crash"),
    [
        ({"grading": None}, "KeyError: 'grading'"),
        ({"grading": {"type": "llm_judge"}}, "KeyError: 'rubrics'"),
        ({"grading": {"rubrics": [{"criterion": "a"}]}}, "KeyError: 'weight'"),
        ({"grading": {"rubrics": [{"requirement": "a", "weight": 1}]}}, "KeyError: 'criterion'"),
        (
            {"grading": {"rubrics": [rubric("a", True)]}},
            "InvalidOperation: [<class 'decimal.ConversionSyntax'>]",
        ),
    ],
)
def test_where_the_original_crashes_we_say_so(changes: dict[str, Any], crash: str) -> None:
    made = check_corpus([task(**changes)], form=None)
    assert (made.crashed, made.exit_code, made.summary) == (crash, 1, None)


def test_findings_come_in_the_order_of_the_original() -> None:
    odd = task(
        "X", grading={"type": "llm_judge", "rubrics": [rubric("a", 0.25), rubric("a", 0.25)]}
    )
    made = check_corpus([odd, task(instruction="Do ${THIS}.")], shards={})
    assert made.failures == [
        "bundle tasks missing from shards: ['X', 'retrieval-x001']...",
        "X: schema violation: 'X' does not match '^[a-z_]+-[a-z0-9]+$'",
        "X: weights sum to 0.50",
        "X: duplicate criterion text",
        "retrieval-x001: unresolved ${VAR} template in instruction/grading",
    ]


def test_the_report_on_files_does_not_crash_where_the_original_does() -> None:
    broken = [task(grading=None)]
    files = files_of(
        {
            "tasks/final/all_tasks_with_grading.json": broken,
            "tasks/final/all_tasks.json": broken,
            "tasks/final/tearoom/tearoom.rubrics.json": broken,
        }
    )
    assert any(found.rule == "validator-crash" for found in FORMAT.compatibility(files))
    assert [found.rule for found in FORMAT.compatibility(files_of({}))] == ["validator-not-run"]
    alone = files_of({"tasks/final/all_tasks_with_grading.json": [task()]})
    assert [found.rule for found in FORMAT.compatibility(alone)] == ["validator-crash"]


def scored(task_id: str, value: float | None, status: str = "scored", **measures: Any) -> list[Any]:
    perfect = None if value is None else float(value == 1)
    return [
        ScoredRecord(task_id=task_id, metric=metric, status=status, value=held, measures=measures)
        for metric, held in (("perfect", perfect), ("rubric", value))
    ]


def test_the_reference_counts_attempts_and_strict_the_suite() -> None:
    suite = suite_of(*(task(f"retrieval-x00{n}") for n in range(1, 6)))
    scores = [
        *scored("retrieval-x001", 1.0),
        *scored("retrieval-x002", 0.5),
        *scored("retrieval-x003", None, "unscorable"),
        *scored("retrieval-x004", 0.0, ended="error"),
        *scored("retrieval-x005", None, ""),
    ]
    found = {
        mode: {
            (result.metric, result.slice): result
            for result in FORMAT.aggregate(scores, AggregateContext(suite=suite, mode=mode))
        }
        for mode in Mode
    }
    reference = found[Mode.REFERENCE]["rubric", ""]
    assert (reference.value, reference.n, reference.missing) == (0.375, 4, 1)
    assert reference.details["no_bundle"] == reference.details["judge_errors"] == 1
    strict = found[Mode.STRICT]["rubric", ""]
    assert (strict.value, strict.unscorable, strict.missing) == (0.375, 1, 1)
    assert (strict.details["worst"], strict.details["best"]) == (0.3, 0.5)
    assert strict.details["coverage"] == 0.8
    assert "Provisional" in strict.note
    assert found[Mode.STRICT]["perfect", "category=retrieval"].value == 0.25


def test_boards_are_strict_first_with_the_reference_beside() -> None:
    policies = FORMAT.board_policies(suite_of(task()))
    assert [(policy.mode, policy.evidence, policy.metric) for policy in policies] == [
        (Mode.STRICT, "judge_audited", "perfect"),
        (Mode.REFERENCE, "judge", "perfect"),
    ]
    assert all(policy.secondary == ("rubric",) for policy in policies)
