"""Imports and standings on the command line: exit codes, sentences, JSON."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand, CommandError

from academy.models import Run, Suite
from leaderboard.models import Board
from tests import factories as make

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).resolve().parent.parent.parent
PROBLEM_KEYS = {"file", "line", "pointer", "rule", "message", "severity"}


class Printed(NamedTuple):
    """How a command ended and what it printed."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def manage(name: str, *words: object) -> Printed:
    """Run a command as manage.py does, within the transaction of the test."""
    app = get_commands()[name]
    command = app if isinstance(app, BaseCommand) else load_command_class(app, name)
    command._called_from_command_line = True  # type: ignore[attr-defined]
    out, err = io.StringIO(), io.StringIO()
    parser = command.create_parser("manage.py", name)
    try:
        options = vars(parser.parse_args([str(word) for word in words]))
        command.execute(**{**options, "stdout": out, "stderr": err})
    except CommandError as error:
        return Printed(error.returncode, out.getvalue(), err.getvalue() + str(error))
    except SystemExit as ended:
        return Printed(int(ended.code or 0), out.getvalue(), err.getvalue())
    return Printed(0, out.getvalue(), err.getvalue())


def written(folder: Path, contents: dict[str, Any]) -> Path:
    """The files of an upload on disk."""
    files = make.as_files(contents)
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(files[path])
    return folder


def zipped(path: Path, contents: dict[str, Any]) -> Path:
    """The files of an upload in an archive."""
    files = make.as_files(contents)
    with zipfile.ZipFile(path, "w") as archive:
        for member in files:
            archive.writestr(str(member), files[member])
    return path


def test_a_folder_is_imported(tmp_path: Path) -> None:
    printed = manage("import_suite", written(tmp_path, make.takeoff_files(2)))
    assert (printed.code, printed.err) == (0, "")
    assert "example@1.0 created: 2 tasks, 0 criteria" in printed.out
    assert "3 of 3 files imported" in printed.out
    assert Suite.objects.get().slug == "example"


def test_a_zip_and_a_single_file_are_imported(tmp_path: Path) -> None:
    archive = zipped(tmp_path / "suite.zip", make.takeoff_files(2))
    assert manage("import_suite", archive).code == 0
    alone = written(tmp_path / "one", {"x.task.json": make.takeoff_task("t-0", slug="alone")})
    assert manage("import_suite", alone / "x.task.json").code == 0
    assert set(Suite.objects.values_list("slug", flat=True)) == {"example", "alone"}


def test_a_folder_and_its_zip_are_the_same_upload(tmp_path: Path) -> None:
    folder = written(tmp_path / "a", make.takeoff_files(2))
    archive = zipped(tmp_path / "a.zip", make.takeoff_files(2))
    assert manage("import_suite", folder).code == 0
    before = make.whole_database()
    printed = manage("import_suite", archive)
    assert "unchanged" in printed.out
    assert make.changed_tables(before) == []


def test_importing_tells_everything_as_json(tmp_path: Path) -> None:
    contents = {**make.takeoff_files(2), "notes.txt": "for people", ".hidden": "x"}
    printed = manage("import_suite", written(tmp_path, contents), "--json", "--publish")
    assert printed.code == 0
    report = printed.json
    assert set(report) >= {"format", "dry_run", "suites", "files", "findings", "ok"}
    assert (report["ok"], report["dry_run"]) == (True, False)
    (suite,) = report["suites"]
    assert suite["outcome"] == "created"
    assert (suite["suite"], suite["version"], suite["state"]) == ("example", "1.0", "published")
    assert (suite["tasks"], suite["new_tasks"], len(suite["digest"])) == (2, 2, 64)
    told = {file["path"]: file for file in report["files"]}
    assert told["suite.json"]["status"] == "imported"
    assert told["notes.txt"]["status"] == "recognised"
    assert told["notes.txt"]["reason"]
    assert "begins with a dot" in told[".hidden"]["reason"]
    assert all(set(row) == PROBLEM_KEYS for row in report["findings"])


