"""What the journey rules object to beyond the schema: coverage of all four paths, order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from academy.formats.neckbeard.entries import Gate, Phase, SkippedGate
from academy.formats.neckbeard.facts import COVERAGE, PHASES, REVIEW_GATES, REVIEW_PHASE
from academy.formats.neckbeard.remarks import Remark


def journey_remarks(
    *,
    path: str,
    phases: Sequence[Phase],
    skipped: Sequence[Phase],
    gates: Sequence[Gate],
    skipped_gates: Sequence[SkippedGate],
    terminal_state: str,
) -> Iterator[Remark]:
    """Remarks of a trajectory whose lists could all be read; by number, whatever the names say."""
    walked = [phase.number for phase in phases]
    left = [phase.number for phase in skipped]
    yield from phase_remarks(path, walked, left)
    yield from order_remarks(walked)
    yield from gate_remarks(path, gates, skipped_gates, reentered=walked.count("7") > 1)
    stopped = [gate.id for gate in gates if gate.verdict == "blocked"]
    if stopped and terminal_state and terminal_state != "blocked":
        said = f"{listed(stopped)} {be(stopped)} blocked, so the run cannot end {terminal_state}"
        yield Remark("J-BLOCKED-STATE", said, "terminal_state")


def phase_remarks(path: str, walked: Sequence[str], left: Sequence[str]) -> Iterator[Remark]:
    """Which phases the path asks for, and where a skip is not to be had."""
    rules = COVERAGE[path]
    absent = [number for number in rules.phases if number not in walked]
    if absent:
        said = f"the {path} path demands {named(absent)}"
        yield Remark("J-MANDATORY-PHASE", said, "phases")
    forbidden = [number for number in rules.phases if number in left]
    if forbidden:
        said = f"the {path} path does not let {named(forbidden)} be skipped"
        yield Remark("J-SKIP-FORBIDDEN", said, "skipped_phases")
    silent = [n for n in rules.conditional_phases if n not in walked and n not in left]
    if silent:
        said = f"{named(silent)} {be(silent)} neither traversed nor skipped for a reason"
        yield Remark("J-SILENT-PHASE", said, "skipped_phases")
    both = [number for number in PHASES if number in walked and number in left]
    if both:
        said = f"{named(both)} {be(both)} both traversed and skipped"
        yield Remark("J-PHASE-BOTH", said, "skipped_phases")


def order_remarks(walked: Sequence[str]) -> Iterator[Remark]:
    """Phases ascend; only a material change after review sends a run back, to phase 7."""
    steps = [(int(a), int(b)) for a, b in pairwise(walked) if int(b) <= int(a)]
    wrong = [step for step in steps if step[1] != REVIEW_PHASE or step[0] == REVIEW_PHASE]
    if wrong:
        before, after = wrong[0]
        said = f"phase {after} comes after phase {before}"
        yield Remark("J-PHASE-ORDER", said, "phases")
    elif steps:
        yield Remark("U-REENTRY", "phase 7 is entered again, as after a material change", "phases")


def gate_remarks(
    path: str, gates: Sequence[Gate], skipped: Sequence[SkippedGate], *, reentered: bool
) -> Iterator[Remark]:
    """Which gates the path asks for; a run sent back to phase 7 may pass its two gates again."""
    rules = COVERAGE[path]
    passed = Counter(gate.id for gate in gates)
    left = {gate.id for gate in skipped}
    absent = [gate for gate in rules.gates if gate not in passed]
    if absent:
        yield Remark("J-MANDATORY-GATE", f"the {path} path demands {listed(absent)}", "gates")
    silent = [gate for gate in rules.conditional_gates if gate not in passed and gate not in left]
    if silent:
        said = f"{listed(silent)} {be(silent)} neither recorded nor skipped for a reason"
        yield Remark("J-SILENT-GATE", said, "skipped_gates")
    both = sorted(left & set(passed))
    if both:
        yield Remark("J-GATE-BOTH", f"{listed(both)} {be(both)} both recorded and skipped", "gates")
    again = [gate for gate, times in passed.items() if times > 1]
    if again:
        said = f"{listed(again)} {be(again)} recorded more than once"
        mild = reentered and set(again) <= REVIEW_GATES
        yield Remark("J-GATE-REPEATED", said, "gates", mild=mild)


def named(numbers: Sequence[str]) -> str:
    """Phases as a sentence names them."""
    return f"phase{'s' if len(numbers) > 1 else ''} {listed(numbers)}"


def listed(names: Sequence[str]) -> str:
    """Names with an "and" before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def be(names: Sequence[str]) -> str:
    """The verb after so many names."""
    return "is" if len(names) == 1 else "are"
