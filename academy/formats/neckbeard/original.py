"""What the original's fixture runner says: its line reader, its rules in their order, its exits.

Only its behaviour is modelled; it is no YAML parser, and where it crashes this says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from academy.formats.neckbeard.facts import (
    BOUNDARIES,
    CLASSES,
    FIXTURE_NAME,
    GATES,
    PATHS,
    PHASES,
    SINGLE_REQUIRED,
    SINGLE_TASK,
    TERMINAL_STATES,
    TRAJECTORY,
    TRAJECTORY_REQUIRED,
    VERDICTS,
    VISIBILITIES,
)

FIELD_LINE = re.compile(r"([A-Za-z_][A-Za-z0-9_]*):\s*(.*)")
PHASE_ENTRY = re.compile(r"(\d+):\s*(.+)")
GATE_ENTRY = re.compile(r"(gate-\d+):\s*(.+)")


class Node(StrEnum):
    """What a path may be in a tree besides a file."""

    FOLDER = "folder"
    LINK = "link"


Tree = Mapping[PurePosixPath, "Callable[[], bytes] | Node"]
Objections = Iterator[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Objection:
    """One error of the runner: our code, the same in words, and the file that leads its line."""

    code: str
    gist: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as the runner's own reader sees it."""

    path: PurePosixPath
    fields: Mapping[str, str]

    @property
    def kind(self) -> str:
        """Which of the two checks it gets."""
        return TRAJECTORY if self.fields.get("kind") == TRAJECTORY else SINGLE_TASK


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ends: `verdict` is "valid", "invalid", "crash", "not-found" or "usage".

    `seen` holds what it read, single tasks first, and is empty where it did not get that far.
    """

    verdict: str
    exit: int
    stream: str
    objections: tuple[Objection, ...] = ()
    seen: tuple[Seen, ...] = ()
    report: str | None = None

    @property
    def counts(self) -> Mapping[str, Mapping[str, int]]:
        """The counts it prints when all is valid; visibility and class of single tasks only."""
        singles = [seen.fields for seen in self.seen if seen.kind == SINGLE_TASK]
        journeys = [seen.fields for seen in self.seen if seen.kind == TRAJECTORY]
        return {
            "kind": {SINGLE_TASK: len(singles), TRAJECTORY: len(journeys)},
            "class": sorted_counts(fields["class"] for fields in singles),
            "visibility": sorted_counts(fields["visibility"] for fields in singles),
            "path": sorted_counts(fields["path"] for fields in journeys),
        }


def sorted_counts(words: Iterator[str]) -> dict[str, int]:
    """How often each word comes, by word."""
    return dict(sorted(Counter(words).items()))


def run_original(
    tree: Tree,
    suite: PurePosixPath | None,
    *,
    validate_only: bool = True,
    report: str | None = None,
) -> Outcome:
    """Run the runner on a folder of a tree whose paths are seen from where it is started."""
    if suite is None:
        return ended("usage", 2, "the argument --suite is required")
    if suite.parts and not any(path.is_relative_to(suite) for path in tree):
        return ended("not-found", 2, "suite directory not found")
    paths = fixtures_under(tree, suite)
    if not paths:
        return ended("not-found", 2, "no task.yaml found under the suite folder", "U-NO-FIXTURES")
    seen: list[Seen] = []
    for path in paths:
        content = tree[path]
        if isinstance(content, Node):
            return ended("crash", 1, f"uncaught IsADirectoryError at {path}", "X-CRASH")
        try:
            text = content().decode("utf-8")
        except UnicodeDecodeError:
            said = (
                "uncaught UnicodeDecodeError while files are being sorted by kind; "
                "no report on any file"
            )
            return ended("crash", 1, said, "X-CRASH")
        seen.append(Seen(path, read_lines(text)))
    seen.sort(key=lambda one: one.kind == TRAJECTORY)
    objections = tuple(
        Objection(code, gist, str(one.path)) for one in seen for code, gist in objections_to(one)
    )
    if objections:
        return Outcome("invalid", 1, "stderr", objections, tuple(seen))
    written = None if validate_only else report
    return Outcome("valid", 0, "stdout", (), tuple(seen), written)


def ended(verdict: str, code: int, gist: str, name: str = "") -> Outcome:
    """An end before any file was checked."""
    return Outcome(verdict, code, "stderr", (Objection(name, gist),))


def fixtures_under(tree: Tree, suite: PurePosixPath) -> list[PurePosixPath]:
    """Every path called task.yaml below the folder, in path order; links are not followed."""
    links = [path for path, node in tree.items() if node is Node.LINK]
    return sorted(
        path
        for path in tree
        if path.name == FIXTURE_NAME
        and path.is_relative_to(suite)
        and not any(link != path and path.is_relative_to(link) for link in links)
    )


def read_lines(text: str) -> dict[str, str]:
    """Fields as the runner's line reader finds them: names at the margin, the last one wins."""
    fields: dict[str, str] = {}
    for raw in text.splitlines():
        line = raw.rstrip()
        if not line or line.lstrip().startswith("#"):
            continue
        found = FIELD_LINE.fullmatch(line)
        if found is not None:
            fields[found[1]] = unquoted(found[2].strip())
    return fields


def unquoted(value: str) -> str:
    """The value without one pair of equal quotes around it; nothing inside is looked at."""
    if len(value) >= 2 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def objections_to(seen: Seen) -> Objections:
    """The errors of one file in the order printed."""
    return journey_errors(seen) if seen.kind == TRAJECTORY else single_errors(seen)


