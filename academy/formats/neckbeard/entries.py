"""The bar-separated lists of a trajectory, to parts and back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from academy.bundle import JSON
from academy.errors import FormatError
from academy.formats.neckbeard.facts import GATES, PHASES, VERDICTS
from academy.formats.neckbeard.remarks import Remark

PHASE_ENTRY = re.compile(r"(\d+):\s*(.+)", re.DOTALL)
GATE_ENTRY = re.compile(r"(gate-\d+)(?::\s*(.*))?", re.DOTALL)
# What a reason must have before a person can judge whether it is concrete.
EMPTY_REASONS = frozenset({"n/a", "na", "none", "tbd", "todo"})


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase that is traversed, or one that is skipped for a reason."""

    number: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Gate:
    """A gate with its verdict."""

    id: str
    description: str
    verdict: str


@dataclass(frozen=True, slots=True)
class SkippedGate:
    """A gate that was left out for a reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class SkippedSkill:
    """A specialist that was left out; the schema does not demand the reason."""

    skill: str
    reason: str


def split_bars(text: str) -> list[str]:
    """The entries of a bar list. A bar cannot be escaped; empty entries are dropped."""
    return [entry.strip() for entry in text.split("|") if entry.strip()]


def read_phases(text: str, field: str, line: int | None) -> tuple[list[Phase], list[Remark]]:
    """Phases in the order written, and what is wrong with the others.

    A phase under a wrong name is among them: coverage goes by number.
    """
    phases: list[Phase] = []
    remarks: list[Remark] = []
    read = read_skipped_phase if field == "skipped_phases" else read_phase
    for entry in split_bars(text):
        found = PHASE_ENTRY.fullmatch(entry)
        if found is None:
            said = f"{shown(entry)} is not a number, a colon and a name"
            remarks.append(Remark("S-PHASE-FORMAT", said, field, line))
        elif found[1] not in PHASES:
            said = f"there is no phase {shown(found[1])}; they go from 1 to 9"
            remarks.append(Remark("S-PHASE-UNKNOWN", said, field, line))
        else:
            phase, fault = read(found[1], found[2].strip())
            phases.append(phase)
            if fault:
                remarks.append(Remark(fault, phase_fault(phase, fault), field, line))
    return phases, remarks


def read_phase(number: str, name: str) -> tuple[Phase, str]:
    """A traversed phase and the code of its fault."""
    return Phase(number, name), "" if name == PHASES[number] else "S-PHASE-LABEL"


def read_skipped_phase(number: str, rest: str) -> tuple[Phase, str]:
    """A skipped phase. The known name is taken off the front, so that a reason may hold colons."""
    name = PHASES[number]
    if not rest.startswith(name):
        head, colon, reason = rest.partition(":")
        return Phase(number, head.strip(), reason.strip()), (
            "S-PHASE-LABEL" if colon else "S-SKIP-REASON"
        )
    tail = rest[len(name) :].lstrip()
    reason = tail[1:].strip()
    if not tail.startswith(":") and tail:
        return Phase(number, rest), "S-PHASE-LABEL"
    return Phase(number, name, reason), "" if reason else "S-SKIP-REASON"


def phase_fault(phase: Phase, fault: str) -> str:
    """The sentence of a fault of a phase."""
    if fault == "S-SKIP-REASON":
        return f"phase {phase.number} is skipped without a reason"
    return f"phase {phase.number} is called {shown(phase.name)}, not {PHASES[phase.number]!r}"


def read_gates(text: str, field: str, line: int | None) -> tuple[list[Gate], list[Remark]]:
    """Gates in the order written, and what is wrong; a gate with a bad verdict is among them."""
    gates: list[Gate] = []
    remarks: list[Remark] = []
    for entry in split_bars(text):
        gate, rest, remark = gate_of(entry, field, line)
        if remark is None and not rest:
            said = f"{shown(entry)} is a gate without a text"
            remark = Remark("S-GATE-FORMAT", said, field, line)
        if remark is None and ":" not in rest:
            said = f"{gate} has no verdict after a second colon"
            remark = Remark("S-GATE-VERDICT-MISSING", said, field, line)
        if remark is not None:
            remarks.append(remark)
            continue
        description, _, verdict = rest.rpartition(":")
        read = Gate(gate, description.strip(), verdict.strip())
        gates.append(read)
        remarks += gate_faults(read, field, line)
    return gates, remarks


def gate_faults(gate: Gate, field: str, line: int | None) -> list[Remark]:
    """What is wrong with a gate that could be taken apart."""
    faults = []
    if gate.verdict not in VERDICTS:
        allowed = ", ".join(VERDICTS)
        said = f"the verdict {shown(gate.verdict)} of {gate.id} is none of {allowed}"
        faults.append(Remark("S-GATE-VERDICT", said, field, line))
    if not gate.description:
        said = f"{gate.id} has no description"
        faults.append(Remark("S-GATE-DESC", said, field, line))
    return faults


def read_skipped_gates(
    text: str, field: str, line: int | None
) -> tuple[list[SkippedGate], list[Remark]]:
    """Skipped gates in the order written, and what is wrong with the others."""
    gates: list[SkippedGate] = []
    remarks: list[Remark] = []
    for entry in split_bars(text):
        gate, reason, remark = gate_of(entry, field, line)
        if remark is None and not reason:
            said = f"{gate} is skipped without a reason"
            remark = Remark("S-SKIP-GATE-REASON", said, field, line)
        if remark is None:
            gates.append(SkippedGate(gate, reason))
        else:
            remarks.append(remark)
    return gates, remarks


def gate_of(entry: str, field: str, line: int | None) -> tuple[str, str, Remark | None]:
    """The gate's id, the text after it, and the remark when it is no known gate."""
    found = GATE_ENTRY.fullmatch(entry)
    if found is None:
        said = f"{shown(entry)} is not gate-N, a colon and a text"
        return "", "", Remark("S-GATE-FORMAT", said, field, line)
    if found[1] not in GATES:
        said = f"there is no {shown(found[1])}; known are {', '.join(GATES)}"
        return "", "", Remark("S-GATE-UNKNOWN", said, field, line)
    return found[1], (found[2] or "").strip(), None


