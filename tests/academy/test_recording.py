"""Runs are stored whole or not at all, once, with every byte of every record."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import exporting
from academy.errors import AcademyError, FormatError
from academy.identity import open_record_id
from academy.models import (
    Decision,
    Entrant,
    EntrantAlias,
    InstanceRecord,
    Pack,
    ReportedScore,
    Run,
    RunResult,
    Submission,
    SubmissionFile,
    SuiteVersion,
    Work,
)
from academy.packs import FRAME_BYTES, kept_bytes, open_pack, raw_record
from academy.recognising import run_digest
from tests import factories as make

pytestmark = pytest.mark.django_db


@pytest.fixture
def version() -> SuiteVersion:
    """A draft: a published version has runs of its own, which the site makes."""
    return make.takeoff_version(5, publish=False)


def lines(*executions: dict[str, Any], **header: Any) -> Mapping[str, Any]:
    return make.line_run(*executions, **header)


def records_of(run: Run) -> list[InstanceRecord]:
    return list(InstanceRecord.objects.of_run(run.pk).order_by("id"))


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


def spec_upload(version: SuiteVersion, *records: Any) -> Any:
    """Plain values as a format gives them that does not look for doubles itself."""
    from academy.bundle import EntrantSpec, FileReport, FileStatus, RunSpec, RunUpload

    return RunUpload(
        runs=(RunSpec(entrant=EntrantSpec(name="Example"), external_id="r-1"),),
        records=lambda: iter(records),
        files=(FileReport("run.jsonl", FileStatus.IMPORTED),),
    )


def record_specs(version: SuiteVersion, *records: Any, **options: Any) -> Any:
    from academy import recording

    files = make.as_files({"run.jsonl": b"x"})
    return recording.record_runs(
        spec_upload(version, *records),
        form="academy_run",
        files=files,
        source_digest="0" * 64,
        options=recording.RecordingOptions(version=version, **options),
    )


def spec(task_id: str, answer: str = "a", *, line: int | None = 2, **changes: Any) -> Any:
    from academy.bundle import RecordSpec

    raw = json.dumps({"task": task_id, "status": "answered", "answer": answer}).encode()
    return RecordSpec(task_id=task_id, raw=raw, file="run.jsonl", line=line, **changes)


@pytest.mark.parametrize(
    ("answers", "said"),
    [(("a", "b"), "with different content"), (("a", "a"), "with the same content")],
)
def test_the_core_itself_refuses_doubles_whatever_the_format_lets_through(
    version: SuiteVersion, answers: tuple[str, str], said: str
) -> None:
    before = make.whole_database()
    with pytest.raises(FormatError, match=said) as refused:
        record_specs(version, spec("t-0", answers[0], line=2), spec("t-0", answers[1], line=700))
    (problem,) = refused.value.problems
    assert (problem.file, problem.line, problem.rule) == ("run.jsonl", 700, "double-record")
    assert "run.jsonl line 2 and run.jsonl line 700" in problem.message
    assert make.changed_tables(before) == []


def test_doubles_without_lines_are_named_by_their_place_in_the_upload(
    version: SuiteVersion,
) -> None:
    with pytest.raises(FormatError, match=r"run\.jsonl entry 1 and run\.jsonl entry 2") as refused:
        record_specs(version, spec("t-0", line=None), spec("t-0", line=None))
    assert refused.value.problems[0].file == "run.jsonl"


@pytest.mark.parametrize(
    "changes", [{"replicate": 1024}, {"replicate": -1}, {"variant": 32}, {"variant": -1}]
)
def test_an_identity_that_no_id_can_hold_is_refused(
    version: SuiteVersion, changes: dict[str, int]
) -> None:
    before = make.whole_database()
    with pytest.raises(FormatError, match="does not fit"):
        record_specs(version, spec("t-0", **changes))
    assert make.changed_tables(before) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"steps": 2**31},
        {"tokens_in": 2**63},
        {"tokens_out": 2**63},
        {"wall_ms": 2**63},
        {"cost": 1e300},
    ],
)
def test_a_number_that_no_column_keeps_is_refused_with_its_place(
    version: SuiteVersion, changes: dict[str, Any]
) -> None:
    before = make.whole_database()
    with pytest.raises(FormatError, match="too great to be kept") as refused:
        record_specs(version, spec("t-0", line=9, **changes))
    assert refused.value.problems[0].line == 9
    assert make.changed_tables(before) == []


@pytest.mark.parametrize(
    "header",
    [
        {"entrant": {"name": "n" * 300}},
        {"entrant": {"name": "n", "model": "m" * 300}},
        {"entrant": {"name": "n", "aliases": ["a" * 300]}},
        {"run_id": "r" * 350},
        {"arm": "a" * 300},
        {"scenario": "s" * 300},
    ],
)
def test_a_text_that_no_column_keeps_is_refused(
    version: SuiteVersion, header: dict[str, Any]
) -> None:
    before = make.whole_database()
    with pytest.raises(AcademyError, match="characters"):
        make.record_files(lines(make.execution("t-0"), **header), version)
    assert make.changed_tables(before) == []


def eight_records() -> list[Any]:
    known = [spec(f"t-{place}", line=place + 2) for place in range(5)]
    return [*known, *(spec(f"u-{place}", line=place + 7) for place in range(3))]


def test_records_of_unknown_tasks_are_refused_with_their_places(version: SuiteVersion) -> None:
    before = make.whole_database()
    with pytest.raises(FormatError) as refused:
        record_specs(version, *eight_records())
    assert [(held.line, held.rule) for held in refused.value.problems] == [
        (7, "unknown-task"),
        (8, "unknown-task"),
        (9, "unknown-task"),
    ]
    assert make.changed_tables(before) == []


def test_records_of_unknown_tasks_may_be_left_out_and_count_nowhere() -> None:
    version = make.takeoff_version(5)
    report = record_specs(version, *eight_records(), unknown="leave_out")
    assert report.left_out == ("u-0", "u-1", "u-2")
    assert report.as_json()["left_out"] == ["u-0", "u-1", "u-2"]
    assert (report.runs[0].records, report.runs[0].new_records) == (5, 5)
    run = make.run_of(report)
    make.score_all()
    assert run.records_expected == run.records.count() == 5
    summary = run.summaries.get()
    assert (summary.records, summary.scored + summary.unscorable, summary.missing) == (5, 5, 0)
    assert {row.n + row.unscorable for row in run.results.filter(slice="")} == {5}
    board = run.version.boards.get().newest_snapshot()
    assert board is not None
    assert board.standings["n"] == 5
    assert "u-0" not in make.pretty(board.standings)


def test_a_bundle_with_unknown_tasks_is_refused_or_leaves_them_out(version: SuiteVersion) -> None:
    values = {"t-0": 1.0, "nobody-knows": 2.0}
    with pytest.raises(FormatError, match="nobody-knows"):
        make.takeoff_run(version, values)
    document = make.bundle(version, values)
    report = make.record_files({"run.bundle.json": document}, version, unknown="leave_out")
    assert report.left_out == ("nobody-knows",)
    assert report.runs[0].records == 1


def test_lines_with_unknown_tasks_may_be_left_out_as_well(version: SuiteVersion) -> None:
    contents = lines(make.execution("t-0"), make.execution("nobody-knows"))
    with pytest.raises(FormatError, match="nobody-knows"):
        make.record_files(contents, version)
    report = make.record_files(contents, version, unknown="leave_out")
    assert report.left_out == ("nobody-knows",)
    assert report.runs[0].records == 1


def test_a_reported_metric_with_an_endless_name_is_refused_with_its_place(
    version: SuiteVersion,
) -> None:
    from academy.bundle import ReportedSpec

    scored = spec("t-0", line=2, reported=(ReportedSpec(metric="m" * 300, value=1),))
    before = make.whole_database()
    with pytest.raises(FormatError, match="longer than 200 characters") as refused:
        record_specs(version, scored)
    assert refused.value.problems[0].line == 2
    assert make.changed_tables(before) == []


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


def test_an_entrant_is_found_by_slug_name_and_alias(version: SuiteVersion) -> None:
    first = make.run_of(
        make.record_files(
            lines(make.execution("t-0"), entrant={"name": "Robo Takeoff", "aliases": ["RT-1"]}),
            version,
        )
    )
    assert first.entrant.slug == "robo-takeoff"
    by_name = lines(make.execution("t-1"), run_id="r-2", entrant={"name": "Robo Takeoff"})
    by_alias = lines(make.execution("t-2"), run_id="r-3", entrant={"name": "RT-1"})
    by_slug = lines(make.execution("t-3"), run_id="r-4", entrant={"name": "whatever"})
    for contents, slug in ((by_name, ""), (by_alias, ""), (by_slug, "robo-takeoff")):
        run = make.run_of(make.record_files(contents, version, entrant=slug))
        assert run.entrant == first.entrant
    assert Entrant.objects.count() == 1
    assert set(EntrantAlias.objects.values_list("name", flat=True)) == {"Robo Takeoff", "RT-1"}


def test_another_name_of_two_entrants_is_refused_with_both(version: SuiteVersion) -> None:
    for number, name in enumerate(("One", "Two")):
        entrant = {"name": name, "aliases": ["shared"]}
        execution = make.execution("t-0")
        make.record_files(lines(execution, run_id=f"r-{number}", entrant=entrant), version)
    before = make.whole_database()
    with pytest.raises(AcademyError, match="'shared' is another name of .*: one, two"):
        make.record_files(lines(make.execution("t-1"), entrant={"name": "shared"}), version)
    assert make.changed_tables(before) == []


def test_when_a_run_started_is_kept_and_written_back(version: SuiteVersion) -> None:
    started = "2026-03-01T09:00:00Z"
    run = make.run_of(make.record_files(lines(make.execution("t-0"), started_at=started), version))
    assert run.started_at == started
    assert exporting.run_spec(run).started_at == started


def test_a_named_entrant_that_is_not_here_is_made_under_that_name(version: SuiteVersion) -> None:
    report = make.record_files(lines(make.execution("t-0")), version, entrant="somebody-new")
    assert make.run_of(report).entrant.slug == "somebody-new"


@pytest.mark.parametrize("slug", ["Not A Slug", "a/b", "-"])
def test_a_slug_that_is_none_is_refused(version: SuiteVersion, slug: str) -> None:
    before = make.whole_database()
    with pytest.raises(AcademyError, match="slug"):
        make.record_files(lines(make.execution("t-0")), version, entrant=slug)
    assert make.changed_tables(before) == []


def test_an_entrant_whose_name_gives_no_slug_must_be_named(version: SuiteVersion) -> None:
    with pytest.raises(AcademyError, match="--entrant SLUG"):
        make.record_files(lines(make.execution("t-0"), entrant={"name": "!!!"}), version)


@pytest.mark.parametrize(
    ("header", "said"),
    [
        ({"suite": "example"}, "name one version"),
        ({"suite": "nobody@1"}, "nobody@1, which is not here"),
        ({"suite": "example@3"}, "example@3, which is not here"),
        ({"suite": None, "suite_digest": "0" * 64}, "digest 000000000000, which is not here"),
    ],
)
def test_a_run_of_no_one_known_version_is_refused(header: dict[str, Any], said: str) -> None:
    make.takeoff_version(1, publish=False)
    make.takeoff_version(1, version="2.0", publish=False)
    before = make.whole_database()
    with pytest.raises(AcademyError, match=said):
        make.record_files(lines(make.execution("t-0"), **header))
    assert make.changed_tables(before) == []


def test_a_run_finds_the_version_that_it_names(version: SuiteVersion) -> None:
    other = make.takeoff_version(2, version="2.0", publish=False)
    headers = (
        {"suite": "example@2.0"},
        {"suite": None, "suite_digest": other.digest},
        {"suite": "example", "suite_digest": other.digest},
    )
    for number, header in enumerate(headers):
        contents = lines(make.execution("t-0"), run_id=f"r-{number}", **header)
        assert make.run_of(make.record_files(contents)).version == other


BAD: dict[str, Mapping[str, Any]] = {
    "a-line-that-is-cut-off": {
        "run.jsonl": json.dumps(make.header()) + '\n{"task": "t-0", "status": "answ'
    },
    "a-number-that-is-none": {
        "run.jsonl": json.dumps(make.header())
        + '\n{"task": "t-0", "status": "answered", "answer": NaN}\n'
    },
    "a-metric-nobody-has": lines(
        make.execution("t-0", scores=[{"metric": "nobody-has", "value": 1}])
    ),
    "a-criterion-nobody-has": lines(make.judged("t-0", True)),
    "a-header-alone": lines(),
    "an-unknown-member": lines(make.execution("t-0", ansver="x")),
    "no-run-at-all": {"notes.txt": "nothing"},
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad_input_changes_nothing(version: SuiteVersion, name: str) -> None:
    before = make.whole_database()
    with pytest.raises(AcademyError):
        make.record_files(BAD[name], version)
    assert make.changed_tables(before) == []


def test_a_criterion_that_the_task_lacks_is_refused_with_its_place(version: SuiteVersion) -> None:
    before = make.whole_database()
    with pytest.raises(FormatError, match="no criterion 'R1'") as refused:
        make.record_files(lines(make.judged("t-0", True)))
    assert refused.value.problems[0].line == 2
    assert make.changed_tables(before) == []


def test_a_long_file_that_is_cut_off_rolls_everything_back(version: SuiteVersion) -> None:
    line = json.dumps({"task": "nobody-knows", "status": "missing"})
    whole = "\n".join([json.dumps(make.header()), *[line] * 4000]) + '\n{"task": "t-0", "sta'
    before = make.whole_database()
    with pytest.raises(FormatError) as refused:
        make.record_files({"run.jsonl": whole}, version)
    assert len(refused.value.problems) <= 50
    assert refused.value.total > 50
    assert f"and {refused.value.total - 50} more" in str(refused.value)
    assert make.changed_tables(before) == []


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


def test_what_a_run_is_does_not_change_in_the_database(version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    other = Entrant.objects.create(slug="other", name="Other")
    for column, value in {
        "entrant_id": other.pk,
        "version_id": version.pk + 1,
        "attempt": 7,
        "arm": "other",
        "header": "{}",
    }.items():
        with (
            pytest.raises(IntegrityError, match="does not change"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(f"UPDATE academy_run SET {column} = %s WHERE id = %s", [value, run.pk])


@pytest.mark.parametrize("column", ["status", "content_digest", "replicate"])
def test_a_record_does_not_change_in_the_database(version: SuiteVersion, column: str) -> None:
    run = make.takeoff_run(version)
    value = {"content_digest": "'\\x00'::bytea", "replicate": "2"}.get(column, "'error'")
    with (
        pytest.raises(IntegrityError, match="does not change"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(
            f"UPDATE academy_instancerecord SET {column} = {value} WHERE run_id = %s", [run.pk]
        )


def test_the_database_itself_holds_ids_and_parts_together(version: SuiteVersion) -> None:
    run = make.takeoff_run(version)
    record = records_of(run)[0]
    for changes in (
        {"id": record.pk + 1},
        {"id": record.pk + 2**39},
        {"id": record.pk + 32, "replicate": 0},
        {"id": record.pk, "status": "answered"},
    ):
        copy = InstanceRecord.objects.get(pk=record.pk)
        for name, value in changes.items():
            setattr(copy, name, value)
        with pytest.raises(IntegrityError), transaction.atomic():
            copy.save(force_insert=True)
    assert Submission.objects.count() == 1
