"""What holds for any bytes: a clear refusal or a right value, and a way back without loss."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from academy.errors import FormatError
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.keys import read_keys
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.report import score_report, suite_from
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.reading import Files
from tests.academy.formats.opentakeoff_examples import (
    DRAWING,
    bundle,
    entry,
    files,
    manifest,
    quantity,
    suite,
    suite_files,
    task,
)

EXAMPLES = settings(max_examples=40)

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=6)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=8,
)


def places(value: Any, *parts: Any) -> list[tuple[Any, ...]]:
    """The way to every value of a document."""
    found = [parts]
    if isinstance(value, dict | list):
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for part, item in pairs:
            found += places(item, *parts, part)
    return found


def changed(document: Any, way: tuple[Any, ...], value: Any) -> Any:
    """The document with another value at one place."""
    if not way:
        return value
    copy = json.loads(json.dumps(document))
    target = copy
    for part in way[:-1]:
        target = target[part]
    target[way[-1]] = value
    return copy


def mutated(document: Any) -> st.SearchStrategy[Any]:
    """The document with one value replaced by anything."""
    return st.builds(
        lambda way, value: changed(document, way, value), st.sampled_from(places(document)), values
    )


def mangled(data: bytes) -> st.SearchStrategy[bytes]:
    """The bytes cut off, shuffled in part, or with some replaced."""
    cut = st.integers(0, len(data)).map(lambda end: data[:end])
    swap = st.tuples(st.integers(0, len(data)), st.binary(max_size=6)).map(
        lambda pair: data[: pair[0]] + pair[1] + data[pair[0] + len(pair[1]) :]
    )
    turn = st.tuples(st.integers(0, len(data)), st.integers(0, len(data))).map(
        lambda pair: data[pair[0] :] + data[pair[1] :]
    )
    return cut | swap | turn


def read_suite_or_refuse(upload: Files) -> None:
    """Read a suite; what is read has to come back as it is, and all else is a FormatError."""
    try:
        read = parse_suite(upload)
    except FormatError as error:
        assert error.problems
        return
    assert [report.path for report in read.files] == [str(path) for path in upload]
    assert FORMAT.export_suite is not None
    for one in read.suites:
        written = FORMAT.export_suite(one, {"hall.svg": DRAWING})
        for path, data in written.items():
            if path.endswith(".json"):
                assert json.loads(data) == json.loads(upload[path])
        again = parse_suite(Files.of(dict(written)))
        assert [other.tasks for other in again.suites] == [one.tasks]


def read_run_or_refuse(upload: Files) -> None:
    """Read a run; what is read has to come back as it is, and all else is a FormatError."""
    try:
        read = parse_run(upload, suite())
    except FormatError as error:
        assert error.problems
        return
    assert FORMAT.export_run is not None
    assert FORMAT.view is not None
    for record in read.records():
        FORMAT.findings(FORMAT.view(record.raw, None), suite().tasks[0])
    written = FORMAT.export_run(suite(), read.runs[0], read.records())
    (data,) = written.values()
    assert json.loads(data) == json.loads(upload[next(iter(upload))])
    again = parse_run(Files.of({"again.bundle.json": data}), suite())
    assert again.runs == read.runs
    assert [one.raw for one in again.records()] == [one.raw for one in read.records()]


@EXAMPLES
@given(mutated(task()))
def test_a_task_with_any_value_changed_is_read_or_refused(document: Any) -> None:
    read_suite_or_refuse(suite_files(document))


@EXAMPLES
@given(mutated(manifest(tasks=[{"taskId": "hall-area", "file": "0.task.json"}])))
def test_a_manifest_with_any_value_changed_is_read_or_refused(document: Any) -> None:
    read_suite_or_refuse(
        files(**{"suite.json": document, "0.task.json": task(), "hall.svg": DRAWING})
    )


@EXAMPLES
@given(mangled(json.dumps(task()).encode()))
def test_mangled_bytes_of_a_task_are_read_or_refused(data: bytes) -> None:
    read_suite_or_refuse(files(**{"0.task.json": data, "hall.svg": DRAWING}))


@EXAMPLES
@given(mutated(bundle(entry(), rehash=False)))
def test_a_bundle_with_any_value_changed_is_read_or_refused(document: Any) -> None:
    if isinstance(document, dict) and isinstance(document.get("integrity"), dict):
        document = bundle(**{**document, "tasks": document.get("tasks")})
    read_run_or_refuse(files(**{"run.bundle.json": document}))


@EXAMPLES
@given(mangled(json.dumps(bundle()).encode()))
def test_mangled_bytes_of_a_bundle_are_read_or_refused(data: bytes) -> None:
    read_run_or_refuse(files(**{"run.bundle.json": data}))


@EXAMPLES
@given(st.dictionaries(st.text(max_size=5), values, max_size=3), values)
def test_anything_in_arguments_and_results_comes_back_as_it_was(args: Any, result: Any) -> None:
    odd = entry(trace=[{"seq": 0, "type": "mcp_call", "args": args, "result": result}])
    read_run_or_refuse(files(**{"run.bundle.json": bundle(odd)}))


@EXAMPLES
@given(
    st.lists(
        st.tuples(st.text(max_size=4), st.floats(-1e6, 1e6), st.sampled_from(["sf", "ea", "x"])),
        max_size=4,
    ),
    st.permutations(["a-task", "b-task", "c-task"]),
)
def test_a_run_of_any_answers_in_any_order_is_read(answers: Any, order: Any) -> None:
    rows = [quantity(value, item, unit) for item, value, unit in answers]
    read_run_or_refuse(
        files(
            **{
                "run.bundle.json": bundle(
                    *(entry(name, answer={"quantities": rows}) for name in order)
                )
            }
        )
    )


@EXAMPLES
@given(mutated(bundle(entry())))
def test_the_report_is_made_for_anything(document: Any) -> None:
    if isinstance(document, dict):
        report: Any = score_report(document, suite_from([task()]), {})
        assert report["reportVersion"] == "1.0"


@EXAMPLES
@given(mangled(b'{"taskId": "hall-area", "quantities": [{"item": "hall", "value": 1}]}'))
def test_mangled_bytes_of_a_key_are_read_or_refused(data: bytes) -> None:
    try:
        read_keys(files(**{"a.groundtruth.json": data}))
    except FormatError as error:
        assert error.problems


@EXAMPLES
@given(st.permutations(["a.task.json", "b.task.json", "suite.json", "hall.svg"]))
def test_the_order_of_members_does_not_matter(names: list[str]) -> None:
    content = {
        "a.task.json": json.dumps(task("a-task")).encode(),
        "b.task.json": json.dumps(task("b-task")).encode(),
        "suite.json": json.dumps(manifest()).encode(),
        "hall.svg": DRAWING,
    }
    shuffled = Files.of({name: content[name] for name in names})
    assert parse_suite(shuffled) == parse_suite(Files.of(content))
