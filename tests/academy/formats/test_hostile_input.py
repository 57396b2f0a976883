"""Hostile files of every format are refused by name and place, and change nothing.

Each test takes sound samples of the formats, puts one thing into them that has hurt others, and
sends them through the services as a command or a page does.
"""

from __future__ import annotations

import io
import json
import re
import stat
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from academy import importing, intake
from academy.bundle import (
    CriterionSpec,
    Direction,
    FileReport,
    MetricKind,
    MetricSpec,
    SuiteSpec,
    SuiteUpload,
    TaskSpec,
)
from academy.errors import SHOWN_PROBLEMS, AcademyError, FormatError, Problem
from academy.formats.reading import Files, read_json, read_jsonl
from academy.importing import ImportOptions
from academy.models import SuiteVersion
from academy.recording import RecordingOptions, RecordingReport
from academy.registry import all_formats
from tests import factories as make
from tests.academy.test_formats import (
    ACCEPTED,
    LINES,
    REFUSED,
    Sample,
    contents_of,
    parse_run,
    parse_suite,
)
from tests.academy.test_round_trips import RUNS, version_for

pytestmark = pytest.mark.django_db
BY_NAME = {str(sample): sample for sample in ACCEPTED}
DEEP = "[" * 20_000 + "]" * 20_000
YAML_ENDS = (".yaml", ".yml")
DOCUMENTS = (*LINES, *YAML_ENDS, ".json")
BOMB = "\n".join(
    ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
)


def imported_files(sample: Sample) -> list[str]:
    """The documents of a sample that are read as suites or runs, one of each kind."""
    chosen: dict[str, str] = {}
    for path, status in sample.expected()["files"].items():
        if status == "imported" and Path(path).suffix in DOCUMENTS:
            chosen.setdefault(re.sub(r"[^.]*", "", Path(path).name), path)
    return list(chosen.values())


def some_of_each_format() -> list[Sample]:
    """A suite and a run of every format that has them."""
    found: dict[tuple[str, bool, bool], Sample] = {}
    for sample in ACCEPTED:
        found.setdefault((sample.format, sample.has_suite(), sample.has_run()), sample)
    return list(found.values())


SAMPLES = some_of_each_format()


class Sender:
    """Sends files as what a sample is, suite or run, to a database that is made ready for it."""

    def __init__(self, sample: Sample) -> None:
        self.sample = sample
        self.is_run = sample.has_run()
        self.version: SuiteVersion | None = version_for(sample) if self.is_run else None
        self.before = make.whole_database()

    def send(self, contents: Mapping[str, bytes]) -> dict[str, FileReport]:
        """Import the files, in a dry run; gives what became of each. Raises AcademyError."""
        files = Files.of(dict(contents))
        plugin = self.sample.plugin()
        if self.is_run:
            runs = RecordingOptions(version=self.version, dry_run=True)
            told = intake.import_run_files(files, digest="1" * 64, fmt=plugin, options=runs).files
        else:
            suites = ImportOptions(dry_run=True)
            told = intake.import_suite_files(
                files, digest="1" * 64, fmt=plugin, options=suites
            ).files
        return {report.path: report for report in told}

    def refused(self, contents: Mapping[str, bytes]) -> FormatError:
        """The refusal of the files, of which nothing may be stored."""
        with pytest.raises(FormatError) as caught:
            self.send(contents)
        assert make.changed_tables(self.before) == []
        return caught.value


def injected(data: bytes, text: str, suffix: str) -> bytes:
    """A document whose last object has one member more."""
    if suffix in YAML_ENDS:
        return data.rstrip(b"\n") + f"\nzz_hostile: {text}\n".encode()
    place = data.rindex(b"}")
    return data[:place] + f', "zz_hostile": {text}'.encode() + data[place:]


def has_place(problem: Problem, path: str) -> bool:
    """Whether a problem is told with the file and a line or pointer in it."""
    return problem.file == path and bool(problem.line or problem.pointer)


