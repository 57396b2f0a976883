"""OpenTakeoff bundles as they are read: integrity, signatures, refusals and notices."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from academy.errors import FormatError
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.parse import parse_suite
from academy.formats.opentakeoff.runs import parse_run
from academy.formats.reading import Files
from tests.academy.formats.opentakeoff_examples import (
    bundle,
    entry,
    files,
    key_pair,
    quantity,
    rules,
    run,
    signature,
    suite,
    task,
)


def refusal(document: Any, **kwargs: Any) -> FormatError:
    with pytest.raises(FormatError) as caught:
        run(document, **kwargs)
    return caught.value


def test_a_run_is_one_record_per_entry_in_the_form_it_came_in() -> None:
    document = bundle(entry("hall-area"), entry("other-one", quantity(1)))
    read = run(document)
    records = list(read.records())
    assert [record.task_id for record in records] == ["hall-area", "other-one"]
    assert [json.loads(record.raw) for record in records] == document["tasks"]
    assert records[0].steps == 2
    assert (records[0].wall_ms, records[0].tokens_in) == (1000, None)
    assert list(read.records()) == records
    only = read.runs[0]
    assert (only.external_id, only.entrant.model) == ("run_example-000001", "example-model")
    assert only.verification == "supplied"


def test_records_know_their_lines() -> None:
    text = json.dumps(bundle(entry("one-task"), entry("two-task")), indent=1).encode()
    records = list(parse_run(Files.of({"x.bundle.json": text}), None).records())
    for record in records:
        assert record.line is not None
        # The entry begins with its brace; its id follows on the next line.
        assert record.task_id in text.decode().splitlines()[record.line]


def test_a_hash_that_does_not_match_is_refused_with_both() -> None:
    document = bundle()
    right = document["integrity"]["bundleHash"]
    document["integrity"]["bundleHash"] = "a" * 64
    error = refusal(document)
    assert f"expected {right}, found {'a' * 64}" in str(error)


def test_the_hash_covers_all_but_the_integrity_block() -> None:
    document = bundle()
    document["tasks"][0]["answer"]["quantities"][0]["value"] = 241
    assert [problem.rule for problem in refusal(document).problems] == ["bundle-hash"]


def test_an_entrants_signature_is_checked() -> None:
    document = bundle()
    document["integrity"]["signature"] = signature("entrant", document)
    document["integrity"]["publicKey"] = key_pair("entrant")[1]
    assert rules(run(document).notices) == []
    document["integrity"]["publicKey"] = key_pair("other")[1]
    assert [problem.rule for problem in refusal(document).problems] == ["signature"]
    del document["integrity"]["publicKey"]
    assert rules(run(document).notices) == ["signature-unchecked"]


def test_only_a_checked_co_signature_lifts_a_run_above_supplied() -> None:
    proctored = {"mode": "proctored", "proctor": {"proctorId": "anybody"}}
    claimed = run(bundle(attestation=proctored), suite())
    assert claimed.runs[0].verification == "supplied"
    assert rules(claimed.notices) == ["proctored-unproven"]
    signed = bundle(attestation=proctored)
    signed["integrity"]["academySignature"] = signature("academy", signed)
    assert rules(run(signed, suite()).notices) == [
        "academy-signature-unchecked",
        "proctored-unproven",
    ]
    trusted = replace(suite(), attributes={"academy_keys": [key_pair("academy")[1]]})
    assert run(signed, trusted).runs[0].verification == "reproduced"
    other = replace(suite(), attributes={"academy_keys": [key_pair("other")[1]]})
    assert [problem.rule for problem in refusal(signed, of=other).problems] == ["academy-signature"]


def test_two_answers_to_one_task_are_refused_with_both_places() -> None:
    text = str(refusal(bundle(entry(), entry("hall-area", quantity(1)))))
    assert "/tasks/0/taskId" in text
    assert "/tasks/1/taskId" in text


def test_unknown_and_omitted_tasks_are_told_and_nothing_is_dropped() -> None:
    read = run(bundle(entry("nobody-1"), entry("nobody-2")), suite())
    unknown = [problem for problem in read.notices if problem.rule == "unknown-task"]
    assert [problem.pointer for problem in unknown] == ["/tasks/0/taskId", "/tasks/1/taskId"]
    assert "task-omitted" in rules(read.notices)
    assert len(list(read.records())) == 2


def test_a_run_of_another_suite_is_refused_and_the_suite_decides_the_mode() -> None:
    other = bundle(suite={"id": "other", "version": "1.0", "mode": "practice"})
    assert "not of example 1.0" in str(refusal(other, of=suite()))
    ranked = bundle(suite={"id": "example", "version": "1.0", "mode": "ranked"})
    assert rules(run(ranked, suite()).notices) == ["mode-differs"]
    renamed = replace(suite(), slug="renamed", version="7")
    assert rules(run(bundle(), renamed).notices) == []


def test_members_that_no_hash_covers_are_refused() -> None:
    hidden = entry()
    hidden["trace"][1]["args"] = {"a": [{"__proto__": 1}]}
    text = str(refusal(bundle(hidden)))
    assert "/tasks/0/trace/1/args/a/0/__proto__" in text


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", '"nan"', "true"])
def test_values_that_are_no_finite_numbers_are_refused(text: str) -> None:
    data = json.dumps(bundle()).replace('"value": 240', f'"value": {text}').encode()
    with pytest.raises(FormatError) as caught:
        parse_run(Files.of({"x.bundle.json": data}), None)
    assert "/tasks/0/answer/quantities/0/value" in str(caught.value)


def test_numbers_past_all_doubles_are_refused() -> None:
    odd = entry()
    odd["trace"][1]["args"] = {"n": 0}
    data = json.dumps(bundle(odd)).replace('"n": 0', '"n": 1' + "0" * 400).encode()
    with pytest.raises(FormatError, match="number-range"):
        parse_run(Files.of({"x.bundle.json": data}), None)
    data = json.dumps(task()).replace('"maxSteps": 40', '"maxSteps": 1' + "0" * 400).encode()
    with pytest.raises(FormatError, match="number-range"):
        parse_suite(Files.of({"x.task.json": data}))


def test_half_characters_are_kept_in_answers_and_refused_in_names() -> None:
    odd = entry("hall-area", quantity(item="half \ud800"))
    read = run(bundle(odd))
    raw = next(read.records()).raw
    assert json.loads(raw) == odd
    assert FORMAT.export_run is not None
    written = FORMAT.export_run(suite(), read.runs[0], read.records())
    assert json.loads(next(iter(written.values()))) == bundle(odd)
    named = {"name": "half \ud800", "modelId": "m", "adapter": "mcp"}
    assert [problem.rule for problem in refusal(bundle(contestant=named)).problems] == ["text"]


def test_the_same_bundle_twice_is_one_run_and_another_of_its_id_is_refused() -> None:
    twice = parse_run(files(**{"a.bundle.json": bundle(), "b.json": bundle()}), None)
    assert [report.status.value for report in twice.files] == ["imported", "recognised"]
    assert len(twice.runs) == 1
    with pytest.raises(FormatError, match="double-run"):
        parse_run(files(**{"a.bundle.json": bundle(), "b.json": bundle(entry("other-task"))}), None)


def test_the_content_digest_covers_answer_trace_and_telemetry() -> None:
    digests = {
        next(run(bundle(changed)).records()).content_digest
        for changed in (
            entry(),
            entry("hall-area", quantity(241)),
            entry(telemetry={"steps": 3, "wallMs": 1000}),
            entry(trace=[]),
        )
    }
    assert len(digests) == 4
