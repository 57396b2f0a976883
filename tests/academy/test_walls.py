"""Nobody sees what is sealed: secrets are planted, and every address is asked by everybody."""

from __future__ import annotations

import contextlib
import io
import json
import logging
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import transaction
from django.http import HttpResponseBase
from django.test import Client
from pytest_django import DjangoDbBlocker

from academy.errors import AcademyError
from academy.models import Exposure, InstanceRecord, Score, Work
from leaderboard.models import Board
from tests import factories as make
from tests.academy import addresses, walls
from tests.academy.addresses import Route
from tests.academy.walls import KNOWS, PEOPLE, World

pytestmark = pytest.mark.django_db

# Addresses that change who is asking, or what they may know.
LEAVING = ("logout/", "admin/logout/")
SEATING = "review/queues/<int:pk>/claim/"
SEAT = "review/seats/<int:pk>/"
# A page of formats that have plans; test_study_pages asks it for what is held out.
STUDIES = "suites/<slug:slug>/<str:name>/plan/"
# Pages about one's own reviews, which somebody who only curates does not have.
REVIEWERS_OWN = ("review/practice/", "review/history/", "review/preferences/")


@pytest.fixture(scope="module")
def log() -> Iterator[io.StringIO]:
    """All that is logged while the world is built and asked."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield written
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture(scope="module")
def built(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, log: io.StringIO
) -> Iterator[World]:
    """The world, built once; each test changes it in a transaction of its own."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield walls.build()
        transaction.set_rollback(True)


@pytest.fixture
def world(built: World, db: None) -> World:
    return built


def whole(response: HttpResponseBase) -> str:
    """Everything that an answer tells: status line, headers, cookies, body."""
    body = (
        b"".join(response.streaming_content)  # type: ignore[attr-defined]
        if response.streaming
        else response.content  # type: ignore[attr-defined]
    )
    headers = "\n".join(f"{name}: {value}" for name, value in response.items())
    return "\n".join([response.reason_phrase, headers, response.cookies.output(), text_of(body)])


def text_of(body: bytes) -> str:
    """A body as text; the members of a zip one after the other."""
    if body[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            return "\n".join(
                f"{name}\n{text_of(archive.read(name))}" for name in archive.namelist()
            )
    return body.decode("utf-8", "replace")


def asked(client: Client, route: Route, who: str) -> Iterator[tuple[str, HttpResponseBase]]:
    """Every way of asking at an address: with and without queries, by htmx, by a form."""
    try:
        paths = addresses.paths_of(route)
    except LookupError:
        return  # told by test_every_address_can_be_asked
    for path in paths:
        for query in addresses.variants_of(route):
            yield f"GET {path}{query}", client.get(path + query)
    if not paths or route.pattern.startswith("admin/"):
        return
    last = paths[0] + addresses.variants_of(route)[-1]
    yield f"HTMX {last}", client.get(last, headers={"HX-Request": "true", "HX-Target": "steps"})
    if route.pattern not in (*LEAVING, SEATING) and who != "seated":
        yield f"POST {paths[-1]}", client.post(paths[-1])


@pytest.mark.parametrize("who", PEOPLE)
def test_no_page_gives_a_secret_to_somebody_who_may_not_know_it(
    world: World, who: str, log: io.StringIO
) -> None:
    client = world.client(who)
    told: dict[str, set[str]] = {}
    broken: list[str] = []
    seen: set[str] = set()
    statuses: dict[str, set[int]] = {}
    for route in addresses.routes():
        if route.pattern in LEAVING:
            continue
        for how, response in asked(client, route, who):
            secrets = walls.secrets_in(whole(response), world)
            seen |= secrets
            if secrets - KNOWS.get(who, frozenset()):
                told[how] = secrets
            if response.status_code >= 500:
                broken.append(f"{how}: {response.status_code}")
            statuses.setdefault(route.pattern, set()).add(response.status_code)
    assert told == {}
    assert broken == []
    assert walls.secrets_in(log.getvalue(), world) == set()
    # Who may know a secret finds it, so the walk does look where it is.
    assert seen == KNOWS.get(who, frozenset())
    if who == "curator":
        assert Exposure.objects.filter(user=world.people["curator"]).exists()
        assert nowhere_found(statuses) == []
    if who == "seated":
        assert 200 in statuses[SEAT]


def nowhere_found(statuses: dict[str, set[int]]) -> list[str]:
    """The addresses at which a curator finds nothing, so that they were not really asked.

    403: rows that nobody adds, changes or deletes by hand; 405: acts, which are posted.
    """
    fine = {200, 286, 301, 302, 403, 405}
    return [
        pattern
        for pattern, found in statuses.items()
        if not fine & found and not pattern.startswith((SEAT, STUDIES, *REVIEWERS_OWN, "admin/r/"))
    ]


def test_every_address_can_be_asked(world: World) -> None:
    unfilled = []
    for route in addresses.routes():
        try:
            assert addresses.paths_of(route)
        except LookupError as error:
            unfilled.append(str(error))
    assert unfilled == []


@pytest.mark.parametrize("who", [name for name in PEOPLE if name not in ("curator", "auditor")])
def test_drafts_are_not_there_for_anybody_else(world: World, who: str) -> None:
    client = world.client(who)
    slug, name = world.draft.suite.slug, world.draft.name
    records = InstanceRecord.objects.of_run(world.draft_run.pk).values_list("pk", flat=True)
    paths = [f"/suites/{slug}/", f"/suites/{slug}/{name}/", f"/runs/{world.draft_run.pk}/"]
    paths += [f"/runs/{world.draft_run.pk}/progress/"]
    paths += [f"/records/{pk}/{end}" for pk in records for end in ("", "raw/")]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 404)
    for path in ("/", "/suites/", "/runs/", "/boards/"):
        assert slug not in whole(client.get(path))


