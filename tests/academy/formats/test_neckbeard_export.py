"""Neckbeard: what is written is read again, and the published fixtures come back as they were."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import FileStatus
from academy.errors import AcademyError, FormatError, Severity
from academy.formats.neckbeard import FORMAT
from academy.formats.neckbeard.entries import as_parts, join, read_phases, read_skipped_gates
from academy.formats.neckbeard.export import fields_of, write
from academy.formats.neckbeard.facts import PHASES
from academy.formats.neckbeard.original import run_original
from academy.formats.neckbeard.suites import examine_suite
from academy.formats.reading import Files
from tests.academy.formats.neckbeard_making import (
    JOURNEY_PATH,
    SINGLE_PATH,
    export,
    journey,
    parse,
    single,
)

ROOT = PurePosixPath("fixtures")


def test_parts_are_written_back_and_a_bar_is_refused() -> None:
    text = f"2: {PHASES['2']}: known | 3: {PHASES['3']}: untouched"
    phases, remarks = read_phases(text, "skipped_phases", None)
    assert remarks == []
    assert join("skipped_phases", as_parts("skipped_phases", phases)) == text
    gates, _ = read_skipped_gates("gate-1:a:b|gate-2: c", "skipped_gates", None)
    assert join("skipped_gates", as_parts("skipped_gates", gates)) == "gate-1: a:b | gate-2: c"
    with pytest.raises(FormatError, match=r"holds '\|'"):
        join("skipped_gates", [{"id": "gate-1", "reason": "a|b"}])


def test_an_edited_journey_is_written_anew_in_a_form_the_original_takes() -> None:
    upload = parse({JOURNEY_PATH: journey()})
    suite = upload.suites[0]
    task = suite.tasks[0]
    gates = [{**task.key["gates"][0], "verdict": "conditional"}, *task.key["gates"][1:]]
    edited = replace(suite, tasks=(replace(task, key={**task.key, "gates": gates}),))
    assert FORMAT.export_suite is not None
    written = FORMAT.export_suite(edited, {})
    assert written[JOURNEY_PATH] != journey()
    again = parse(dict(written)).suites[0].tasks[0]
    assert again.key["gates"] == gates
    tree = {PurePosixPath(JOURNEY_PATH): lambda: written[JOURNEY_PATH]}
    assert run_original(tree, ROOT).verdict == "valid"


def test_a_suite_without_its_keys_cannot_be_written() -> None:
    suite = parse({SINGLE_PATH: single()}).suites[0]
    sealed = replace(suite, tasks=tuple(replace(task, key=None) for task in suite.tasks))
    assert FORMAT.export_suite is not None
    with pytest.raises(AcademyError, match="with its key"):
        FORMAT.export_suite(sealed, {})


def test_context_files_come_along_and_back() -> None:
    path = "fixtures/refactor/dry-hinge/repo/gate.txt"
    contents = {SINGLE_PATH: single(), path: b"squeak\n", "fixtures/notes.md": b"# notes\n"}
    upload = parse(contents)
    assert {one.path: one.status for one in upload.files} == {
        path: FileStatus.IMPORTED,
        SINGLE_PATH: FileStatus.IMPORTED,
        "fixtures/notes.md": FileStatus.RECOGNISED,
    }
    assert FORMAT.export_suite is not None
    assert FORMAT.export_suite(upload.suites[0], contents) == {
        key: contents[key] for key in (SINGLE_PATH, path)
    }


TEXT = st.text(
    st.characters(exclude_categories=["Cs", "Cc"], include_characters="\n\t"), min_size=1
).filter(str.strip)


@settings(max_examples=60)
@given(TEXT, TEXT, st.sampled_from(["public", "holdout"]), st.booleans())
def test_what_is_written_is_read_again(
    prompt: str, truth: str, visibility: str, context: bool
) -> None:
    extra = {"context": truth} if context else {}
    data = single(prompt=prompt, ground_truth=truth, visibility=visibility, **extra)
    upload = parse({SINGLE_PATH: data})
    task = upload.suites[0].tasks[0]
    assert (task.prompt, task.key["ground_truth"]) == (prompt, truth)
    assert export(upload) == {SINGLE_PATH: data}
    written = write(fields_of(task)).encode()
    assert fields_of(parse({SINGLE_PATH: written}).suites[0].tasks[0]) == fields_of(task)
    assert parse(export(upload)) == upload


SAMPLES = [single(context="ä gate"), journey(routing_selected="documents"), journey("full")]


@settings(max_examples=150)
@given(st.sampled_from(SAMPLES), st.data())
def test_damaged_bytes_give_an_error_or_what_they_say(sample: bytes, data: st.DataObject) -> None:
    path = SINGLE_PATH if sample == SAMPLES[0] else JOURNEY_PATH
    how = data.draw(st.sampled_from(["cut", "change", "shuffle"]))
    if how == "cut":
        damaged = sample[: data.draw(st.integers(0, len(sample)))]
    elif how == "change":
        place = data.draw(st.integers(0, len(sample) - 1))
        put = data.draw(st.binary(max_size=3) | st.sampled_from([b"\n", b": ", b"|", b'"', b"\t"]))
        damaged = sample[:place] + put + sample[place + data.draw(st.integers(0, 3)) :]
    else:
        damaged = b"\n".join(data.draw(st.permutations(sample.split(b"\n"))))
    FORMAT.compatibility(Files.of({path: damaged}))
    try:
        upload = parse({path: damaged})
    except FormatError as error:
        assert error.problems
        return
    assert export(upload) == {path: damaged}
    assert parse(export(upload)) == upload


@pytest.mark.data
def test_the_published_fixtures_import_and_come_back_byte_for_byte(
    conformance_data: Path,
) -> None:
    folder = conformance_data / "neckbeard"
    contents = {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    upload = parse(contents)
    fixtures = {path for path in contents if path.endswith("task.yaml")}
    assert {one.path for one in upload.files if one.status is FileStatus.IMPORTED} == fixtures
    assert len(fixtures) == 14
    assert {one.path for one in upload.files} == set(contents)
    assert all(one.reason for one in upload.files if one.status is FileStatus.RECOGNISED)
    assert [one for one in upload.notices if one.severity is Severity.WARNING] == []
    written = export(upload)
    assert written == {path: contents[path] for path in fixtures}
    assert parse(written).suites == upload.suites


@pytest.mark.data
def test_whatever_the_oracle_lets_in_comes_back_byte_for_byte(conformance_data: Path) -> None:
    oracle = json.loads((conformance_data / "neckbeard" / "oracle.json").read_text())
    taken = 0
    for case in oracle["cases"]:
        contents = {
            one["path"]: base64.b64decode(one["text_b64"])
            if "text_b64" in one
            else one["text"].encode()
            for one in case["documents"]
            if "expand" not in one
        }
        try:
            upload = parse(contents) if contents else None
        except FormatError:
            continue
        if upload is not None:
            taken += 1
            assert export(upload) == contents, case["id"]
            again = write(fields_of(upload.suites[0].tasks[0])).encode()
            path = upload.suites[0].tasks[0].source
            if "original-refuses" not in {one.rule for one in upload.notices}:
                assert examine_suite(Files.of({path: again}), ROOT).original.verdict == "valid"
    assert taken
