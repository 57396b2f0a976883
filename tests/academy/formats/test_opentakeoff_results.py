"""Results, tiers, reports, the board file and limits of OpenTakeoff runs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from academy.bundle import ScoredRecord
from academy.formats.base import AggregateContext
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.board import place, row_of, update_board
from academy.formats.opentakeoff.bootstrap import cluster_bootstrap, item_bootstrap, wilson
from academy.formats.opentakeoff.ratelimit import allowed_of, is_allowed
from academy.formats.opentakeoff.report import gate, score_report, suite_from
from academy.scorers.base import Mode
from tests.academy.formats.opentakeoff_examples import (
    bundle,
    entry,
    quantity,
    ranked,
    result,
    scored,
    suite,
    task,
)

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def held(competency: str, value: Any) -> dict[str, Any]:
    """A recorded fact by metric and slice."""
    return {"ape": {f"competency={competency}": value}}


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