@pytest.mark.parametrize(
    "who", [name for name in PEOPLE if name not in ("curator", "auditor", "entrant")]
)
def test_a_run_that_is_open_is_not_there_for_anybody_else(world: World, who: str) -> None:
    client = world.client(who)
    run = world.open_run
    record = InstanceRecord.objects.of_run(run.pk).get()
    paths = [f"/runs/{run.pk}/", f"/runs/{run.pk}/progress/", f"/records/{record.pk}/"]
    assert {client.get(path).status_code for path in paths} == {404}
    assert "Unfinished" not in whole(client.get("/runs/"))


def test_a_run_that_is_open_is_there_for_its_own_people(world: World) -> None:
    client = world.client("entrant")
    response = client.get(f"/runs/{world.open_run.pk}/")
    assert response.status_code == 200
    assert "Unfinished" in whole(response)
    record = InstanceRecord.objects.of_run(world.open_run.pk).get()
    assert f'href="/records/{record.pk}/"' in whole(response)
    assert client.get(f"/records/{record.pk}/").status_code == 200


@pytest.mark.parametrize("who", [name for name in PEOPLE if name != "curator"])
def test_records_of_a_sealed_version_are_not_there_for_anybody_else(world: World, who: str) -> None:
    client = world.client(who)
    records = InstanceRecord.objects.of_run(world.sealed_run.pk).values_list("pk", flat=True)[:2]
    paths = [f"/records/{pk}/{end}" for pk in records for end in ("", "raw/")]
    assert {path: client.get(path).status_code for path in paths} == dict.fromkeys(paths, 404)
    page = whole(client.get(f"/runs/{world.sealed_run.pk}/"))
    assert "Results by task are sealed" in page
    assert "/records/" not in page


@pytest.mark.parametrize("who", [name for name in PEOPLE if name != "curator"])
def test_no_slice_of_a_sealed_version_shows_what_one_task_came_to(world: World, who: str) -> None:
    page = whole(world.client(who).get(f"/runs/{world.sealed_run.pk}/"))
    assert "By slice" not in page


@pytest.mark.parametrize("who", [name for name in PEOPLE if name != "curator"])
def test_no_error_of_a_single_sealed_task_is_told(world: World, who: str) -> None:
    """The answers are 100 for a truth of 731946.25, so that each error is 99.98633… percent."""
    exact = {
        f"{value:.4f}"
        for value in Score.objects.filter(
            record__run=world.sealed_run, mode="strict", status="scored"
        ).values_list("value", flat=True)
    }
    assert exact == {"99.9863"}
    client = world.client(who)
    board = Board.objects.filter(versions=world.sealed)[0]
    paths = [f"/runs/{world.sealed_run.pk}/", f"/boards/{board.slug}/"]
    paths += [f"/boards/{board.slug}/standings.{kind}" for kind in ("json", "csv")]
    told = [path for path in paths if "99.986" in whole(client.get(path))]
    assert told == []


