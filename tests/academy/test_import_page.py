"""The import page of the admin: read everything, tell everything, then import."""

from __future__ import annotations

import io
import re
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client
from django.utils.html import strip_tags

from academy.models import AuditEvent, Suite, SuiteVersion
from tests import factories as make

pytestmark = pytest.mark.django_db

PAGE = "/admin/academy/suite/import/"


@pytest.fixture
def curator() -> Client:
    client = Client()
    client.force_login(make.person("curator", "curator"))
    return client


def archive(contents: dict[str, Any]) -> SimpleUploadedFile:
    files = make.as_files(contents)
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as made:
        for path in files:
            made.writestr(str(path), files[path])
    return SimpleUploadedFile("suite.zip", held.getvalue())


def alone(name: str, contents: dict[str, Any]) -> SimpleUploadedFile:
    return SimpleUploadedFile(name, make.as_files(contents)[name])


def send(client: Client, upload: SimpleUploadedFile, **fields: str) -> Any:
    return client.post(PAGE, {"upload": upload, "format": "", "name": "", **fields})


def token_in(response: HttpResponse) -> str:
    found = re.search(r'name="token" value="([a-f0-9]{32})"', response.content.decode())
    assert found, strip_tags(response.content.decode())
    return found[1]


def kept(settings: LazySettings) -> list[Path]:
    """The uploads that wait for a confirmation."""
    folder = settings.DATA_DIR / "uploads"
    return sorted(folder.iterdir()) if folder.exists() else []


def test_the_page_is_there_and_linked(curator: Client) -> None:
    assert curator.get(PAGE).status_code == 200
    assert PAGE in curator.get("/admin/academy/suite/").content.decode()
    assert PAGE in curator.get("/").content.decode()


def test_formats_to_choose_from_come_from_the_registry(curator: Client) -> None:
    from academy import registry

    page = curator.get(PAGE).content.decode()
    for key, fmt in registry.all_formats().items():
        assert (f'<option value="{key}"' in page) == (fmt.parse_suite is not None)


def test_a_dry_run_shows_everything_and_changes_nothing(
    curator: Client, settings: LazySettings
) -> None:
    contents = {**make.takeoff_files(2), "notes.txt": "for people"}
    before = make.whole_database()
    response = send(curator, archive(contents))
    assert response.status_code == 200
    text = strip_tags(response.content.decode())
    for told in ("example", "1.0", "created", "suite.json", "0.task.json", "imported"):
        assert told in text
    assert "notes.txt" in text
    assert "recognised, not loaded" in text
    assert "a text for people" in text
    token_in(response)
    changed = set(make.changed_tables(before)) - {"django_session"}
    assert changed == set()


def test_a_confirmed_upload_is_imported_as_a_draft(curator: Client, settings: LazySettings) -> None:
    waiting = len(kept(settings))
    token = token_in(send(curator, archive(make.takeoff_files(2))))
    assert len(kept(settings)) == waiting + 1
    response = curator.post(PAGE, {"token": token, "format": "", "name": ""}, follow=True)
    assert response.redirect_chain[-1][0] == "/suites/example/1.0/"
    assert "example@1.0 created: 2 tasks, draft." in strip_tags(response.content.decode())
    assert SuiteVersion.objects.get().state == "draft"
    event = AuditEvent.objects.get(act="suite.import")
    assert event.actor is not None
    assert event.actor.username == "curator"
    assert len(kept(settings)) == waiting


def test_a_confirmed_upload_may_be_published_at_once(curator: Client) -> None:
    token = token_in(send(curator, archive(make.takeoff_files(2))))
    curator.post(PAGE, {"token": token, "format": "", "name": "", "publish": "1"})
    assert SuiteVersion.objects.get().state == "published"


def test_what_is_not_ready_to_be_published_says_why(curator: Client) -> None:
    tasks = [make.takeoff_task("t-0", groundTruth=None)]
    token = token_in(send(curator, archive(make.takeoff_files(tasks))))
    response = curator.post(
        PAGE, {"token": token, "format": "", "name": "", "publish": "1"}, follow=True
    )
    assert "has no answer key for t-0" in strip_tags(response.content.decode())
    assert SuiteVersion.objects.get().state == "draft"


