"""Exports: by command and by page, as zip and folder, never more than whoever asks may see."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from academy import deciding, downloads, exporting, intake, pages, publishing, registry, run_files
from academy.deciding import Verdict
from academy.downloads import Export
from academy.errors import AcademyError
from academy.formats.reading import Files
from academy.importing import ImportOptions
from academy.models import AuditEvent, Exposure, Run, SuiteVersion
from academy.recording import RecordingOptions
from academy.uploads import open_upload
from tests import factories as make
from tests.academy.test_formats import ROOT, Sample
from tests.academy.test_round_trips import RUNS, version_for
from tests.academy.test_round_trips import record as record_sample

pytestmark = pytest.mark.django_db
DOWNLOADS = ("run-own", "run-csv", "run-json")
SECRET = 70123.0


def run_command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Exit status and what was printed."""
    try:
        call_command(*arguments)
        status = 0
    except SystemExit as end:
        status = int(end.code or 0)
    printed = capsys.readouterr()
    return status, printed.out, printed.err


def get(client: Client, name: str, run: Run, *parts: Any) -> HttpResponse:
    answer: HttpResponse = client.get(reverse(f"academy:{name}", args=[run.pk, *parts]))
    return answer


def scored_run(slug: str = "example") -> Run:
    run = make.takeoff_run(make.takeoff_version(3, slug=slug))
    make.score_all()
    return run


# Commands.


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


def test_a_run_that_is_not_scored_yet_has_no_scores_to_export() -> None:
    run = make.takeoff_run(make.takeoff_version(1))
    for form in registry.score_forms():
        with pytest.raises(AcademyError, match="not scored yet"):
            exporting.export_scores(run, form=form, at=run.created_at)


def test_no_export_leaves_its_folder(tmp_path: Path) -> None:
    for path in ("../out", "/etc/passwd", "a/../../b", "C:\\x", "CON"):
        with pytest.raises(AcademyError, match="no path that a file may be written to"):
            downloads.checked({path: b"x"})
    export = Export("example", {"a/b.json": b"{}"})
    downloads.write(export, tmp_path / "new")
    assert (tmp_path / "new/a/b.json").read_bytes() == b"{}"


# Every run of every format as a pair.


def open_task(task_id: str) -> dict[str, Any]:
    """A rubric task without sealed notes."""
    task = make.rubric_task(task_id)
    return {name: held for name, held in task.items() if not name.startswith("_")}


def some_runs() -> list[Run]:
    """A scored run of each kind of suite that the builders make."""
    report = make.import_files(
        {make.rubrics.BUCKET: [open_task("q-0"), open_task("q-1")]},
        rename=("rubrics", "1"),
        publish=True,
        attributes={"evidence": {"strict": {"kind": "people"}}},
    )
    rubrics = make.version_of(report)
    lines = [make.judged("q-0", True, False), make.judged("q-1", True, True)]
    judged = make.run_of(
        make.record_files({"run.jsonl": [make.header(suite=str(rubrics)), *lines]}, rubrics)
    )
    measured = make.takeoff_run(make.takeoff_version(3), {"t-0": 100.0, "t-1": 250.0})
    decide(judged, "q-0", make.person("example-reviewer", "reviewer"))
    make.score_all()
    return [judged, measured]


def decide(run: Run, task: str, person: Any) -> None:
    """A person says of a record that everything is met."""
    record = run.records.select_related("task").get(task__external_id=task)
    criteria = record.task.criteria.order_by("ordinal")
    verdicts = [Verdict(criterion=criterion, value=True) for criterion in criteria]
    deciding.record_decisions(record, verdicts, source="person", person=person)


def test_scored_runs_of_several_formats_are_exported_in_every_form_that_takes_them() -> None:
    assert registry.score_forms()
    for run in some_runs():
        for form in registry.score_forms():
            export = exporting.export_scores(run, form=form, at=run.created_at)
            assert export.files
            files = Files.of(dict(export.files))
            fmt = registry.format_of(form)
            assert fmt.claims_run(files)
            assert fmt.parse_run is not None
            upload = fmt.parse_run(files, None)
            assert len(upload.runs) == 1
            known = set(run.version.tasks.values_list("external_id", flat=True))
            for exported in upload.records():
                assert any(name in exported.task_id for name in known)


def test_what_waits_is_counted_in_a_pair_and_is_no_row() -> None:
    judged, _measured = some_runs()
    for form in registry.score_forms():
        export = exporting.export_scores(judged, form=form, at=judged.created_at)
        text = b"".join(export.files.values()).decode()
        assert '"waiting": "1"' in text
        assert '"scored": "1"' in text
        assert '"is_correct": true' in text
        assert '"sample_id": "q-0"' in text
        assert '"sample_id": "q-1"' not in text


