"""A pilot says what it is on every page and in every file that shows something of it."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from academy import bulk_exporting, downloads, ending, exporting, piloting, uploads
from academy.models import Plan, Run, SuiteVersion
from adjudication.models import Queue
from leaderboard import certifying
from leaderboard.models import Board
from tests import factories as make
from tests.academy import addresses
from tests.academy.engine.test_studying import load
from tests.leaderboard.boarding import filled_board, newest

pytestmark = [pytest.mark.django_db, pytest.mark.data]

SAID = ("not the full study", "a sample of 16 executions", "1 replicate each")
# Where a pilot is named and nothing of it is shown, or what it is stands beside.
APART = {
    "admin/": "the rows of the database, for curators",
    "runs/<int:pk>/progress/": "a part of the run's page",
    "records/<int:pk>/raw/": "the record as it came, byte for byte",
    "exports/<uuid:pk>/sha256": "a checksum",
    "api/v1/": "which collections there are",
    "api/v1/boards/": "which boards there are",
    "api/v1/boards/<slug:slug>/": "where its standings are",
    "api/v1/boards/<slug:slug>/snapshots/": "which snapshots there are",
    "api/v1/suites/<slug:slug>/versions/<str:name>/passes/": "which passes there are",
}


QUERIES = {"search/": "?q=pilot", "compare/": "?board=pilot-adjudicated-success"}


@pytest.fixture
def runs(pilot: SuiteVersion, folder: Path) -> list[Run]:
    """The runs of the pilot, closed and scored."""
    closed = [ending.close_run(run, reason="all is here") for run in load(pilot, folder)]
    make.score_all()
    return closed


@pytest.fixture
def boards(pilot: SuiteVersion, runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> list[Board]:
    """The boards of the pilot, which the walk asks for."""
    found = list(Board.objects.filter(versions=pilot).order_by("pk"))
    assert found
    of_boards = [{"slug": board.slug} for board in found]
    for start in ("boards/<slug:slug>/", "api/v1/boards/<slug:slug>/"):
        monkeypatch.setitem(addresses.ARGUMENTS, start, lambda: of_boards)
    numbered = [{**board, "number": 1} for board in of_boards]
    for start in ("boards/", "api/v1/boards/"):
        key = f"{start}<slug:slug>/snapshots/<int:number>/"
        monkeypatch.setitem(addresses.ARGUMENTS, key, lambda: numbered)
    written = [{"pk": run.pk, "form": "every_eval_ever"} for run in runs]
    monkeypatch.setitem(addresses.ARGUMENTS, "runs/<int:pk>/as-<slug:form>.zip", lambda: written)
    return found


def text_of(response: HttpResponseBase) -> str:
    """What an answer says, the members of a zip one after the other."""
    body: bytes = (
        b"".join(response.streaming_content)  # type: ignore[attr-defined]
        if response.streaming
        else response.content  # type: ignore[attr-defined]
    )
    if body[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            body = b"\n".join(archive.read(name) for name in archive.namelist())
    return body.decode("utf-8", "replace")


def as_facts(response: HttpResponseBase) -> bool:
    """Whether a JSON document carries the facts one by one."""
    if response["Content-Type"] != "application/json":
        return False
    told = json.loads(text_of(response)).get("pilot")
    return isinstance(told, dict) and (told["sample"], told["replicates"]) == (16, 1)


def silent(client: Client, marks: tuple[str, ...]) -> tuple[list[str], set[str]]:
    """The addresses that show something of the pilot and do not say what it is, and the patterns
    of all that were answered."""
    found: list[str] = []
    answered: set[str] = set()
    for route in addresses.routes():
        if any(route.pattern.startswith(start) for start in ("logout/", "admin/", addresses.REGEX)):
            continue
        try:
            paths = addresses.paths_of(route)
        except (LookupError, IndexError):
            continue
        for path in {*paths[:1], *paths[-1:]}:
            response = client.get(path + QUERIES.get(route.pattern, ""))
            if response.status_code != 200:
                continue
            answered.add(route.pattern)
            text = text_of(response)
            is_shown = route.pattern not in APART and any(mark in text for mark in marks)
            if is_shown and not (all(part in text for part in SAID) or as_facts(response)):
                found.append(path)
    return found, answered


def of_the_pilot(pilot: SuiteVersion, runs: list[Run], boards: list[Board]) -> tuple[str, ...]:
    """Words that stand only where something of the pilot is shown."""
    names = {run.entrant.name for run in runs}
    return ("pilot@1", "/suites/pilot/1/", *names, *(board.slug for board in boards))


def test_a_reader_finds_on_every_page_and_in_every_file_what_a_pilot_is(
    pilot: SuiteVersion, runs: list[Run], boards: list[Board]
) -> None:
    bulk_exporting.request_export("run", runs[0].pk, "csv")
    bulk_exporting.request_export("board", boards[0].pk, "jsonl")
    make.score_all()
    found, answered = silent(Client(), of_the_pilot(pilot, runs, boards))
    assert found == []
    assert answered >= {
        "", "runs/", "runs/<int:pk>/", "runs/<int:pk>/as-<slug:form>.zip",
        "runs/<int:pk>/scores.csv", "runs/<int:pk>/scores.json", "records/<int:pk>/", "boards/",
        "boards/<slug:slug>/", "boards/<slug:slug>/embed/", "boards/<slug:slug>/badge.svg",
        "boards/<slug:slug>/standings.csv", "boards/<slug:slug>/standings.md", "search/",
        "boards/<slug:slug>/standings.parquet", "boards/<slug:slug>/snapshots/<int:number>/",
        "entrants/<slug:slug>/", "suites/", "suites/<slug:slug>/", "exports/<uuid:pk>/file",
        "suites/<slug:slug>/<str:name>/tasks/<int:ordinal>/", "exports/<slug:kind>/<int:subject>/",
        "api/v1/boards/<slug:slug>/standings/",
        "api/v1/suites/<slug:slug>/versions/<str:name>/passes/<int:number>/results/",
    }  # fmt: skip


def test_who_curates_and_reviews_finds_it_too(
    pilot: SuiteVersion, runs: list[Run], boards: list[Board]
) -> None:
    client = Client()
    client.force_login(make.person("rita", "curator", "reviewer", "adjudicator"))
    for queue in Queue.objects.filter(version=pilot).order_by("pk"):
        client.post(f"/review/queues/{queue.pk}/claim/")
    found, answered = silent(client, of_the_pilot(pilot, runs, boards))
    assert found == []
    assert answered >= {
        "review/", "review/queues/<int:pk>/", "review/queues/<int:pk>/report/",
        "review/seats/<int:pk>/", "review/seats/<int:pk>/evidence/", "review/items/<int:pk>/",
        "suites/<slug:slug>/<str:name>/keys/", "suites/<slug:slug>/<str:name>/judges/",
        "suites/<slug:slug>/<str:name>/passes/", "runs/<int:pk>/own.zip",
    }  # fmt: skip


def test_files_say_it_and_come_back_without_it(
    pilot: SuiteVersion, runs: list[Run], tmp_path: Path
) -> None:
    told = piloting.sentence_on(pilot)
    export = exporting.export_run(runs[0])
    assert export.left_out == (told,)
    files = exporting.export_scores(runs[0], form="every_eval_ever", at=timezone.now()).files
    assert any(told.encode() in data for data in files.values())
    for name in ("folder", "run.zip"):
        downloads.write(export, tmp_path / name)
        upload = uploads.open_upload(tmp_path / name)
        assert {str(path) for path in upload.files} == set(export.files)
        assert [report.path for report in upload.left_out] == [uploads.NOTES]
    assert (tmp_path / "folder" / uploads.NOTES).read_text() == f"{told}\n"


def test_commands_say_it(pilot: SuiteVersion, runs: list[Run]) -> None:
    told = piloting.sentence_on(pilot)
    board = Board.objects.filter(versions=pilot).order_by("pk")[0]
    for arguments in (("plan", "pilot@1"), ("standings", board.slug)):
        out = io.StringIO()
        call_command(*arguments, stdout=out)
        assert told in out.getvalue()


def test_a_certificate_says_it_within_what_is_signed() -> None:
    board = filled_board()
    version = board.versions.get()
    Plan.objects.create(
        version=version, name="trial", plan_hash="0" * 64, population=200, sample=20, is_pilot=True
    )
    told = piloting.sentence_on(version)
    made = certifying.issue(issue_from(board), "alpha", by=None, reason="looked at")
    assert made.document["pilot"] == told
    client = Client()
    for address in ("", ".json", ".svg"):
        answer = client.get(f"/certificates/{made.serial}{address or '/'}").content.decode()
        assert "not the full study" in answer, address
        assert "a sample of 20 executions" in answer, address
    assert certifying.verify(made.document)[0] == "valid"


def issue_from(board: Board) -> Any:
    """The newest snapshot of a board, made since its version has a plan."""
    from leaderboard import standings

    standings.publish_snapshot(board)
    return newest(board)


def test_a_list_asks_as_much_for_many_pilots_as_for_one(
    django_assert_num_queries: Any, pilot: SuiteVersion, full: SuiteVersion
) -> None:
    for versions in ([pilot], [pilot, full], [pilot, full, pilot]):
        with django_assert_num_queries(3):
            assert [row["name"] for row in piloting.named_pilots(versions)] == ["pilot@1"]


def test_a_full_study_is_not_called_a_pilot(full: SuiteVersion) -> None:
    assert piloting.pilot_facts(full) is None
    assert b"a pilot" not in Client().get("/suites/study/1/").content
