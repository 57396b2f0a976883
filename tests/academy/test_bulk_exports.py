"""Exports of many rows: made once in the background, with a checksum, and gone after a week."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pyarrow import parquet

from academy import bulk_exporting, run_exports, work
from academy.models import AuditEvent, BulkExport, Run, SuiteVersion, Work
from tests import factories as made
from tests.leaderboard.boarding import judged_run, judged_version

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path) -> Iterator[Path]:
    settings.MEDIA_ROOT = tmp_path / "media"
    yield tmp_path / "media"


@pytest.fixture
def version(db: None) -> SuiteVersion:
    version = judged_version(12)
    for name, count in (("Alpha", 9), ('=HYPERLINK("http://x.test")', 4)):
        judged_run(version, name, set(range(count)))
    made.score_all()
    return version


def ask(client: Client, kind: str, subject: int, **sent: str) -> str:
    """The address of the export that a form asks for."""
    response = client.post(f"/exports/{kind}/{subject}/", {"form": "csv", **sent})
    assert response.status_code == 302, response.content.decode()
    return str(response["Location"])


def got(client: Client, address: str) -> bytes:
    data, _name = saved(client, address)
    return data


def saved(client: Client, address: str) -> tuple[bytes, str]:
    """The bytes of an export and the name under which a browser saves them."""
    response = client.get(f"{address}file")
    assert response.status_code == 200
    data = b"".join(response.streaming_content)  # type: ignore[attr-defined]
    return data, response["Content-Disposition"].partition('"')[2].rstrip('"')


def board_of(version: SuiteVersion) -> Any:
    return version.boards.get(policy__mode="reference")


def test_an_export_waits_is_made_and_comes_with_its_checksum(version: SuiteVersion) -> None:
    run = Run.objects.get(entrant__name="Alpha", version=version)
    client = Client()
    address = ask(client, "run", run.pk)
    page = client.get(address).content.decode()
    assert "Waits for a worker" in page and "hx-get" in page
    assert client.get(f"{address}file").status_code == 404
    assert made.score_all() == 1
    page = client.get(address).content.decode()
    data, name = saved(client, address)
    export = BulkExport.objects.get()
    assert export.sha256 == hashlib.sha256(data).hexdigest()
    assert export.sha256 in page and export.size == len(data)
    sums = client.get(f"{address}sha256").content.decode()
    assert sums == f"{export.sha256}  {name}\n"
    rows = list(csv.DictReader(io.StringIO(data.decode())))
    assert len(rows) == export.rows
    assert {row["task"] for row in rows} == {f"q-{place}" for place in range(12)}
    assert client.get(address, headers={"hx-request": "true"}).status_code == 286


def test_the_same_asked_for_twice_is_made_once_and_anew_when_scores_moved(
    version: SuiteVersion,
) -> None:
    board = board_of(version)
    first = ask(Client(), "board", board.pk)
    assert ask(Client(), "board", board.pk) == first
    made.score_all()
    person = Client()
    person.force_login(made.person("somebody"))
    assert ask(person, "board", board.pk) == first
    assert made.score_all() == 0
    assert AuditEvent.objects.filter(act="export.request").count() == 1
    assert ask(Client(), "board", board.pk, form="jsonl") != first
    judged_run(version, "Gamma", {1, 2})
    made.score_all()
    assert ask(Client(), "board", board.pk) != first


def test_a_board_gives_all_attempts_of_all_entries_and_says_what_it_left_out(
    version: SuiteVersion,
) -> None:
    board = board_of(version)
    judged_run(version, "Alpha", set(range(11)))
    made.score_all()
    address = ask(Client(), "board", board.pk, form="jsonl")
    made.score_all()
    rows = [json.loads(line) for line in got(Client(), address).decode().splitlines()]
    attempts = {(row["entrant"], row["attempt"], row["counts"]) for row in rows}
    assert {("alpha", 1, False), ("alpha", 2, True)} <= attempts
    means = [
        row["value"]
        for row in rows
        if (row["entrant"], row["counts"]) == ("alpha", True)
        and (row["metric"], row["mode"]) == ("perfect", "reference")
    ]
    standing = board.newest_snapshot().standings["standings"][0]
    assert sum(means) / len(means) == pytest.approx(standing["score"])
    page = Client().get(address).content.decode()
    assert "Answers, transcripts and the plain facts inside records are not in the rows" in page
    assert all(row["kind"] == "entrant" for row in rows)
    if board.newest_snapshot().standings["baselines"]:
        assert "Baselines of the site" in page


def test_text_is_neutralised_for_spreadsheets_and_unchanged_for_programs(
    version: SuiteVersion,
) -> None:
    board = board_of(version)
    name = '=HYPERLINK("http://x.test")'
    for sent, expected in (({}, f"'{name}"), ({"raw": "1"}, name)):
        address = ask(Client(), "board", board.pk, **sent)
        made.score_all()
        data = got(Client(), address)
        names = {row["name"] for row in csv.DictReader(io.StringIO(data.decode()))}
        assert names == {"Alpha", expected}


def test_of_a_sealed_version_nobody_gets_a_single_value() -> None:
    version = judged_version(12, slug="sealed", sealed=True)
    run = judged_run(version, "Alpha", {1, 2, 3})
    made.score_all()
    board = board_of(version)
    for roles in ((), ("reviewer",), ("curator",), ("entrant",)):
        client = Client()
        if roles:
            client.force_login(made.person("-".join(roles), *roles))
        for kind, subject in (("board", board.pk), ("run", run.pk)):
            page = client.get(f"/exports/{kind}/{subject}/").content.decode()
            assert "no value of a single item is given out" in page and "Make the file" not in page
            refused = client.post(f"/exports/{kind}/{subject}/", {"form": "csv"})
            assert refused.status_code == 422
    assert not BulkExport.objects.exists()


def test_a_run_that_is_no_longer_open_to_all_gives_nothing_and_the_page_says_so(
    version: SuiteVersion,
) -> None:
    run = Run.objects.get(entrant__name="Alpha", version=version)
    address = ask(Client(), "run", run.pk)
    Run.objects.filter(pk=run.pk).update(state="open")
    made.score_all()
    assert Client().get(address).status_code == 404
    curator = Client()
    curator.force_login(made.person("curator", "curator"))
    assert "The file could not be made" in curator.get(address).content.decode()
    Run.objects.filter(pk=run.pk).update(state="closed")
    assert ask(Client(), "run", run.pk) == address
    made.score_all()
    assert b"alpha" in got(Client(), address)


def test_wrong_forms_and_unknown_subjects_are_refused(version: SuiteVersion) -> None:
    board = board_of(version)
    response = Client().post(f"/exports/board/{board.pk}/", {"form": "xlsx"})
    assert response.status_code == 422
    assert "is no form of export" in response.content.decode()
    for address in ("/exports/board/999999/", "/exports/nothing/1/", "/exports/run/999999/"):
        assert Client().get(address).status_code == 404
        assert Client().post(address, {"form": "csv"}).status_code == 404
    assert Client().get("/exports/00000000-0000-4000-8000-000000000000/").status_code == 404
    assert not Work.objects.filter(kind=bulk_exporting.KIND).exists()


def test_what_a_reviewer_must_not_know_yet_is_in_no_export_that_the_reviewer_gets(
    version: SuiteVersion,
) -> None:
    board = board_of(version)
    everybody = ask(Client(), "board", board.pk, form="jsonl")
    reviewer = Client()
    reviewer.force_login(made.person("rita", "reviewer"))
    own = ask(reviewer, "board", board.pk, form="jsonl")
    made.score_all()
    assert own != everybody
    assert reviewer.get(everybody).status_code == 404
    assert reviewer.get(f"{everybody}file").status_code == 404
    assert Client().get(own).status_code == 404
    rows = [json.loads(line) for line in got(reviewer, own).decode().splitlines()]
    assert not [row for row in rows if row["mode"] == "reference" and row["status"] == "scored"]
    assert "sealed until people decided" in reviewer.get(own).content.decode()


def test_a_file_expires_leaves_its_digest_and_can_be_asked_for_again(
    version: SuiteVersion, media: Path
) -> None:
    board = board_of(version)
    address = ask(Client(), "board", board.pk)
    made.score_all()
    export = BulkExport.objects.get()
    data = got(Client(), address)
    # What a worker left that died before it said so goes as well.
    left = media / "exports" / str(export.pk) / "left.csv"
    left.write_bytes(b"half a file")
    assert export.finished_at is not None and export.expires_at is not None
    assert export.expires_at - export.finished_at == timedelta(days=7)
    BulkExport.objects.update(expires_at=timezone.now())
    Work.objects.filter(kind=bulk_exporting.EXPIRE).update(due_at=timezone.now())
    assert made.score_all() == 1
    assert not default_storage.exists(export.file) and not left.exists()
    page = Client().get(address).content.decode()
    assert "has expired" in page and export.sha256 in page
    assert Client().get(f"{address}file").status_code == 404
    assert ask(Client(), "board", board.pk) == address
    made.score_all()
    assert got(Client(), address) == data


def rows_in(data: bytes, form: str) -> list[dict[str, Any]]:
    if form == "csv":
        return list(csv.DictReader(io.StringIO(data.decode())))
    if form == "jsonl":
        return [json.loads(line) for line in data.decode().splitlines()]
    found: list[dict[str, Any]] = parquet.read_table(pyarrow.BufferReader(data)).to_pylist()
    return found


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_what_is_too_much_for_one_job_is_made_by_several(
    version: SuiteVersion, form: str, media: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    board = board_of(version)
    first = ask(Client(), "board", board.pk, form=form)
    made.score_all()
    whole = got(Client(), first)
    BulkExport.objects.all().delete()
    monkeypatch.setattr(run_exports, "PART", 5)
    settings.CELERY_TASK_SOFT_TIME_LIMIT = 0
    address = ask(Client(), "board", board.pk, form=form)
    owner = "a worker"
    for _job in range(2):
        claimed = work.claim(owner)
        assert claimed is not None
        work.perform(claimed)
    assert "Waits for a worker" in Client().get(address).content.decode()
    kept = sorted(media.rglob("piece-*"))
    assert len(kept) == 2
    # A worker died while it kept this one.
    kept[0].write_bytes(kept[0].read_bytes()[:20])
    assert made.score_all() == 5
    data = got(Client(), address)
    assert rows_in(data, form) == rows_in(whole, form)
    if form == "parquet":
        assert schema_of(data).equals(schema_of(whole), check_metadata=True)
    else:
        assert data == whole
    export = BulkExport.objects.get()
    assert (export.rows, export.size) == (len(rows_in(whole, form)), len(data))
    assert export.sha256 == hashlib.sha256(data).hexdigest()


def schema_of(data: bytes) -> Any:
    return parquet.read_schema(pyarrow.BufferReader(data))


def test_the_pieces_of_an_export_go_when_it_is_whole_and_when_it_is_given_up(
    version: SuiteVersion,
    media: Path,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Any,
) -> None:
    board = board_of(version)
    monkeypatch.setattr(run_exports, "PART", 5)
    settings.CELERY_TASK_SOFT_TIME_LIMIT = 0
    ask(Client(), "board", board.pk)
    with django_capture_on_commit_callbacks(execute=True):
        made.score_all()
    export = BulkExport.objects.get()
    assert export.file and not list(media.rglob("piece-*"))
    # The end was owed with the first piece, and the file is kept a week from the last one.
    Work.objects.filter(kind="expire_export").update(due_at=timezone.now())
    made.score_all()
    assert default_storage.exists(export.file)
    owed = Work.objects.get(kind="expire_export")
    assert (owed.state, owed.due_at) == ("ready", export.expires_at)
    ask(Client(), "board", board.pk, form="jsonl")
    claimed = work.claim("a worker")
    assert claimed is not None
    work.perform(claimed)
    assert len(list(media.rglob("piece-*"))) == 1
    Work.objects.filter(kind="bulk_export").update(state="failed")
    given_up = Work.objects.filter(kind="expire_export", state="ready").order_by("-pk").first()
    assert given_up is not None
    bulk_exporting.expire_export(given_up.payload)()
    assert not list(media.rglob("piece-*"))


def test_the_queries_of_an_export_do_not_grow_with_the_records_but_by_batches(
    version: SuiteVersion,
) -> None:
    counts = []
    for size in (12, 36):
        held = version if size == 12 else judged_version(size, slug="more")
        if size != 12:
            judged_run(held, "Alpha", {1})
            made.score_all()
        run = Run.objects.filter(version=held, kind="entrant").order_by("pk")[0]
        export = bulk_exporting.request_export("run", run.pk, "parquet")
        with CaptureQueriesContext(connection) as caught:
            bulk_exporting.make_export({"export": str(export.pk)})
        counts.append(len(caught))
    assert counts[0] == counts[1]


def test_the_pages_work_without_script_and_say_where_to_go_back(version: SuiteVersion) -> None:
    board = board_of(version)
    page = Client().get(f"/boards/{board.slug}/").content.decode()
    link = re.search(r'href="(/exports/board/\d+/)"', page)
    assert link is not None
    form = Client().get(link[1]).content.decode()
    assert f'href="/boards/{board.slug}/"' in form
    for name in ("CSV", "JSON lines", "Parquet"):
        assert name in form