def test_keys_are_in_a_pair_only_when_asked_for_and_noted() -> None:
    version = make.version_of(make.import_files(make.sealed_files(2, value=SECRET), publish=True))
    run = make.takeoff_run(version)
    make.score_all()
    for form in registry.score_forms():
        closed = exporting.export_scores(run, form=form, at=run.created_at)
        assert b"70123" not in b"".join(closed.files.values())
        assert not AuditEvent.objects.filter(act="keys.export").exists()
        exporting.export_scores(run, form=form, at=run.created_at, with_keys=True)
        assert AuditEvent.objects.filter(act="keys.export").exists()


# Downloads on pages.


def test_a_run_page_offers_its_downloads_and_each_of_them_comes(client: Client) -> None:
    run = scored_run()
    body = get(client, "run", run).content.decode()
    links = run_files.links(run, client)
    assert len(links) == 3 + len(registry.score_forms())
    for link in links:
        assert f'href="{link.url}"' in body
        response = client.get(link.url)
        assert response.status_code == 200
        assert response["Content-Disposition"].startswith("attachment")
        assert response["Content-Security-Policy"] == "sandbox"
        assert client.post(link.url).status_code == 405


def test_a_run_comes_back_from_its_page_as_it_was_sent(client: Client) -> None:
    run = scored_run()
    response = get(client, "run-own", run)
    with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    report = make.record_files(Files.of(files), run.version)
    assert (report.runs[0].run, report.runs[0].outcome) == (run.pk, "unchanged")


def test_nothing_of_a_sealed_run_is_downloaded_but_by_curators(client: Client) -> None:
    run = make.takeoff_run(make.sealed_version(12))
    make.score_all()
    names = [*((name, ()) for name in DOWNLOADS)]
    names += [("run-as", (form,)) for form in registry.score_forms()]
    for person in (None, make.person("auditor", "auditor"), make.person("reader", "reviewer")):
        if person is not None:
            client.force_login(person)
        for name, parts in names:
            assert get(client, name, run, *parts).status_code == 404, (person, name)
        assert "Downloads" not in get(client, "run", run).content.decode()
    client.force_login(make.person("curator", "curator"))
    for name, parts in names:
        assert get(client, name, run, *parts).status_code == 200, name


def test_downloads_of_runs_that_may_not_be_seen_are_not_there(client: Client) -> None:
    run = make.takeoff_run(make.takeoff_version(1, publish=False))
    make.score_all()
    for name in DOWNLOADS:
        assert get(client, name, run).status_code == 404


def test_a_run_of_a_version_with_a_holdout_task_is_closed_in_its_own_form(client: Client) -> None:
    version = make.takeoff_version(3, publish=False)
    version.tasks.filter(external_id="t-1").update(holdout=True)
    publishing.publish_version(version, reason="tests")
    run = make.takeoff_run(version)
    make.score_all()
    assert get(client, "run-own", run).status_code == 404
    rows = json.loads(get(client, "run-json", run).content)["rows"]
    assert {row["task"] for row in rows} == {"t-0", "t-2"}
    for form in registry.score_forms():
        response = get(client, "run-as", run, form)
        with zipfile.ZipFile(io.BytesIO(response.content)) as archive:
            everything = b"".join(archive.read(name) for name in archive.namelist())
        assert b"t-0" in everything
        assert b"t-1" not in everything


def test_verdicts_are_closed_in_downloads_while_they_are_closed_on_the_page(
    client: Client,
) -> None:
    judged, _measured = some_runs()
    assert get(client, "run-own", judged).status_code == 404
    response = get(client, "run-json", judged)
    assert response.status_code == 200
    rows = [row for row in json.loads(response.content)["rows"] if row["task"] == "q-1"]
    assert rows
    assert {row["status"] for row in rows} == {"needs_human"}
    assert {row["value"] for row in rows} == {None}
    client.force_login(make.person("curator", "curator"))
    assert get(client, "run-own", judged).status_code == 200
    opened = json.loads(get(client, "run-json", judged).content)["rows"]
    assert {row["mode"] for row in opened} == {"strict", "reference"}
    assert len(opened) >= len(rows)


def test_all_records_at_once_are_veiled_as_each_of_them_is() -> None:
    judged, measured = some_runs()
    reviewer = make.person("reviewer", "reviewer")
    people = [None, reviewer, make.person("other", "reviewer"), make.person("curator", "curator")]
    for decided in (False, True):
        if decided:
            decide(judged, "q-1", reviewer)
            make.score_all()
        for run in (judged, measured):
            for person in people:
                each = {row.pk for row in run.records.all() if pages.hides_verdicts(row, person)}
                assert run_files.veiled_records(run, person) == each


