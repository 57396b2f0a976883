"""`python -m academy.check` says what is wrong, in rows alike for every format."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

import academy
from academy import check

HEADER = {"academy_run": "1.0", "suite": "example-suite@1", "entrant": {"name": "example-entrant"}}
KEYS = {"file", "line", "pointer", "rule", "message", "severity"}


def write_run(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (HEADER, *lines)), "utf-8")
    return path


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    status = check.main([*arguments, "--json"])
    return status, json.loads(capsys.readouterr().out)


def test_a_run_is_read_and_summed_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_run(tmp_path / "up" / "run.jsonl", {"task": "t-1", "status": "missing"})
    (tmp_path / "up" / "notes.txt").write_text("x", "utf-8")
    status, report = told(capsys, str(tmp_path / "up"))
    assert status == 0
    assert report["ok"] is True
    assert (report["format"], report["kind"]) == ("academy_run", "run")
    assert report["suites"] == []
    assert [(run["entrant"], run["suite"], run["records"]) for run in report["runs"]] == [
        ("example-entrant", "example-suite", 1)
    ]
    assert {file["path"]: file["status"] for file in report["files"]} == {
        "notes.txt": "recognised",
        "run.jsonl": "imported",
    }


@pytest.mark.parametrize("form", ["folder", "file", "zip"])
def test_folder_file_and_zip_are_read_alike(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "up" / "run.jsonl", {"task": "t-1", "status": "missing"})
    if form == "folder":
        path = path.parent
    elif form == "zip":
        with zipfile.ZipFile(tmp_path / "up.zip", "w") as archive:
            archive.write(path, "run.jsonl")
        path = tmp_path / "up.zip"
    assert told(capsys, str(path))[0] == 0


def test_every_finding_is_a_row_with_the_same_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = {"task": "t-1", "status": "done"}
    write_run(tmp_path / "run.jsonl", bad, {"task": "t-1", "status": "missing", "replicate": 2})
    status, report = told(capsys, str(tmp_path / "run.jsonl"))
    assert status == 1
    assert report["ok"] is False
    assert report["errors"] == 2
    assert all(set(finding) == KEYS for finding in report["findings"])
    assert [(f["file"], f["line"], f["pointer"], f["rule"]) for f in report["findings"]] == [
        ("run.jsonl", 2, "/status", "schema-enum"),
        ("run.jsonl", 3, "/replicate", "replicate"),
    ]
    assert report["files"][0]["status"] == "refused"


def test_at_most_fifty_errors_are_shown_with_their_number(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "run.jsonl", *({"task": f"t-{n}"} for n in range(80)))
    status, report = told(capsys, str(path))
    assert (status, len(report["findings"]), report["errors"]) == (1, 50, 80)
    assert check.main([str(path)]) == 1
    printed = capsys.readouterr().out
    assert "and 30 more" in printed
    assert printed.endswith("refused, 80 errors\n")


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.json", b"[" * 20_000 + b"]" * 20_000),
        ("a.json", b'{"score": NaN}'),
        ("a.jsonl", b'{"academy_run": 1e999}\n'),
        ("a.jsonl", b'{"academy_run": "1.0", "academy_run": "1.0"}\n'),
        ("a.jsonl", b'{"academy_run": "1.0"}\n{"task": "t", "status": "missing"'),
        ("a.jsonl", b'{"academy_run": "1.0", "entrant": {"name": "\\ud800"}, "suite": "s"}\n'),
        ("a.jsonl", b"\n\n\n"),
        ("a.yaml", b"a: &a [x]\nb: &b [*a, *a]\nc: !!python/object/apply:os.getcwd []\n"),
        ("a.zip", b"PK\x03\x04 is no archive"),
        ("a.tar.gz", b"\x1f\x8b"),
        ("a.bin", b"\xff\x00\xfe"),
        ("empty.json", b""),
        ("CON.json", b"{}"),
    ],
)
def test_bad_input_is_refused_with_a_reason(
    name: str, data: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    for path in (tmp_path, tmp_path / name):
        status, report = told(capsys, str(path))
        assert status == 1
        assert report["findings"]
        assert all(finding["message"] for finding in report["findings"])


def test_wrong_usage_is_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_run(tmp_path / "run.jsonl", {"task": "t-1", "status": "missing"})
    for arguments in (
        [],
        [str(tmp_path / "absent")],
        ["x" * 5000],
        [str(path), "--format", "absent"],
    ):
        with pytest.raises(SystemExit) as caught:
            check.main(arguments)
        assert caught.value.code == 2
    assert "There is no format 'absent'" in capsys.readouterr().err


def test_a_named_format_is_taken_or_refuses(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_run(tmp_path / "run.jsonl", {"task": "t-1", "status": "missing"})
    assert told(capsys, str(path), "--format", "academy_run")[0] == 0
    status, report = told(capsys, str(path), "--format", "neckbeard")
    assert status == 1
    assert "tried: neckbeard" in report["findings"][0]["message"]


def test_it_runs_anywhere_without_django_or_celery(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.jsonl", {"task": "t-1", "status": "missing"})
    checkout = str(Path(academy.__path__[0]).parent)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": checkout}
    done = subprocess.run(
        [sys.executable, "-m", "academy.check", str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    assert "1 records" in done.stdout
    code = (
        "import sys; from academy import check; check.main(sys.argv[1:]);"
        "print([m for m in sys.modules if m.split('.')[0] in ('django', 'celery')])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code, str(path)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.endswith("[]\n")
