"""Every Eval Ever against real files: each one's fate, the way back, and the published schemas."""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import jsonschema_rs
import pytest

from academy.bundle import JSON, ResultSpec, RunUpload, ScoredRecord, SuiteSpec, SuiteUpload
from academy.errors import FormatError
from academy.formats.every_eval_ever.export import Publisher, export_pair
from academy.formats.every_eval_ever.judging import judge
from academy.formats.every_eval_ever.native import export_submission
from academy.formats.every_eval_ever.parse import parse_suite
from academy.formats.every_eval_ever.reference import judge_file
from academy.formats.every_eval_ever.runs import parse_run
from academy.formats.every_eval_ever.upgrading import upgrade_aggregate
from academy.formats.every_eval_ever.versions import aggregate_version
from academy.formats.every_eval_ever.views import view
from academy.formats.reading import Files
from academy.scorers import reported
from academy.scorers.base import Mode
from tests.conformance.__main__ import run_format

LISTED = Path(__file__).with_name("every_eval_ever_files.tsv")
SCHEMAS = {
    "aggregate-0.1.0": "0.1.0/eval",
    "aggregate-0.2.0": "0.2.0/eval",
    "aggregate-0.2.1": "0.2.1/eval",
    "aggregate-0.2.2": "0.2.2/eval",
    "aggregate-0.3.0": "0.3.0/eval",
    "instance-0.2.0": "0.2.0/instance_level_eval",
    "instance-0.2.1": "0.2.1/instance_level_eval",
    "instance-0.3.0": "0.3.0/instance_level_eval",
}


@pytest.fixture(scope="module")
def data(conformance_data: Path) -> Path:
    return conformance_data / "eee"


def folders(data: Path) -> Iterator[Path]:
    """The folders that are uploads by themselves: a datastore, or one conversion."""
    yield from (data / name for name in ("aggregates", "flat_index", "harness_logs", "synthetic"))
    for folder in sorted((data / "instances").iterdir()):
        if folder.name != "converted":
            yield folder
    for folder in sorted((data / "instances" / "converted").iterdir()):
        held = sorted(one for one in folder.iterdir() if one.is_dir())
        yield from [folder] if [one.name for one in held] == ["data"] else held


@cache
def files_of(folder: Path) -> Files:
    return Files.of(
        {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }
    )


@cache
def read(folder: Path) -> tuple[SuiteUpload, RunUpload] | None:
    try:
        return parse_suite(files_of(folder)), parse_run(files_of(folder), None)
    except FormatError:
        return None


def test_every_real_file_has_the_fate_that_is_listed(data: Path) -> None:
    found = []
    for folder in folders(data):
        upload = read(folder)
        for path in files_of(folder):
            status = "refused"
            if upload is not None:
                status = next(r.status.value for r in upload[0].files if r.path == str(path))
            found.append(f"{(folder / path).relative_to(data)}\t{status}")
    assert sorted(found) == LISTED.read_text("utf-8").splitlines()


def test_every_file_that_was_imported_is_written_back_without_loss(data: Path) -> None:
    for folder in folders(data):
        upload = read(folder)
        if upload is None:
            continue
        suites, runs = upload
        records = list(runs.records())
        written = export_submission(
            (run, [record for record in records if record.run == place])
            for place, run in enumerate(runs.runs)
        )
        assert set(written) == {r.path for r in suites.files if r.status == "imported"}
        for path, content in written.items():
            assert values_of(path, content) == values_of(path, files_of(folder)[path]), path


def values_of(path: str, content: bytes) -> list[JSON]:
    lines = content.split(b"\n") if PurePosixPath(path).suffix == ".jsonl" else [content]
    return [json.loads(line) for line in lines if line.strip()]


