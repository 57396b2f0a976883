"""The command counts cases; a folder without any, or an oracle that is none, is wrong usage."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.conformance.__main__ import main

HALF = "half \ud83d"


def oracle(folder: Path, text: str) -> Path:
    """A data folder with an oracle of one format."""
    (folder / "opentakeoff").mkdir()
    (folder / "opentakeoff" / "oracle.json").write_text(text)
    return folder


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{}", "has no oracle in a folder docbridge or eee"),
        ("[1]", "holds no object of lists of cases"),
        ("{", "cannot be read"),
        ("[" * 100_000, "cannot be read"),
    ],
)
def test_nothing_to_count_is_wrong_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, why: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main([str(oracle(tmp_path, text))])
    assert left.value.code == 2
    assert why in capsys.readouterr().err


def test_a_case_that_cannot_be_run_differs_and_hides_no_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    serial = {"bundleHash": "0000000a" + "0" * 56, "serial": 10}
    cases = [{"id": HALF}, 5, {"id": "right", **serial}]
    data = oracle(tmp_path, json.dumps({"certSerials": cases, "unknown": [{}]}))
    assert main([str(data), "--json"]) == 1
    counts = json.loads(capsys.readouterr().out)
    assert (counts["agree"], counts["cases"]) == (1, 4)
    lists = counts["formats"]["opentakeoff"]
    assert lists["certSerials"]["differ"] == [HALF, "certSerials[1]"]
    assert main([str(data)]) == 1
    assert "1 of 4 cases agree" in capsys.readouterr().out
