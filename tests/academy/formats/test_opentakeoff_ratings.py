"""Which quantities of a takeoff key people measure, and the key made of what they said."""

from __future__ import annotations

from typing import Any

from academy.bundle import RatedQuantity, TaskSpec
from academy.formats.opentakeoff import FORMAT
from academy.formats.opentakeoff.metrics import grading_of


def task(key: Any, *, metric: str = "ape", **facts: Any) -> TaskSpec:
    """A task scored by a metric."""
    return TaskSpec(
        external_id="t-1", prompt="Measure.", gradings=(grading_of(metric, None),), key=key, **facts
    )


def rows(*items: dict[str, Any]) -> dict[str, Any]:
    return {"quantities": list(items)}


def test_quantities_are_named_by_item_and_room_and_carry_no_value() -> None:
    asked = FORMAT.key_quantities(
        task(
            rows(
                {"item": "wall", "value": 7, "unit": "lf", "roomId": "A"},
                {"item": "wall", "value": 8, "unit": "lf", "roomId": "B"},
                {"item": "door", "value": 2, "unit": "ea"},
                {"item": "door", "value": 3, "unit": "ea"},
            )
        )
    )
    assert [(row.key, row.label, row.unit) for row in asked] == [
        ("wall, room A", "wall, room A", "lf"),
        ("wall, room B", "wall, room B", "lf"),
        ("door", "door", "ea"),
        ("door (2)", "door", "ea"),
    ]


def test_a_task_without_a_key_asks_for_one_quantity_in_the_unit_of_its_metric() -> None:
    (asked,) = FORMAT.key_quantities(task(None, title="Area of the hall"))
    assert (asked.label, asked.unit) == ("Area of the hall", "sf")
    (metrical,) = FORMAT.key_quantities(task(None, attributes={"units": "metric"}))
    assert (metrical.label, metrical.unit) == ("t-1", "sm")
    (count,) = FORMAT.key_quantities(task(None, metric="count-error"))
    assert count.unit == "ea"


def test_names_in_a_scope_are_nothing_to_measure() -> None:
    assert FORMAT.key_quantities(task({"scopeItems": ["door"]}, metric="scope-f1")) == ()
    assert FORMAT.key_quantities(TaskSpec(external_id="t", prompt="p")) == ()


def test_the_key_keeps_values_under_numbers_and_never_counts_them_as_its_own() -> None:
    spec = task(rows({"item": "a", "value": 9, "unit": "sf"}), source="in/t-1.task.json")
    (asked,) = FORMAT.key_quantities(spec)
    assert FORMAT.key_of_ratings is not None
    key: Any = FORMAT.key_of_ratings(
        spec, [RatedQuantity(quantity=asked, values=(10.0, None, 12.0), value=11.0)]
    )
    assert key["quantities"] == [{"item": "a", "unit": "sf", "value": 11.0}]
    assert key["raters"] == [
        {"item": "a", "unit": "sf", "values": [10.0, 12.0], "by": ["rater 1", "rater 3"]}
    ]
    assert key["origin"]["path"] == "in/t-1.groundtruth.json"
    assert FORMAT.key_consensus(key) == ()
    assert FORMAT.key_agreement([key])["items"] == 1


def test_values_that_nobody_settled_make_no_truth_but_an_agreement() -> None:
    spec = task(rows({"item": "a", "value": 9, "unit": "sf"}))
    (asked,) = FORMAT.key_quantities(spec)
    assert FORMAT.key_of_ratings is not None
    key = FORMAT.key_of_ratings(spec, [RatedQuantity(quantity=asked, values=(10.0, 12.0))])
    agreement = FORMAT.key_agreement([key])
    assert agreement["raters"] == 2
    assert agreement["median_error"] == 18.18
