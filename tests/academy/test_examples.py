"""The example content is sound, and is loaded once and whole."""

from __future__ import annotations

import json
import re
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from academy import demonstrating
from academy.bundle import SuiteSpec
from academy.models import (
    AnswerKey,
    Entrant,
    Membership,
    Run,
    Suite,
    SuiteVersion,
    Work,
)
from academy.registry import detect
from academy.uploads import open_upload
from tests import factories as make

SUITES = [example.slug for example in demonstrating.SUITES]


def suite_of(slug: str) -> SuiteSpec:
    files = open_upload(demonstrating.FOLDER / "suites" / slug).files
    parse = detect(files).parse_suite
    assert parse is not None
    upload = parse(files)
    assert {str(report.status) for report in upload.files} == {"imported"}
    assert {notice.rule for notice in upload.notices} <= {"ranked-keys-in-tasks"}
    (suite,) = upload.suites
    return suite


def load() -> str:
    told = StringIO()
    call_command("load_examples", stdout=told)
    return told.getvalue()


@pytest.mark.parametrize("slug", SUITES)
def test_suite_and_runs_are_read_whole(slug: str) -> None:
    suite = suite_of(slug)
    files = open_upload(demonstrating.FOLDER / "runs" / slug).files
    parse = detect(files, run=True).parse_run
    assert parse is not None
    upload = parse(files, suite)
    assert {str(report.status) for report in upload.files} == {"imported"}
    assert {notice.rule for notice in upload.notices} <= {"task-omitted"}
    assert len(upload.runs) == 3
    assert {record.task_id for record in upload.records()} <= {
        task.external_id for task in suite.tasks
    }


def test_everybody_and_everything_is_called_an_example() -> None:
    for slug in SUITES:
        assert slug.startswith("example-")
        files = open_upload(demonstrating.FOLDER / "runs" / slug).files
        parse = detect(files, run=True).parse_run
        assert parse is not None
        for run in parse(files, suite_of(slug)).runs:
            assert run.entrant.name.lower().startswith("example")
            assert run.entrant.model in ("", run.entrant.name.lower().replace(" ", "-"))
    judges = {
        json.loads(path.read_text("utf-8"))["model"]
        for path in demonstrating.FOLDER.rglob("osworld_full_traj_result.json")
    }
    assert judges == {"example-judge"}
    assert all(name.startswith("Example") for name in demonstrating.ORGANIZATIONS.values())


def test_drawings_hold_shapes_and_words_and_nothing_that_runs() -> None:
    drawings = sorted(demonstrating.FOLDER.rglob("*.svg"))
    assert len(drawings) == 8
    for drawing in drawings:
        text = drawing.read_text("utf-8")
        elements = set(re.findall(r"<(\w+)", text))
        assert elements <= {"svg", "title", "rect", "g", "path", "polygon", "text", "tspan"}
        assert not re.search(r"\b(href|on\w+|style)=", text)
        assert len(text) < 8_000


@pytest.mark.django_db
def test_loading_twice_changes_nothing_and_says_nothing() -> None:
    assert "loaded" in load()
    before = make.whole_database()
    assert load() == ""
    assert make.changed_tables(before) == []


@pytest.mark.django_db
def test_examples_that_were_removed_do_not_come_back() -> None:
    load()
    Entrant.objects.update(organization=None)
    get_user_model().objects.filter(username="auditor").delete()
    assert load() == ""
    assert not get_user_model().objects.filter(username="auditor").exists()
    assert not any(line.startswith("auditor") for line in demonstrating.logins())


@pytest.mark.django_db
def test_example_rows_are_marked_published_and_owed_to_the_workers() -> None:
    load()
    assert set(Suite.objects.values_list("slug", "is_example")) == {(s, True) for s in SUITES}
    assert set(SuiteVersion.objects.values_list("state", "sealed")) == {("published", False)}
    assert all(name.startswith("Example") for name in Suite.objects.values_list("title", flat=True))
    runs = Run.objects.filter(kind=Run.Kind.ENTRANT)
    assert set(runs.values_list("entrant__name", "entrant__is_example")) == {
        (f"Example {bird}", True) for bird in ("Heron", "Magpie", "Otter")
    }
    assert set(runs.values_list("entrant__organization__slug", flat=True)) == {"example-lab"}
    assert runs.count() == 6
    assert Work.objects.filter(kind="score", state="ready", run__in=runs).count() == 6


@pytest.mark.django_db
def test_every_login_that_is_told_works_and_has_its_role(client: Client) -> None:
    told = StringIO()
    call_command("example_logins", stdout=told)
    assert told.getvalue() == ""
    load()
    call_command("example_logins", stdout=told)
    lines = told.getvalue().splitlines()[1:]
    assert len(lines) == len(demonstrating.PEOPLE) == 6
    for line, person in zip(lines, demonstrating.PEOPLE, strict=True):
        assert line.split()[:3] == [person.name, "/", demonstrating.PASSWORD]
        assert "@" not in line
    assert client.login(username="reviewer", password=demonstrating.PASSWORD)
    roles = set(Membership.objects.values_list("user__username", "role"))
    assert ("reviewer2", "reviewer") in roles
    assert ("curator", "curator") in roles
    staff = get_user_model().objects.filter(is_staff=True).values_list("username", flat=True)
    assert list(staff) == ["curator"]
    assert not get_user_model().objects.filter(is_superuser=True).exists()


@pytest.mark.django_db
def test_an_account_that_was_there_keeps_its_password_and_gets_no_role() -> None:
    mine = get_user_model().objects.create_user("curator", password="my own secret")
    load()
    mine.refresh_from_db()
    assert mine.check_password("my own secret")
    assert not mine.memberships.exists()
    assert not any(line.startswith("curator") for line in demonstrating.logins())


@pytest.mark.django_db
def test_production_refuses_accounts_with_a_known_password(
    settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.PRODUCTION = True
    with pytest.raises(SystemExit) as ended:
        load()
    assert ended.value.code == 1
    assert "not in production" in capsys.readouterr().err
    assert not Suite.objects.exists()
    assert not get_user_model().objects.exists()


@pytest.mark.django_db
def test_half_a_load_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(demonstrating.FOLDER / "suites", tmp_path / "suites")
    monkeypatch.setattr(demonstrating, "FOLDER", tmp_path)
    with pytest.raises(SystemExit):
        load()
    assert not Suite.objects.exists()
    assert not AnswerKey.objects.exists()
    assert not get_user_model().objects.exists()