def scores_of(suite: SuiteSpec, upload: RunUpload, place: int, mode: Mode) -> list[ScoredRecord]:
    """What the scorer of reported values says of a run's records."""
    scorer = next(one for one in reported.SCORERS if one.mode is mode)
    tasks = {task.external_id: task for task in suite.tasks}
    scores = []
    for record in upload.records():
        if record.run != place:
            continue
        task = tasks[record.task_id]
        opened = dataclasses.replace(
            view(record.raw, task),
            reported={one.metric: one.value for one in record.reported},
            evidence={"correct": {one.metric: one.correct for one in record.reported}},
        )
        for grading in task.gradings:
            verdict = scorer.score(opened, task.key, {}, grading.params)
            scores.append(
                ScoredRecord(
                    task_id=record.task_id,
                    metric=grading.metric,
                    status=verdict.status.value,
                    replicate=record.replicate,
                    value=verdict.value,
                    passed=verdict.passed,
                )
            )
    return scores


def test_every_converted_run_is_exported_as_a_pair_that_the_original_takes(data: Path) -> None:
    publisher = Publisher(retrieved_at="1790000000", mode="reference", references=True)
    exported: Counter[str] = Counter()
    for folder in folders(data):
        upload = read(folder)
        if upload is None or folder.name in ("aggregates", "synthetic"):
            continue
        suites = {suite.slug: suite for suite in upload[0].suites}
        for place, run in enumerate(upload[1].runs):
            suite = suites[run.suite.slug]
            scores = scores_of(suite, upload[1], place, Mode.REFERENCE)
            results = [ResultSpec(metric=key, value=value) for key, value in run.results.items()]
            records = [record for record in upload[1].records() if record.run == place]
            files = export_pair(
                suite, run, records, scores, view=view, publisher=publisher, results=results
            ).files()
            for path, content in files.items():
                verdict = judge_file(path, files)
                assert verdict.errors == verdict.warnings == (), path
                schema = "aggregate" if path.endswith(".json") else "instance"
                for value in values_of(path, content):
                    assert judge(value, f"{schema}-0.3.0") == ()
                exported[schema] += 1
    assert exported["aggregate"] > 25
    assert exported["instance"] > 20


def test_every_real_aggregate_is_brought_to_the_form_of_the_newest_schema(data: Path) -> None:
    read_versions: Counter[str] = Counter()
    for path in sorted((data / "aggregates").rglob("*.json")):
        value = json.loads(path.read_text("utf-8"))
        if isinstance(value, dict):
            version = aggregate_version(value)
            record, _changes = upgrade_aggregate(value, version)
            assert judge(record, "aggregate-0.3.0") == (), path
            read_versions[version] += 1
    assert set(read_versions) == {"0.0.1", "0.1.0", "0.2.0", "0.2.2"}


def test_our_schemas_say_of_every_real_document_what_the_published_ones_say(data: Path) -> None:
    published = {
        name: jsonschema_rs.Draft7Validator(
            json.loads((data / "schemas" / f"{path}.schema.json").read_text("utf-8")),
            validate_formats=False,
        )
        for name, path in SCHEMAS.items()
    }
    cases = json.loads((data / "oracle" / "cases.json").read_text("utf-8"))["cases"]
    documents = [(c["kind"], c["document"]) for c in cases if c.get("document") is not None]
    for path in sorted((data / "instances").rglob("*.json*")):
        kind = "instance" if path.suffix == ".jsonl" else "aggregate"
        documents += [(kind, value) for value in values_of(path.name, path.read_bytes())]
    for kind, document in documents:
        for name, theirs in published.items():
            if name.startswith(kind):
                ours = [(fault.pointer, fault.keyword) for fault in judge(document, name)]
                expected = [
                    ("".join(f"/{part}" for part in error.instance_path), error.schema_path[-1])
                    for error in theirs.iter_errors(document)
                ]
                assert Counter(ours) == Counter(expected), (name, document)


def test_every_case_of_the_oracles_agrees(data: Path) -> None:
    for name, tally in run_format(data).items():
        assert tally.cases, name
        assert tally.reasons == {}, name
