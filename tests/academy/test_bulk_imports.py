"""Uploads of curators that the worker reads: watched, told file by file, confirmed, imported."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from academy import bulk_importing
from academy.models import AuditEvent, BulkImport, Run, SuiteVersion, Work
from tests import factories as make

pytestmark = pytest.mark.django_db

SUITES, RUNS = "/admin/academy/suite/import/", "/imports/runs/"
LARGE = 200


@pytest.fixture
def curator() -> Client:
    client = Client()
    client.force_login(make.person("cora", "curator"))
    return client


@pytest.fixture
def large(settings: Any) -> None:
    """Whatever is larger than a few words is large."""
    settings.ACADEMY_IMPORT_AT_ONCE = LARGE


def archive(contents: dict[str, Any], name: str = "upload.zip") -> SimpleUploadedFile:
    files = make.as_files(contents)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for path in files:
            made.writestr(str(path), files[path])
    assert held.getbuffer().nbytes > LARGE
    return SimpleUploadedFile(name, held.getvalue())


def sent(client: Client, page: str, upload: SimpleUploadedFile, **fields: str) -> str:
    """The address of the page that watches an upload."""
    response = client.post(page, {"upload": upload, **fields})
    assert response.status_code == 302, strip_tags(response.content.decode())
    return str(response["Location"])


def words(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return " ".join(strip_tags(response.content.decode().replace("<", " <")).split())


def entered() -> Any:
    """The runs of entrants; the gate of a version makes others."""
    return Run.objects.filter(kind="entrant")


def row() -> BulkImport:
    return BulkImport.objects.get()


def one_run(version: SuiteVersion) -> dict[str, Any]:
    return {"run.json": make.bundle(version, {"t-0": 100, "t-1": 90})}


def test_a_large_suite_is_read_by_the_worker_and_imported_when_that_is_confirmed(
    curator: Client, large: None
) -> None:
    contents = {**make.takeoff_files(2), "notes.txt": "for people"}
    before = make.whole_database()
    address = sent(curator, SUITES, archive(contents))
    assert set(make.changed_tables(before)) <= {
        "academy_bulkimport", "academy_work", "academy_auditevent", "django_session",
    }  # fmt: skip
    told = words(curator, address)
    assert "waits for a worker" in told
    assert "No worker is running" in told
    assert 'hx-trigger="every 2s"' in curator.get(address).content.decode()
    assert curator.post(address).status_code == 422
    make.score_all()
    assert not SuiteVersion.objects.exists()
    told = words(curator, address)
    for part in ("example 1.0 created 2", "suite.json would be imported", "notes.txt"):
        assert part in told, part
    assert curator.get(address, headers={"HX-Request": "true"}).status_code == 286
    assert curator.post(address, {"publish": "1"}).status_code == 302
    assert not SuiteVersion.objects.exists()
    make.score_all()
    assert SuiteVersion.objects.get().state == "published"
    told = words(curator, address)
    assert "confirmed by cora" in told
    assert 'href="/suites/example/1.0/"' in curator.get(address).content.decode()
    assert curator.post(address).status_code == 422
    event = AuditEvent.objects.get(act="suite.import")
    assert event.actor is not None
    assert event.actor.username == "cora"


def test_a_large_run_is_imported_by_the_same_way_and_again_changes_nothing(
    curator: Client, large: None
) -> None:
    version = make.takeoff_version([make.takeoff_task(f"t-{n}") for n in range(2)])
    contents = one_run(version)
    outcomes = []
    for _ in range(2):
        address = sent(curator, RUNS, archive(contents), version=str(version))
        make.score_all()
        assert "Import 1 run" in words(curator, address)
        curator.post(address)
        make.score_all()
        found = BulkImport.objects.order_by("-created_at")[0]
        outcomes.append((found.stage, found.report["runs"][0]["outcome"]))
        assert f'href="/runs/{entered().get().pk}/"' in curator.get(address).content.decode()
    assert outcomes == [("done", "created"), ("done", "unchanged")]
    assert entered().get().submission is not None


def test_a_small_upload_is_read_at_once(curator: Client) -> None:
    version = make.takeoff_version([make.takeoff_task(f"t-{n}") for n in range(2)])
    address = sent(curator, RUNS, archive(one_run(version)), version=str(version))
    assert row().stage == "read"
    assert not entered().exists()
    curator.post(address)
    assert row().stage == "done"
    assert entered().count() == 1
    assert not Work.objects.filter(kind=bulk_importing.KIND).exists()


def test_a_refusal_names_every_place_and_stores_nothing(curator: Client, large: None) -> None:
    files = make.takeoff_files([make.takeoff_task("t-0", unit="furlong")])
    files["broken.task.json"] = b"{"
    before = make.whole_database()
    address = sent(curator, SUITES, archive(files))
    make.score_all()
    told = words(curator, address)
    assert row().stage == "refused"
    assert row().problems_total >= 1
    assert "Nothing was changed." in told
    assert "broken.task.json" in told
    assert not SuiteVersion.objects.exists()
    assert set(make.changed_tables(before)) <= {
        "academy_bulkimport", "academy_work", "academy_auditevent", "django_session",
    }  # fmt: skip
    assert curator.post(address).status_code == 422


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"version": "nothing"}, "is not SUITE@VERSION"),
        ({"version": "nobody@1"}, "There is no nobody@1"),
        ({"entrant": "nobody-knows"}, "nobody-knows"),
        ({"format": "tar"}, "not one of the available choices"),
    ],
)
def test_wrong_choices_are_told(curator: Client, fields: dict[str, str], why: str) -> None:
    version = make.takeoff_version([make.takeoff_task(f"t-{n}") for n in range(2)])
    response = curator.post(RUNS, {"upload": archive(one_run(version)), **fields}, follow=True)
    assert why in strip_tags(response.content.decode()).replace("&#x27;", "'")
    assert not entered().exists()


def test_a_name_that_no_file_may_have_and_an_empty_form_are_refused(curator: Client) -> None:
    assert curator.post(RUNS, {}).status_code == 422
    upload = SimpleUploadedFile("CON.json", b"{}")
    response = curator.post(RUNS, {"upload": upload})
    assert response.status_code == 422
    assert "A file cannot be called" in response.content.decode()
    assert not BulkImport.objects.exists()


def test_only_curators_find_these_pages(curator: Client, large: None) -> None:
    address = sent(curator, SUITES, archive(make.takeoff_files(2)))
    stranger = Client()
    stranger.force_login(make.person("ann", "auditor"))
    for client in (Client(), stranger):
        for page in (RUNS, address):
            assert client.get(page).status_code == 404
            assert client.post(page).status_code == 404


def test_what_nobody_confirms_is_deleted_after_a_day(curator: Client, large: None) -> None:
    address = sent(curator, SUITES, archive(make.takeoff_files(2)))
    make.score_all()
    name = row().file
    assert default_storage.exists(name)
    Work.objects.filter(kind=bulk_importing.EXPIRE).update(due_at=timezone.now())
    make.score_all()
    assert not default_storage.exists(name)
    assert "no longer kept" in words(curator, address)
    assert curator.post(address).status_code == 422


def test_the_file_goes_when_the_import_is_over(django_capture_on_commit_callbacks: Any) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        stream = io.BytesIO(b"{")
        held = bulk_importing.keep_upload(
            "suites", "a.json", stream, size=1, choices={}, by=make.person("dora", "curator")
        )
    assert held.stage == "refused"
    assert held.file == ""
    assert not default_storage.exists(f"{bulk_importing.FOLDER}/{held.pk}/upload")


def test_work_that_dies_for_good_is_told(curator: Client, large: None) -> None:
    address = sent(curator, SUITES, archive(make.takeoff_files(2)))
    bulk_importing.give_up({"import": str(row().pk)})
    assert "It failed through us." in words(curator, address)


def test_every_byte_that_is_read_is_counted() -> None:
    files = make.as_files({"a.json": {"x": 1}, "b.txt": "two\nlines\n"})
    counted: list[int] = []
    watched = files.watched(counted.append)
    for path in files:
        assert watched[path] == files[path]
    with watched.open("b.txt") as stream:
        assert list(stream) == [b"two\n", b"lines\n"]
        assert stream.seek(4) == 4
        assert stream.read() == b"lines\n"
    assert sum(counted) >= sum(len(files[path]) for path in files)