def test_a_single_file_is_enough(curator: Client) -> None:
    upload = alone("x.task.json", {"x.task.json": make.takeoff_task("t-0", slug="alone")})
    token = token_in(send(curator, upload))
    curator.post(PAGE, {"token": token, "format": "", "name": ""})
    assert Suite.objects.get().slug == "alone"


def test_another_name_is_kept_from_dry_run_to_import(curator: Client) -> None:
    response = send(curator, archive(make.takeoff_files(1)), name="other@7")
    assert 'name="name" value="other@7"' in response.content.decode()
    token = token_in(response)
    curator.post(PAGE, {"token": token, "format": "", "name": "other@7"})
    assert str(SuiteVersion.objects.get()) == "other@7"


def test_the_same_upload_again_would_change_nothing(curator: Client) -> None:
    make.import_files(make.takeoff_files(2))
    response = send(curator, archive(make.takeoff_files(2)))
    assert "unchanged" in strip_tags(response.content.decode())


def test_errors_are_shown_with_file_line_and_pointer(
    curator: Client, settings: LazySettings
) -> None:
    contents = {
        **make.takeoff_files(2),
        "0.task.json": make.takeoff_task("t-0", prompt=7),
        "1.task.json": b'{\n "taskId": "t-1",\n "x": NaN\n}',
    }
    waiting = kept(settings)
    before = make.whole_database()
    response = send(curator, archive(contents))
    assert response.status_code == 422
    page = response.content.decode()
    rows = [strip_tags(row.replace("</t", " </t")) for row in re.findall(r"<tr>.*?</tr>", page)]
    assert any("0.task.json" in row and "/prompt" in row for row in rows), rows
    assert any(re.search(r"1\.task\.json\s+3\s", row) for row in rows), rows
    assert "Nothing was changed" in page
    assert 'name="token"' not in page
    assert set(make.changed_tables(before)) <= {"django_session"}
    assert kept(settings) == waiting


@pytest.mark.parametrize(
    ("upload", "said"),
    [
        (SimpleUploadedFile("notes.txt", b"nothing"), "No format recognises these files"),
        (SimpleUploadedFile("suite.zip", b"no archive"), "archive"),
        (SimpleUploadedFile("suite.tar.gz", b"x"), "is an archive that is not read"),
    ],
    ids=["unknown", "damaged", "other-archive"],
)
def test_what_cannot_be_read_is_refused_with_a_sentence(
    curator: Client, settings: LazySettings, upload: SimpleUploadedFile, said: str
) -> None:
    upload.seek(0)
    waiting = kept(settings)
    response = send(curator, upload)
    assert response.status_code == 422
    assert said in strip_tags(response.content.decode())
    assert kept(settings) == waiting


def test_a_known_name_with_other_content_is_refused_on_the_page(curator: Client) -> None:
    make.import_files(make.takeoff_files(1))
    response = send(curator, archive(make.takeoff_files(2)))
    assert response.status_code == 422
    assert "task t-1 is new" in strip_tags(response.content.decode())


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"name": "nonsense"}, "is not SUITE@VERSION"),
        ({"format": "nobody-knows"}, "Select a valid choice"),
    ],
)
def test_fields_that_cannot_be_meant_are_told_at_the_field(
    curator: Client, fields: dict[str, str], said: str
) -> None:
    response = send(curator, archive(make.takeoff_files(1)), **fields)
    assert response.status_code == 422
    assert said in strip_tags(response.content.decode())


def test_a_form_without_a_file_is_told_so(curator: Client) -> None:
    response = curator.post(PAGE, {"format": "", "name": ""})
    assert response.status_code == 422
    assert "This field is required" in response.content.decode()


