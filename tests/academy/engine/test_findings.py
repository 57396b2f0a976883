"""General checks ask about what is odd, say where, and are silent about what is not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from academy import findings, rescoring
from academy.bundle import Event, RecordStatus, RecordView, TaskSpec
from academy.models import Finding, Run
from tests import factories as make


def view(*events: Event, answer: Any = "an answer", **telemetry: float) -> RecordView:
    return RecordView(answer=answer, events=events, telemetry=telemetry)


def call(seq: int, tool: str = "measure", at: int | None = None, text: str = "") -> Event:
    return Event(seq=seq, kind="tool_call", tool=tool, offset_ms=at, text=text)


TASK = TaskSpec(external_id="t", prompt="p", context={"toolset": ["measure"]})


def codes(record: RecordView, task: TaskSpec = TASK, **options: Any) -> dict[str, Any]:
    return {f.code: f for f in findings.record_findings(record, task, **options)}


def test_an_orderly_record_raises_nothing() -> None:
    assert codes(view(call(0, at=0), call(1, at=5), call(2), call(3, at=5), steps=3)) == {}


def test_steps_out_of_order_and_gaps_are_told_with_the_steps() -> None:
    found = codes(view(call(0), call(2), call(1), call(1), call(9)))
    assert found["step-order"].steps == (1, 1)
    assert found["step-gap"].steps == (2, 9)
    assert found["step-gap"].evidence == {"missing": 8}


def test_a_clock_that_goes_back_is_told_and_unknown_times_are_counted() -> None:
    found = codes(view(call(0, at=100), call(1, at=50), call(2), call(3, at=-1), call(4, at=100)))
    assert found["clock-disorder"].steps == (1, 3)
    assert found["clock-disorder"].evidence == {"timed": 4, "untimed": 1}


@given(st.lists(st.integers(0, 10**6), max_size=30))
def test_a_clock_that_only_goes_forward_is_never_called_disorderly(times: list[int]) -> None:
    events = [call(seq, at=at) for seq, at in enumerate(sorted(times))]
    assert "clock-disorder" not in codes(view(*events))


def test_limits_of_suite_and_task_are_held_against_the_measures() -> None:
    task = TaskSpec(external_id="t", prompt="p", context={"budget": {"maxSteps": 3}})
    found = codes(view(steps=4, wall_ms=10), task, limits={"maxSteps": 9, "max_wall_ms": 9})
    assert found["limit-exceeded"].sentence == "The record used 10 ms; the limit is 9."
    both = [
        f.evidence["measure"]
        for f in findings.record_findings(  # type: ignore[index,call-overload]
            view(steps=4, wall_ms=10), task, limits={"maxSteps": 9, "max_wall_ms": 9}
        )
    ]
    assert both == ["steps", "wall_ms"]


def test_tools_outside_the_list_are_told_and_no_list_allows_all() -> None:
    record = view(call(0), call(1, "browse"), call(2, "browse"))
    assert codes(record)["foreign-tool"].steps == (1, 2)
    assert codes(record, TaskSpec(external_id="t", prompt="p")) == {}


def test_a_canary_is_found_in_steps_and_answer_without_being_repeated() -> None:
    found = codes(view(call(0, text="… CANARY-1 …"), answer="x"), canaries=["CANARY-1"])
    assert found["canary-seen"].steps == (0,)
    assert "CANARY-1" not in str(found["canary-seen"])
    assert codes(view(answer="x"), canaries=["CANARY-1", ""]) == {}


def checks(*answers: Any, status: RecordStatus = RecordStatus.ANSWERED) -> list[str]:
    held = findings.RunChecks(len(answers))
    for number, answer in enumerate(answers):
        held.add(f"t-{number}", RecordView(answer=answer, status=status))
    return [finding.code for finding in held.found()]


def test_constant_and_doubled_answers_are_told() -> None:
    assert checks("42", "42", "42") == ["constant-answer"]
    assert checks("42", "42") == []
    assert checks("42", "42", "42", "43") == [], "short answers may well agree"
    long = "the very same long answer to different questions"
    assert checks(long, long, long, "another") == ["duplicated-answer"]
    assert checks({}, {}, {}) == []
    assert checks("42", "42", "42", status=RecordStatus.ERROR) == []


def test_far_longer_and_nearer_than_the_field_need_a_field() -> None:
    assert findings.far_longer(90_000, [100] * 3) is None
    assert findings.far_longer(90_000, [100, 120, 90, 110]) is not None
    assert findings.far_longer(3_000, [100, 120, 90, 110]) is None
    reference = " ".join(f"word{n}" for n in range(40))
    assert findings.similarity(reference, reference) == 1.0
    assert findings.similarity("something else", reference) == 0.0
    assert findings.similarity("x", "too short") is None
    assert findings.near_reference(0.95, [0.0, 0.1, 0.0, 0.0]) is not None
    assert findings.near_reference(0.95, [0.9, 0.9, 0.0, 0.9]) is None


def test_declared_limits_beyond_the_suites_and_surplus_records_are_told() -> None:
    found = list(findings.declared_limits({"maxSteps": 50, "x": 1}, {"maxSteps": 40, "y": 2}))
    assert [f.sentence for f in found] == ["The run declares maxSteps 50; the suite allows 40."]
    assert [f.code for f in findings.surplus_records(["z", "z"], 2)] == ["surplus-records"]
    assert list(findings.surplus_records([], 0)) == []


@pytest.mark.django_db
def test_findings_of_a_run_are_kept_once_and_do_not_touch_its_scores() -> None:
    version = make.takeoff_version(4, mode="practice")
    same = {"answer": {"quantities": [{"item": "one", "value": 100, "unit": "sf"}]}}
    lines = [{"task": f"t-{n}", "status": "answered", **same} for n in range(4)]
    run = make.run_of(make.record_files(make.line_run(*lines), version))
    make.score_all()
    raised = Finding.objects.filter(run=run, record=None)
    assert list(raised.values_list("code", flat=True)) == ["constant-answer"]
    assert run.results.filter(origin="computed").exists()
    before = raised.get().pk
    rescoring.score_again([Run.objects.get(pk=run.pk)], reason="again")
    make.score_all()
    assert raised.get().pk == before
