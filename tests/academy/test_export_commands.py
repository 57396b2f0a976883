"""Suites and runs that a command exports, as zip and folder, with keys only when asked for."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest
from django.core.management import call_command

from academy import downloads, intake, registry
from academy.downloads import Export
from academy.errors import AcademyError
from academy.importing import ImportOptions
from academy.models import AuditEvent, Exposure
from academy.recording import RecordingOptions
from academy.uploads import open_upload
from tests import factories as make
from tests.academy.exporting_making import SECRET, scored_run

pytestmark = pytest.mark.django_db


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status and what was printed."""
    try:
        call_command(*arguments)
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


@pytest.mark.parametrize("name", ["out.zip", "out"])
def test_a_suite_is_written_as_zip_and_as_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    version = make.takeoff_version(2)
    out = tmp_path / name
    status, printed, _ = run_command(
        capsys, "export_suite", str(version), "--out", str(out), "--json"
    )
    assert status == 0
    told = json.loads(printed)
    assert (told["form"], told["left_out"], told["ok"]) == ("opentakeoff", [], True)
    upload = open_upload(out)
    assert {str(path) for path in upload.files} == {row["path"] for row in told["files"]}
    report = intake.import_suite_path(out, options=ImportOptions())
    assert report.suites[0].outcome == "unchanged"


def test_the_same_export_gives_the_same_archive(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version = make.takeoff_version(2)
    for name in ("a.zip", "b.zip"):
        run_command(capsys, "export_suite", str(version), "--out", str(tmp_path / name))
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize("name", ["there.zip", "there"])
def test_nothing_is_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    version = make.sealed_version(2)
    there = tmp_path / name
    held = there if name.endswith(".zip") else there / "mine.txt"
    held.parent.mkdir(exist_ok=True)
    held.write_text("mine")
    command = ("export_suite", str(version), "--out", str(there), "--with-keys")
    status, _, errors = run_command(capsys, *command)
    assert status == 1
    assert "is there already" in errors
    assert held.read_text() == "mine"
    assert not AuditEvent.objects.filter(act="keys.export").exists()


def test_sealed_keys_stay_out_of_a_suite_unless_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    version = make.version_of(make.import_files(make.sealed_files(2, value=SECRET), publish=True))
    out = tmp_path / "closed.zip"
    status, printed, _ = run_command(capsys, "export_suite", str(version), "--out", str(out))
    assert status == 0
    assert "--with-keys opens them" in printed
    with zipfile.ZipFile(out) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist())
    assert b"70123" not in everything
    assert b"Measure t-0" in everything
    assert not AuditEvent.objects.filter(act="keys.export").exists()
    make.person("curator", "curator")
    opened = tmp_path / "open.zip"
    command = ("export_suite", str(version), "--out", str(opened), "--with-keys", "--by", "curator")
    assert run_command(capsys, *command)[0] == 0
    with zipfile.ZipFile(opened) as archive:
        assert b"70123" in b"".join(archive.read(name) for name in archive.namelist())
    event = AuditEvent.objects.get(act="keys.export")
    assert (event.subject, event.details["keys"]) == (f"version:{version.pk}", 2)
    assert Exposure.objects.get().what == f"answer keys of {version}"


@pytest.mark.parametrize(
    "command",
    [
        ("export_suite", "nothing@1"),
        ("export_run", "4711"),
        ("export_run", "4711", "--as", "every_eval_ever"),
    ],
)
def test_what_is_not_there_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: tuple[str, ...]
) -> None:
    out = tmp_path / "out.zip"
    status, printed, _ = run_command(capsys, *command, "--out", str(out), "--json")
    assert status == 1
    assert json.loads(printed)["ok"] is False
    assert not out.exists()


def test_a_run_is_written_in_its_own_form(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = make.takeoff_run(make.takeoff_version(2))
    out = tmp_path / "run"
    assert run_command(capsys, "export_run", str(run.pk), "--out", str(out))[0] == 0
    before = make.whole_database()
    report = intake.import_run_path(out, options=RecordingOptions(version=run.version))
    assert [(one.run, one.outcome) for one in report.runs] == [(run.pk, "unchanged")]
    assert make.changed_tables(before) == []


def test_an_unknown_form_is_refused_with_the_known_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = scored_run()
    command = ("export_run", str(run.pk), "--as", "papyrus", "--out", str(tmp_path / "x.zip"))
    status, _, errors = run_command(capsys, *command)
    assert status == 1
    assert "'papyrus'" in errors
    for key in registry.score_forms():
        assert key in errors


def test_no_export_leaves_its_folder(tmp_path: Path) -> None:
    for path in ("../out", "/etc/passwd", "a/../../b", "C:\\x", "CON"):
        with pytest.raises(AcademyError, match="no path that a file may be written to"):
            downloads.checked({path: b"x"})
    export = Export("example", {"a/b.json": b"{}"})
    downloads.write(export, tmp_path / "new")
    assert (tmp_path / "new/a/b.json").read_bytes() == b"{}"
