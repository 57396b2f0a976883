"""Every format keeps its duties: the samples of each are read, refused and written back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from academy import formats
from academy.bundle import RecordSpec, RunUpload, SuiteSpec, SuiteUpload
from academy.canonical import canonical_json
from academy.errors import AcademyError, FormatError
from academy.formats.base import Format
from academy.formats.reading import Files, read_json, read_jsonl, read_yaml
from academy.registry import all_formats, detect, scorer_of
from academy.scorers.base import Mode

ROOT = Path(formats.__path__[0])
LINES = (".jsonl", ".ndjson")


@dataclass(frozen=True, slots=True)
class Sample:
    """A folder of files that a format accepts or refuses, with what is expected beside it."""

    format: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.format}-{self.folder.name}"

    def files(self) -> Files:
        return Files.of(
            {
                path.relative_to(self.folder).as_posix(): path.read_bytes()
                for path in sorted(self.folder.rglob("*"))
                if path.is_file()
            }
        )

    def plugin(self) -> Format:
        return all_formats()[self.format]

    def expected(self) -> Mapping[str, Any]:
        text = self.folder.with_name(f"{self.folder.name}.expected.json").read_text("utf-8")
        loaded: Mapping[str, Any] = json.loads(text)
        return loaded

    def suite(self) -> SuiteSpec | None:
        """The suite that a run sample names in `<case>.suite`, if it does."""
        named = self.folder.with_name(f"{self.folder.name}.suite")
        if not named.exists():
            return None
        other = Sample(self.format, self.folder.with_name(named.read_text("utf-8").strip()))
        return parse_suite(other).suites[0]

    def has_suite(self) -> bool:
        return self.plugin().claims(self.files())

    def has_run(self) -> bool:
        return self.plugin().claims_run(self.files())


def samples(kind: str) -> list[Sample]:
    """The samples of every format; read from the folders, so that none depends on the others."""
    return [
        Sample(folder.parents[2].name, folder)
        for folder in sorted(ROOT.glob(f"*/samples/{kind}/*"))
        if folder.is_dir()
    ]


ACCEPTED = samples("accept")
REFUSED = samples("reject")
FORMATS = sorted(path.parent.name for path in ROOT.glob("*/__init__.py"))


def parse_suite(sample: Sample) -> SuiteUpload:
    parse = sample.plugin().parse_suite
    assert parse is not None, f"{sample.format} claims suites and cannot read them"
    return parse(sample.files())


def parse_run(sample: Sample) -> RunUpload:
    parse = sample.plugin().parse_run
    assert parse is not None, f"{sample.format} claims runs and cannot read them"
    return parse(sample.files(), sample.suite())


def suite_row(suite: SuiteSpec) -> dict[str, object]:
    scorers = {grading.scorer for task in suite.tasks for grading in task.gradings}
    return {
        "slug": suite.slug,
        "version": suite.version,
        "mode": suite.mode,
        "tasks": len(suite.tasks),
        "scorers": sorted(scorers),
        "first_task": suite.tasks[0].external_id if suite.tasks else "",
    }


def records_by_run(upload: RunUpload) -> list[list[RecordSpec]]:
    """The records of each run, which `records()` gives in order."""
    grouped: list[list[RecordSpec]] = [[] for _ in upload.runs]
    for record in upload.records():
        grouped[record.run].append(record)
    return grouped


@pytest.mark.parametrize("key", FORMATS)
def test_a_format_shows_what_it_accepts_and_what_it_refuses(key: str) -> None:
    assert any(sample.format == key for sample in ACCEPTED)
    assert any(sample.format == key for sample in REFUSED)
    plugin = all_formats()[key]
    assert (ROOT / key / "README.md").is_file()
    assert plugin.label
    assert plugin.parse_suite is not None or plugin.parse_run is not None
    assert plugin.parse_run is None or plugin.view is not None
    assert plugin.parse_suite is None or plugin.export_suite is not None
    assert plugin.parse_run is None or plugin.export_run is not None


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_exactly_its_own_format_claims_a_sample(sample: Sample) -> None:
    files = sample.files()
    claimed = [run for run in (False, True) if all_claims(sample.plugin(), files, run=run)]
    assert claimed, "its format does not recognise it"
    for run in claimed:
        assert detect(files, run=run).key == sample.format


def all_claims(plugin: Format, files: Files, *, run: bool) -> bool:
    return plugin.claims_run(files) if run else plugin.claims(files)


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_an_accepted_sample_gives_what_is_expected(sample: Sample) -> None:
    expected = sample.expected()
    given: dict[str, object] = {}
    reports: dict[str, str] = {}
    if sample.has_suite():
        suites = parse_suite(sample)
        given["suites"] = [suite_row(suite) for suite in suites.suites]
        reports |= {report.path: report.status.value for report in suites.files}
    if sample.has_run():
        upload = parse_run(sample)
        given["runs"] = [
            {"entrant": run.entrant.name, "records": len(records)}
            for run, records in zip(upload.runs, records_by_run(upload), strict=True)
        ]
        # Where one upload holds both, what either of them took is imported.
        for report in upload.files:
            if reports.get(report.path) != "imported":
                reports[report.path] = report.status.value
    assert {**given, "files": reports} == expected


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_every_file_is_reported_and_what_is_not_loaded_has_a_reason(sample: Sample) -> None:
    uploads: list[SuiteUpload | RunUpload] = []
    if sample.has_suite():
        uploads.append(parse_suite(sample))
    if sample.has_run():
        uploads.append(parse_run(sample))
    for upload in uploads:
        assert sorted(report.path for report in upload.files) == [str(p) for p in sample.files()]
        for report in upload.files:
            assert report.status == "imported" or report.reason, report.path


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_the_same_bytes_give_the_same_values(sample: Sample) -> None:
    if sample.has_suite():
        assert repr(parse_suite(sample)) == repr(parse_suite(sample))
    if sample.has_run():
        first, second = parse_run(sample), parse_run(sample)
        assert repr(first.runs) == repr(second.runs)
        assert list(first.records()) == list(second.records()) == list(first.records())


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_every_grading_names_a_scorer_that_takes_its_parameters(sample: Sample) -> None:
    if not sample.has_suite():
        return
    for suite in parse_suite(sample).suites:
        metrics = {metric.key for metric in suite.metrics}
        assert len(metrics) == len(suite.metrics)
        for task in suite.tasks:
            for grading in task.gradings:
                assert grading.metric in metrics
                for mode in Mode:
                    scorer = scorer_of(grading.scorer, mode)
                    assert scorer is not None, f"no scorer {grading.scorer} in mode {mode}"
                    scorer.check(task.key, grading.params)


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_every_record_opens_and_is_one_json_document(sample: Sample) -> None:
    if not sample.has_run():
        return
    upload, suite = parse_run(sample), sample.suite()
    view = sample.plugin().view
    assert view is not None
    for record in upload.records():
        assert isinstance(json.loads(record.raw), dict | list)
        assert len(record.content_digest) == 64
        assert any(is_within(report.path, record.file) for report in upload.files), record.file
        task = suite.task(record.task_id) if suite is not None else None
        opened = view(record.raw, task)
        assert opened.status == record.status
        assert [event.seq for event in opened.events] == sorted({e.seq for e in opened.events})


def is_within(path: str, place: str) -> bool:
    """Whether a file is this one, or lies in this folder, where a record is a whole folder."""
    return path == place or path.startswith(f"{place}/")


def values_of(name: str, data: bytes) -> object:
    """A file as values that can be compared: JSON and YAML as values, all else as bytes."""
    suffix = Path(name).suffix.lower()
    if suffix == ".json":
        return canonical_json(read_json(data, path=name))
    if suffix in LINES:
        return [canonical_json(line.value) for line in read_jsonl(data, path=name)]
    if suffix in (".yaml", ".yml"):
        return read_yaml(data, path=name, as_text=True)
    return data


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_an_imported_suite_is_written_back_without_loss(sample: Sample) -> None:
    if not sample.has_suite():
        return
    files, upload = sample.files(), parse_suite(sample)
    export = sample.plugin().export_suite
    assert export is not None
    blobs = {str(path): data for path, data in files.items()}
    for suite in upload.suites:
        written = export(suite, blobs)
        assert written
        for name, data in written.items():
            assert name in blobs, f"{name} was not in the upload"
            assert values_of(name, data) == values_of(name, blobs[name]), name
        again = sample.plugin().parse_suite
        assert again is not None
        assert suite in again(Files.of(written)).suites


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_an_imported_run_is_written_back_without_loss(sample: Sample) -> None:
    if not sample.has_run():
        return
    files, upload, suite = sample.files(), parse_run(sample), sample.suite()
    export = sample.plugin().export_run
    assert export is not None
    stand_in = suite or SuiteSpec(slug="s", title="s", format=sample.format, tasks=(), metrics=())
    originals = {str(path): data for path, data in files.items()}
    for run, records in zip(upload.runs, records_by_run(upload), strict=True):
        written = export(stand_in, run, records)
        assert written
        for name, data in written.items():
            # A file may get the run's own name, but its content was in the upload.
            sources = [name] if name in originals else list(originals)
            assert values_of(name, data) in [values_of(path, originals[path]) for path in sources]


@pytest.mark.parametrize("sample", REFUSED, ids=str)
def test_a_refused_sample_is_refused_in_exactly_these_words(sample: Sample) -> None:
    expected = sample.folder.with_name(f"{sample.folder.name}.expected.txt").read_text("utf-8")
    with pytest.raises(FormatError) as caught:
        read_all(sample, sample.files())
    assert str(caught.value) == expected.rstrip("\n")


def read_all(sample: Sample, files: Files) -> None:
    """Read files as whatever they are claimed to be; as a suite when nobody claims them."""
    plugin = sample.plugin()
    is_run = plugin.claims_run(files)
    if plugin.parse_suite is not None and (plugin.claims(files) or not is_run):
        plugin.parse_suite(files)
    if plugin.parse_run is not None and (is_run or plugin.parse_suite is None):
        for _ in plugin.parse_run(files, sample.suite()).records():
            pass


@cache
def contents_of(sample: Sample) -> Mapping[str, bytes]:
    return {str(path): data for path, data in sample.files().items()}


def mutated(data: st.DataObject, sample: Sample) -> Iterator[tuple[str, bytes]]:
    """The files of a sample with one of them cut, shuffled or changed."""
    contents = contents_of(sample)
    chosen = data.draw(st.sampled_from(sorted(contents)))
    for name, whole in contents.items():
        yield name, changed(data, whole) if name == chosen else whole


def changed(data: st.DataObject, whole: bytes) -> bytes:
    """Bytes that were cut off, or of which a slice was replaced, doubled or put elsewhere."""
    place = data.draw(st.integers(0, len(whole)))
    until = data.draw(st.integers(place, min(place + 40, len(whole))))
    how = data.draw(st.sampled_from(["cut", "drop", "double", "move", "replace"]))
    head, piece, tail = whole[:place], whole[place:until], whole[until:]
    if how == "cut":
        return head
    if how == "drop":
        return head + tail
    if how == "double":
        return head + piece + piece + tail
    if how == "move":
        return piece + head + tail
    swapped = data.draw(
        st.sampled_from([b"null", b"-1", b"NaN", b'"\\u0000"', b"{}", b"\xff", b"[", b""])
    )
    return head + swapped + tail


@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
@given(data=st.data())
@settings(max_examples=12, suppress_health_check=list(HealthCheck))
def test_damaged_files_are_refused_or_read_and_nothing_else(
    sample: Sample, data: st.DataObject
) -> None:
    files = Files.of(dict(mutated(data, sample)))
    plugin = sample.plugin()
    assert isinstance(plugin.claims(files), bool)
    assert isinstance(plugin.claims_run(files), bool)
    plugin.compatibility(files)
    try:
        read_all(sample, files)
    except AcademyError as error:
        assert str(error)


BOMB = "\n".join(
    ["a0: &a0 [x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10))]
).encode()
HOSTILE = {
    "deep": b"[" * 20_000 + b"]" * 20_000,
    "open": b'{"a":' * 20_000,
    "bomb": BOMB,
    "no text": b"\xff\xfe",
    "not finite": b'{"a": NaN}\n{"a": -Infinity}\n',
    "overflow": b'{"a": 1e999}\n',
    "long number": b'{"a": ' + b"9" * 5000 + b"}\n",
    "double key": b'{"a": 1, "a": 2}\n',
    "blank": b"\n \n\n",
    "nothing": b"",
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("sample", ACCEPTED, ids=str)
def test_a_hostile_file_in_the_place_of_any_is_refused_or_left_alone(
    sample: Sample, hostile: bytes
) -> None:
    contents = contents_of(sample)
    for name in contents:
        files = Files.of({**contents, name: hostile})
        sample.plugin().compatibility(files)
        try:
            read_all(sample, files)
        except AcademyError as error:
            assert str(error)


@pytest.mark.parametrize("plugin", sorted(FORMATS))
@pytest.mark.parametrize(
    "contents",
    [
        {},
        {"README.md": b"# nothing of ours\n"},
        {"a.json": b"{}", "b.jsonl": b"{}\n", "c.yaml": b"a: 1\n", "d.bin": b"\xff\xfe\x00"},
        {"a.json": b"[" * 20_000, "b.jsonl": b"[" * 20_000, "c.yaml": b"[" * 20_000},
    ],
    ids=["nothing", "text", "small", "deep"],
)
def test_nobody_claims_what_is_nobodys(plugin: str, contents: dict[str, bytes]) -> None:
    files = Files.of(contents)
    assert not all_formats()[plugin].claims(files)
    assert not all_formats()[plugin].claims_run(files)
