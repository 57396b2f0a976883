"""What a reviewer of routing sees: rows of the table, the phases, and what a machine noticed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from academy.bundle import JSON, RecordView, TaskSpec
from academy.formats.neckbeard.entries import Gate, Phase, SkippedGate, SkippedSkill
from academy.formats.neckbeard.facts import GATE_TOPICS, PHASES, TRAJECTORY
from academy.formats.neckbeard.findings import NUMBER, listed, text
from academy.formats.neckbeard.routing import names_without_row, remarks_on, review_rows
from academy.formats.neckbeard.routing_table import REVISION, WHOLE_HANDOVER
from academy.formats.neckbeard.rules import Journey


def expected_routing(key: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """The routing that a task expects."""
    journey = journey_of_key(key)
    return routing_view(journey, names_without_row(journey))


def routing_view(journey: Journey, strange: Sequence[str]) -> Mapping[str, JSON]:
    """The routing of a journey beside the table; the warnings are a machine's and decide nothing.

    `rows` are as in `review_rows`; `phases` have a number, title, state and note.
    """
    return {
        "table_revision": REVISION,
        "whole_handover": dict(WHOLE_HANDOVER),
        "rows": review_rows(journey, strange),
        "phases": list(phase_rows(journey)),
        "gates": list(gate_rows(journey)),
        "warnings": [f"{said[:1].upper()}{said[1:]}." for _, _, said, _ in remarks_on(journey)],
    }


def run_routing(record: RecordView, task: TaskSpec) -> Mapping[str, JSON]:
    """The routing that a run recorded of itself; empty where it recorded none."""
    observed = record.evidence
    if task.kind != TRAJECTORY or not isinstance(observed, Mapping):
        return MappingProxyType({})
    if not isinstance(observed.get("routing"), Mapping):
        return MappingProxyType({})
    key = task.key if isinstance(task.key, Mapping) else {}
    return routing_view(journey_of_run(observed), names_without_row(journey_of_key(key)))


def phase_rows(journey: Journey) -> Iterator[dict[str, JSON]]:
    """The phases in their order; one that the journey does not mention says so."""
    walked = {phase.number for phase in journey.phases}
    left = {phase.number: phase.reason for phase in journey.skipped_phases}
    if not walked and not left:
        return
    for number, title in PHASES.items():
        if number in walked:
            state, note = "done", ""
        elif number in left:
            state, note = "skipped", left[number]
        else:
            state, note = "silent", ""
        yield {"number": number, "title": title, "state": state, "note": note}


def gate_rows(journey: Journey) -> Iterator[dict[str, JSON]]:
    """The gates in the order of the journey, with what was looked at and the verdict."""
    for gate in journey.gates:
        title = GATE_TOPICS.get(gate.id, gate.id)
        yield {"id": gate.id, "title": title, "state": gate.verdict, "note": gate.description}
    for left in journey.skipped_gates:
        title = GATE_TOPICS.get(left.id, left.id)
        yield {"id": left.id, "title": title, "state": "skipped", "note": left.reason}


def journey_of_key(key: Mapping[str, JSON]) -> Journey:
    """The lists of a key, taken apart as they were written."""
    return Journey(
        phases=tuple(phases_in(listed(key.get("phases")))),
        skipped_phases=tuple(phases_in(listed(key.get("skipped_phases")))),
        gates=tuple(
            Gate(text(one, "id"), text(one, "description"), text(one, "verdict"))
            for one in listed(key.get("gates"))
        ),
        skipped_gates=tuple(
            SkippedGate(text(one, "id"), text(one, "reason"))
            for one in listed(key.get("skipped_gates"))
        ),
        routing_selected=tuple(str(one) for one in as_list(key.get("routing_selected"))),
        routing_skipped=tuple(skills_in(key.get("routing_skipped"))),
    )


def journey_of_run(observed: Mapping[str, JSON]) -> Journey:
    """What a run says of its own journey, in the shape of an expected one."""
    phases = listed(observed.get("phases"))
    gates = listed(observed.get("gates"))
    routing = observed.get("routing")
    routed: Mapping[str, JSON] = routing if isinstance(routing, Mapping) else {}
    return Journey(
        phases=tuple(run_phases(phases, "done")),
        skipped_phases=tuple(run_phases(phases, "skipped")),
        gates=tuple(
            Gate(text(one, "gate"), text(one, "evidence"), text(one, "state"))
            for one in gates
            if text(one, "state") != "skipped"
        ),
        skipped_gates=tuple(
            SkippedGate(text(one, "gate"), text(one, "reason"))
            for one in gates
            if text(one, "state") == "skipped"
        ),
        routing_selected=tuple(text(one, "skill") for one in listed(routed.get("selected"))),
        routing_skipped=tuple(skills_in(routed.get("skipped"))),
    )


def phases_in(entries: Sequence[Mapping[str, JSON]]) -> Iterator[Phase]:
    """Phases as a key holds them."""
    for one in entries:
        yield Phase(text(one, "number"), text(one, "name"), text(one, "reason"))


def run_phases(entries: Sequence[Mapping[str, JSON]], state: str) -> Iterator[Phase]:
    """Phases of a state as a run names them: by number, with or without their name."""
    for one in entries:
        found = NUMBER.match(text(one, "phase"))
        if found and text(one, "state") == state:
            yield Phase(found[1], PHASES[found[1]], text(one, "reason"))


def skills_in(entries: JSON) -> Iterator[SkippedSkill]:
    """Specialists that were left out."""
    for one in listed(entries):
        yield SkippedSkill(text(one, "skill"), text(one, "reason"))


def as_list(value: JSON) -> Sequence[JSON]:
    """A list, or none."""
    return value if isinstance(value, list | tuple) else ()
