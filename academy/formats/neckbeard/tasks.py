"""A fixture as a task: what the agent is shown, what is sealed, what only staff may see."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from academy.bundle import JSON, AssetSpec, TaskSpec
from academy.formats.neckbeard.dimensions import (
    DIMENSIONS,
    dimension_criteria,
    dimension_gradings,
)
from academy.formats.neckbeard.facts import SINGLE_FIELDS, TRAJECTORY, TRAJECTORY_FIELDS
from academy.formats.neckbeard.reviewing import expected_routing
from academy.formats.neckbeard.routing import routing_criteria
from academy.formats.neckbeard.rules import Fixture

SHOWN_TO_AGENT = ("context", "harness_constraints")
SEALED_SINGLE = (
    "class",
    "ground_truth",
    "expected_boundary",
    "scoring_notes",
    "adversarial_intent",
)
SEALED_TRAJECTORY = ("path", "terminal_state", "final_head_sha")
SENTENCE = re.compile(r"(?<=[.;])\s+")
# The word by which scoring notes call a dimension, where it is not the label's first.
CALLED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "security_accessibility": ("security", "accessibility"),
        "integration_boundary": ("integration-boundary", "boundary validation"),
        "test_adequacy": ("test adequacy",),
    }
)


def build_task(fixture: Fixture, assets: Sequence[AssetSpec] = ()) -> TaskSpec:
    """The task of a fixture without errors.

    The agent gets prompt, context and constraints; class, truth and the expected journey are
    sealed. The key also holds the source text, so that an export gives back the very bytes.
    """
    document = fixture.document
    journey = fixture.kind == TRAJECTORY
    known = TRAJECTORY_FIELDS if journey else SINGLE_FIELDS
    sealed = SEALED_TRAJECTORY if journey else SEALED_SINGLE
    key: dict[str, JSON] = {name: document.text(name) for name in sealed if document.text(name)}
    extra: dict[str, JSON] = {name: key[name] for name in ("class", "path") if name in key}
    strange = {
        name: value
        for name, value in document.fields.items()
        if name not in known and not (name == "kind" and value is None)
    }
    if strange:
        extra["unknown_fields"] = strange
    criteria = dimension_criteria(("expectation",) if journey else SEALED_SINGLE)
    if journey:
        key.update(fixture.journey.as_json())
        criteria += routing_criteria(fixture.journey)
    key["source"] = document.source
    shown = () if journey else SHOWN_TO_AGENT
    return TaskSpec(
        external_id=fixture.id,
        title=fixture.id,
        kind=fixture.kind,
        prompt=document.text("prompt"),
        context={name: document.text(name) for name in shown if document.text(name)},
        gradings=dimension_gradings(),
        criteria=criteria,
        key=key,
        holdout=document.text("visibility") == "holdout",
        assets=tuple(assets),
        extra=extra,
        source=str(fixture.path),
    )


def agent_view(task: TaskSpec) -> Mapping[str, JSON]:
    """What the agent under test is shown, under the names the fixture gives it: nothing else."""
    return {"prompt": task.prompt, **task.context}


def rater_view(task: TaskSpec) -> Mapping[str, JSON]:
    """The sealed parts by the names that criteria ask for; empty without the key."""
    key = task.key
    if not isinstance(key, Mapping):
        return MappingProxyType({})
    if task.kind != TRAJECTORY:
        view = {name: key[name] for name in SEALED_SINGLE if name in key}
        if isinstance(notes := view.get("scoring_notes"), str):
            view["scoring_notes"] = {"all": notes, "by_dimension": notes_by_dimension(notes)}
        return view
    lists = ("phases", "skipped_phases", "gates", "skipped_gates")
    names = (*SEALED_TRAJECTORY, *lists)
    return {
        "expectation": {name: key[name] for name in names if name in key},
        "routing": expected_routing(key),
    }


def notes_by_dimension(notes: str) -> dict[str, JSON]:
    """The sentences of scoring notes that call a dimension by its name; nothing is computed."""
    found: dict[str, JSON] = {}
    for dimension in DIMENSIONS:
        called = CALLED.get(dimension.key, (dimension.label.lower(),))
        sentences = [
            sentence
            for sentence in SENTENCE.split(notes)
            if any(name in sentence.lower() for name in called)
        ]
        if sentences:
            found[dimension.key] = " ".join(sentences)
    return found
