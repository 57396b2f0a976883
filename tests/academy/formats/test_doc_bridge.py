"""Doc Bridge: runs in pieces, verdicts of a ledger, and what every record keeps."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import RecordSpec, RecordStatus, RunUpload, SuiteSpec
from academy.errors import FormatError
from academy.formats.doc_bridge import FORMAT, artifacts, export, observations
from academy.formats.doc_bridge.hashing import sealed
from academy.formats.doc_bridge.observations import LEDGER, OBSERVATION
from academy.formats.reading import Files
from tests.academy.formats.doc_bridge_making import Json, parse_suite, sample

RETAINED = (
    "suite_hash",
    "protocol_hash",
    "source_revision",
    "model",
    "scenario",
    "replicate",
    "verification_run_id",
)


def parse_run(contents: Mapping[str, bytes], suite: SuiteSpec | None) -> RunUpload:
    assert FORMAT.parse_run is not None
    return FORMAT.parse_run(Files.of(contents), suite)


def evidence(record: RecordSpec) -> Json:
    assert FORMAT.view is not None
    opened = FORMAT.view(record.raw, None).evidence
    assert isinstance(opened, dict)
    return opened


@pytest.fixture(scope="module")
def suite() -> SuiteSpec:
    return parse_suite(sample("one-repository"))


@pytest.fixture(scope="module")
def found() -> list[Json]:
    ledger: Json = json.loads(sample("one-run")["ledger.json"])
    listed: list[Json] = ledger["observations"]
    return listed


def payload(observation: Json) -> Json:
    copied: Json = json.loads(json.dumps(observation))
    return {key: value for key, value in copied.items() if not key.startswith("contentHash")}


def changed(observation: Json, change: Callable[[Json], object]) -> Json:
    """The observation after a change, with a hash of its own."""
    value = payload(observation)
    change(value)
    return artifacts.create(OBSERVATION, value)


def ledger_of(*found: Json) -> bytes:
    value = {"type": LEDGER.type, "schemaVersion": 1, "ledgerVersion": "v1"}
    return json.dumps(sealed({**value, "observations": list(found)})).encode()


def test_a_record_keeps_the_seven_things(suite: SuiteSpec) -> None:
    plan = json.loads(sample("one-repository")["study/run-plan.json"])
    for record in parse_run(sample("one-run"), suite).records():
        kept = {name: evidence(record)[name] for name in RETAINED}
        assert kept == {
            "suite_hash": plan["taskSuiteHash"],
            "protocol_hash": plan["protocolHash"],
            "source_revision": plan["sourceRevisionHash"],
            "model": "large-model",
            "scenario": "deterministic-doc-bridge",
            "replicate": 0,
            "verification_run_id": "example-verification-1",
        }
        assert json.loads(record.raw)["retained"].items() >= kept.items()


def test_a_plan_beside_the_observations_serves_as_well_as_one_kept_with_the_suite() -> None:
    study = sample("one-repository")
    beside = {name: study[name] for name in ("study/run-plan.json", "study/verification.json")}
    upload = parse_run({**sample("one-run"), **beside}, None)
    for record in upload.records():
        assert None not in [evidence(record)[name] for name in RETAINED]
    assert not upload.notices


def test_what_nobody_can_say_is_null_and_told() -> None:
    upload = parse_run(sample("one-run"), None)
    for record in upload.records():
        assert evidence(record)["suite_hash"] is None
        assert set(RETAINED) <= set(evidence(record))
    assert [notice.rule for notice in upload.notices] == ["unknown-plan"]


def test_a_run_is_a_run_id_a_model_and_a_scenario_and_stays_open(
    suite: SuiteSpec, found: list[Json]
) -> None:
    other = changed(
        found[0],
        lambda value: (
            value["task"].update(scenarioId="repository-only"),
            value["scenario"].update(id="repository-only"),
        ),
    )
    again = changed(found[0], lambda value: value.update(runId="example-run-2", planHash="9" * 64))
    upload = parse_run({"ledger.json": ledger_of(found[0], other, again)}, suite)
    assert [(run.external_id, run.scenario, run.closed) for run in upload.runs] == [
        ("example-run-1", "deterministic-doc-bridge", False),
        ("example-run-1", "repository-only", False),
        ("example-run-2", "deterministic-doc-bridge", False),
    ]
    assert [record.run for record in upload.records()] == [0, 1, 2]


def test_a_judged_ledger_again_adds_verdicts_and_no_record(
    suite: SuiteSpec, found: list[Json]
) -> None:
    def judge(value: Json) -> None:
        value["adjudication"] = {
            "status": "automated",
            "actor": "second-judge",
            "method": "independent-rubric-v1",
            "outcome": "incorrect",
            "configurationHash": "7" * 64,
        }
        value["measurements"]["adjudicatorLatencyMs"] = 5

    first = ledger_of(*found)
    second = ledger_of(*(changed(one, judge) for one in found))
    alone = list(parse_run({"a.json": first}, suite).records())
    both = list(parse_run({"a.json": first, "b.json": second}, suite).records())
    assert [record.content_digest for record in both] == [r.content_digest for r in alone]
    assert [record.raw for record in both] == [record.raw for record in alone]
    for before, after in zip(alone, both, strict=True):
        added = after.decisions[len(before.decisions) :]
        assert [(one.author, one.value, one.source) for one in added] == [
            ("second-judge", "incorrect", "judge")
        ]


def test_a_judge_that_overwrote_the_agents_counts_is_refused(
    suite: SuiteSpec, found: list[Json]
) -> None:
    tampered = changed(
        found[0], lambda value: value["measurements"].update(acceptanceChecksPassed=0)
    )
    with pytest.raises(FormatError) as caught:
        parse_run({"a.json": ledger_of(found[0]), "b.json": ledger_of(tampered)}, suite)
    (problem,) = caught.value.problems
    assert (problem.rule, problem.file) == ("double-record", "b.json")
    assert "a.json:" in problem.message


@pytest.mark.parametrize(
    ("verdict", "decisions"),
    [
        ({"status": "pending"}, []),
        ({"status": "pending", "actor": "judge", "method": "m"}, [("judge", "call_error", None)]),
        ({"status": "human-approved"}, []),
        ({"status": "human-rejected", "outcome": "success"}, []),
        (
            {
                "status": "human-approved",
                "actor": "one",
                "method": "m",
                "outcome": "partial",
                "reason": "Half of it.",
            },
            [("person", "value", "partial")],
        ),
        (
            {"status": "automated", "actor": "j", "method": "independent-rubric-v1"}
            | {"outcome": "blocked"},
            [("judge", "value", "blocked")],
        ),
        (
            {"status": "automated", "actor": "r", "method": "deterministic-rubric-v1"}
            | {"outcome": "success"},
            [("machine", "value", "success")],
        ),
    ],
)
def test_the_one_slot_of_a_ledger_becomes_decisions(
    suite: SuiteSpec, found: list[Json], verdict: Json, decisions: list[tuple[str, str, Any]]
) -> None:
    one = changed(found[0], lambda value: value.update(adjudication=verdict))
    (record,) = parse_run({"ledger.json": ledger_of(one)}, suite).records()
    assert [(d.source, d.state, d.value) for d in record.decisions] == decisions
    task = suite.task(record.task_id)
    assert task is not None
    known = {criterion.key for criterion in task.criteria}
    assert {decision.criterion for decision in record.decisions} <= known


def test_a_bare_human_verdict_is_told(suite: SuiteSpec, found: list[Json]) -> None:
    one = changed(found[0], lambda value: value.update(adjudication={"status": "human-approved"}))
    notices = parse_run({"ledger.json": ledger_of(one)}, suite).notices
    assert [notice.rule for notice in notices] == ["bare-verdict"]


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ("completed", RecordStatus.ANSWERED),
        ("failed", RecordStatus.ERROR),
        ("timed-out", RecordStatus.OVER_BUDGET),
        ("unavailable", RecordStatus.ERROR),
        ("invalid-output", RecordStatus.ERROR),
        ("budget-exceeded", RecordStatus.OVER_BUDGET),
    ],
)
def test_every_way_to_end_has_a_status(
    suite: SuiteSpec, found: list[Json], status: str, expected: RecordStatus
) -> None:
    one = changed(found[0], lambda value: value["execution"].update(status=status))
    (record,) = parse_run({"ledger.json": ledger_of(one)}, suite).records()
    assert record.status == expected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda task: task.update(difficulty="hard"), "difficulty is hard"),
        (lambda task: task.update(repositoryId="other"), "repositoryId is other"),
        (lambda task: task.update(variantId="variant-c"), "no wording variant-c"),
        (lambda task: task.update(replicate=2), "the suite has 2, counted from 0"),
    ],
)
def test_an_observation_that_does_not_fit_its_suite_is_refused(
    suite: SuiteSpec, found: list[Json], change: Callable[[Json], object], message: str
) -> None:
    one = changed(found[0], lambda value: change(value["task"]))
    with pytest.raises(FormatError, match=message) as caught:
        parse_run({"ledger.json": ledger_of(one)}, suite)
    assert caught.value.problems[0].line == 1


def test_a_plan_for_another_suite_is_refused(suite: SuiteSpec) -> None:
    other = parse_suite(sample("rubric-with-checks"))
    plan = sample("one-repository")["study/run-plan.json"]
    with pytest.raises(FormatError, match="its plan is for another suite"):
        parse_run({**sample("one-run"), "plan.json": plan}, other)


def test_two_observations_that_differ_only_in_difficulty_are_refused(found: list[Json]) -> None:
    other = changed(found[0], lambda value: value["task"].pop("difficulty"))
    with pytest.raises(FormatError, match="with different contents"):
        parse_run({"ledger.json": ledger_of(found[0], other)}, None)


@settings(max_examples=20, deadline=None)
@given(order=st.permutations(range(4)), cuts=st.lists(st.integers(0, 4), max_size=3))
def test_pieces_in_any_order_give_the_same_records(order: list[int], cuts: list[int]) -> None:
    known = parse_suite(sample("one-repository"))
    listed = json.loads(sample("one-run")["ledger.json"])["observations"]
    shuffled = [listed[place] for place in order]
    edges = sorted({0, 4, *cuts})
    pieces = {
        f"piece-{number}.json": ledger_of(*shuffled[start:end])
        for number, (start, end) in enumerate(pairwise(edges))
    }
    whole = {(r.task_id, r.content_digest) for r in parse_run(sample("one-run"), known).records()}
    upload = parse_run(pieces, known)
    assert {(r.task_id, r.content_digest) for r in upload.records()} == whole
    twice = parse_run({**pieces, **{f"again-{k}": v for k, v in pieces.items()}}, known)
    assert len(list(twice.records())) == 4


def test_a_file_shared_by_several_runs_is_written_back_whole(found: list[Json]) -> None:
    other = changed(found[1], lambda value: value.update(runId="example-run-2"))
    contents = {"ledger.json": ledger_of(found[0], other, found[2])}
    upload = parse_run(contents, None)
    assert len(upload.runs) == 2
    written = export.write_ledgers(upload.runs, upload.records())
    assert {k: json.loads(v) for k, v in written.items()} == {
        k: json.loads(v) for k, v in contents.items()
    }


def test_one_run_out_of_a_shared_file_is_a_sound_ledger(
    suite: SuiteSpec, found: list[Json]
) -> None:
    other = changed(found[1], lambda value: value.update(runId="example-run-2"))
    upload = parse_run({"ledger.json": ledger_of(found[0], other)}, None)
    second = [record for record in upload.records() if record.run == 1]
    assert FORMAT.export_run is not None
    ((name, data),) = FORMAT.export_run(suite, upload.runs[1], second).items()
    assert name == "example-run-2-large-model-deterministic-doc-bridge.json"
    assert artifacts.read(LEDGER, json.loads(data))["observations"] == [other]


def test_unsafe_evidence_ids_are_told_by_place_and_not_repeated(
    suite: SuiteSpec, found: list[Json]
) -> None:
    one = changed(found[0], lambda value: value["evidenceIds"].append("/home/someone/x"))
    (notice,) = parse_run({"ledger.json": ledger_of(one)}, suite).notices
    assert notice.rule == "privacy-scan"
    assert "evidenceIds[1]" in notice.message
    assert "someone" not in notice.message


def test_the_original_would_say_what_it_says() -> None:
    files = Files.of({"s.json": json.dumps({"type": "study-task-suite", "x": 1}).encode()})
    told = FORMAT.compatibility(files)
    assert ("original-unrecognized-keys", "") in [(p.rule, p.pointer) for p in told]
    assert not FORMAT.compatibility(Files.of(sample("one-repository")))


def test_upsert_takes_another_wording_for_another_observation(found: list[Json]) -> None:
    ledger = artifacts.create(LEDGER, payload(json.loads(ledger_of(found[0]))))
    other = changed(found[0], lambda value: value["task"].update(variantId="variant-a"))
    assert len(observations.upsert(ledger, other)["observations"]) == 2
    assert observations.upsert(ledger, found[0]) == ledger


def test_a_run_beside_its_suite_names_it() -> None:
    upload = parse_run({**sample("one-repository"), **sample("one-run")}, None)
    (run,) = upload.runs
    assert (run.suite.slug, run.suite.version) == ("task-suite", "example-1")