def test_a_dry_run_tells_the_same_and_changes_nothing(tmp_path: Path) -> None:
    folder = written(tmp_path, make.takeoff_files(2))
    before = make.whole_database()
    dry = manage("import_suite", folder, "--dry-run", "--json")
    assert dry.code == 0
    assert make.changed_tables(before) == []
    assert "nothing was changed" in manage("import_suite", folder, "--dry-run").out
    wet = manage("import_suite", folder, "--json")
    assert dry.json == {**wet.json, "dry_run": True}


def test_a_suite_is_imported_under_another_name(tmp_path: Path) -> None:
    folder = written(tmp_path, make.takeoff_files(1))
    assert manage("import_suite", folder, "--as", "other@2").code == 0
    assert str(Suite.objects.get().versions.get()) == "other@2"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "nonsense"), "is not SUITE@VERSION"),
        (("--format", "nobody-knows"), "There is no format 'nobody-knows'; known are"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(
    tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    printed = manage("import_suite", written(tmp_path, make.takeoff_files(1)), *words)
    assert printed.code == 1
    assert said in printed.err
    assert not Suite.objects.exists()


def test_a_refusal_names_every_place(tmp_path: Path) -> None:
    contents = {
        **make.takeoff_files(2),
        "0.task.json": make.takeoff_task("t-0", prompt=7),
        "1.task.json": b'{\n "taskId": "t-1",\n "x": NaN\n}',
    }
    folder = written(tmp_path, contents)
    before = make.whole_database()
    printed = manage("import_suite", folder)
    assert printed.code == 1
    assert printed.out == ""
    assert "Refused; nothing was changed." in printed.err
    assert "0.task.json:1 /prompt" in printed.err
    assert "1.task.json:3" in printed.err
    told = manage("import_suite", folder, "--json")
    assert told.code == 1
    assert told.json["ok"] is False
    assert told.json["total"] == len(told.json["findings"]) >= 2
    rows = {(row["file"], row["line"], row["pointer"]) for row in told.json["findings"]}
    assert ("0.task.json", 1, "/prompt") in rows
    assert ("1.task.json", 3) in {row[:2] for row in rows}
    assert all(set(row) == PROBLEM_KEYS for row in told.json["findings"])
    assert make.changed_tables(before) == []


def test_files_that_nobody_knows_are_refused_with_the_formats_there_are(tmp_path: Path) -> None:
    printed = manage("import_suite", written(tmp_path, {"notes.txt": "nothing"}), "--json")
    assert printed.code == 1
    assert "No format recognises these files" in printed.json["findings"][0]["message"]


WRONG_USAGE: list[tuple[str, ...]] = [
    ("import_suite",),
    ("import_suite", "/nobody/has/this"),
    ("import_suite", ".", "--nonsense"),
    ("import_run",),
    ("import_run", "/nobody/has/this"),
    ("standings",),
]


@pytest.mark.parametrize("words", WRONG_USAGE, ids=" ".join)
def test_wrong_usage_ends_with_2(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert manage(*words).code == 2
    assert "usage: manage.py" in capsys.readouterr().err


def test_a_real_process_ends_with_2_for_wrong_usage() -> None:
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "manage.py", "import_suite", "/nobody/has/this"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 2
    assert "/nobody/has/this does not exist" in ended.stderr


def bundle_in(folder: Path, **changes: Any) -> Path:
    """A run bundle on disk for the example suite, which is stored."""
    version = make.takeoff_version(3)
    values = changes.pop("values", {"t-0": 100.0, "t-1": 110.0})
    return written(folder, {"run.bundle.json": make.bundle(version, values, **changes)})


def test_a_run_is_imported_for_the_version_it_is_said_to_be_of(tmp_path: Path) -> None:
    folder = bundle_in(tmp_path)
    printed = manage("import_run", folder, "--version", "example@1.0", "--json")
    assert (printed.code, printed.err) == (0, "")
    report = printed.json
    assert set(report) >= {"format", "dry_run", "runs", "left_out", "files", "findings", "ok"}
    (run,) = report["runs"]
    stored = Run.objects.get(kind="entrant")
    expected = {
        "run": stored.pk,
        "entrant": "example",
        "version": "example@1.0",
        "outcome": "created",
        "records": 2,
        "new_records": 2,
        "decisions": 0,
        "attempt": 1,
    }
    assert {name: run[name] for name in expected} == expected
    assert report["files"] == [{"path": "run.bundle.json", "status": "imported", "reason": ""}]


def test_a_run_may_name_its_version_itself(tmp_path: Path) -> None:
    printed = manage("import_run", bundle_in(tmp_path))
    assert printed.code == 0
    assert "of example on example@1.0 created: 2 new of 2 records" in printed.out


def test_the_entrant_of_a_run_may_be_named(tmp_path: Path) -> None:
    manage("import_run", bundle_in(tmp_path), "--entrant", "robo")
    assert Run.objects.get(kind="entrant").entrant.slug == "robo"


def test_the_same_run_again_says_so_and_changes_nothing(tmp_path: Path) -> None:
    folder = bundle_in(tmp_path)
    manage("import_run", folder)
    before = make.whole_database()
    printed = manage("import_run", folder, "--json")
    assert printed.json["runs"][0]["outcome"] == "unchanged"
    assert make.changed_tables(before) == []


def test_a_dry_run_of_a_run_changes_nothing(tmp_path: Path) -> None:
    folder = bundle_in(tmp_path)
    before = make.whole_database()
    printed = manage("import_run", folder, "--dry-run")
    assert printed.code == 0
    assert "would be created" in printed.out
    assert make.changed_tables(before) == []


def test_records_of_unknown_tasks_are_refused_or_left_out_by_choice(tmp_path: Path) -> None:
    folder = bundle_in(tmp_path, values={"t-0": 1.0, "nobody-knows": 2.0})
    before = make.whole_database()
    refused = manage("import_run", folder, "--json")
    assert refused.code == 1
    (row,) = refused.json["findings"]
    assert (row["file"], row["rule"], row["severity"]) == (
        "run.bundle.json",
        "unknown-task",
        "error",
    )
    assert "nobody-knows" in row["message"]
    assert make.changed_tables(before) == []
    taken = manage("import_run", folder, "--leave-out-unknown", "--json")
    assert taken.code == 0
    assert taken.json["left_out"] == ["nobody-knows"]
    assert taken.json["runs"][0]["records"] == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("example@9", "There is no example@9; known versions: example@1.0."),
        ("nobody@1", "none of this suite"),
        ("nonsense", "is not SUITE@VERSION"),
    ],
)
def test_a_version_that_is_not_here_is_refused(tmp_path: Path, name: str, said: str) -> None:
    printed = manage("import_run", bundle_in(tmp_path), "--version", name)
    assert printed.code == 1
    assert said in printed.err


def test_standings_are_printed_as_text_and_as_json() -> None:
    version = make.takeoff_version(3)
    make.takeoff_run(version, name="Exact")
    make.takeoff_run(version, {"t-0": 150.0, "t-1": 150.0, "t-2": 150.0}, name="Wild")
    make.score_all()
    board = Board.objects.get(versions=version)
    text = manage("standings", board.slug)
    assert text.code == 0
    assert text.out.index("Exact") < text.out.index("Wild")
    told = manage("standings", board.slug, "--json").json
    assert [(row["rank"], row["name"]) for row in told["standings"]] == [(1, "Exact"), (2, "Wild")]
    newest = board.newest_snapshot()
    assert newest is not None
    assert told["snapshot"] == newest.number
    assert told["snapshot_digest"] == newest.digest


def test_standings_of_no_board_list_the_boards_there_are() -> None:
    version = make.takeoff_version(1)
    make.score_all()
    board = Board.objects.get(versions=version)
    printed = manage("standings", "nobody-has-this")
    assert printed.code != 0
    assert board.slug in printed.err


def test_an_upload_that_leads_outside_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "evil.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../etc/evil.task.json", "{}")
    printed = manage("import_suite", path, "--json")
    assert printed.code == 1
    assert "../../etc/evil.task.json" in printed.out


def test_commands_write_no_json_but_json(tmp_path: Path) -> None:
    folder = written(tmp_path, {**make.takeoff_files(1), "other.json": b"{"})
    for words in ((), ("--dry-run",)):
        assert isinstance(manage("import_suite", folder, "--json", *words).json, dict)
