"""Hostile files of every format are refused by name and place, and change nothing.

Each test takes sound samples of the formats, puts one thing into them that has hurt others, and
sends them through the services as a command or a page does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from academy import intake
from academy.errors import SHOWN_PROBLEMS, AcademyError, FormatError
from academy.formats.reading import read_json
from academy.importing import ImportOptions
from academy.registry import all_formats
from tests import factories as make
from tests.academy.formats.hostile_making import (
    BY_NAME,
    SAMPLES,
    At,
    Sender,
    has_place,
    path_in,
    replaced,
)
from tests.academy.test_formats import ACCEPTED, LINES, REFUSED, Sample, contents_of

pytestmark = pytest.mark.django_db
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


def injected(data: bytes, text: str, suffix: str) -> bytes:
    """A document whose last object has one member more."""
    if suffix in YAML_ENDS:
        return data.rstrip(b"\n") + f"\nzz_hostile: {text}\n".encode()
    place = data.rindex(b"}")
    return data[:place] + f', "zz_hostile": {text}'.encode() + data[place:]


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


def test_every_format_is_tried() -> None:
    tried = {sample.format for sample in ACCEPTED} & {sample.format for sample in REFUSED}
    assert tried == set(all_formats())
    assert read_json(b"[]", path="x") == []