def single_errors(seen: Seen) -> Objections:
    """The rules of a single task."""
    fields = seen.fields
    yield from missing(fields, SINGLE_REQUIRED)
    yield from refused(fields, "class", CLASSES, "R-CLASS")
    yield from refused(fields, "expected_boundary", BOUNDARIES, "R-BOUNDARY")
    yield from refused(fields, "visibility", VISIBILITIES, "R-VISIBILITY")
    yield from wrong_folder(seen)
    if fields.get("class") == "adversarial" and not fields.get("adversarial_intent"):
        yield "R-ADV-INTENT", "adversarial class without adversarial_intent"


def journey_errors(seen: Seen) -> Objections:
    """The rules of a trajectory."""
    fields = seen.fields
    yield from missing(fields, TRAJECTORY_REQUIRED)
    yield from wrong_folder(seen)
    yield from refused(fields, "path", PATHS, "R-PATH")
    yield from refused(fields, "terminal_state", TERMINAL_STATES, "R-TERMINAL")
    yield from refused(fields, "visibility", VISIBILITIES, "R-VISIBILITY")
    for name in ("phases", "skipped_phases"):
        for entry in entries(fields, name):
            yield from phase_error(name, entry)
    for name in ("gates", "skipped_gates"):
        for entry in entries(fields, name):
            yield from gate_error(name, entry)
    if fields.get("path") == "full":
        yield from full_path_errors(fields)


def missing(fields: Mapping[str, str], required: tuple[str, ...]) -> Objections:
    """Required fields that are absent or empty text."""
    for name in required:
        if not fields.get(name):
            yield "R-MISSING", f"required field absent or empty: {name}"


def refused(fields: Mapping[str, str], name: str, words: tuple[str, ...], code: str) -> Objections:
    """A word outside its list."""
    value = fields.get(name)
    if value and value not in words:
        yield code, f"{name} value refused: {value}"


def wrong_folder(seen: Seen) -> Objections:
    """An id that is not the name of the folder, which is empty where the path names none."""
    value, folder = seen.fields.get("id"), seen.path.parent.name
    if value and value != folder:
        named = f"directory {folder}" if folder else "an empty directory name"
        yield "R-ID-DIR", f"id {value} differs from {named}"


def entries(fields: Mapping[str, str], name: str) -> list[str]:
    """The entries of a bar list."""
    return [entry.strip() for entry in fields.get(name, "").split("|") if entry.strip()]


def phase_error(name: str, entry: str) -> Objections:
    """At most one error of a phase entry."""
    found = PHASE_ENTRY.fullmatch(entry)
    if found is None:
        yield "R-PHASE-FORMAT", f"{name}: entry lacks the number-colon-name form: {cut(entry)}"
        return
    number, label = found[1], found[2].strip()
    if number not in PHASES:
        yield "R-PHASE-UNKNOWN", f"{name}: no phase has number {number}"
        return
    if name == "skipped_phases":
        # The last colon-space parts name and reason, so a reason that holds one is cut wrongly.
        label, parted, _ = label.rpartition(": ")
        if not parted:
            yield "R-SKIP-REASON", f"{name}: phase {number} has no reason"
            return
    if label.strip() != PHASES[number]:
        gist = f"{name}: phase {number} carries the wrong name: {cut(label.strip())}"
        yield "R-PHASE-LABEL", gist


def gate_error(name: str, entry: str) -> Objections:
    """At most one error of a gate entry."""
    found = GATE_ENTRY.fullmatch(entry)
    if found is None:
        yield "R-GATE-FORMAT", f"{name}: entry lacks the gate-number-colon form: {cut(entry)}"
    elif found[1] not in GATES:
        yield "R-GATE-UNKNOWN", f"{name}: no gate is called {found[1]}"
    elif name == "gates":
        _, parted, verdict = found[2].rpartition(":")
        verdict = verdict.strip()
        if not parted:
            yield "R-GATE-VERDICT-MISSING", f"{name}: {found[1]} has no verdict part"
        elif verdict not in VERDICTS:
            said = verdict or "(empty)"
            yield "R-GATE-VERDICT", f"{name}: verdict {said} of {found[1]} refused"


def full_path_errors(fields: Mapping[str, str]) -> Objections:
    """Coverage, which is looked at on the full path alone; a wrong name or verdict still counts."""
    numbers = {found[1] for entry in entries(fields, "phases") if (found := numbered(entry))}
    ids = {found[1] for entry in entries(fields, "gates") if (found := GATE_ENTRY.fullmatch(entry))}
    absent = [number for number in PHASES if number not in numbers]
    if fields.get("phases") and absent:
        yield "R-FULL-PHASES", f"full path without phases {absent}"
    without = [gate for gate in GATES if gate not in ids]
    if fields.get("gates") and without:
        yield "R-FULL-GATES", f"full path without gates {without}"
    if not fields.get("final_head_sha"):
        yield "R-FULL-SHA", "full path without final_head_sha"


def numbered(entry: str) -> re.Match[str] | None:
    """A phase entry taken apart."""
    return PHASE_ENTRY.fullmatch(entry)


def cut(text: str, most: int = 90) -> str:
    """A text, its end replaced by its whole length where it is longer than `most`."""
    return text if len(text) <= most else f"{text[: most - 12]}…[{len(text)} chars]"
