"""Downloads of a run's page, never more than whoever asks may see."""

from __future__ import annotations

import csv
import io
import json
import zipfile

import pytest
from django.test import Client
from django.urls import reverse

from academy import pages, publishing, registry, run_files
from academy.formats.reading import Files
from tests import factories as make
from tests.academy.exporting_making import decide, get, scored_run, some_runs

pytestmark = pytest.mark.django_db
DOWNLOADS = ("run-own", "run-csv", "run-json")


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
