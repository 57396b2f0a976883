"""A run is stored once, with every byte, and under digests that cover what they say."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import exporting
from academy.errors import FormatError
from academy.identity import open_record_id
from academy.models import (
    Decision,
    Pack,
    ReportedScore,
    RunResult,
    SubmissionFile,
    SuiteVersion,
    Work,
)
from academy.packs import FRAME_BYTES, kept_bytes, open_pack, raw_record
from academy.recognising import run_digest
from tests import factories as make
from tests.academy.recording.making import lines, records_of

pytestmark = pytest.mark.django_db


def test_a_bundle_becomes_a_closed_run_with_a_record_for_each_answer(version: SuiteVersion) -> None:
    run = make.takeoff_run(version, {"t-3": 1, "t-0": 2})
    assert (run.state, run.attempt, run.records_expected) == ("closed", 1, 2)
    records = records_of(run)
    assert [record.task.external_id for record in records] == ["t-0", "t-3"]
    assert [open_record_id(record.pk) for record in records] == [
        (run.pk, 0, 1, 0),
        (run.pk, 3, 1, 0),
    ]
    assert [record.steps for record in records] == [2, 2]
    assert list(run.events.order_by("pk").values_list("state", flat=True)) == ["open", "closed"]


def test_an_upload_is_kept_as_a_submission_with_the_digest_of_each_file(
    version: SuiteVersion,
) -> None:
    files = make.as_files(lines(make.execution("t-0")))
    run = make.run_of(make.record_files(files, version, name="example.zip"))
    assert run.submission is not None
    assert (run.submission.name, run.submission.form) == ("example.zip", "academy_run")
    kept = SubmissionFile.objects.get(submission=run.submission)
    content = files["run.jsonl"]
    assert (kept.path, kept.size) == ("run.jsonl", len(content))
    assert kept.sha256 == hashlib.sha256(content).hexdigest()


def test_scoring_is_owed_from_the_moment_a_run_is_stored(version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    assert list(Work.objects.filter(run=run).values_list("kind", "state")) == [("score", "ready")]


def test_every_byte_of_a_record_comes_back(version: SuiteVersion) -> None:
    odd = b'{"task":"t-0", "status" : "answered","answer":"\\u0000 \xc3\xa9 \\ud800 1e2"  }'
    plain = b'{"status":"answered","task":"t-1","answer":{"b":1,"a":1.50}}'
    first = json.dumps(make.header()).encode()
    content = b"\n".join([first, odd, plain, b""])
    run = make.run_of(make.record_files({"run.jsonl": content}, version))
    assert [raw_record(record) for record in records_of(run)] == [odd, plain]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    answers=st.lists(
        st.one_of(
            st.text(max_size=50),
            st.floats(allow_nan=False, allow_infinity=False),
            st.dictionaries(st.text(max_size=5), st.integers(-(2**53), 2**53), max_size=3),
            st.binary(max_size=20).map(lambda held: held.hex() * 3000),
        ),
        min_size=1,
        max_size=5,
    ),
    spaces=st.sampled_from(["", " ", "\t"]),
)
def test_packs_give_back_what_was_written_whatever_it_is(
    version: SuiteVersion, answers: list[Any], spaces: str
) -> None:
    written = [
        json.dumps(
            {"task": f"t-{place}", "status": "answered", "answer": answer},
            separators=(f",{spaces}", f":{spaces}"),
        ).encode()
        for place, answer in enumerate(answers)
    ]
    first = make.header(run_id=f"r-{next(make.numbers)}")
    content = b"\n".join([json.dumps(first).encode(), *written])
    run = make.run_of(make.record_files({"run.jsonl": content}, version))
    assert [raw_record(record) for record in records_of(run)] == written


def test_large_records_are_spread_over_packs_that_open_alone(version: SuiteVersion) -> None:
    executions = [
        {"task": f"t-{place}", "status": "answered", "answer": str(place) * FRAME_BYTES}
        for place in range(4)
    ]
    run = make.run_of(make.record_files(lines(*executions), version))
    packs = list(Pack.objects.filter(run=run).order_by("number"))
    assert [pack.number for pack in packs] == [1, 2, 3, 4]
    for pack in packs:
        data = open_pack(pack.pk)
        assert len(data) == pack.size
        assert hashlib.sha256(data).hexdigest() == pack.digest
        assert len(bytes(pack.content)) < pack.size
    answers = [json.loads(raw_record(record))["answer"][0] for record in records_of(run)]
    assert answers == ["0", "1", "2", "3"]


def test_every_byte_of_an_uploaded_file_comes_back(version: SuiteVersion) -> None:
    executions = [
        {"task": f"t-{place}", "status": "answered", "answer": str(place) * FRAME_BYTES}
        for place in range(4)
    ]
    files = make.as_files({**lines(*executions), "notes.txt": b"\x00\xff no text"})
    run = make.run_of(make.record_files(files, version))
    kept = {held.path: held for held in SubmissionFile.objects.filter(submission=run.submission)}
    assert set(kept) == {"run.jsonl", "notes.txt"}
    for path, held in kept.items():
        assert b"".join(kept_bytes(held)) == files[path]


def test_the_run_digest_covers_identities_and_contents(version: SuiteVersion) -> None:
    one = make.run_of(make.record_files(lines(make.execution("t-0")), version))
    same = make.run_of(
        make.record_files(lines(make.execution("t-0"), entrant={"name": "Other"}), version)
    )
    other = make.run_of(
        make.record_files(
            lines(make.execution("t-1"), run_id="r-2", entrant={"name": "Other"}), version
        )
    )
    assert len(one.digest) == 64
    assert one.digest == run_digest(one)
    assert one.records.get().content_digest == same.records.get().content_digest
    assert len({one.digest, same.digest, other.digest}) == 3


def test_the_content_digest_does_not_cover_verdicts_and_reported_scores(
    version: SuiteVersion,
) -> None:
    scored = make.execution("t-0", scores=[{"metric": "ape", "value": 4}])
    one = make.run_of(make.record_files(lines(scored), version))
    other = make.run_of(make.record_files(lines(make.execution("t-0"), run_id="r-2"), version))
    assert bytes(one.records.get().content_digest) == bytes(other.records.get().content_digest)
    assert ReportedScore.objects.get(record__run=one).value == 4


def test_the_same_bytes_again_change_nothing_and_say_so(version: SuiteVersion) -> None:
    contents = lines(make.execution("t-0"), make.execution("t-1"))
    first = make.record_files(contents, version)
    make.score_all()
    before = make.whole_database()
    second = make.record_files(contents, version)
    assert make.changed_tables(before) == []
    assert first.runs[0].outcome == "created"
    assert second.runs[0].outcome == "unchanged"
    assert second.runs[0].run == first.runs[0].run
    assert second.runs[0].new_records == 0
    assert second.runs[0].attempt == 1


def test_the_same_records_in_other_bytes_are_a_new_attempt(version: SuiteVersion) -> None:
    make.record_files(lines(make.execution("t-0")), version)
    report = make.record_files(lines(make.execution("t-0"), extra={"note": "again"}), version)
    assert (report.runs[0].outcome, report.runs[0].attempt) == ("created", 2)


def test_two_records_of_one_execution_are_refused_with_both_places(version: SuiteVersion) -> None:
    contents = lines(make.execution("t-0", 1), make.execution("t-1"), make.execution("t-0", 2))
    before = make.whole_database()
    with pytest.raises(FormatError, match="already on line 2") as refused:
        make.record_files(contents, version)
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.rule) == ("run.jsonl", 4, "double-record")
    assert make.changed_tables(before) == []


def test_two_answers_of_one_task_in_a_bundle_are_refused_with_both_places(
    version: SuiteVersion,
) -> None:
    from tests.academy.formats import opentakeoff_examples as takeoff

    entries = [takeoff.entry("t-0", takeoff.quantity(value, "t-0")) for value in (1, 2)]
    document = takeoff.bundle(*entries, suite={"id": "example", "version": "1.0", "mode": "ranked"})
    before = make.whole_database()
    with pytest.raises(FormatError, match=r"/tasks/0/taskId") as refused:
        make.record_files({"run.bundle.json": document}, version)
    assert refused.value.problems[0].pointer == "/tasks/1/taskId"
    assert make.changed_tables(before) == []


def test_a_repetition_with_a_number_of_its_own_is_legal(version: SuiteVersion) -> None:
    contents = lines(make.execution("t-0", 1), make.execution("t-0", 2, replicate=2), replicates=2)
    run = make.run_of(make.record_files(contents, version))
    assert [record.replicate for record in records_of(run)] == [1, 2]


def test_when_a_run_started_is_kept_and_written_back(version: SuiteVersion) -> None:
    started = "2026-03-01T09:00:00Z"
    run = make.run_of(make.record_files(lines(make.execution("t-0"), started_at=started), version))
    assert run.started_at == started
    assert exporting.run_spec(run).started_at == started


def test_a_dry_run_reports_what_the_import_does_and_changes_nothing(version: SuiteVersion) -> None:
    contents = lines(make.execution("t-0"), make.execution("t-1"))
    before = make.whole_database()
    dry = make.record_files(contents, version, dry_run=True)
    assert make.changed_tables(before) == []
    wet = make.record_files(contents, version)
    told, done = dry.as_json(), wet.as_json()
    assert told.pop("dry_run") is True
    assert done.pop("dry_run") is False
    for report in (told, done):
        report["runs"][0].pop("run")
    assert told == done


def test_verdicts_of_an_upload_become_decisions_by_their_authors() -> None:
    version = make.rubric_version(1, publish=False)
    report = make.record_files(lines(make.judged("q-0", True, False)), version)
    assert report.runs[0].decisions == 2
    found = Decision.objects.order_by("pk").values_list("source", "author", "state", "value")
    assert list(found) == [
        ("judge", "example-judge", "value", True),
        ("judge", "example-judge", "value", False),
    ]


def test_a_person_in_an_upload_is_no_reviewer_here() -> None:
    version = make.rubric_version(1, publish=False)
    line = make.judged("q-0", True)
    line["decisions"][0] |= {"source": "person"}
    make.record_files(lines(line), version)
    decision = Decision.objects.get()
    assert (decision.source, decision.person) == ("imported", None)


def test_results_without_records_are_kept_as_reported(version: SuiteVersion) -> None:
    contents = {"run.jsonl": [make.header(results={"ape": 3.5, "nobody-has": 1})]}
    run = make.run_of(make.record_files(contents, version))
    assert run.records_expected == 0
    result = RunResult.objects.get(run=run, origin="reported")
    assert (result.metric.key, result.value) == ("ape", 3.5)
