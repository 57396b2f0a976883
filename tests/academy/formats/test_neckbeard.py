"""neckbeard fixtures: what is read, what is refused and where, and that nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from academy.bundle import TaskSpec
from academy.errors import FormatError, Severity
from academy.formats.neckbeard import FORMAT
from academy.formats.neckbeard.entries import join
from academy.formats.neckbeard.facts import COVERAGE, PHASES
from academy.formats.neckbeard.original import read_lines
from academy.formats.reading import Files
from tests.academy.formats.neckbeard_making import (
    JOURNEY_PATH,
    SINGLE,
    SINGLE_PATH,
    export,
    journey,
    parse,
    single,
)


def rules_of(contents: dict[str, bytes]) -> set[str]:
    with pytest.raises(FormatError) as caught:
        parse(contents)
    return {problem.rule for problem in caught.value.problems}


def public_parts(task: TaskSpec) -> str:
    return repr((task.prompt, task.title, task.context, task.attributes, task.criteria))


def test_a_block_prompt_is_the_folded_text_and_not_the_marker() -> None:
    data = single().replace(
        b'prompt: "The example gate squeaks. Say why."',
        b"prompt: >-\n  The example gate\n  squeaks. Say why.",
    )
    upload = parse({SINGLE_PATH: data})
    assert upload.suites[0].tasks[0].prompt == "The example gate squeaks. Say why."
    assert export(upload) == {SINGLE_PATH: data}
    assert read_lines(data.decode())["prompt"] == ">-"


def test_texts_that_look_like_numbers_stay_text() -> None:
    data = single(id="0123").replace(b'"0123"', b"0123")
    upload = parse({"fixtures/refactor/0123/task.yaml": data})
    assert upload.suites[0].tasks[0].external_id == "0123"
    assert {notice.rule for notice in upload.notices} >= {"text-like-number"}


def test_the_truth_is_in_no_part_that_agents_or_readers_see() -> None:
    secrets = {
        "ground_truth": "canary-truth",
        "scoring_notes": "Correctness: canary-notes.",
        "adversarial_intent": "canary-trap",
        "class": "adversarial",
    }
    path = "fixtures/adversarial/dry-hinge/task.yaml"
    task = parse({path: single(**secrets)}).suites[0].tasks[0]
    shown = public_parts(task) + repr(FORMAT.agent_view(task)) + repr(task.extra)
    assert "canary" not in shown
    assert "canary-truth" in repr(FORMAT.rater_view(task))
    assert FORMAT.rater_view(replace(task, key=None)) == {}


def test_what_a_trajectory_expects_is_for_raters_alone() -> None:
    data = journey(
        routing_selected="canary-skill",
        skipped_gates="gate-1: canary-reason | gate-2: phase left out | gate-3: phase left out",
    )
    task = parse({JOURNEY_PATH: data}).suites[0].tasks[0]
    assert "canary" not in public_parts(task) + repr(FORMAT.agent_view(task))
    view = FORMAT.rater_view(task)
    assert view["expectation"]["skipped_gates"][0] == {"id": "gate-1", "reason": "canary-reason"}
    assert view["routing"]["rows"][0]["skill"] == "canary-skill"
    assert len(view["routing"]["rows"]) == 29


def test_the_agent_sees_prompt_context_and_constraints_only() -> None:
    data = single(context="a gate", harness_constraints="no tools")
    task = parse({SINGLE_PATH: data}).suites[0].tasks[0]
    assert FORMAT.agent_view(task) == {
        "prompt": SINGLE["prompt"],
        "context": "a gate",
        "harness_constraints": "no tools",
    }


def test_a_holdout_is_marked_as_one() -> None:
    assert parse({SINGLE_PATH: single(visibility="holdout")}).suites[0].tasks[0].holdout


def test_scoring_notes_stand_beside_the_dimension_they_name() -> None:
    notes = "Scope discipline is decisive. Security is not N/A here."
    task = parse({SINGLE_PATH: single(scoring_notes=notes)}).suites[0].tasks[0]
    assert FORMAT.rater_view(task)["scoring_notes"]["by_dimension"] == {
        "scope_discipline": "Scope discipline is decisive.",
        "security_accessibility": "Security is not N/A here.",
    }


def test_unknown_fields_are_kept_and_told() -> None:
    upload = parse({SINGLE_PATH: single(difficulty=["hard", {"very": None}])})
    assert upload.suites[0].tasks[0].extra["unknown_fields"] == {
        "difficulty": ["hard", {"very": None}]
    }
    assert "unknown-field" in {notice.rule for notice in upload.notices}


def test_every_bad_file_is_told_with_its_line() -> None:
    with pytest.raises(FormatError) as caught:
        parse(
            {
                "fixtures/refactor/a/task.yaml": single(id="a", expected_boundary="e2e"),
                "fixtures/refactor/b/task.yaml": b"id: b\nprompt: one: two\n",
                "fixtures/refactor/c/task.yaml": b"\xff\xfe\xff",
            }
        )
    told = {(one.file[18:19], one.rule, one.line) for one in caught.value.problems}
    assert told >= {("a", "unknown-word", 5), ("b", "yaml-syntax", 2)}
    assert {file for file, _, _ in told} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("path", "rule"),
    [
        ("fixtures/dry-hinge/task.yaml", "layout"),
        ("fixtures/refactor/deep/dry-hinge/task.yaml", "layout"),
        ("fixtures/trajectories/dry-hinge/task.yaml", "layout"),
        ("fixtures/.drafts/dry-hinge/task.yaml", "layout"),
        ("fixtures/refactor/dry-hinge/task.yml", "layout"),
        ("fixtures/refactor/dry-hinge/Task.yaml", "layout"),
        ("fixtures/refactor/other/task.yaml", "id-differs-from-folder"),
    ],
)
def test_a_fixture_in_the_wrong_place_is_refused(path: str, rule: str) -> None:
    assert rules_of({path: single()}) == {rule}


def test_ids_are_unique_over_both_kinds() -> None:
    files = {
        "fixtures/refactor/walk/task.yaml": single(id="walk"),
        JOURNEY_PATH: journey(),
    }
    assert rules_of(files) == {"double-id"}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (b"prompt: &a hi\n", "yaml-alias"),
        (b"prompt: *a\n", "yaml-syntax"),
        (b"<<: {context: x}\n", "yaml-merge"),
        (b"prompt: !!python/name:os.getcwd\n", "yaml-syntax"),
        (b"prompt: [a]\n", "field-type"),
        (b"prompt: a\nprompt: b\n", "yaml-syntax"),
        (b"prompt: a\n---\nprompt: b\n", "yaml-syntax"),
        (b"- prompt\n", "not-a-mapping"),
        (b"", "not-a-mapping"),
        (b'prompt: "a\\0b"\n', "text"),
        (b'prompt: "\\ud800"\n', "text"),
        ("prompt: a\u2028visibility: holdout\n".encode(), "line-separator"),
        (b"x: " + b"[" * 20_000 + b"]" * 20_000, "limit"),
        (b"x: 1\n" * 50_000, "limit"),
        (b'prompt: "' + b"x" * 300_000 + b'"\n', "limit"),
        ("prompt: a".encode("utf-16"), "encoding"),
        (b"prompt: \xe9\n", "yaml-syntax"),
    ],
)
def test_yaml_outside_the_safe_subset_is_refused(text: bytes, rule: str) -> None:
    assert rule in rules_of({SINGLE_PATH: text})


def test_aliases_are_refused_before_anything_is_expanded() -> None:
    levels = [f"a0: &a0 [{', '.join('x' * 9)}]"]
    levels += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 9)]
    bomb = single() + "\n".join(levels).encode()
    assert rules_of({SINGLE_PATH: bomb}) <= {"yaml-alias", "limit"}


@pytest.mark.parametrize("path", list(COVERAGE))
def test_a_whole_journey_of_each_path_is_taken(path: str) -> None:
    upload = parse({JOURNEY_PATH: journey(path)})
    assert [notice for notice in upload.notices if notice.severity is Severity.WARNING] == []
    key = upload.suites[0].tasks[0].key
    assert [phase["number"] for phase in key["phases"]] == list(COVERAGE[path].phases)


@pytest.mark.parametrize("path", list(COVERAGE))
def test_each_path_demands_its_phases_and_gates(path: str) -> None:
    rules = COVERAGE[path]
    phases = [f"{number}: {PHASES[number]}" for number in rules.phases]
    gates = [f"{gate}: looked at: pass" for gate in rules.gates]
    for absent in range(len(phases)):
        rest = " | ".join(phases[:absent] + phases[absent + 1 :])
        assert "mandatory-phase" in rules_of({JOURNEY_PATH: journey(path, phases=rest)})
    for absent in range(len(gates)):
        rest = " | ".join(gates[:absent] + gates[absent + 1 :])
        assert "mandatory-gate" in rules_of({JOURNEY_PATH: journey(path, gates=rest)})
    if rules.conditional_phases:
        assert "silent-phase" in rules_of({JOURNEY_PATH: journey(path, skipped_phases="")})
        assert "silent-gate" in rules_of({JOURNEY_PATH: journey(path, skipped_gates="")})


def test_going_back_to_review_is_lawful_and_other_steps_back_are_told() -> None:
    walk = [f"{number}: {PHASES[number]}" for number in "1678789"]
    upload = parse({JOURNEY_PATH: journey(phases=" | ".join(walk))})
    assert "phase-order" not in {notice.rule for notice in upload.notices}
    walk = [f"{number}: {PHASES[number]}" for number in "16768 9".replace(" ", "")]
    upload = parse({JOURNEY_PATH: journey(phases=" | ".join(walk))})
    assert "phase-order" in {notice.rule for notice in upload.notices}


def test_a_gate_given_twice_needs_a_second_review() -> None:
    gates = " | ".join(f"{gate}: looked at: pass" for gate in ("gate-4", "gate-5", "gate-5"))
    assert rules_of({JOURNEY_PATH: journey(gates=gates)}) == {"gate-repeated"}
    walk = " | ".join(f"{number}: {PHASES[number]}" for number in "1678789")
    upload = parse({JOURNEY_PATH: journey(gates=gates, phases=walk)})
    assert "gate-repeated" in {notice.rule for notice in upload.notices}


def test_a_skip_reason_may_hold_colons_and_the_original_is_said_to_refuse_it() -> None:
    skipped = " | ".join(f"{number}: {PHASES[number]}: as agreed: small" for number in "2345")
    upload = parse({JOURNEY_PATH: journey(skipped_phases=skipped)})
    key = upload.suites[0].tasks[0].key
    assert key["skipped_phases"][0]["reason"] == "as agreed: small"
    assert "original-refuses" in {notice.rule for notice in upload.notices}
    with pytest.raises(FormatError, match="colon and a space"):
        join("skipped_phases", key["skipped_phases"])


def test_the_fixture_folder_itself_and_a_folder_around_it_are_taken() -> None:
    for root in ("", "fixtures/", "neckbeard/eval/fixtures/", "garden/"):
        upload = parse({f"{root}refactor/dry-hinge/task.yaml": single()})
        assert upload.suites[0].slug == ("garden" if root == "garden/" else "neckbeard")


def test_two_suites_of_one_upload_have_two_names() -> None:
    upload = parse({f"{name}/{SINGLE_PATH}": single() for name in ("shed", "pond")})
    assert [suite.slug for suite in upload.suites] == ["pond", "shed"]


def test_routing_is_compared_with_the_table_and_never_refused() -> None:
    data = journey(
        routing_selected="qa-methodology, qa-methodology, gardening",
        routing_skipped="cli-builder | qa-methodology: none",
    )
    upload = parse({JOURNEY_PATH: data})
    rules = {one.rule for one in upload.notices if one.severity is Severity.WARNING}
    assert rules == {
        "routing-unknown-skill",
        "routing-repeated-skill",
        "routing-without-reason",
        "routing-in-both-lists",
    }
    criteria = [one for one in upload.suites[0].tasks[0].criteria if one.scale == "fit"]
    assert len(criteria) == 29
    assert {one.extra["table_revision"] for one in criteria} == {
        FORMAT.reference_tables["routing"]["revision"]
    }


def test_the_suite_as_a_whole_is_looked_at() -> None:
    prompt = "As discussed before: " + SINGLE["ground_truth"] + " Now oil it."
    many = {
        f"fixtures/refactor/a{n}/task.yaml": single(
            id=f"a{n}",
            prompt=prompt if n == 0 else f"Prompt {n % 3}",
            visibility="holdout" if n == 4 else "public",
            ground_truth=SINGLE["ground_truth"] + " Now oil it.",
        )
        for n in range(5)
    }
    assert {one.rule for one in parse(many).notices if one.severity is Severity.WARNING} == {
        "suite-without-no-change-needed",
        "suite-without-adversarial",
        "suite-balance",
        "prompt-points-elsewhere",
        "prompt-hints",
        "holdout-repeats-public",
    }


def test_the_report_of_the_original_survives_what_kills_the_original() -> None:
    files = Files.of({SINGLE_PATH: single(), JOURNEY_PATH: b"\xff"})
    told = FORMAT.compatibility(files)
    assert {one.rule for one in told} == {"verdicts", "X-CRASH", "S-YAML"}
    assert "runner-crash" in told[0].message


def test_the_three_verdicts_are_told_apart() -> None:
    lists = {"phases": "", "skipped_phases": "2: Discovery", "visibility": "secret"}
    rules = {one.rule for one in FORMAT.compatibility(Files.of({JOURNEY_PATH: journey(**lists)}))}
    assert rules >= {"R-MISSING", "R-VISIBILITY", "R-SKIP-REASON", "S-REQ:phases"}
    silent = FORMAT.compatibility(Files.of({JOURNEY_PATH: journey(skipped_gates="")}))
    assert {one.rule for one in silent} == {"verdicts", "J-SILENT-GATE"}
    assert "spec-silent" in silent[0].message


def test_the_order_of_files_changes_nothing() -> None:
    contents = {SINGLE_PATH: single(), JOURNEY_PATH: journey(), "fixtures/x.md": b"x"}
    backwards = dict(reversed(list(contents.items())))
    assert parse(contents) == parse(backwards)


@settings(max_examples=100)
@given(st.text(max_size=60))
def test_the_line_reader_of_the_original_takes_any_text(text: str) -> None:
    for name, value in read_lines(text).items():
        assert name.isascii()
        assert value in text
