"""What the reader of runs accepts, the published schema accepts; what it gives is written back."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import jsonschema
import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import CriterionSpec, Direction, MetricKind, MetricSpec, SuiteSpec, TaskSpec
from academy.errors import AcademyError, FormatError
from academy.formats.academy_run import FORMAT
from academy.formats.academy_run.checking import schema
from academy.formats.academy_run.export import export_run
from academy.formats.academy_run.runs import claims_run, parse_run
from academy.formats.academy_run.viewing import view
from academy.formats.reading import Files

HEADER: dict[str, Any] = {
    "academy_run": "1.0",
    "suite": "example-suite@1",
    "run_id": "example-run",
    "entrant": {"name": "example-entrant", "settings": {"temperature": 0}, "aliases": ["ee"]},
    "started_at": "2026-01-05T09:30:00+08:00",
    "limits": {"steps": 20},
    "replicates": 2,
    "results": {"pass": 0.5},
}
EXECUTION: dict[str, Any] = {
    "task": "t-1",
    "replicate": 2,
    "variant": 1,
    "status": "answered",
    "answer": {"value": 12},
    "messages": [
        {
            "role": "assistant",
            "content": "x",
            "tool_calls": [{"name": "f", "arguments": {"a": 1}}],
            "offset_ms": 5,
        }
    ],
    "events": [{"kind": "action", "title": "click", "images": ["1.png"], "data": [1]}],
    "trajectory": {"steps": [{"source": "agent", "message": "done"}, 7]},
    "usage": {"steps": 3, "wall_ms": 2100, "tokens_in": 8, "tokens_out": 4, "cost": 0.25},
    "phases": [{"phase": "1", "state": "done"}],
    "gates": [{"gate": "gate-1", "state": "passed", "evidence": "tests"}],
    "routing": {"selected": [{"skill": "a"}], "skipped": [{"skill": "b", "reason": "c"}]},
    "terminal_state": "merged",
    "head_sha": "0" * 40,
    "error": {"code": "e", "message": "m"},
    "evidence": {"trace": []},
    "scores": [{"metric": "pass", "value": 1, "correct": True, "note": "n"}],
    "decisions": [{"criterion": "c", "value": "met", "source": "judge", "author": "j"}],
    "extra": {"kept": [1]},
}
SUITE = SuiteSpec(
    slug="example-suite",
    title="Example",
    format="neckbeard",
    version="1",
    tasks=(
        TaskSpec(external_id="t-1", prompt="p", criteria=(CriterionSpec(key="c", text="c"),)),
        TaskSpec(external_id="t-2", prompt="p"),
    ),
    metrics=(MetricSpec(key="pass", label="Pass", direction=Direction.UP, kind=MetricKind.PASS),),
)
JUDGE = jsonschema.Draft202012Validator(schema())


def lines(*values: object) -> bytes:
    return b"".join(json.dumps(value).encode() + b"\n" for value in values)


def upload(*values: object, **others: bytes) -> Files:
    return Files.of({"run.jsonl": lines(*values), **others})


def rules(*values: object, suite: SuiteSpec | None = None) -> list[tuple[str, int | None, str]]:
    with pytest.raises(FormatError) as caught:
        parse_run(upload(*values), suite)
    return [(problem.rule, problem.line, problem.pointer) for problem in caught.value.problems]


def test_the_schema_is_one_and_the_examples_keep_it() -> None:
    jsonschema.Draft202012Validator.check_schema(schema())
    JUDGE.validate(HEADER)
    JUDGE.validate(EXECUTION)


def test_a_run_is_read_whole() -> None:
    read = parse_run(upload(HEADER, EXECUTION), SUITE)
    (run,) = read.runs
    assert (run.suite.slug, run.suite.version, run.external_id) == (
        "example-suite",
        "1",
        "example-run",
    )
    assert (run.entrant.name, run.entrant.aliases) == ("example-entrant", ("ee",))
    (record,) = read.records()
    assert (record.task_id, record.replicate, record.variant, record.line) == ("t-1", 2, 1, 2)
    assert (record.steps, record.wall_ms, record.tokens_in, record.cost) == (3, 2100, 8, 0.25)
    assert record.raw == json.dumps(EXECUTION).encode()
    assert [(score.metric, score.value, score.correct) for score in record.reported] == [
        ("pass", 1.0, True)
    ]
    assert [(d.criterion, d.value, d.author) for d in record.decisions] == [("c", "met", "j")]
    opened = view(record.raw, None)
    assert opened.answer == {"value": 12}
    assert opened.telemetry["cost"] == 0.25
    assert [event.kind for event in opened.events] == [
        "message", "tool_call", "action", "message", "observation", "error",
    ]  # fmt: skip
    assert opened.events[4].data == 7
    assert isinstance(opened.evidence, dict)
    assert set(opened.evidence) == {
        "phases", "gates", "routing", "terminal_state", "head_sha", "error", "trace",
    }  # fmt: skip


def test_verdicts_are_no_part_of_the_content_digest() -> None:
    bare = {key: value for key, value in EXECUTION.items() if key not in ("scores", "decisions")}
    other = {**EXECUTION, "answer": {"value": 13}}
    digests = []
    for execution in (EXECUTION, bare, dict(reversed(bare.items())), other):
        (record,) = parse_run(upload(HEADER, execution), None).records()
        digests.append(record.content_digest)
    assert digests[0] == digests[1] == digests[2] != digests[3]


def paths_of(value: object, *parts: str | int) -> list[tuple[str | int, ...]]:
    """The way to everything within a value."""
    items: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        items = list(value.items())
    elif isinstance(value, list):
        items = list(enumerate(value))
    return [parts, *(way for key, item in items for way in paths_of(item, *parts, key))]


REPLACEMENTS: list[object] = [
    None, True, 0, -1, 1.5, 5.0, 2, 1024, "", "x", "\x00", "\ud800", [], {}, ["x"], {"x": 1},
    "0" * 64, "2026-13-45T00:00:00Z", 10**30, "met", "na", "run.jsonl", "a@b@c",
]  # fmt: skip


@given(st.booleans(), st.data())
@settings(max_examples=250)
def test_what_the_reader_accepts_the_schema_accepts(in_header: bool, data: st.DataObject) -> None:
    header, execution = copy.deepcopy(HEADER), copy.deepcopy(EXECUTION)
    changed: Any = header if in_header else execution
    *way, last = data.draw(st.sampled_from(paths_of(changed)[1:]))
    target = changed
    for part in way:
        target = target[part]
    replacement = data.draw(st.sampled_from([*REPLACEMENTS, "drop", "rename"]))
    if replacement == "drop":
        del target[last]
    elif replacement == "rename" and isinstance(target, dict):
        target["renamed"] = target.pop(last)
    else:
        target[last] = replacement
    files = upload(header, execution)
    claims_run(files)
    try:
        read = parse_run(files, None)
    except FormatError:
        return
    JUDGE.evolve(schema={**schema(), "anyOf": [{"$ref": "#/$defs/header"}]}).validate(header)
    JUDGE.evolve(schema={**schema(), "anyOf": [{"$ref": "#/$defs/execution"}]}).validate(execution)
    records = list(read.records())
    for record in records:
        view(record.raw, None)
    written = export_run(SUITE, read.runs[0], records)
    again = parse_run(Files.of(written), None)
    assert again.runs == read.runs
    assert list(again.records()) == records


def test_one_identity_comes_once_with_both_lines_named() -> None:
    first = {"task": "case-7", "status": "answered", "answer": "a"}
    assert rules(HEADER, first, {**first, "answer": "b"}) == [("double-record", 3, "/task")]
    with pytest.raises(FormatError, match="already on line 2"):
        parse_run(upload(HEADER, first, first), None)
    assert parse_run(upload(HEADER, first, {**first, "replicate": 2}), None)
    assert parse_run(upload(HEADER, first, {**first, "variant": 1}), None)
    assert rules({**HEADER, "replicates": 1}, first, {**first, "replicate": 2}) == [
        ("replicate", 3, "/replicate")
    ]


def test_names_that_the_suite_does_not_have_are_refused() -> None:
    unknown = {"task": "t-9", "status": "missing"}
    verdicts = {**EXECUTION, "task": "t-2", "scores": [{"metric": "m", "value": None}]}
    assert rules(HEADER, unknown, verdicts, {**unknown, "task": "t-8"}, suite=SUITE) == [
        ("unknown-criterion", 3, "/decisions/0/criterion"),
        ("unknown-metric", 3, "/scores/0/metric"),
    ]


def test_tasks_that_the_suite_does_not_have_are_told_and_their_records_given() -> None:
    unknown = {"task": "t-9", "status": "missing"}
    read = parse_run(upload(HEADER, unknown, {**unknown, "task": "t-8"}), SUITE)
    assert [(one.rule, one.line, one.pointer) for one in read.notices] == [
        ("unknown-task", 2, "/task"),
        ("unknown-task", 3, "/task"),
    ]
    assert [record.task_id for record in read.records()] == ["t-9", "t-8"]


def test_artifacts_are_members_of_the_upload_with_their_digest() -> None:
    data = b"example"
    good = {"path": "out/a.txt", "sha256": hashlib.sha256(data).hexdigest()}
    line = {"task": "t-1", "status": "answered", "artifacts": [good]}
    files = {"runs/one.jsonl": lines(HEADER, line), "runs/out/a.txt": data, "other.txt": data}
    read = parse_run(Files.of(files), None)
    assert {report.path: report.status.value for report in read.files} == {
        "other.txt": "recognised",
        "runs/one.jsonl": "imported",
        "runs/out/a.txt": "recognised",
    }
    with pytest.raises(FormatError, match=r"has the digest .* \[artifact-altered\]"):
        parse_run(Files.of({**files, "runs/out/a.txt": b"other"}), None)


def test_two_files_cannot_be_the_same_run() -> None:
    line = {"task": "t-1", "status": "missing"}
    files = {"a.jsonl": lines(HEADER, line), "b.jsonl": lines(HEADER, line)}
    with pytest.raises(
        FormatError, match=r"b.jsonl:1 /run_id: run 'example-run' is already in 'a.jsonl'"
    ):
        parse_run(Files.of(files), None)
    files["b.jsonl"] = lines({**HEADER, "arm": "other"}, line)
    assert len(parse_run(Files.of(files), None).runs) == 2


def test_a_transcript_may_hold_what_a_column_cannot() -> None:
    line = {"task": "t-1", "status": "answered", "answer": "\x00 \ud800"}
    (record,) = parse_run(upload(HEADER, line), None).records()
    assert view(record.raw, None).answer == "\x00 \ud800"
    reason = [{"criterion": "c", "state": "na", "source": "judge", "author": "j", "reason": "\x00"}]
    assert rules(HEADER, {**line, "decisions": reason}) == [("text", 2, "/decisions/0/reason")]


def test_records_of_another_format_are_not_exported_as_this_one() -> None:
    read = parse_run(upload(HEADER, EXECUTION), None)
    (record,) = read.records()
    assert list(export_run(SUITE, read.runs[0], [record])) == ["run.jsonl"]
    foreign = type(record)(task_id="t-1", raw=b'{"native": true}')
    with pytest.raises(AcademyError, match="another format"):
        export_run(SUITE, read.runs[0], [foreign])


def test_a_run_from_elsewhere_gets_a_header_that_is_read_again() -> None:
    read = parse_run(upload(HEADER, EXECUTION), None)
    (record,) = read.records()
    run = read.runs[0]
    bare = type(run)(entrant=run.entrant, external_id="n-1", suite=run.suite, closed=False)
    again = parse_run(Files.of(export_run(SUITE, bare, [record])), None)
    assert (again.runs[0].external_id, again.runs[0].closed) == ("n-1", False)
    assert again.runs[0].entrant == run.entrant


def test_a_header_may_say_whether_weights_are_open() -> None:
    entrant = {"name": "Example", "weights": "open"}
    read = parse_run(upload({**HEADER, "entrant": entrant}, EXECUTION), None)
    assert read.runs[0].entrant.weights == "open"
    run = read.runs[0]
    bare = type(run)(entrant=run.entrant, suite=run.suite)
    again = parse_run(Files.of(export_run(SUITE, bare, list(read.records()))), None)
    assert again.runs[0].entrant.weights == "open"
    wrong = {"name": "Example", "weights": "leaked"}
    found = rules({**HEADER, "entrant": wrong}, EXECUTION)
    assert ("schema-enum", 1, "/entrant/weights") in found


def test_only_files_with_a_header_are_claimed() -> None:
    assert claims_run(Files.of({"a/run.JSONL": b"\n " + lines(HEADER)}))
    long = {**HEADER, "extra": {"x": "y" * 100_000}}
    assert claims_run(upload(long))
    for other in (b"", b"\n", b"[]\n", b'{"a": "academy_run"}\n', b"\xff\n", b"[" * 30_000):
        assert not claims_run(Files.of({"run.jsonl": other}))
    assert not claims_run(Files.of({"run.json": lines(HEADER)}))


def test_it_reads_runs_only() -> None:
    assert FORMAT.parse_suite is None
    assert not FORMAT.claims(upload(HEADER, EXECUTION))


def test_the_schema_is_published(client: Client, db: None) -> None:
    published = client.get("/schemas/academy_run.json")
    assert published.json() == schema()
    assert client.get("/schemas/").json()["academy_run"] == "/schemas/academy_run.json"
    assert client.get("/schemas/other.json").status_code == 404