INJECTED = {
    "nan": ("NaN", "not-finite", "NaN"),
    "infinity": ("-Infinity", "not-finite", "Infinity"),
    "overflow": ("1e999", "number-range", "1e999"),
    "deep": (DEEP, "depth", "level"),
    "long-number": ("9" * 5000, "number-range", "digits"),
    "double-key": ('1, "zz_hostile": 2', "double-key", "zz_hostile"),
    "lone-text": ('"open', "json-syntax", ""),
}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_values_that_no_reader_may_take_are_refused_with_file_and_line(sample: Sample) -> None:
    contents, sender = contents_of(sample), Sender(sample)
    for path in imported_files(sample):
        suffix = Path(path).suffix
        if suffix in YAML_ENDS:
            continue
        for name, (text, rule, words) in INJECTED.items():
            error = sender.refused({**contents, path: injected(contents[path], text, suffix)})
            found = [one for one in error.problems if has_place(one, path)]
            assert found, (path, name, str(error)[:300])
            if name != "lone-text":
                assert any(rule in one.rule for one in found), (path, name, found)
                assert any(words in one.message for one in found), (path, name, found)


YAML = {
    "deep": (DEEP, "level"),
    "bomb": ("1\n" + BOMB, ""),
    "tag": ("!!python/object/apply:os.system ['true']", ""),
    "merge": ("{<<: {a: b}}", ""),
    "double-key": ("1\nzz_hostile: 2", "twice"),
}


