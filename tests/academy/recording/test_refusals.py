"""What cannot be kept as it came is refused with its place, and changes nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from academy.errors import AcademyError, FormatError
from academy.models import SuiteVersion
from tests import factories as make
from tests.academy.recording.making import lines

pytestmark = pytest.mark.django_db


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