def read_skills(text: str) -> list[str]:
    """The comma list of selected specialists. The original never reads it."""
    return [skill.strip() for skill in text.split(",") if skill.strip()]


def read_skipped_skills(text: str) -> list[SkippedSkill]:
    """The bar list of skipped specialists, cut at the first colon. The original never reads it."""
    cut = [entry.partition(":") for entry in split_bars(text)]
    return [SkippedSkill(skill.strip(), reason.strip()) for skill, _, reason in cut]


def is_trivial(reason: str) -> bool:
    """Whether a reason says nothing at all. Whether others are concrete only a person can judge."""
    return not any(sign.isalnum() for sign in reason) or reason.casefold() in EMPTY_REASONS


def shown(text: str) -> str:
    """A quoted text, cut where it is long."""
    return repr(text if len(text) <= 80 else f"{text[:79]}…")


def join(field: str, parts: JSON) -> str:
    """A list field written back from its parts, in a form that the original's runner accepts.

    Raises FormatError for a part that the form cannot hold: a bar or a line end in it, or
    colon-space in the reason of a skipped phase.
    """
    if not isinstance(parts, Sequence) or isinstance(parts, str):
        raise FormatError.at(field, "parts", f"{field} is not a list of parts")
    texts = [join_part(field, part) for part in parts]
    return (", " if field == "routing_selected" else " | ").join(texts)


def join_part(field: str, part: JSON) -> str:
    """One part as text."""
    if isinstance(part, str):
        texts = [part]
    elif isinstance(part, dict):
        texts = [str(part[key]) for key in PARTS[field]]
    else:
        raise FormatError.at(field, "parts", f"a part of {field} is neither text nor a mapping")
    separator = "," if field == "routing_selected" else "|"
    for text in texts:
        if separator in text or len(text.splitlines()) > 1:
            raise FormatError.at(
                field, "part-text", f"{shown(text)} holds {separator!r} or a line end"
            )
    if field == "skipped_phases" and ": " in texts[-1]:
        raise FormatError.at(
            field,
            "part-text",
            f"the reason {shown(texts[-1])} holds a colon and a space, which the original's runner "
            "would cut in the wrong place",
        )
    return ": ".join(texts)


PARTS = {
    "phases": ("number", "name"),
    "skipped_phases": ("number", "name", "reason"),
    "gates": ("id", "description", "verdict"),
    "skipped_gates": ("id", "reason"),
    "routing_skipped": ("skill", "reason"),
}


def as_parts(
    field: str, entries: Sequence[Phase | Gate | SkippedGate | SkippedSkill]
) -> list[JSON]:
    """Entries as plain values, each with the parts of its field."""
    return [{key: asdict(entry)[key] for key in PARTS[field]} for entry in entries]