def test_rows_as_csv_keep_numbers_and_neutralise_text(client: Client) -> None:
    version = make.takeoff_version(1)
    evidence = {"claim": '=HYPERLINK("http://x.test","open")', "delta": -0.25, "tab": "\tx"}
    line = make.execution("t-0", 80, evidence=evidence)
    run = make.run_of(make.record_files({"run.jsonl": [make.header(), line]}, version))
    make.score_all()
    address = reverse("academy:run-csv", args=[run.pk])
    (row, *_rest) = csv.DictReader(io.StringIO(client.get(address).content.decode()))
    assert row["fact claim"] == '\'=HYPERLINK("http://x.test","open")'
    assert row["fact tab"] == "'\tx"
    assert row["fact delta"] == "-0.25"
    (raw, *_rest) = csv.DictReader(io.StringIO(client.get(f"{address}?raw=1").content.decode()))
    assert raw["fact claim"] == evidence["claim"]
    told = json.loads(get(client, "run-json", run).content)["rows"][0]
    assert told["facts"]["claim"] == evidence["claim"]
    assert told["facts"]["delta"] == -0.25


def test_a_run_that_is_too_large_for_a_page_is_exported_in_the_background(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = scored_run()
    monkeypatch.setattr(run_files, "MOST_RECORDS", 2)
    asked = reverse("academy:export-ask", args=["run", run.pk])
    assert [link.url for link in run_files.links(run, None)] == [asked]
    assert asked in get(client, "run", run).content.decode()
    for name in DOWNLOADS:
        assert get(client, name, run).status_code == 404


# What a Doc Bridge record has to keep is read off wherever records are read.

RETAINED = (
    "suite_hash",
    "protocol_hash",
    "source_revision",
    "model",
    "scenario",
    "replicate",
    "verification_run_id",
)


def sample(case: str) -> Files:
    folder = ROOT / "doc_bridge/samples/accept" / case
    return Files.of(
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    )


def study_run(version: SuiteVersion | None) -> Run:
    report = make.record_files(sample("one-run"), version)
    Run.objects.filter(pk=report.runs[0].run).update(state="closed")
    make.score_all()
    return make.run_of(report)


def test_the_seven_things_of_a_study_are_on_page_and_export_row(client: Client) -> None:
    version = make.version_of(make.import_files(sample("one-repository"), publish=True))
    run = study_run(version)
    make.person("curator", "curator")
    for held in run.records.all():
        facts = pages.retained_facts(pages.view_of(held))
        body = client.get(reverse("academy:record", args=[held.pk])).content.decode()
        for name in RETAINED:
            assert name in facts
            assert facts[name] is not None, name
            label = name.replace("_", " ").capitalize()
            assert f'<dt>{label}</dt><dd class="ev">{facts[name]}</dd>' in body
    rows = json.loads(get(client, "run-json", run).content)["rows"]
    assert rows
    for row in rows:
        assert set(RETAINED) <= set(row["facts"])
    (first, *_rest) = csv.DictReader(io.StringIO(get(client, "run-csv", run).content.decode()))
    assert all(first[f"fact {name}"] for name in RETAINED)


def test_what_nobody_said_is_shown_as_not_said(client: Client) -> None:
    contents = {
        str(path): data
        for path, data in sample("one-repository").items()
        if not str(path).endswith(("run-plan.json", "verification.json", "protocol.json"))
    }
    version = make.version_of(make.import_files(Files.of(contents), publish=True))
    run = study_run(version)
    record = run.records.first()
    assert record is not None
    body = client.get(reverse("academy:record", args=[record.pk])).content.decode()
    for name in ("suite_hash", "protocol_hash", "source_revision", "verification_run_id"):
        label = name.replace("_", " ").capitalize()
        assert f'<dt>{label}</dt><dd class="ev"><span class="dim">not said</span></dd>' in body
    rows = json.loads(get(client, "run-json", run).content)["rows"]
    assert all(row["facts"]["suite_hash"] is None for row in rows)


# Every run sample of every format as a pair that the pair's own checker accepts.


@pytest.mark.parametrize("sample", RUNS, ids=str)
def test_a_scored_run_of_any_format_is_written_in_every_form_that_takes_scores(
    sample: Sample,
) -> None:
    version = version_for(sample)
    report = record_sample(sample.files(), sample, version)
    make.score_all()
    assert registry.score_forms()
    for outcome in report.runs:
        run = Run.objects.get(pk=outcome.run)
        for form, fmt in registry.score_forms().items():
            export = exporting.export_scores(run, form=form, at=run.created_at)
            files = Files.of(dict(export.files))
            assert fmt.claims_run(files)
            assert fmt.parse_run is not None
            upload = fmt.parse_run(files, None)
            told = {one.path: one.status for one in upload.files}
            assert set(told) == set(export.files)
            wrong = [one for one in fmt.compatibility(files) if one.severity == "error"]
            assert wrong == []
            again = exporting.export_scores(run, form=form, at=run.created_at)
            assert again.files == export.files
