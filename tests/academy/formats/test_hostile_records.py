"""Records that are cut, doubled or of unknown tasks never count, in every form of run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from academy import importing, intake
from academy.bundle import (
    CriterionSpec,
    Direction,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.errors import SHOWN_PROBLEMS, FormatError
from academy.formats.reading import Files
from academy.importing import ImportOptions
from academy.models import SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from tests import factories as make
from tests.academy.formats.hostile_making import Sender
from tests.academy.test_formats import LINES, Sample, contents_of, parse_run, parse_suite
from tests.academy.test_round_trips import RUNS

pytestmark = pytest.mark.django_db


def test_lines_cut_in_the_middle_of_line_4001_roll_everything_back() -> None:
    tasks = tuple(TaskSpec(external_id=f"t-{place}", prompt="Example") for place in range(4000))
    version = stored(
        SuiteSpec(
            slug="long", version="1", title="Long", format="academy_run", tasks=tasks, metrics=()
        )
    )
    lines = [make.header(), *({"task": f"t-{n}", "status": "missing"} for n in range(4000))]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    before = make.whole_database()
    with pytest.raises(FormatError) as caught:
        make.record_files(Files.of({"run.jsonl": data[:-20]}), version)
    (problem,) = caught.value.problems
    assert (problem.file, problem.line) == ("run.jsonl", 4001)
    assert make.changed_tables(before) == []
    worse = data.replace(b'"t-1', b"t-1")
    with pytest.raises(FormatError) as caught:
        make.record_files(Files.of({"run.jsonl": worse}), version)
    assert len(caught.value.problems) == SHOWN_PROBLEMS
    assert caught.value.total > 1000
    assert f"and {caught.value.total - SHOWN_PROBLEMS} more" in str(caught.value)
    assert make.changed_tables(before) == []


def doubled(sample: Sample, *, changed: bool) -> dict[str, bytes]:
    """The files of a run with one record twice, the second time with another answer."""
    contents = dict(contents_of(sample))
    for path, data in contents.items():
        suffix = Path(path).suffix
        if suffix in LINES and sample.expected()["files"][path] == "imported":
            lines = data.rstrip(b"\n").split(b"\n")
            again = json.loads(lines[-1])
            if changed:
                put_other_answer(again)
            contents[path] = b"\n".join([*lines, json.dumps(again).encode(), b""])
    return contents


def put_other_answer(line: dict[str, Any]) -> None:
    """Change what was answered, whatever the form calls it."""
    if "answer" in line or "academy_run" in line or "task" in line:
        line["status"], line["answer"] = "answered", "something else"
    elif "output" in line:
        line["output"] = {"raw": ["something else"]}
    elif "execution" in line:
        line["evidenceIds"] = []


def task_ids(sample: Sample) -> list[str]:
    """The tasks of a run, each once, in the order of its records."""
    return list(dict.fromkeys(record.task_id for record in parse_run(sample).records()))


def has_lines(sample: Sample) -> bool:
    """Whether a run has a file with an execution on each line; those of MyPCBench are steps."""
    return sample.format != "mypcbench" and any(
        Path(path).suffix in LINES and status == "imported"
        for path, status in sample.expected()["files"].items()
    )


LINED = [sample for sample in RUNS if has_lines(sample) and task_ids(sample)]
OF_SEVERAL_TASKS = [sample for sample in RUNS if len(task_ids(sample)) > 1]


@pytest.mark.parametrize("sample", LINED, ids=str)
def test_one_execution_twice_is_refused_with_both_places(sample: Sample) -> None:
    sender = Sender(sample)
    error = sender.refused(doubled(sample, changed=True))
    told = str(error)
    assert any(one.line or one.pointer for one in error.problems), told
    assert "line" in told or ":" in told


def stored(spec: SuiteSpec) -> SuiteVersion:
    """A version with exactly these tasks."""
    report = importing.import_suites(
        SuiteUpload(suites=(spec,), files=()),
        files=Files.of({}),
        source_digest="0" * 64,
        options=ImportOptions(publish=True),
    )
    return make.version_of(report)


def send_run(sample: Sample, version: SuiteVersion, unknown: str) -> RecordingReport:
    return intake.import_run_files(
        sample.files(),
        digest="1" * 64,
        fmt=sample.plugin(),
        options=RecordingOptions(version=version, unknown=unknown),
    )


@pytest.mark.parametrize("sample", OF_SEVERAL_TASKS, ids=str)
def test_records_of_unknown_tasks_are_refused_or_left_out_and_count_nowhere(
    sample: Sample,
) -> None:
    records = list(parse_run(sample).records())
    tasks = task_ids(sample)
    last = tasks[-1]
    version = stored(without_task(sample, tasks, last))
    unknown = [record.task_id for record in records if record.task_id == last]
    before = make.whole_database()
    with pytest.raises(FormatError) as caught:
        send_run(sample, version, "refuse")
    assert any(last in one.message and one.file for one in caught.value.problems)
    assert make.changed_tables(before) == []
    report = send_run(sample, version, "leave_out")
    assert list(report.left_out) == unknown
    assert sum(run.records for run in report.runs) == len(records) - len(unknown)
    for outcome in report.runs:
        run = make.Run.objects.get(pk=outcome.run)
        assert run.records_expected == run.records.count() == outcome.records


def without_task(sample: Sample, tasks: Sequence[str], last: str) -> SuiteSpec:
    """The suite of a run sample without one task; one is made up where the sample has none."""
    known = sample.suite()
    if known is not None:
        kept = tuple(replace(task, assets=()) for task in known.tasks if task.external_id != last)
        return replace(known, tasks=kept, sources=(), version="shorter")
    if sample.has_suite() and sample.plugin().parse_suite is not None:
        suite = parse_suite(sample).suites[0]
        kept = tuple(task for task in suite.tasks if task.external_id != last)
        return replace(suite, tasks=kept, sources=(), mode="practice", version="shorter")
    criteria = dict.fromkeys(
        one.criterion for record in parse_run(sample).records() for one in record.decisions
    )
    made = tuple(CriterionSpec(key=key, text=key) for key in criteria)
    kept = tuple(
        TaskSpec(external_id=task, prompt="Example", criteria=made)
        for task in tasks
        if task != last
    )
    metrics = parse_run(sample).runs[0].results
    return SuiteSpec(
        slug="shorter",
        version="1",
        title="Shorter",
        format=sample.format,
        tasks=kept,
        metrics=tuple(
            MetricSpec(key=key, label=key, direction=Direction.UP, kind=MetricKind.GRADED)
            for key in metrics
        ),
    )
