"""Runs that come in pieces, several in an upload, and again."""

from __future__ import annotations

import json

import pytest

from academy.errors import FormatError
from academy.models import InstanceRecord, Run, SuiteVersion
from academy.packs import raw_record
from academy.recognising import run_digest
from tests import factories as make
from tests.academy.recording.making import lines, records_of

pytestmark = pytest.mark.django_db


def test_attempts_count_up_for_each_entrant_and_kind(version: SuiteVersion) -> None:
    attempts = [
        make.takeoff_run(version, {"t-0": value}, name=name, kind=kind).attempt
        for value, name, kind in (
            (1, "A", "entrant"),
            (2, "A", "entrant"),
            (3, "B", "entrant"),
            (4, "A", "null"),
            (5, "A", "entrant"),
        )
    ]
    assert attempts == [1, 2, 1, 1, 3]


def test_a_run_may_arrive_in_pieces(version: SuiteVersion) -> None:
    first = make.record_files(lines(make.execution("t-0"), closed=False), version)
    run = make.run_of(first)
    assert (run.state, run.records_expected, run.closed_at) == ("open", 1, None)
    second = make.record_files(lines(make.execution("t-1"), make.execution("t-2")), version)
    assert second.runs[0].outcome == "extended"
    assert (second.runs[0].run, second.runs[0].new_records) == (run.pk, 2)
    run.refresh_from_db()
    assert (run.state, run.records_expected, run.attempt) == ("closed", 3, 1)
    assert run.digest == run_digest(run) != ""
    assert [json.loads(raw_record(record))["task"] for record in records_of(run)] == [
        "t-0",
        "t-1",
        "t-2",
    ]


def test_a_record_that_comes_again_in_a_later_piece_is_one_record(version: SuiteVersion) -> None:
    make.record_files(lines(make.execution("t-0"), closed=False), version)
    report = make.record_files(lines(make.execution("t-0"), make.execution("t-1")), version)
    assert (report.runs[0].records, report.runs[0].new_records) == (2, 1)
    assert InstanceRecord.objects.count() == 2


def test_a_changed_record_in_a_later_piece_is_refused_with_its_place(
    version: SuiteVersion,
) -> None:
    make.record_files(lines(make.execution("t-0", 1), closed=False), version)
    before = make.whole_database()
    with pytest.raises(FormatError, match="records never change") as refused:
        make.record_files(lines(make.execution("t-1"), make.execution("t-0", 2)), version)
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.rule) == ("run.jsonl", 3, "changed-record")
    assert make.changed_tables(before) == []


@pytest.mark.parametrize("piece", [0, 1])
def test_a_piece_that_is_sent_again_changes_nothing(version: SuiteVersion, piece: int) -> None:
    pieces = [lines(make.execution("t-0"), closed=False), lines(make.execution("t-1"))]
    for held in pieces:
        make.record_files(held, version)
    before = make.whole_database()
    report = make.record_files(pieces[piece], version)
    assert report.runs[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_a_piece_that_is_sent_again_while_the_run_is_open_changes_nothing(
    version: SuiteVersion,
) -> None:
    piece = lines(make.execution("t-1"), closed=False)
    make.record_files(lines(make.execution("t-0"), closed=False), version)
    make.record_files(piece, version)
    before = make.whole_database()
    assert make.record_files(piece, version).runs[0].outcome == "unchanged"
    assert make.changed_tables(before) == []


def test_two_nameless_runs_of_one_upload_stay_two_runs(version: SuiteVersion) -> None:
    contents = {
        "a.jsonl": [make.header(run_id=None), make.execution("t-0", 1)],
        "b.jsonl": [make.header(run_id=None), make.execution("t-0", 2)],
    }
    report = make.record_files(contents, version)
    assert [run.outcome for run in report.runs] == ["created", "created"]
    assert [run.attempt for run in report.runs] == [1, 2]
    before = make.whole_database()
    again = make.record_files(contents, version)
    assert [run.run for run in again.runs] == [run.run for run in report.runs]
    assert make.changed_tables(before) == []


def test_runs_in_two_arms_under_one_name_stay_two_runs(version: SuiteVersion) -> None:
    contents = {
        f"{arm}.jsonl": [make.header(arm=arm), make.execution("t-0")] for arm in ("blind", "open")
    }
    report = make.record_files(contents, version)
    runs = Run.objects.filter(pk__in=[run.run for run in report.runs])
    assert sorted(runs.values_list("arm", flat=True)) == ["blind", "open"]
