"""Values that a grammar lets pass and a schema's engine or an upgrade does not expect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from academy import registry
from academy.errors import FormatError
from academy.formats import every_eval_ever
from academy.formats.every_eval_ever.judging import judge
from academy.formats.mypcbench.schemas import Form
from academy.formats.mypcbench.schemas import schema_errors as task_errors
from academy.formats.opentakeoff.checking import schema_errors
from academy.formats.reading import Files

EARLY = Path(every_eval_ever.__file__).parent / "samples/accept/early-versions"
PLACE = "example_board/example-org/example-model/first.json"
HALF = "\ud83d"


def early(*at: str | int, put: object) -> Files:
    """An aggregate of an early version with another value at a place."""
    document = json.loads((EARLY / PLACE).read_bytes())
    held: Any = document
    for part in at[:-1]:
        held = held[part]
    held[at[-1]] = put
    return Files.of({PLACE: json.dumps(document).encode()})


def compatibility(files: Files) -> list[str]:
    """The rules that the original's own checkers would name, by any format that claims these."""
    return [
        problem.rule
        for fmt in registry.all_formats().values()
        if fmt.claims(files)
        for problem in fmt.compatibility(files)
    ]


def test_half_a_surrogate_pair_changes_no_verdict_of_a_schema() -> None:
    whole, half = ("Example \N{GRINNING FACE}", f"Example {HALF}")
    assert compatibility(early("evaluation_id", put=half)) == compatibility(
        early("evaluation_id", put=whole)
    )
    assert [error.keyword for error in task_errors({"id": half}, Form.STRICT)] == [
        error.keyword for error in task_errors({"id": whole}, Form.STRICT)
    ]
    assert [error.keyword for error in schema_errors("task", {half: half})] == [
        error.keyword for error in schema_errors("task", {whole: whole})
    ]
    assert [fault.keyword for fault in judge({half: half}, "aggregate-0.3.0")] == [
        fault.keyword for fault in judge({whole: whole}, "aggregate-0.3.0")
    ]


@pytest.mark.parametrize(
    "place", [("model_info", "additional_details"), ("evaluation_results", 1, "generation_config")]
)
def test_a_null_member_of_an_early_aggregate_is_read_as_absent(
    place: tuple[str | int, ...],
) -> None:
    upload = every_eval_ever.FORMAT.parse_suite(early(*place, put=None))  # type: ignore[misc]
    assert [suite.slug for suite in upload.suites] == ["example_board"]


def test_a_null_in_a_list_is_no_absent_member() -> None:
    with pytest.raises(FormatError) as refused:
        every_eval_ever.FORMAT.parse_suite(early("evaluation_results", 0, put=None))  # type: ignore[misc]
    assert [(one.rule, one.pointer) for one in refused.value.problems] == [
        ("schema-type", "/evaluation_results/0")
    ]


def test_nesting_beyond_the_engine_is_left_to_the_reader() -> None:
    deep: object = 1
    for _ in range(300):
        deep = {"a": deep}
    files = early("zz", put=deep)
    assert not [rule for rule in compatibility(files) if rule.startswith("schema-")]
    with pytest.raises(FormatError) as refused:
        every_eval_ever.FORMAT.parse_suite(files)  # type: ignore[misc]
    assert [one.rule for one in refused.value.problems] == ["depth"]