@pytest.mark.parametrize(
    "sample",
    [s for s in SAMPLES if any(Path(path).suffix in YAML_ENDS for path in contents_of(s))],
    ids=str,
)
def test_yaml_that_expands_or_runs_is_refused_with_file_and_line(sample: Sample) -> None:
    contents, sender = contents_of(sample), Sender(sample)
    for path in imported_files(sample):
        for name, (text, words) in YAML.items():
            error = sender.refused({**contents, path: injected(contents[path], text, ".yaml")})
            found = [one for one in error.problems if has_place(one, path)]
            assert found, (path, name, str(error)[:300])
            assert any(words in one.message for one in found), (path, name, found)


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_files_that_are_cut_blank_or_no_text_are_refused_by_name(sample: Sample) -> None:
    contents, sender = contents_of(sample), Sender(sample)
    for path in imported_files(sample):
        data = contents[path].rstrip()
        # YAML has no end that could be missing, so that a cut may leave a sound document.
        is_yaml = Path(path).suffix in YAML_ENDS
        damaged = [b"\xff\xfe" + data, data[: len(data) // 2] + b"\x00" + data[len(data) // 2 :]]
        damaged += [] if is_yaml else [data[:-1], data[: -len(data) // 3]]
        for place, damage in enumerate(damaged):
            error = sender.refused({**contents, path: damage})
            assert any(one.file == path for one in error.problems), (path, place, str(error)[:300])


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_nothing_but_blank_lines_is_an_error_and_not_an_empty_import(sample: Sample) -> None:
    contents, sender = contents_of(sample), Sender(sample)
    paths = imported_files(sample)
    for path in paths:
        for blank in (b"", b"\n \n\n\t\n"):
            with pytest.raises(AcademyError):
                sender.send({path: blank})
            try:
                report = sender.send({**contents, path: blank})[path]
            except FormatError as error:
                assert any(one.file == path for one in error.problems) or len(paths) == 1, path
            else:
                # Beside other documents one that holds nothing may be left alone, with a reason.
                assert report.status != "imported"
                assert report.reason
    assert make.changed_tables(sender.before) == []


@pytest.mark.parametrize("sample", REFUSED, ids=str)
def test_what_a_format_refuses_changes_nothing_and_is_told_with_places(sample: Sample) -> None:
    before = make.whole_database()
    files, plugin = sample.files(), sample.plugin()
    with pytest.raises(FormatError) as caught:
        if plugin.parse_suite is not None and (
            plugin.claims(files) or not plugin.claims_run(files)
        ):
            intake.import_suite_files(files, digest="1" * 64, fmt=plugin, options=ImportOptions())
        suite = sample.suite()
        assert plugin.parse_run is not None
        list(plugin.parse_run(files, suite).records())
    assert make.changed_tables(before) == []
    assert len(caught.value.problems) <= SHOWN_PROBLEMS
    paths = {str(path) for path in files}
    for problem in caught.value.problems:
        assert problem.rule
        assert any(path == problem.file or path.startswith(problem.file) for path in paths)


# Numbers that are none, at the places where scores and measures come from.

At = tuple[str | int, ...]
NUMBERS: list[tuple[str, str, At]] = [
    ("academy_run-two_replicates", "run.jsonl", (1, "usage", "tokens_in")),
    ("academy_run-two_replicates", "run.jsonl", (1, "scores", 0, "value")),
    ("doc_bridge-one-repository", "task-suite.json", ("maxRuns",)),
    ("doc_bridge-one-run", "ledger.json", ("observations", 0, "execution", "durationMs")),
    (
        "every_eval_ever-pair-of-two-metrics",
        "f10.json",
        ("evaluation_results", 0, "score_details", "score"),
    ),
    ("every_eval_ever-pair-of-two-metrics", "_samples.jsonl", (0, "evaluation", "score")),
    (
        "opentakeoff-practice_tree",
        "hall-area.task.json",
        ("groundTruth", "quantities", 0, "value"),
    ),
    (
        "opentakeoff-signed_run",
        ".bundle.json",
        ("tasks", 0, "answer", "quantities", 0, "value"),
    ),
]


def replaced(data: bytes, path: str, at: At, value: Any) -> bytes:
    """A document with one value replaced; in lines, the first step names the line."""
    if Path(path).suffix in LINES:
        lines = [dict(line.value) for line in read_jsonl(data, path=path)]  # type: ignore[arg-type]
        put(lines[int(at[0])], at[1:], value)
        return b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    document = json.loads(data)
    put(document, at, value)
    return json.dumps(document, indent=1).encode()


def put(document: Any, at: Sequence[str | int], value: Any) -> None:
    """Replace one value; what is on the way is made if it is not there."""
    *way, last = at
    for step in way:
        document = document[step]
    document[last] = value


def path_in(sample: Sample, ending: str) -> str:
    """The first file of a sample with this ending."""
    return next(path for path in sorted(contents_of(sample)) if path.endswith(ending))


@pytest.mark.parametrize(("name", "ending", "at"), NUMBERS, ids=lambda part: str(part)[:40])
def test_booleans_and_words_are_no_numbers(name: str, ending: str, at: At) -> None:
    sample = BY_NAME[name]
    contents, path = contents_of(sample), path_in(sample, ending)
    sender = Sender(sample)
    told = []
    for value in (True, "nan", float("1e308") * 10):
        data = replaced(contents[path], path, at, value)
        error = sender.refused({**contents, path: data.replace(b"Infinity", b"1e999")})
        found = [one for one in error.problems if has_place(one, path)]
        assert found, str(error)[:300]
        told.append(found[0].message)
    assert told[2] not in told[:2], told


# Paths in documents that lead out of the upload.

PATHS: list[tuple[str, str, At]] = [
    ("academy_run-two_replicates", "run.jsonl", (1, "artifacts", 0, "path")),
    ("every_eval_ever-trajectories", "_samples.jsonl", (0, "trajectory", "uri")),
    ("opentakeoff-practice_tree", ".task.json", ("planset", "assetRef")),
    ("opentakeoff-practice_tree", "suite.json", ("tasks", 0, "file")),
    ("skill_evals-tea-maker", "evals.json", ("evals", 0, "files")),
]
OUTSIDE = ("../../etc/hostname", "/etc/hostname", "C:\\windows\\x.json", "a/../../x", "CON.json")


@pytest.mark.parametrize(("name", "ending", "at"), PATHS, ids=lambda part: str(part)[:40])
def test_references_that_lead_elsewhere_are_refused_by_name(name: str, ending: str, at: At) -> None:
    sample = BY_NAME[name]
    contents, path = contents_of(sample), path_in(sample, ending)
    sender = Sender(sample)
    for outside in OUTSIDE:
        value = [outside] if at[-1] == "files" else outside
        error = sender.refused({**contents, path: replaced(contents[path], path, at, value)})
        found = [one for one in error.problems if has_place(one, path)]
        assert any(repr(outside)[1:-1] in one.message for one in found), str(error)[:400]


# Archives.


def archive(contents: Mapping[str, bytes], add: Callable[[zipfile.ZipFile], None]) -> bytes:
    """A zip of some files and what else is put into it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as made:
        for path, data in contents.items():
            made.writestr(path, data)
        add(made)
    return stream.getvalue()


def entry(name: str, data: bytes = b"x") -> Callable[[zipfile.ZipFile], None]:
    return lambda made: made.writestr(zipfile.ZipInfo(name), data)


def link(made: zipfile.ZipFile) -> None:
    """An entry that is a link to a file of the machine."""
    member = zipfile.ZipInfo("link.json")
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    made.writestr(member, "/etc/hostname")


def zeros(made: zipfile.ZipFile) -> None:
    """An entry that expands a thousandfold."""
    with made.open("pad.bin", "w") as member:
        for _ in range(64):
            member.write(bytes(2**20))


def many(made: zipfile.ZipFile) -> None:
    """More entries than anybody needs."""
    for number in range(20_001):
        made.writestr(zipfile.ZipInfo(f"e/{number}"), b"")


ARCHIVES: dict[str, tuple[Callable[[zipfile.ZipFile], None], str]] = {
    "climbing": (entry("../../etc/hostname"), "../../etc/hostname"),
    "absolute": (entry("/etc/hostname"), "/etc/hostname"),
    "windows": (entry("C:\\windows\\x.json"), "windows"),
    "reserved": (entry("CON.json"), "CON.json"),
    "link": (link, "link.json"),
    "expands": (zeros, "times its size"),
    "entries": (many, "20000 entries"),
}


@pytest.mark.parametrize("name", ARCHIVES)
def test_archives_that_would_do_harm_are_refused_whole(name: str, tmp_path: Path) -> None:
    add, words = ARCHIVES[name]
    for sample in SAMPLES:
        path = tmp_path / f"{sample}.zip"
        path.write_bytes(archive(contents_of(sample), add))
        before = make.whole_database()
        with pytest.raises(FormatError) as caught:
            if sample.has_suite():
                intake.import_suite_path(path, options=ImportOptions())
            else:
                intake.import_run_path(path, options=RecordingOptions())
        assert words in str(caught.value).replace("\\\\", "\\"), str(caught.value)[:300]
        assert make.changed_tables(before) == []


# Lines: cut far down, doubled, of tasks that nobody knows.


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


LINED = [
    sample
    for sample in RUNS
    if any(
        Path(path).suffix in LINES and status == "imported"
        for path, status in sample.expected()["files"].items()
    )
]


@pytest.mark.parametrize("sample", LINED, ids=str)
def test_one_execution_twice_is_refused_with_both_places(sample: Sample) -> None:
    if sample.format == "mypcbench":
        pytest.skip("the lines are steps of one attempt; two attempts are a sample of their own")
    records = sum(
        line.startswith(b"{")
        for line in doubled(sample, changed=True)[
            next(path for path in contents_of(sample) if Path(path).suffix in LINES)
        ].split(b"\n")
    )
    if records < 3 and sample.format == "academy_run":
        pytest.skip("a header without an execution")
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


@pytest.mark.parametrize("sample", RUNS, ids=str)
def test_records_of_unknown_tasks_are_refused_or_left_out_and_count_nowhere(
    sample: Sample,
) -> None:
    records = list(parse_run(sample).records())
    tasks = list(dict.fromkeys(record.task_id for record in records))
    if len(tasks) < 2:
        pytest.skip("no task that could be taken away")
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


def test_every_format_is_tried() -> None:
    tried = {sample.format for sample in ACCEPTED} & {sample.format for sample in REFUSED}
    assert tried == set(all_formats())
    assert read_json(b"[]", path="x") == []
