"""Keys that several people measured, each alone: which quantities, and the key made of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePosixPath

from academy.bundle import JSON, KeyQuantity, RatedQuantity, TaskSpec
from academy.formats.opentakeoff.keys import ORIGIN, REPLACED, SUFFIX, items, truth_of
from academy.formats.opentakeoff.manifests import mapping

UNITS: Mapping[str, tuple[str, str]] = {
    "ape": ("sf", "sm"),
    "count-error": ("ea", "ea"),
    "scale-error": ("ft/px", "m/px"),
}
LONGEST = 150


def truths_of(task: TaskSpec) -> list[dict[str, JSON]]:
    """The quantities of a task's key without their values; one by its metric where there is no key.

    None for a task that is not scored by numbers.
    """
    metric = task.gradings[0].metric if task.gradings else ""
    if metric not in UNITS:
        return []
    known = [mapping(row) for row in items(mapping(task.key).get("quantities"))]
    if not known:
        imperial, metrical = UNITS[metric]
        unit = metrical if task.attributes.get("units") == "metric" else imperial
        return [{"item": task.title or task.external_id, "unit": unit}]
    names = ("item", "unit", "roomId")
    return [{name: row[name] for name in names if name in row} for row in known]


def key_quantities(task: TaskSpec) -> tuple[KeyQuantity, ...]:
    """What people measure for a task's key; a name that comes again gets a number."""
    found: list[KeyQuantity] = []
    for truth in truths_of(task):
        room = truth.get("roomId")
        label = f"{truth.get('item')}, room {room}" if room else str(truth.get("item"))
        named = sum(1 for known in found if known.label == label) + 1
        key = label[:LONGEST] if named == 1 else f"{label[:LONGEST]} ({named})"
        found.append(KeyQuantity(key=key, label=label, unit=str(truth.get("unit") or "")))
    return tuple(found)


def key_of_ratings(task: TaskSpec, rated: Sequence[RatedQuantity]) -> JSON:
    """A held-out key with what each rater measured; its own value is the adjudicated one.

    Raters are numbered: a key never names a person. A value that nobody adjudicated is left out.
    """
    said = {row.quantity.key: row for row in rated}
    quantities: list[JSON] = []
    for quantity, truth in zip(key_quantities(task), truths_of(task), strict=True):
        row = said[quantity.key]
        value = {} if row.value is None else {"value": row.value}
        raters: list[JSON] = [
            {"by": f"rater {number}", "value": given}
            for number, given in enumerate(row.values, start=1)
            if given is not None
        ]
        quantities.append({**truth, **value, "raters": raters})
    held = mapping(task.key)
    document: dict[str, JSON] = {"taskId": task.external_id, "quantities": quantities}
    if "scopeItems" in held:
        document["scopeItems"] = held["scopeItems"]
    folder = PurePosixPath(task.source).parent
    origin = mapping(held.get(ORIGIN))
    path = origin.get("path") or str(folder / f"{task.external_id}{SUFFIX}")
    kept = {REPLACED: held[REPLACED]} if REPLACED in held else {}
    return {**truth_of(document), ORIGIN: {"path": path, "document": document}, **kept}