def test_a_file_that_is_too_large_is_refused(curator: Client, settings: LazySettings) -> None:
    settings.ACADEMY_UPLOAD_BYTES = 10
    response = send(curator, archive(make.takeoff_files(1)))
    assert response.status_code == 422
    assert "The file is larger than" in strip_tags(response.content.decode())


@pytest.mark.parametrize("token", ["0" * 32, "../../etc", "", "nonsense"])
def test_a_token_that_is_not_kept_asks_for_the_file_again(curator: Client, token: str) -> None:
    response = curator.post(PAGE, {"token": token, "format": "", "name": ""}, follow=True)
    assert response.redirect_chain[-1][0] == PAGE
    assert "no longer kept" in strip_tags(response.content.decode())
    assert not Suite.objects.exists()


def test_a_token_is_good_once(curator: Client) -> None:
    token = token_in(send(curator, archive(make.takeoff_files(1))))
    curator.post(PAGE, {"token": token, "format": "", "name": ""})
    response = curator.post(PAGE, {"token": token, "format": "", "name": ""}, follow=True)
    assert "no longer kept" in strip_tags(response.content.decode())
    assert SuiteVersion.objects.count() == 1


def test_an_upload_nobody_confirmed_within_a_day_is_gone(
    curator: Client, settings: LazySettings
) -> None:
    import os

    token = token_in(send(curator, archive(make.takeoff_files(1))))
    folder = settings.DATA_DIR / "uploads" / token
    long_ago = time.time() - 25 * 3600
    os.utime(folder, (long_ago, long_ago))
    send(curator, archive(make.takeoff_files(1, slug="next")))
    assert not folder.exists()
    response = curator.post(PAGE, {"token": token, "format": "", "name": ""}, follow=True)
    assert "no longer kept" in strip_tags(response.content.decode())


def test_a_confirmation_that_was_tampered_with_is_no_import(curator: Client) -> None:
    token = token_in(send(curator, archive(make.takeoff_files(1))))
    response = curator.post(PAGE, {"token": token, "format": "", "name": "nonsense"})
    assert response.status_code in (302, 422)
    assert not Suite.objects.exists()


def test_what_changed_between_dry_run_and_import_is_refused_then(curator: Client) -> None:
    token = token_in(send(curator, archive(make.takeoff_files(2))))
    make.import_files(make.takeoff_files(1))
    response = curator.post(PAGE, {"token": token, "format": "", "name": ""})
    assert response.status_code == 422
    assert "known with other content" in strip_tags(response.content.decode())
    assert SuiteVersion.objects.get().tasks.count() == 1


@pytest.mark.parametrize("roles", [(), ("reviewer",), ("adjudicator",), ("auditor",)], ids=str)
def test_only_curators_import(roles: tuple[str, ...], settings: LazySettings) -> None:
    client = Client()
    client.force_login(make.person("clerk", *roles, is_staff=True))
    waiting = kept(settings) if (settings.DATA_DIR / "uploads").exists() else []
    assert client.get(PAGE).status_code == 403
    assert send(client, archive(make.takeoff_files(1))).status_code == 403
    assert client.post(PAGE, {"token": "0" * 32}).status_code == 403
    assert (kept(settings) if waiting else []) == waiting
    assert not Suite.objects.exists()


def test_somebody_without_a_login_is_asked_for_one() -> None:
    response = Client().get(PAGE)
    assert response.status_code == 302
    assert "/login/" in response.headers["Location"]


def test_an_import_from_another_site_is_refused() -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(make.person("curator", "curator"))
    assert send(client, archive(make.takeoff_files(1))).status_code == 403


def test_text_from_a_file_is_shown_and_not_run(curator: Client) -> None:
    markup = "<img src=x onerror=alert(1)>"
    contents = {**make.takeoff_files(1), f"{markup[:20]}.txt": "x"}
    tasks = [make.takeoff_task("t-0", unknown_member=markup)]
    for upload in (archive(contents), archive(make.takeoff_files(tasks))):
        page = send(curator, upload).content.decode()
        assert "<img" not in page
