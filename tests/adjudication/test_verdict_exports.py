"""Every verdict as a file: complete, neutral for spreadsheets, sealed from who must not read it."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from pyarrow import parquet

from academy import bulk_exporting, work
from academy.models import BulkExport, Exposure
from adjudication import verdict_rows
from adjudication.models import ExtraVerdict, Guideline, Queue, Seat
from tests.adjudication import builders as build
from tests.adjudication.builders import person
from tests.adjudication.reviews import gold_reviews, quiet_queue, reviewed, said

pytestmark = pytest.mark.django_db
HOSTILE = '=HYPERLINK("http://x.test","open")'


@pytest.fixture
def queue() -> Queue:
    return quiet_queue(criteria=2)


def exported(queue: Queue, user: Any, form: str = "jsonl", *, raw: bool = False) -> BulkExport:
    """The finished export that somebody asked for."""
    made = bulk_exporting.request_export("verdicts", queue.pk, form, by=user, raw=raw)
    while (unit := work.claim("tests")) is not None:
        if unit.kind == bulk_exporting.KIND:
            work.perform(unit)
    made.refresh_from_db()
    assert bulk_exporting.state_of(made) == "done"
    return made


def content(export: BulkExport) -> bytes:
    with default_storage.open(export.file) as stream:
        data: bytes = stream.read()
    return data


def lines(export: BulkExport) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content(export).splitlines()]


def cells(export: BulkExport) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content(export).decode(), newline="")))


def answers(one: Any, two: Any, **more: Any) -> dict[str, Any]:
    return {"R1": said(one, **more), "R2": said(two)}


def test_a_row_says_who_when_what_was_seen_and_why_the_item_was_chosen(
    queue: Queue, curator: Any, anna: Any
) -> None:
    guideline = Guideline.objects.create(queue=queue, revision=3, text="Look at the file.")
    (item,) = reviewed(
        queue,
        [{anna: answers(True, "defective", confidence="high")}],
        chosen_because="drawn for the audit",
        probability=0.25,
        seat_facts={"guideline": guideline, "suggestion_seen": True, "not_blind": "names itself"},
    )
    seat = item.seats.get()
    task = queue.version.tasks.get()
    Exposure.objects.create(user=anna, task=task, what="world_notes", why=f"seat:{seat.pk}")
    first, second = lines(exported(queue, curator))
    assert seat.submitted_at is not None
    expected = {
        "version": str(queue.version),
        "item": item.pk,
        "record": item.record_id,
        "task": task.external_id,
        "entrant": "Example",
        "seat": seat.pk,
        "role": "reviewer",
        "status": "final",
        "person": "anna",
        "submitted_at": seat.submitted_at.isoformat(),
        "criterion": "R1",
        "criterion_id": task.criteria.get(key="R1").pk,
        "state": "value",
        "value": "true",
        "reason": "seen",
        "confidence": "high",
        "guideline": 3,
        "suggestion_seen": True,
        "sealed_seen": "world_notes",
        "chosen_because": "drawn for the audit",
        "probability": 0.25,
        "not_blind": "names itself",
    }
    assert {name: first[name] for name in expected} == expected
    assert (second["criterion"], second["state"], second["value"]) == ("R2", "defective", None)


def test_every_kind_of_verdict_is_in_and_told_apart(
    queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    (item,) = reviewed(queue, [{anna: answers(True, True), bert: answers(True, False)}])
    item.seats.filter(holder=bert).update(state="withdrawn", withdrawn_because="slip")
    third = person("ada", "adjudicator")
    Seat.objects.create(
        item=item, number=3, role="third", holder=third, state="submitted",
        submitted_at=timezone.now(), verdicts={"R2": said(False)},
    )  # fmt: skip
    ExtraVerdict.objects.create(
        item=item, user=bert, verdicts=answers(False, False), sent_at=timezone.now()
    )
    gold_reviews(queue, anna, [False])
    rows = lines(exported(queue, curator))
    told = {(row["person"], row["role"], row["status"], row["criterion"]) for row in rows}
    assert told == {
        ("anna", "reviewer", "final", "R1"),
        ("anna", "reviewer", "final", "R2"),
        ("bert", "reviewer", "withdrawn", "R1"),
        ("bert", "reviewer", "withdrawn", "R2"),
        ("ada", "third", "final", "R2"),
        ("bert", "reviewer", "extra", "R1"),
        ("bert", "reviewer", "extra", "R2"),
        ("anna", "reviewer", "gold", "R1"),
    }
    (gold,) = (row for row in rows if row["status"] == "gold")
    assert (gold["value"], gold["known_value"]) == ("false", "true")


def test_three_forms_hold_the_same_rows(queue: Queue, curator: Any, anna: Any) -> None:
    reviewed(queue, [{anna: answers(True, "cannot_tell")}, {anna: answers(False, True)}])
    by_line = lines(exported(queue, curator))
    table = parquet.read_table(io.BytesIO(content(exported(queue, curator, "parquet"))))
    assert table.to_pylist() == by_line
    assert table.schema.metadata[b"queue"] == b"Example audit"
    assert table.column_names == [column.name for column in verdict_rows.COLUMNS]
    by_cell = cells(exported(queue, curator, "csv"))
    assert [row["value"] for row in by_cell] == [row["value"] or "" for row in by_line]


def test_a_spreadsheet_runs_nothing_and_numbers_stay_numbers(
    queue: Queue, curator: Any, anna: Any
) -> None:
    hostile = {
        "R1": build.given(value=True, reason="@SUM(A1)"),
        "R2": build.given(value=-0.25, reason="\tbegins with a tab"),
    }
    reviewed(queue, [{anna: hostile}], chosen_because=HOSTILE, decide=False)
    first, second = cells(exported(queue, curator, "csv"))
    assert first["chosen_because"] == "'" + HOSTILE
    assert (first["reason"], second["reason"]) == ("'@SUM(A1)", "'\tbegins with a tab")
    assert (second["number"], second["value"]) == ("-0.25", "-0.25")
    plain, other = cells(exported(queue, curator, "csv", raw=True))
    assert (plain["chosen_because"], other["reason"]) == (HOSTILE, "\tbegins with a tab")


def test_what_can_be_undone_is_left_out_and_said(
    queue: Queue, curator: Any, anna: Any, bert: Any
) -> None:
    (item,) = reviewed(queue, [{anna: answers(True, True), bert: answers(True, True)}])
    item.seats.filter(holder=bert).update(state="pending")
    export = exported(queue, curator)
    assert {row["person"] for row in lines(export)} == {"anna"}
    assert "Reviews that can still be undone: 1." in export.left_out


def test_nothing_decided_is_refused_with_the_reason(client: Client, curator: Any) -> None:
    queue = build.waiting_queue(1)
    client.force_login(curator)
    page = client.get(reverse("academy:export-ask", args=["verdicts", queue.pk]))
    assert "Every verdict of the queue, a row for each criterion" in page.content.decode()
    assert "Nothing was decided in this queue yet." in page.content.decode()


@pytest.mark.parametrize("roles", [(), ("reviewer",), ("entrant",)])
def test_who_reads_no_reports_finds_no_export(
    client: Client, queue: Queue, curator: Any, anna: Any, roles: tuple[str, ...]
) -> None:
    reviewed(queue, [{anna: answers(True, True)}])
    export = exported(queue, curator)
    client.force_login(person("stranger", *roles))
    assert client.get(reverse("academy:export-ask", args=["verdicts", queue.pk])).status_code == 404
    assert client.get(reverse("academy:export-file", args=[export.pk])).status_code == 404


def test_curators_and_auditors_share_a_file_and_an_adjudicator_gets_another(
    client: Client, queue: Queue, curator: Any, anna: Any
) -> None:
    reviewed(queue, [{anna: answers(True, True)}])
    shared = exported(queue, curator)
    assert exported(queue, person("olga", "auditor")).pk == shared.pk
    ada = person("ada", "adjudicator")
    assert exported(queue, ada).pk != shared.pk
    client.force_login(ada)
    assert client.get(reverse("academy:export-file", args=[shared.pk])).status_code == 404


def test_an_adjudicator_reads_what_is_settled_and_their_own_without_names(
    anna: Any, bert: Any
) -> None:
    queue = quiet_queue(criteria=1)
    type(queue.version).objects.filter(pk=queue.version_id).update(state="retired")
    ada = person("ada", "adjudicator")
    reviewed(queue, [{anna: {"R1": said(True)}}])
    reviewed(queue, [{bert: {"R1": said(True)}}], state="open", decide=False)
    reviewed(queue, [{ada: {"R1": said(True)}}], state="open", decide=False)
    gold_reviews(queue, ada, [True])
    gold_reviews(queue, bert, [True])
    export = exported(queue, ada)
    rows = lines(export)
    assert sorted((row["person"], row["status"], row["item_state"]) for row in rows) == sorted(
        [
            (f"Reviewer {anna.pk}", "final", "resolved"),
            (f"Reviewer {ada.pk}", "final", "open"),
            # Her gold item: like any other whose second reviewer is still missing.
            (f"Reviewer {ada.pk}", "final", "open"),
        ]
    )
    assert {row["entrant"] for row in rows} == {None}
    assert {row["known_value"] for row in rows} == {None}
    assert any("sealed from you" in told and "2." in told for told in export.left_out)
    assert "anna" not in content(export).decode()


def test_of_a_sealed_version_an_adjudicator_reads_only_their_own(queue: Queue, anna: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")
        cursor.execute("UPDATE academy_suiteversion SET sealed = true")
        cursor.execute("SET session_replication_role = DEFAULT")
    ada = person("ada", "adjudicator")
    reviewed(queue, [{anna: answers(True, True)}])
    reviewed(queue, [{ada: answers(True, True)}])
    assert {row["person"] for row in lines(exported(queue, ada))} == {f"Reviewer {ada.pk}"}


def test_a_later_verdict_makes_another_file(queue: Queue, curator: Any, anna: Any) -> None:
    reviewed(queue, [{anna: answers(True, True)}])
    first = exported(queue, curator)
    assert exported(queue, curator).pk == first.pk
    reviewed(queue, [{anna: answers(True, True)}])
    assert exported(queue, curator).pk != first.pk


def test_fifty_thousand_rows_are_made_in_the_background_with_a_checksum_and_what_was_left_out(
    client: Client, curator: Any, anna: Any, bert: Any
) -> None:
    queue = quiet_queue(criteria=4)
    said_four = {f"R{place}": said(place > 1) for place in range(1, 5)}
    reviewed(queue, [{anna: said_four, bert: said_four}] * 6_250, decide=False)
    client.force_login(curator)
    ask = reverse("academy:export-ask", args=["verdicts", queue.pk])
    asked = client.post(ask, {"form": "csv"}, follow=True)
    assert "Waits for a worker" in asked.content.decode()
    export = exported(queue, curator, "csv")
    assert asked.redirect_chain == [(reverse("academy:export", args=[export.pk]), 302)]
    data = content(export)
    assert export.rows == 50_000
    assert export.sha256 == hashlib.sha256(data).hexdigest()
    assert data.count(b"\n") == 50_001
    page = client.get(reverse("academy:export", args=[export.pk])).content.decode()
    assert export.sha256 in page
    assert "50,000" in page
    assert "Verdicts of judges and imports" in re.sub(r"\s+", " ", page)
    sent = client.get(reverse("academy:export-file", args=[export.pk]))
    assert b"".join(sent.streaming_content) == data  # type: ignore[attr-defined]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
def test_more_verdicts_than_one_job_writes_are_made_by_several(
    queue: Queue,
    curator: Any,
    anna: Any,
    bert: Any,
    form: str,
    settings: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    both = {anna: answers(True, False), bert: answers(False, "cannot_tell")}
    late = reviewed(queue, [both] * 5)[0]
    ExtraVerdict.objects.create(
        item=late, user=curator, verdicts=answers(True, True), sent_at=timezone.now()
    )
    whole = content(exported(queue, curator, form))
    BulkExport.objects.all().delete()
    monkeypatch.setattr(verdict_rows, "PART", 3)
    monkeypatch.setattr(verdict_rows, "ONE_JOB", 12)
    settings.CELERY_TASK_SOFT_TIME_LIMIT = 0
    asked = bulk_exporting.request_export("verdicts", queue.pk, form, by=curator)
    first = work.claim("tests")
    assert first is not None
    work.perform(first)
    assert bulk_exporting.state_of(asked) == "waiting"
    export = exported(queue, curator, form)
    assert (export.pk, export.rows) == (asked.pk, 22)
    if form == "parquet":
        read = [parquet.read_table(io.BytesIO(one)).to_pylist() for one in (content(export), whole)]
        assert read[0] == read[1]
    else:
        assert content(export) == whole
