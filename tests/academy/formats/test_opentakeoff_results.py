"""Findings, results, tiers, certificates, the board file and limits of OpenTakeoff runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from academy.bundle import RecordView, ResultSpec, ScoredRecord, SuiteSpec
from academy.formats.base import AggregateContext
from academy.formats.opentakeoff import FORMAT, certificates
from academy.formats.opentakeoff.board import place, row_of, update_board
from academy.formats.opentakeoff.bootstrap import cluster_bootstrap, item_bootstrap, wilson
from academy.formats.opentakeoff.certificates import Refusal, certificate_id, issue, judge, verify
from academy.formats.opentakeoff.integrity import certificate_hash
from academy.formats.opentakeoff.ratelimit import allowed_of, is_allowed
from academy.formats.opentakeoff.report import gate, score_report, suite_from
from academy.formats.opentakeoff.views import view_entry
from academy.scorers.base import Mode
from tests.academy.formats.opentakeoff_examples import (
    bundle,
    entry,
    key_pair,
    quantity,
    run,
    suite,
    task,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def codes(document: Any, of: Any = None) -> list[str]:
    only = suite(of or task()).tasks[0]
    return [finding.code for finding in FORMAT.findings(view_entry(document), only)]


def result(
    scores: list[ScoredRecord], of: SuiteSpec, mode: Mode = Mode.STRICT, **options: Any
) -> dict[tuple[str, str], ResultSpec]:
    context = AggregateContext(suite=of, mode=mode, attributes=options, facts=options)
    return {(row.metric, row.slice): row for row in FORMAT.aggregate(scores, context)}


def scored(task_id: str, value: float | None, metric: str = "ape", **more: Any) -> ScoredRecord:
    status = "unscorable" if value is None else "scored"
    return ScoredRecord(task_id=task_id, metric=metric, status=status, value=value, **more)


def held(competency: str, value: Any) -> dict[str, Any]:
    """A recorded fact by metric and slice."""
    return {"ape": {f"competency={competency}": value}}


def ranked(*tasks: Any, **changes: Any) -> SuiteSpec:
    return suite(*tasks, mode="ranked", keys="withheld", **changes)


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


def test_strict_results_charge_what_is_left_out() -> None:
    of = ranked(task("one-task"), task("two-task"), task("tre-task"))
    row = result([scored("one-task", 2.0), scored("two-task", 4.0)], of)["ape", ""]
    assert (row.value, row.n, row.missing) == (4.0, 3, 1)
    nothing = result([ScoredRecord(task_id="one-task", metric="ape", status="")], of)["ape", ""]
    assert (nothing.value, nothing.missing) == (100.0, 3)


def test_strict_results_leave_out_what_cannot_be_known() -> None:
    of = ranked(task("one-task"), task("two-task"))
    row = result([scored("one-task", 2.0), scored("two-task", None)], of)["ape", ""]
    assert (row.value, row.n, row.unscorable, row.missing) == (2.0, 1, 1, 0)
    assert result([scored("one-task", None), scored("two-task", None)], of)["ape", ""].value is None


def test_each_competency_has_a_result_of_its_own() -> None:
    of = ranked(
        task("one-task"),
        task("two-task", kind="scope-identification", metric={"type": "scope-f1"}),
    )
    rows = result([scored("one-task", 3.0)], of)
    assert set(rows) == {
        ("ape", ""),
        ("ape", "competency=area-takeoff"),
        ("scope-f1", ""),
        ("scope-f1", "competency=scope-identification"),
    }
    assert rows["scope-f1", ""].value == 0.0
    assert rows["ape", ""].value == 3.0


def test_replicates_are_averaged_within_their_task() -> None:
    of = ranked(task("one-task"), task("two-task"))
    scores = [
        scored("one-task", 2.0),
        scored("one-task", 4.0, replicate=2),
        scored("two-task", 5.0),
    ]
    assert result(scores, of)["ape", ""].value == 4.0


def test_an_interval_needs_two_drawings() -> None:
    def other(task_id: str) -> Any:
        planset = {"assetRef": "https://example.org/x.svg", "assetHash": task_id[0] * 64}
        return task(task_id, planset=planset)

    same = result([scored("one-task", 2.0)], ranked(task("one-task"), task("two-task")))["ape", ""]
    assert (same.low, same.high, same.note) == (
        None,
        None,
        "an interval needs at least two plan sets",
    )
    apart = ranked(other("aaa-task"), other("bbb-task"), other("ccc-task"))
    scores = [
        scored(f"{letter * 3}-task", value)
        for letter, value in zip("abc", (1.0, 2.0, 9.0), strict=True)
    ]
    row = result(scores, apart)["ape", ""]
    assert (row.low, row.value, row.high) == (1.0, 2.0, 9.0)


@pytest.mark.parametrize(
    ("value", "options", "tier"),
    [
        (9.0, {}, None),
        (8.0, {}, "apprentice"),
        (6.0, {}, "apprentice"),
        (6.0, {"earlier_windows": 2}, "journeyman"),
        (6.0, {"earlier_windows": held("area-takeoff", 2)}, "journeyman"),
        (6.0, {"earlier_windows": held("fixture-count", 2)}, "apprentice"),
        (6.0, {"earlier_windows": 1, "windows_needed": 2}, "journeyman"),
        (6.0, {"earlier_windows": 2, "in_window": held("area-takeoff", False)}, "apprentice"),
        (6.0, {"earlier_windows": 3, "in_window": held("area-takeoff", False)}, "journeyman"),
        (8.0, {"earlier_windows": 5}, "apprentice"),
        (1.0, {}, "apprentice"),
        (2.0, {"human_baseline": held("area-takeoff", 2.0)}, "apprentice"),
        (1.9, {"human_baseline": held("area-takeoff", 2.0)}, "master"),
        (7.0, {"human_baseline": held("area-takeoff", 9.0)}, "apprentice"),
    ],
)
def test_each_tier_has_its_own_bar_and_master_needs_a_measured_human(
    value: float, options: dict[str, Any], tier: str | None
) -> None:
    row = result([scored("hall-area", value)], ranked(), **options)["ape", ""]
    assert row.details["tier"] == tier
    assert row.details["tier_reason"]


def test_an_upload_cannot_say_its_own_baseline_windows_or_bars() -> None:
    claims = {
        "human_baseline": held("area-takeoff", 99.0),
        "earlier_windows": 9,
        "threshold": 99.0,
        "ignore_manifest": True,
    }
    scores = [scored("hall-area", 7.0)]
    for mode in Mode:
        said, plain = (
            FORMAT.aggregate(scores, AggregateContext(suite=ranked(), mode=mode, attributes=given))
            for given in (claims, {})
        )
        assert said == plain


def test_no_tier_in_practice_without_bars_for_part_of_a_suite_or_for_bars_in_another_unit() -> None:
    scores = [scored("hall-area", 1.0)]
    assert result(scores, suite())["ape", ""].details["tier"] is None
    assert result(scores, ranked(thresholds={}))["ape", ""].details["tier"] is None
    partly = ranked(task(), task("other-task"))
    assert result(scores, partly)["ape", ""].details["tier"] is None
    of = ranked(
        task(kind="scope-identification", metric={"type": "scope-f1"}),
        thresholds={"scope-identification": {"apprentice": 6, "journeyman": 4}},
    )
    row = result([scored("hall-area", 0.9, "scope-f1")], of)["scope-f1", ""]
    assert row.details["tier_reason"] == "the bar 6 is no F1"


def test_the_reference_result_ignores_what_is_left_out_and_gives_master_for_a_tie() -> None:
    of = suite(task("one-task"), task("two-task"))
    row = result([scored("one-task", 2.0)], of, Mode.REFERENCE)["ape", ""]
    assert (row.value, row.n) == (2.0, 1)
    assert row.details["tier"] == "master"
    assert (row.details["threshold"], row.details["baseline"]) == (6, 2)


def test_the_reference_result_takes_one_metric_in_the_order_of_the_bundle() -> None:
    of = suite(task("one-task"), task("two-task", metric={"type": "count-error"}))
    scores = [scored("one-task", 1.0), scored("two-task", 0.0, "count-error")]
    assert set(result(scores, of, Mode.REFERENCE)) == {("ape", "")}
    order = {"order": ["two-task", "one-task"]}
    assert set(result(scores, of, Mode.REFERENCE, **order)) == {("count-error", "")}


def test_results_do_not_show_who_measured_the_truth() -> None:
    raters = [{"item": "hall", "unit": "sf", "values": [10, 12], "by": ["canary", "B"]}]
    key = {"quantities": [quantity(11)], "raters": raters}
    of = suite_from([task(groundTruth=key)])
    rows = result([scored("hall-area", 1.0)], of, Mode.REFERENCE)
    ceiling = rows["ape", ""].details["human_ceiling"]
    assert isinstance(ceiling, dict)
    assert ceiling["raters"] == 2
    assert "canary" not in str(rows)


def test_the_report_and_its_gate_follow_the_original() -> None:
    of = suite_from([task()])
    document = bundle(entry())
    assert gate(document, of, {}).code == 0
    assert gate({**document, "extra": 1}, of, {}).code == 2
    missed = bundle(entry("hall-area", quantity(300)))
    assert gate(missed, of, {}).code == 1
    assert gate(missed, of, {}, report_only=True).code == 0
    flagged = bundle(entry(trace=[]))
    assert gate(flagged, of, {}).reasons == ("missing-emit-provenance",)
    named = {"id": "example", "version": "1.0", "mode": "ranked"}
    keyless = suite_from([task(groundTruth={})])
    assert gate(bundle(suite=named), keyless, {}).reasons == ("no answer key for hall-area",)


def test_a_report_is_made_for_documents_that_break_every_schema() -> None:
    for entries in ([], [{}], [{"taskId": "hall-area"}], [{"taskId": 5, "answer": 1}], ["x"]):
        document = {"tasks": entries, "integrity": {}}
        report: Any = score_report(document, suite_from([task()]), {})
        assert report["integrity"]["valid"] is False
        assert len(report["perTask"]) == len(entries)


REPORT: dict[str, Any] = {
    "generatedFor": {"track": "div26", "suiteVersion": "1.0", "bundleHash": "ab" * 32},
    "attestation": "proctored",
    "competency": "fixture-count",
    "metric": "count-error",
    "suite": {"median": 1.0, "baseline": 0, "n": 4, "tier": "journeyman"},
}
CERTIFIED: dict[str, Any] = {
    "attestation": "certified",
    "now": "2026-01-01T00:00:00Z",
    "privateKey": key_pair("academy")[0],
}


def test_a_certificate_is_issued_signed_and_verified() -> None:
    made: Any = issue(REPORT, CERTIFIED)
    assert made["certId"] == f"OTA-D26C-{int('abababab', 16) % 10000:04d}"
    assert made["badge"]["color"] == "#8b5cf6"
    assert made["integrity"]["academyKeyId"] == "ota-root"
    public = key_pair("academy")[1]
    assert verify(made, public).ok
    assert verify(made, public).signature_valid is True
    assert verify(made, key_pair("other")[1]).ok is False


@pytest.mark.parametrize(
    ("code", "options", "report"),
    [
        ("no-now", {"now": ""}, {}),
        ("bad-now", {"now": "yesterday"}, {}),
        ("not-proctored", {}, {"attestation": "self_reported"}),
        ("no-key", {"privateKey": None}, {}),
        ("no-tier", {}, {"suite": {"tier": None}}),
        ("no-bundle-hash", {}, {"generatedFor": {"track": "div9"}}),
    ],
)
def test_a_certificate_is_refused_by_name(
    code: str, options: dict[str, Any], report: dict[str, Any]
) -> None:
    with pytest.raises(Refusal) as caught:
        issue({**REPORT, **report}, {**CERTIFIED, **options})
    assert caught.value.code == code


def test_strictly_a_certificate_needs_its_signature_its_time_and_no_revocation() -> None:
    made: Any = issue(REPORT, CERTIFIED)
    keys = [key_pair("other")[1], key_pair("academy")[1]]

    def state(document: Any, *, at: datetime = NOW, revoked: Any = (), known: Any = keys) -> str:
        return judge(document, public_keys=known, at=at, revoked=revoked).state

    assert state(made) == "valid"
    assert state(made, known=[]) == "invalid"
    assert state(made, known=keys[:1]) == "invalid"
    assert state(made, at=NOW + timedelta(days=364, hours=23)) == "valid"
    assert state(made, at=NOW + timedelta(days=365)) == "expired"
    assert state(made, revoked={made["certId"]}) == "revoked"
    assert state({**made, "tier": "master"}) == "invalid"
    stripped = {**made, "integrity": {**made["integrity"], "academySignature": ""}}
    assert verify(stripped, keys[1]).ok
    assert state(stripped) == "invalid"
    rewritten: Any = {**made, "attestation": "self_reported"}
    rewritten["integrity"] = {**made["integrity"], "certHash": certificate_hash(rewritten)}
    assert verify(rewritten, keys[1]).ok
    assert state(rewritten) == "self_reported"


def test_only_a_reproduced_run_is_certified_whatever_it_says() -> None:
    row = result([scored("hall-area", 7.0)], ranked())["ape", ""]
    facts = {"track": "div9", "suiteVersion": "1", "bundleHash": "ab" * 32, **CERTIFIED}
    assert FORMAT.certificate is not None
    assert FORMAT.certificate(row, facts)["attestation"] == "self_reported"
    proven = FORMAT.certificate(row, {**facts, "verification": "reproduced"})
    assert (proven["attestation"], proven["tier"]) == ("certified", "apprentice")


def test_ids_are_cut_padded_and_can_collide() -> None:
    assert certificate_id("div9", "unknown", 9_999_999) == "OTA-D9G-999999"
    assert certificate_id("x", "area-takeoff", 1) == certificate_id("x", "area-takeoff", 1.9)
    assert certificates.track_code("") == "GEN"


def test_the_board_file_keeps_what_a_new_run_does_not_say() -> None:
    report = {"suite": {"median": 3.0, "n": 2}}
    first = row_of(report, bundle(), competencies=["area-takeoff"], certificate_id="OTA-X-0001")
    assert (first["competency"], first["tier"]) == ("area-takeoff", "apprentice")
    rows = place([], first)
    again = place(
        rows, row_of({"suite": {"median": None}}, bundle(), competencies=["area-takeoff"])
    )
    assert again[0]["certId"] == "OTA-X-0001"
    assert (again[0]["movement"], rows[0]["movement"]) == ("flat", "new")
    board = update_board({"rows": [], "disclaimer": "d"}, first, updated_at="2026-01-01")
    assert board["disclaimer"] == "d"
    assert board["updatedAt"] == "2026-01-01"


def test_three_ranked_runs_in_seven_days_and_not_one_more() -> None:
    times = [NOW + timedelta(days=days) for days in (0, 1, 2, 3, 7)]
    assert allowed_of(times) == [True, True, True, False, False]
    assert is_allowed(NOW + timedelta(days=7, seconds=1), times[:3])
    assert allowed_of([NOW] * 9, mode="practice") == [True] * 9


def test_resampling_is_the_same_everywhere_and_needs_no_order_of_hashing() -> None:
    values = [1.5, 0.2, 3.1, 2.4]
    first = item_bootstrap(values)
    assert first == item_bootstrap(values)
    assert item_bootstrap([]) is None
    single = item_bootstrap([2.0])
    assert single is not None
    assert (single.point, single.lower) == (2.0, None)
    pooled = cluster_bootstrap([("b", 1.0), ("a", 2.0), ("b", 3.0)])
    assert pooled is not None
    assert (pooled.items, pooled.clusters, pooled.point) == (3, 2, 2.0)
    assert wilson(0, 30) == (0.0, 0.0, 0.1135)
    assert wilson(89, 89) == (1.0, 0.9586, 1.0)


def test_an_empty_view_asks_and_breaks_nothing() -> None:
    only = suite().tasks[0]
    found = [finding.code for finding in FORMAT.findings(RecordView(answer=None), only)]
    assert found == ["anchor-missing"]
