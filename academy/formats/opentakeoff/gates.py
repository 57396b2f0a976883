"""Answers that must come out at the floor and the ceiling before a suite may be published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from academy.bundle import JSON, TaskSpec
from academy.formats.base import GateAnswers
from academy.formats.opentakeoff.keys import is_usable_for, items
from academy.formats.opentakeoff.manifests import mapping
from academy.formats.opentakeoff.runs import raw_of

GUESSES = (1, 10, 100, 1000, 10000)
UNITS = ("sf", "sy", "sm", "lf", "lm", "ea", "ft/px")


def entry(task: TaskSpec, quantities: Sequence[JSON]) -> bytes:
    """An answer in the format's own form; nothing was measured, and the trace says so."""
    return raw_of(
        {
            "taskId": task.external_id,
            "answer": {"quantities": quantities},
            "trace": [],
            "telemetry": {"steps": 0, "wallMs": 0},
        }
    )


def shotgun(task: TaskSpec) -> Sequence[JSON]:
    """Every guess in every unit, under a name that is in no key: what blind luck is worth.

    A set of names cannot be guessed at random, so that the words of the prompt are named.
    """
    if task.gradings[0].metric == "scope-f1":
        words = dict.fromkeys(word.strip(".,;:()").lower() for word in task.prompt.split())
        return [{"item": word, "value": 1, "unit": "ea"} for word in words if word]
    return [
        {"item": f"guess {guess} {unit}", "value": guess, "unit": unit}
        for unit in UNITS
        for guess in GUESSES
    ]


def oracle(task: TaskSpec) -> Sequence[JSON]:
    """The key as an answer."""
    key = mapping(task.key)
    if task.gradings[0].metric == "scope-f1":
        return [{"item": name, "value": 1, "unit": "ea"} for name in items(key.get("scopeItems"))]
    names = ("item", "value", "unit", "roomId")
    truths: Sequence[Mapping[str, JSON]] = [mapping(row) for row in items(key.get("quantities"))]
    return [{name: truth[name] for name in names if name in truth} for truth in truths]


def gate_answers(task: TaskSpec) -> GateAnswers:
    """An empty answer, blind guesses, and the key itself; the last needs the key."""
    if not task.gradings:
        return GateAnswers(reason="the task is scored by nothing")
    empty, blind = entry(task, ()), entry(task, shotgun(task))
    if not is_usable_for(task.gradings[0].metric, task.key):
        return GateAnswers(
            null=empty, shotgun=blind, reason="the task has no answer key, so there is no oracle"
        )
    return GateAnswers(null=empty, shotgun=blind, oracle=entry(task, oracle(task)))