@pytest.mark.parametrize("who", ["stranger", "entrant", "reviewer", "adjudicator", "auditor"])
def test_the_admin_is_closed_to_everybody_but_staff(world: World, who: str) -> None:
    response = world.client(who).get("/admin/academy/answerkey/")
    assert response.status_code == 302
    assert response.headers["Location"].startswith("/admin/login/")


def test_staff_without_a_role_finds_no_rows_in_the_admin(world: World) -> None:
    client = world.client("clerk")
    for model in ("answerkey", "task", "suite", "suiteversion", "run", "decision", "work"):
        assert client.get(f"/admin/academy/{model}/").status_code == 403
    assert client.get("/admin/academy/suite/import/").status_code == 403


def test_who_opens_a_key_in_the_admin_is_noted(world: World) -> None:
    key = world.sealed.tasks.order_by("ordinal")[0].keys.get()
    before = Exposure.objects.count()
    page = whole(world.client("curator").get(f"/admin/academy/answerkey/{key.pk}/change/"))
    assert walls.KEY in page
    assert key.salt not in page
    exposure = Exposure.objects.latest("pk")
    assert Exposure.objects.count() > before
    assert (exposure.user, exposure.task) == (world.people["curator"], key.task)


def test_a_failed_unit_tells_the_public_its_id_and_not_its_words(world: World) -> None:
    Work.objects.filter(run=world.sealed_run, kind="score").update(
        state="failed", error=f"KeyError: '{walls.KEY}'", error_id="a1b2c3d4e5f6"
    )
    for who in PEOPLE:
        if who == "curator":
            continue
        for path in ("", "progress/"):
            page = whole(world.client(who).get(f"/runs/{world.sealed_run.pk}/{path}"))
            assert "a1b2c3d4e5f6" in page
            assert walls.KEY not in page


def run_command(name: str, *words: str) -> str:
    """All that a command prints, whatever its end."""
    printed, complained = io.StringIO(), io.StringIO()
    with contextlib.suppress(SystemExit):
        call_command(name, *words, stdout=printed, stderr=complained)
    return printed.getvalue() + complained.getvalue()


def write(folder: Path, contents: dict[str, Any]) -> Path:
    """The files of an upload on disk."""
    files = make.as_files(contents)
    for path in files:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(files[path])
    return folder


@pytest.mark.parametrize("how", [(), ("--json",), ("--dry-run", "--json")])
def test_importing_prints_no_secret(world: World, tmp_path: Path, how: tuple[str, ...]) -> None:
    contents = walls.sealed_files()
    same = write(tmp_path / "same", contents)
    changed = dict(contents)
    changed["keys/t-0.groundtruth.json"] = {
        "taskId": "t-0",
        "validatedBy": walls.KEY,
        "quantities": [{"item": "t-0", "value": 731946.5, "unit": "sf"}],
    }
    other = write(tmp_path / "other", changed)
    broken = write(
        tmp_path / "broken",
        {**contents, "keys/t-0.groundtruth.json": {"taskId": 7, "quantities": walls.KEY}},
    )
    printed = [
        run_command("import_suite", str(folder), *extra, *how)
        for folder, extra in (
            (same, ()),
            (same, ("--as", "walls@2")),
            (other, ()),
            (broken, ("--as", "walls@3")),
        )
    ]
    assert all(printed)
    assert [walls.secrets_in(text, world) for text in printed] == [set()] * 4


@pytest.mark.parametrize("how", [(), ("--json",)])
def test_standings_print_no_secret(world: World, how: tuple[str, ...]) -> None:
    for board in Board.objects.order_by("slug"):
        text = run_command("standings", board.slug, *how)
        assert board.slug in text or board.title in text
        assert walls.secrets_in(text, world) == set()
        if how:
            json.loads(text)


def test_a_refused_run_prints_no_secret(world: World, tmp_path: Path) -> None:
    document = make.bundle(world.sealed, {"t-0": 1.0, "nobody-knows": 2.0})
    path = write(tmp_path, {"run.bundle.json": document})
    for how in ((), ("--json",), ("--leave-out-unknown", "--json")):
        text = run_command("import_run", str(path), "--version", "walls@1.0", *how)
        assert text
        assert walls.secrets_in(text, world) == set()


def test_an_error_that_tells_what_differs_tells_no_key(world: World) -> None:
    changed = walls.sealed_files()
    changed["0.task.json"]["prompt"] = "Measure something else."
    with pytest.raises(AcademyError) as refused:
        make.import_files(changed)
    assert walls.secrets_in(str(refused.value), world) == set()
