"""Which decision stands under which evidence policy."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy.effective import Decided, Evidence, EvidencePolicy, effective
from academy.scorers.base import EffectiveValue

PEOPLE = EvidencePolicy(kind=Evidence.PEOPLE)
JUDGE = EvidencePolicy(kind=Evidence.JUDGE)
AUDITED = EvidencePolicy(kind=Evidence.JUDGE_AUDITED)
REFERENCE = EvidencePolicy(kind=Evidence.REFERENCE)


def judge(value: bool | None, state: str = "value", **parts: object) -> Decided:
    given = {"source": "judge", "author": "example-judge", "version": "1", **parts}
    return Decided(state=state, value=value, **given)  # type: ignore[arg-type]


def person(name: str, value: bool | None, state: str = "value", **parts: object) -> Decided:
    return Decided(source="person", author=name, state=state, value=value, **parts)  # type: ignore[arg-type]


def resolution(value: bool | None, state: str = "value", order: int = 0) -> Decided:
    return Decided(source="resolution", author="c", state=state, value=value, order=order)


def state_of(found: EffectiveValue) -> tuple[str, object]:
    return found.state, found.value


@pytest.mark.parametrize(
    ("decisions", "expected"),
    [
        ([], ("waiting", None)),
        ([judge(True)], ("waiting", None)),
        ([person("a", True)], ("value", True)),
        ([person("a", True), person("b", True)], ("value", True)),
        ([person("a", True), person("b", False)], ("waiting", None)),
        ([person("a", True), person("b", False), resolution(False)], ("value", False)),
        ([person("a", None, "cannot_tell")], ("unknowable", None)),
        ([person("a", True), person("b", None, "cannot_tell")], ("waiting", None)),
        ([person("a", True), resolution(None, "cannot_tell")], ("unknowable", None)),
        ([person("a", None, "defective")], ("waiting", None)),
        ([person("a", None, "na")], ("na", None)),
        ([Decided(source="imported", author="x", value=True)], ("waiting", None)),
        ([person("a", True, counts=False)], ("waiting", None)),
        ([person("a", True, superseded=True), person("a", False, order=1)], ("value", False)),
        ([person("a", True, state="withdrawn")], ("waiting", None)),
    ],
)
def test_people_decide_and_judges_are_no_people(
    decisions: list[Decided], expected: tuple[str, object]
) -> None:
    assert state_of(effective(decisions, PEOPLE)) == expected


@pytest.mark.parametrize(
    ("decisions", "policy", "expected"),
    [
        ([], JUDGE, ("waiting", None)),
        ([judge(True)], JUDGE, ("value", True)),
        ([judge(True), person("a", False), resolution(False)], JUDGE, ("value", True)),
        ([judge(None, "call_error")], JUDGE, ("unknowable", None)),
        ([judge(True), judge(False, version="2")], JUDGE, ("waiting", None)),
        ([person("a", False)], JUDGE, ("waiting", None)),
        ([Decided(source="machine", author="check", value=True)], JUDGE, ("value", True)),
    ],
)
def test_one_judge_counts_where_the_policy_says_judge(
    decisions: list[Decided], policy: EvidencePolicy, expected: tuple[str, object]
) -> None:
    assert state_of(effective(decisions, policy)) == expected


def test_a_named_judge_counts_among_several() -> None:
    both = [judge(True), judge(False, version="2"), judge(True, author="other")]
    named = EvidencePolicy(kind=Evidence.JUDGE, judge="example-judge", version="2")
    assert state_of(effective(both, named)) == ("value", False)


def test_two_settings_under_one_name_are_two_judges() -> None:
    both = [judge(True, digest="1" * 64), judge(False, digest="2" * 64)]
    assert effective(both, JUDGE).state == "waiting"


def test_an_audit_never_replaces_a_judges_value_but_repairs_a_failed_call() -> None:
    assert state_of(effective([judge(True), person("a", False)], AUDITED)) == ("value", True)
    failed = judge(None, "call_error")
    assert state_of(effective([failed, person("a", False)], AUDITED)) == ("value", False)
    alone = effective([failed], AUDITED)
    assert (alone.state, alone.raw_state) == ("unknowable", "call_error")


def test_the_reference_knows_the_judge_and_no_striking() -> None:
    assert state_of(effective([judge(True), resolution(False)], REFERENCE)) == ("value", True)
    failed = effective([judge(None, "call_error"), resolution(True)], REFERENCE)
    assert (failed.state, failed.raw_state) == ("unknowable", "call_error")
    assert state_of(effective([judge(False)], REFERENCE, struck=True)) == ("value", False)


def test_people_stand_in_the_reference_where_no_judge_was_asked() -> None:
    assert state_of(effective([person("a", True)], REFERENCE)) == ("value", True)
    told = effective([person("a", None, "cannot_tell")], REFERENCE)
    assert (told.state, told.raw_state) == ("unknowable", "cannot_tell")


@pytest.mark.parametrize("policy", [PEOPLE, JUDGE, AUDITED])
def test_a_struck_criterion_counts_for_nobody(policy: EvidencePolicy) -> None:
    decisions = [judge(True), person("a", True), resolution(True)]
    assert effective(decisions, policy, struck=True).state == "struck"


def test_calling_a_criterion_defective_is_no_verdict() -> None:
    found = effective([resolution(None, "defective")], PEOPLE)
    assert (found.state, found.raw_state) == ("waiting", "defective")


@pytest.mark.parametrize("policy", [JUDGE, PEOPLE, AUDITED, REFERENCE])
def test_decisions_of_one_instant_stand_in_an_order_of_their_own(policy: EvidencePolicy) -> None:
    for one, other in (
        (judge(True), judge(False)),
        (person("a", True), person("a", False)),
        (resolution(True), resolution(False)),
    ):
        assert effective([one, other], policy) == effective([other, one], policy)


any_decision = st.builds(
    Decided,
    source=st.sampled_from(["judge", "person", "resolution", "machine", "imported"]),
    state=st.sampled_from(["value", "cannot_tell", "defective", "call_error", "na", "withdrawn"]),
    value=st.booleans(),
    author=st.sampled_from(["a", "b"]),
    version=st.sampled_from(["1", "2"]),
    order=st.integers(0, 1),
    superseded=st.booleans(),
    counts=st.booleans(),
)
any_policy = st.builds(
    EvidencePolicy,
    kind=st.sampled_from(list(Evidence)),
    judge=st.sampled_from(["", "a"]),
    version=st.sampled_from(["", "1"]),
)


@given(st.lists(any_decision, max_size=8), any_policy, st.booleans(), st.integers(0, 2**16))
def test_the_order_of_arrival_does_not_matter(
    decisions: list[Decided], policy: EvidencePolicy, struck: bool, seed: int
) -> None:
    shuffled = list(decisions)
    random.Random(seed).shuffle(shuffled)
    assert effective(decisions, policy, struck=struck) == effective(shuffled, policy, struck=struck)


@given(st.lists(any_decision, max_size=6), st.lists(any_decision, max_size=4), any_policy)
def test_superseded_decisions_change_nothing(
    decisions: list[Decided], old: list[Decided], policy: EvidencePolicy
) -> None:
    superseded = [replace(decision, superseded=True) for decision in old]
    assert effective(decisions + superseded, policy) == effective(decisions, policy)


@given(st.lists(any_decision, max_size=8))
def test_judges_change_nothing_where_people_count(decisions: list[Decided]) -> None:
    people = [decision for decision in decisions if decision.source in ("person", "resolution")]
    assert effective(decisions, PEOPLE) == effective(people, PEOPLE)
