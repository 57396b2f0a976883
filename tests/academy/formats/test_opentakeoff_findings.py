"""What OpenTakeoff asks about records and runs."""

from __future__ import annotations

from typing import Any

import pytest

from academy.bundle import RecordView
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.views import view_entry
from tests.academy.formats.opentakeoff_examples import bundle, entry, quantity, run, suite, task


def codes(document: Any, of: Any = None) -> list[str]:
    only = suite(of or task()).tasks[0]
    return [finding.code for finding in FORMAT.findings(view_entry(document), only)]


def test_a_sound_record_raises_nothing() -> None:
    assert codes(entry()) == []


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("missing-emit-provenance", {"trace": []}),
        ("implausible-speed", {"telemetry": {"steps": 2, "wallMs": 0, "toolCalls": 2}}),
        ("implausible-speed", {"telemetry": {"steps": 0, "wallMs": 99, "toolCalls": 2}}),
        ("anchor-missing", {"trace": []}),
        ("over-budget", {"telemetry": {"steps": 41, "wallMs": 1000, "toolCalls": 2}}),
        ("over-budget", {"telemetry": {"steps": 2, "wallMs": 120001, "toolCalls": 2}}),
        ("telemetry-disagrees", {"telemetry": {"steps": 2, "wallMs": 1000, "toolCalls": 9}}),
        ("clock-out-of-order", {"telemetry": {"steps": 2, "wallMs": 3, "toolCalls": 2}}),
    ],
)
def test_a_changed_record_raises_its_finding(code: str, change: dict[str, Any]) -> None:
    assert code in codes(entry(**change))


def step(kind: str, tool: str, **more: Any) -> dict[str, Any]:
    return {"seq": 0, "type": kind, "tool": tool, **more}


def with_trace(*steps: dict[str, Any]) -> dict[str, Any]:
    numbered = [{**one, "seq": seq} for seq, one in enumerate(steps)]
    return entry(trace=numbered, telemetry={"steps": 3, "wallMs": 1000})


EMIT = step("tool_call", "emit_quantity", args=quantity())


def test_an_answer_that_was_only_emitted_is_asked_about_when_it_is_right() -> None:
    assert "answered-without-measurement" in codes(with_trace(EMIT))
    measured = step("tool_call", "measure_area")
    assert "answered-without-measurement" not in codes(with_trace(measured, EMIT))
    own = {"seq": 0, "type": "mcp_call", "tool": "parse"}
    assert "answered-without-measurement" not in codes(with_trace(own, EMIT))
    refused = step("error", "measure_area")
    assert "answered-without-measurement" in codes(with_trace(refused, EMIT))
    wrong = entry("hall-area", quantity(300), trace=[EMIT])
    assert "answered-without-measurement" not in codes(wrong)
    assert "answered-without-measurement" not in codes(with_trace(EMIT), task(groundTruth=None))


def test_another_drawing_is_asked_about_and_a_verified_one_is_not() -> None:
    other = step("tool_result", "planset", result={"assetHash": "b" * 64, "verified": True})
    assert "planset-hash-mismatch" in codes(with_trace(other, EMIT))
    unnamed = step("tool_result", "planset", result={"verified": None})
    found = codes(with_trace(unnamed, EMIT))
    assert "planset-hash-mismatch" not in found
    assert "anchor-unverified" in found


def test_reported_values_have_to_be_the_emitted_and_measured_ones() -> None:
    measured = step("tool_result", "measure_area", result={"area": 200, "areaPx": 240})
    emitted = step("tool_call", "emit_quantity", args=quantity(200))
    found = codes(with_trace(measured, emitted))
    assert "emitted-other-values" in found
    assert "value-not-measured" in found
    parts = [step("tool_result", "measure_area", result={"area": area}) for area in (100, 140, 7)]
    assert "value-not-measured" not in codes(with_trace(*parts, EMIT))


def test_areas_have_to_follow_from_the_scale() -> None:
    scale = step("tool_result", "set_scale", result={"pxPerUnit": 10})
    area = step("tool_result", "measure_area", result={"area": 240, "areaPx": 24000})
    assert "calibration-disagrees" not in codes(with_trace(scale, area, EMIT))
    wrong = step("tool_result", "measure_area", result={"area": 240, "areaPx": 20000})
    assert "calibration-disagrees" in codes(with_trace(scale, wrong, EMIT))


def test_tools_that_are_not_offered_and_extra_quantities_are_asked_about() -> None:
    assert "tool-not-offered" in codes(with_trace(step("tool_call", "count"), EMIT))
    assert "extra-quantities" in codes(entry("hall-area", quantity(), quantity(1, "x")))


def test_steps_have_to_be_numbered_one_by_one() -> None:
    odd = entry()
    odd["trace"][1]["seq"] = 7
    assert "steps-out-of-order" in codes(odd)


def test_a_run_is_asked_about_an_unproven_claim_and_wrong_totals() -> None:
    read = run(
        bundle(
            attestation={"mode": "proctored"},
            telemetry={"sdkVersion": "1", "totalSteps": 9, "totalWallMs": 1000},
        )
    )
    views = [view_entry(entry())]
    found = FORMAT.run_findings(read.runs[0], views)
    assert [finding.code for finding in found] == ["proctored-unproven", "totals-disagree"]
    assert found[1].evidence == {"totalSteps": {"said": 9, "sum": 2}}


def test_an_empty_view_asks_and_breaks_nothing() -> None:
    only = suite().tasks[0]
    found = [finding.code for finding in FORMAT.findings(RecordView(answer=None), only)]
    assert found == ["anchor-missing"]
