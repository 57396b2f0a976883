"""Questions about what a run says of its own journey; they ask, and score nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from academy.bundle import JSON, FindingSpec, RecordView, TaskSpec
from academy.formats.neckbeard.entries import is_trivial
from academy.formats.neckbeard.facts import COVERAGE, PHASES, TRAJECTORY
from academy.formats.neckbeard.routing_table import BY_SKILL, ROWS

NUMBER = re.compile(r"(?:phase[ -]?)?([1-9])(?!\d)", re.IGNORECASE)


def findings(record: RecordView, task: TaskSpec) -> tuple[FindingSpec, ...]:
    """What a reviewer should look at in a run of a trajectory that recorded its own journey.

    An arm that records none is asked nothing: the labels are demanded of one arm only.
    """
    observed = record.evidence
    if task.kind != TRAJECTORY or not isinstance(observed, Mapping):
        return ()
    return (
        *phase_findings(listed(observed.get("phases")), str(task.extra.get("path", ""))),
        *gate_findings(listed(observed.get("gates")), str(observed.get("terminal_state", ""))),
        *routing_findings(observed.get("routing")),
    )


def listed(value: JSON) -> Sequence[Mapping[str, JSON]]:
    """The objects of a list, or none."""
    items = value if isinstance(value, list | tuple) else ()
    return [item for item in items if isinstance(item, Mapping)]


def text(item: Mapping[str, JSON], name: str) -> str:
    """A text of an object, "" where there is none."""
    value = item.get(name)
    return value if isinstance(value, str) else ""


def phase_findings(phases: Sequence[Mapping[str, JSON]], path: str) -> Iterator[FindingSpec]:
    """Phases that nobody mentions, forbidden skips, skips without a reason."""
    if not phases:
        return
    states = {
        found[1]: text(item, "state")
        for item in phases
        if (found := NUMBER.match(text(item, "phase")))
    }
    silent = [number for number in PHASES if number not in states]
    if silent:
        said = f"The run's own record names no phase {', '.join(silent)}: left out silently?"
        yield FindingSpec(code="silent-phase", sentence=said, severity="low", evidence=silent)
    rules = COVERAGE.get(path)
    forbidden = [
        number
        for number, state in states.items()
        if rules and state == "skipped" and number in rules.phases
    ]
    if forbidden:
        said = (
            f"The run skipped phase {', '.join(forbidden)}, which the {path} path makes mandatory."
        )
        yield FindingSpec(code="skipped-mandatory-phase", sentence=said, evidence=forbidden)
    for item in phases:
        if text(item, "state") == "skipped" and is_trivial(text(item, "reason")):
            said = f"The run skipped phase {text(item, 'phase')!r} and gives no reason."
            yield FindingSpec(code="skip-without-reason", sentence=said, severity="low")


def gate_findings(gates: Sequence[Mapping[str, JSON]], terminal: str) -> Iterator[FindingSpec]:
    """A gate that stopped the run beside an end that says it went on."""
    last = {text(item, "gate"): text(item, "state") for item in gates}
    blocked = [gate for gate, state in last.items() if state == "blocked"]
    if blocked and terminal and terminal != "blocked":
        said = f"The run ended {terminal!r} although {', '.join(blocked)} was last blocked."
        yield FindingSpec(code="blocked-gate-state", sentence=said, evidence=blocked)


def routing_findings(routing: JSON) -> Iterator[FindingSpec]:
    """The run's routing beside the table; whether a signal holds only a person can say."""
    if not isinstance(routing, Mapping):
        return
    selected = [text(item, "skill") for item in listed(routing.get("selected"))]
    skipped = [text(item, "skill") for item in listed(routing.get("skipped"))]
    named = {*selected, *skipped}
    strange = sorted(named - set(BY_SKILL))
    if strange:
        said = f"The run's routing names what is no row of the table: {', '.join(strange)}."
        yield FindingSpec(
            code="routing-unknown-skill", sentence=said, severity="info", evidence=strange
        )
    both = sorted(set(selected) & set(skipped))
    if both:
        said = f"The run's routing both selects and skips {', '.join(both)}."
        yield FindingSpec(code="routing-in-both-lists", sentence=said, severity="low")
    unnamed = [row.skill for row in ROWS if row.skill not in named]
    if unnamed:
        said = f"The run's routing says nothing of {len(unnamed)} rows of the table."
        yield FindingSpec(
            code="routing-unnamed-rows", sentence=said, severity="info", evidence=unnamed
        )
