"""Every Eval Ever: what holds for any pair, whole or damaged."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy.bundle import RecordSpec
from academy.errors import FormatError
from academy.formats.every_eval_ever.compatibility import compatibility
from academy.formats.every_eval_ever.documents import claims
from academy.formats.every_eval_ever.hashing import RECIPES, duplicate_digest, recipe_of
from academy.formats.every_eval_ever.judging import is_valid
from academy.formats.every_eval_ever.native import export_submission
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.reference import judge_aggregate_alone, judge_row
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.every_eval_ever.views import view
from academy.formats.reading import Files
from tests.academy.formats.every_eval_ever_making import (
    AGGREGATE,
    ROWS,
    aggregate,
    lines,
    pair,
    result,
    row,
)

FEW = settings(max_examples=60, suppress_health_check=list(HealthCheck))
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SAMPLES = st.text("abc-_: é", min_size=1, max_size=4)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-2, 2) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def executions(draw: st.DrawFn) -> list[list[dict[str, Any]]]:
    """Executions, each as the lines that tell its metrics."""
    made = []
    for sample in draw(st.lists(SAMPLES, min_size=1, max_size=4, unique=True)):
        for repetition in range(1, draw(st.integers(1, 2)) + 1):
            shared: dict[str, Any] = {"said": draw(TEXT), "metadata": {"epoch": str(repetition)}}
            metrics = draw(st.sets(st.sampled_from(["accuracy", "f1"]), min_size=1))
            made.append(
                [
                    row(sample, draw(st.sampled_from([0, 0.5, 1.0])), metric=metric, **shared)
                    for metric in sorted(metrics)
                ]
            )
    return made


def records_of(files: Files) -> list[RecordSpec]:
    return list(parse_run(files, None).records())


RESULTS = [result(), result("f1", 0.5)]


def essence(record: RecordSpec) -> tuple[Any, ...]:
    reported = sorted((one.metric, one.value, one.correct) for one in record.reported)
    return record.task_id, record.replicate, record.content_digest, reported


@FEW
@given(made=executions(), seed=st.integers(0, 99))
def test_the_order_of_lines_changes_no_record(made: list[list[dict[str, Any]]], seed: int) -> None:
    rows = [line for execution in made for line in execution]
    mixed = rows.copy()
    random.Random(seed).shuffle(mixed)
    first, second = (records_of(pair(RESULTS, lines(*order))) for order in (rows, mixed))
    assert len(first) == len(made)
    assert sorted(map(essence, first)) == sorted(map(essence, second))


@FEW
@given(made=executions())
def test_reading_writing_and_reading_again_is_the_identity(
    made: list[list[dict[str, Any]]],
) -> None:
    files = pair(RESULTS, lines(*(line for execution in made for line in execution)))
    upload = parse_run(files, None)
    written = Files.of(export_submission([(upload.runs[0], upload.records())]))
    assert dict(written) == dict(files)
    again = parse_run(written, None)
    assert list(again.records()) == list(upload.records())
    assert again.runs == upload.runs
    assert parse_suite(written) == parse_suite(files)


@FEW
@given(data=st.data())
def test_damaged_bytes_are_refused_or_read_and_nothing_else(data: st.DataObject) -> None:
    whole = {str(path): held for path, held in pair(RESULTS, lines(row("a"), row("b"))).items()}
    name = data.draw(st.sampled_from([AGGREGATE, ROWS]))
    held = whole[name]
    start = data.draw(st.integers(0, len(held)))
    end = data.draw(st.integers(start, min(len(held), start + 30)))
    put = data.draw(st.sampled_from([b"", b"null", b"-1", b"[]", b'"\\u0000"', b"\xff", b"{"]))
    whole[name] = held[:start] + put + held[end:]
    files = Files.of(whole)
    claims(files)
    compatibility(files)
    try:
        suites = parse_suite(files).suites
        upload = parse_run(files, None)
    except FormatError as error:
        assert error.problems
        return
    tasks = {task.external_id for suite in suites for task in suite.tasks}
    for record in upload.records():
        assert record.task_id in tasks
        view(record.raw, None)


@FEW
@given(data=st.data(), value=JSON)
def test_no_value_anywhere_breaks_a_judge(data: st.DataObject, value: Any) -> None:
    judges: list[tuple[dict[str, Any], Callable[[Any], object]]] = [
        (row("a"), lambda held: judge_row(json.dumps(held))),
        (aggregate(result()), lambda held: judge_aggregate_alone(json.dumps(held).encode())),
    ]
    for made, judge in judges:
        held = json.loads(json.dumps(made))
        node = held
        while True:
            key = data.draw(st.sampled_from(sorted(node)))
            if isinstance(node[key], dict) and node[key] and data.draw(st.booleans()):
                node = node[key]
                continue
            node[key] = value
            break
        judge(held)


@FEW
@given(data=st.data(), value=JSON)
def test_what_the_reader_takes_its_schema_takes_or_the_report_says_why(
    data: st.DataObject, value: Any
) -> None:
    made = row("a")
    part = data.draw(st.sampled_from(sorted(made)))
    made[part] = value
    try:
        upload = parse_suite(pair(RESULTS, lines(made)))
    except FormatError:
        return
    tolerated = any(notice.rule.startswith("tolerated") for notice in upload.notices)
    versioned = part == "schema_version"
    assert tolerated or versioned or is_valid(made, "instance-0.3.0")


@given(raw=TEXT, reference=st.lists(TEXT, max_size=3))
def test_every_recipe_recognises_its_own_hash(raw: str, reference: list[str]) -> None:
    for name, recipe in RECIPES.items():
        found = recipe_of(recipe(raw, reference), raw, reference)
        assert found == name or RECIPES[found](raw, reference) == recipe(raw, reference)


@given(value=JSON, seed=st.integers(0, 9))
def test_neither_order_nor_the_moment_of_retrieval_changes_a_duplicate_digest(
    value: Any, seed: int
) -> None:
    members = [("evaluation_results", [value, 1, "x"]), ("model_info", {"id": value})]
    one: dict[str, Any] = dict(members) | {"retrieved_timestamp": "1"}
    random.Random(seed).shuffle(members)
    two: dict[str, Any] = dict(members) | {
        "evaluation_id": "other",
        "evaluation_results": ["x", value, 1],
    }
    assert duplicate_digest(one) == duplicate_digest(two)
