"""A file of cases is computed case by case; a bad one is refused alone, and all printed is JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance import __main__ as command
from tests.acceptance import statistics
from tests.acceptance.base import Failed, Product

GOOD = '{"function": "wilson", "arguments": {"successes": 8, "n": 10}}'
BAD = {
    '{"function": "rank", "arguments": {"entries": [1], "policy": {}, "seed_digest": "d"}}': (
        "entries[0] is an object, not 1"
    ),
    '{"function": "judge_report", "arguments": {"calibrations": [], "seed_digest": "d"}}': (
        "calibrations is an object, not []"
    ),
    '{"function": "t_interval", "arguments": {"values": [1, NaN]}}': (
        "values[1] is a finite number, not 'NaN'"
    ),
    '{"function": "t_interval", "arguments": {"values": [1, 1e999]}}': (
        "values[1] is a finite number, not '1e999'"
    ),
    f'{{"function": "pass_at_k", "arguments": [{"9" * 5000}, 1, 1]}}': "n is a whole number",
    f'{{"function": "mcnemar_exact", "arguments": [{"9" * 400}, 1]}}': "too large",
    '{"function": "choose_attempt", "arguments": {"scores": [1], "rule": "worst"}}': (
        "rule is 'worst', not one of first, last, best, mean"
    ),
    '{"function": "compare", "arguments": {"entries": [], "policy": {"direction": "up", "kind":'
    ' "pass", "missing_value": 0}, "seed_digest": "d", "adjustment": "none"}}': (
        "adjustment is 'none', not one of holm, benjamini_hochberg"
    ),
    '{"function": "paired_bootstrap", "arguments": {"first": [1, 2], "second": [1, 3],'
    ' "seed_digest": "d", "confidence": -1}}': "confidence lies between 0 and 1, not at -1",
    '{"function": "mcnemar_exact", "arguments": [1.5, 4]}': "b is a whole number, not 1.5",
    '{"function": "\\ud800", "arguments": []}': "no documented function",
    "null": "a case is an object",
}


def results_of(path: Path) -> list[dict[str, Any]]:
    told = statistics.check([str(path)], Product())
    results: list[dict[str, Any]] = told["results"]
    return results


def test_bad_cases_are_refused_alone_and_by_name(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    path.write_text(f"[{', '.join([GOOD, *BAD, GOOD])}]")
    first, *refused, last = results_of(path)
    assert first == last
    assert first["result"]["point"] == 0.8
    assert [why in row["error"] for row, why in zip(refused, BAD.values(), strict=True)] == [
        True
    ] * len(BAD), refused


def test_what_is_printed_is_json_whatever_a_case_holds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cases.json"
    path.write_text(f"[{', '.join([GOOD, *BAD])}]")
    assert command.main(["statistics", str(path), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert row["detail"] == f"{1 + len(BAD)} cases, {len(BAD)} of them refused"


def test_a_file_that_is_no_list_of_cases_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cases.json"
    for text in ("{}", "[", "[" * 100_000, "[1]\x00"):
        path.write_text(text)
        with pytest.raises(Failed, match="cannot be read|must hold a list"):
            results_of(path)
