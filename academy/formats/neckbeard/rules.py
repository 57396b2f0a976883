"""One fixture against the written schema, and what only we ask of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from academy.bundle import JSON
from academy.formats.neckbeard.documents import Document
from academy.formats.neckbeard.entries import (
    Gate,
    Phase,
    SkippedGate,
    SkippedSkill,
    as_parts,
    is_trivial,
    read_gates,
    read_phases,
    read_skills,
    read_skipped_gates,
    read_skipped_skills,
    shown,
    split_bars,
)
from academy.formats.neckbeard.facts import (
    CLASSES,
    FIXTURE_NAME,
    GATES,
    PHASES,
    SINGLE_FIELDS,
    SINGLE_MARKS,
    SINGLE_REQUIRED,
    SINGLE_TASK,
    SINGLE_WORDS,
    TRAJECTORIES,
    TRAJECTORY,
    TRAJECTORY_FIELDS,
    TRAJECTORY_MARKS,
    TRAJECTORY_REQUIRED,
    TRAJECTORY_WORDS,
)
from academy.formats.neckbeard.journey import journey_remarks
from academy.formats.neckbeard.remarks import Remark

SHA = re.compile(r"[0-9a-fA-F]{40}|[0-9a-fA-F]{64}")
ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
SHORT_SHA = re.compile(r"[0-9a-fA-F]{4,63}")
ENTRIES_LIMIT = 200
LISTS = ("phases", "skipped_phases", "gates", "skipped_gates")
# Remarks after which a list says too little for the journey rules to be applied to it.
UNREAD = ("S-PHASE-", "S-SKIP-", "S-GATE-")


@dataclass(frozen=True, slots=True)
class Journey:
    """The lists of a trajectory, taken apart, in the order written."""

    phases: tuple[Phase, ...] = ()
    skipped_phases: tuple[Phase, ...] = ()
    gates: tuple[Gate, ...] = ()
    skipped_gates: tuple[SkippedGate, ...] = ()
    routing_selected: tuple[str, ...] = ()
    routing_skipped: tuple[SkippedSkill, ...] = ()

    def as_json(self) -> dict[str, JSON]:
        """Every list as plain parts."""
        return {
            **{name: as_parts(name, getattr(self, name)) for name in LISTS},
            "routing_selected": list(self.routing_selected),
            "routing_skipped": as_parts("routing_skipped", self.routing_skipped),
        }


@dataclass(frozen=True, slots=True)
class Fixture:
    """A file that was looked at: which of the two shapes it has, and all that is to be said."""

    path: PurePosixPath
    document: Document
    kind: str
    remarks: tuple[Remark, ...]
    journey: Journey = field(default_factory=Journey)

    @property
    def id(self) -> str:
        """The id, "" where there is none."""
        return self.document.text("id")

    def saying(self, *more: Remark) -> Fixture:
        """The same fixture with further remarks."""
        return replace(self, remarks=(*self.remarks, *more))


def examine(path: PurePosixPath, document: Document, root: PurePosixPath) -> Fixture:
    """Hold one fixture against the schema; `root` is the folder of the suite."""
    if not document.readable:
        return Fixture(path, document, SINGLE_TASK, document.remarks)
    kind, remarks = kind_of(document)
    known = TRAJECTORY_FIELDS if kind == TRAJECTORY else SINGLE_FIELDS
    required = TRAJECTORY_REQUIRED if kind == TRAJECTORY else SINGLE_REQUIRED
    words = TRAJECTORY_WORDS if kind == TRAJECTORY else SINGLE_WORDS
    said: list[Remark] = [*document.remarks, *remarks]
    said += field_remarks(document, known, [name for name in required if name != "kind"])
    said += word_remarks(document, words)
    said += place_remarks(path, document, root, kind)
    journey = Journey()
    if kind == TRAJECTORY:
        journey, more = read_journey(document)
        said += more
    else:
        said += intent_remarks(document)
    return Fixture(path, document, kind, tuple(said), journey)


def kind_of(document: Document) -> tuple[str, list[Remark]]:
    """The shape by `kind`, else by the fields that only one shape has."""
    value = document.fields.get("kind")
    line = document.line("kind")
    if value == TRAJECTORY:
        return TRAJECTORY, []
    marks = [any(name in document.fields for name in some) for some in (SINGLE_MARKS, LIKENESS)]
    shape = TRAJECTORY if marks == [False, True] else SINGLE_TASK
    if isinstance(value, list | dict):
        return shape, [Remark("S-TYPE:kind", "'kind' must be text", "kind", line)]
    if isinstance(value, str) and value.strip():
        said = f"'kind' can only be {TRAJECTORY!r}, not {shown(value)}"
        return shape, [Remark("S-KIND", said, "kind", line)]
    if shape == TRAJECTORY:
        return shape, [Remark("S-REQ:kind", "'kind' is missing", "kind", line)]
    if "kind" in document.fields:
        return shape, [Remark("U-KIND", "'kind' is there and says nothing", "kind", line)]
    return shape, []


LIKENESS = TRAJECTORY_MARKS


def field_remarks(
    document: Document, known: frozenset[str], required: Sequence[str]
) -> Iterator[Remark]:
    """Absent fields, values that are no text, fields that no table names."""
    for name in required:
        value = document.fields.get(name)
        if value is None or (isinstance(value, str) and not value.strip()):
            yield Remark(f"S-REQ:{name}", f"{name!r} is missing", name, document.line(name))
    for name, value in document.fields.items():
        if name == "kind":
            continue
        if name not in known:
            said = f"{name!r} is no field of this kind of fixture; it is kept aside"
            yield Remark("U-FIELD", said, name, document.line(name))
        elif isinstance(value, list | dict):
            yield Remark(f"S-TYPE:{name}", f"{name!r} must be text", name, document.line(name))


def word_remarks(document: Document, words: Mapping[str, tuple[str, ...]]) -> Iterator[Remark]:
    """Words outside their list. Matching is exact."""
    for name, allowed in words.items():
        value = document.text(name)
        if value and value not in allowed:
            said = f"{name!r} is {shown(value)}, none of {', '.join(allowed)}"
            yield Remark(f"S-ENUM:{name}", said, name, document.line(name))


def place_remarks(
    path: PurePosixPath, document: Document, root: PurePosixPath, kind: str
) -> Iterator[Remark]:
    """Whether the file lies where its id and class say."""
    value = document.text("id")
    if value and value != path.parent.name:
        said = f"the id {shown(value)} differs from the folder {path.parent.name!r}"
        yield Remark("S-ID-DIR", said, "id", document.line("id"))
    elif value and not ID.fullmatch(value):
        said = f"the id {shown(value)} is more than letters, digits, dots, hyphens, underscores"
        yield Remark("U-ID", said, "id", document.line("id"))
    parts = path.relative_to(root).parts
    folder = parts[0] if len(parts) == 3 else None
    name = document.text("class")
    wanted = TRAJECTORIES if kind == TRAJECTORY else name or "<class>"
    if folder is None or not lies_right(folder, kind, name):
        said = f"it belongs to {wanted}/<id>/{FIXTURE_NAME}, not {path.relative_to(root)}"
        yield Remark("S-LAYOUT", said)


def lies_right(folder: str, kind: str, name: str) -> bool:
    """Whether the folder fits; a class that is missing or unknown cannot contradict it."""
    if kind == TRAJECTORY:
        return folder == TRAJECTORIES
    return folder == name or (name not in CLASSES and folder != TRAJECTORIES)


def intent_remarks(document: Document) -> Iterator[Remark]:
    """A trap that nobody states cannot be rated, so we ask for it where the original does."""
    adversarial = document.text("class") == "adversarial"
    intent = document.text("adversarial_intent")
    line = document.line("adversarial_intent")
    if adversarial and not intent:
        said = "an adversarial fixture must state its trap in 'adversarial_intent'"
        yield Remark("H-INTENT", said, "adversarial_intent", line)
    elif intent and not adversarial:
        said = "'adversarial_intent' is meant for the class adversarial"
        yield Remark("U-INTENT", said, "adversarial_intent", line)


def read_journey(document: Document) -> tuple[Journey, list[Remark]]:
    """The lists of a trajectory and what is wrong with them."""
    texts = {name: document.text(name) for name in LISTS}
    lines = {name: document.line(name) for name in LISTS}
    phases, said = read_phases(texts["phases"], "phases", lines["phases"])
    if texts["phases"] and not split_bars(texts["phases"]):
        said.append(Remark("S-PHASE-EMPTY", "'phases' holds no phase", "phases", lines["phases"]))
    skipped, more = read_phases(texts["skipped_phases"], "skipped_phases", lines["skipped_phases"])
    said += more
    gates, more = read_gates(texts["gates"], "gates", lines["gates"])
    said += more
    if texts["gates"] and not split_bars(texts["gates"]):
        said.append(Remark("S-REQ:gates", "'gates' holds no gate", "gates", lines["gates"]))
    left, more = read_skipped_gates(texts["skipped_gates"], "skipped_gates", lines["skipped_gates"])
    said += more
    journey = Journey(
        tuple(phases),
        tuple(skipped),
        tuple(gates),
        tuple(left),
        tuple(read_skills(document.text("routing_selected"))),
        tuple(read_skipped_skills(document.text("routing_skipped"))),
    )
    said += size_remarks(texts, lines)
    said += reason_remarks(journey, lines)
    if document.text("path") == "full":
        said += full_remarks(document, journey)
    said += sha_remarks(document)
    said += walk_remarks(document, journey, said)
    return journey, said


def size_remarks(texts: Mapping[str, str], lines: Mapping[str, int | None]) -> Iterator[Remark]:
    """Lists that are longer than any journey."""
    for name, text in texts.items():
        if text.count("|") >= ENTRIES_LIMIT:
            said = f"{name!r} has more than {ENTRIES_LIMIT} entries"
            yield Remark("U-LIMIT", said, name, lines[name])


def reason_remarks(journey: Journey, lines: Mapping[str, int | None]) -> Iterator[Remark]:
    """Reasons that are there and say nothing."""
    reasons = [
        *(("skipped_phases", f"phase {one.number}", one.reason) for one in journey.skipped_phases),
        *(("skipped_gates", one.id, one.reason) for one in journey.skipped_gates),
    ]
    for name, what, reason in reasons:
        if reason and is_trivial(reason):
            said = f"the reason {shown(reason)} for {what} says nothing"
            yield Remark("U-REASON", said, name, lines[name])


def full_remarks(document: Document, journey: Journey) -> Iterator[Remark]:
    """The full path names every phase, every gate and a head; a wrong name still counts."""
    walked = {phase.number for phase in journey.phases}
    absent = [number for number in PHASES if number not in walked]
    if document.text("phases") and absent:
        said = f"the full path needs all nine phases; {', '.join(absent)} missing"
        yield Remark("S-FULL-PHASES", said, "phases", document.line("phases"))
    passed = {gate.id for gate in journey.gates}
    without = [gate for gate in GATES if gate not in passed]
    if document.text("gates") and without:
        said = f"the full path needs all five gates; {', '.join(without)} missing"
        yield Remark("S-FULL-GATES", said, "gates", document.line("gates"))
    if not document.text("final_head_sha"):
        said = "the full path needs 'final_head_sha'"
        yield Remark("S-FULL-SHA", said, "final_head_sha", document.line("final_head_sha"))


def sha_remarks(document: Document) -> Iterator[Remark]:
    """A commit sha is hex; the schema calls it exact and forgets to say how long it is."""
    sha = document.text("final_head_sha")
    line = document.line("final_head_sha")
    if not sha or SHA.fullmatch(sha):
        return
    if SHORT_SHA.fullmatch(sha):
        said = f"{shown(sha)} is not a whole commit sha"
        yield Remark("U-SHA", said, "final_head_sha", line)
    else:
        said = f"{shown(sha)} is no commit sha"
        yield Remark("S-SHA-FORM", said, "final_head_sha", line)


def walk_remarks(document: Document, journey: Journey, said: list[Remark]) -> list[Remark]:
    """The journey rules, where path and lists could be read."""
    path = document.text("path")
    unread = any(remark.code.startswith(UNREAD) for remark in said)
    if path not in TRAJECTORY_WORDS["path"] or unread or not journey.phases or not journey.gates:
        return []
    state = document.text("terminal_state")
    remarks = journey_remarks(
        path=path,
        phases=journey.phases,
        skipped=journey.skipped_phases,
        gates=journey.gates,
        skipped_gates=journey.skipped_gates,
        terminal_state=state if state in TRAJECTORY_WORDS["terminal_state"] else "",
    )
    return [
        replace(remark, line=document.line(remark.field) or document.line("phases"))
        for remark in remarks
    ]
