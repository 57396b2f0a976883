"""Trajectories: embedded in a row, or referred to as a member of the same upload."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

from academy.bundle import JSON, Event
from academy.canonical import sha256_hex
from academy.errors import FormatError, Problems
from academy.formats.every_eval_ever.values import (
    as_map,
    as_text,
)
from academy.formats.reading import Files, path_problem, read_json, read_jsonl, safe_path
from academy.formats.step_forms import listed_steps, step_list_events

REFERENCE = "module_reference"
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
SHA256 = re.compile(r"[0-9A-Fa-f]{64}")


def reference_of(row: Mapping[str, JSON]) -> Mapping[str, JSON] | None:
    """The reference that stands for a row's trajectory, if it is one."""
    trajectory = as_map(row.get("trajectory"))
    return trajectory if trajectory.get("type") == REFERENCE else None


class Trajectories:
    """Resolves references of rows to members of the upload, and checks each member once."""

    def __init__(self, files: Files, rows_path: str) -> None:
        self.files = files
        self.folder = PurePosixPath(rows_path).parent
        self.path = rows_path
        self.seen: dict[tuple[str, str], str] = {}
        self.used: dict[str, None] = {}
        self.last: tuple[str, JSON] = ("", None)

    def check(self, row: Mapping[str, JSON], line: int, problems: Problems) -> None:
        """Note what is wrong with a row's trajectory."""
        reference = reference_of(row)
        if reference is None:
            if "trajectory" in row and not events_of(as_map(row["trajectory"])):
                message = "no list of steps or events is found in the trajectory; it is not shown"
                problems.warn(
                    self.path, "trajectory-form", message, line=line, pointer="/trajectory"
                )
            return
        uri, sha256 = as_text(reference.get("uri")), as_text(reference.get("sha256"))
        if (uri, sha256) not in self.seen:
            self.seen[uri, sha256] = self.resolve(uri, sha256, line, problems)

    def resolve(self, uri: str, sha256: str, line: int, problems: Problems) -> str:
        """The member that a reference means, or an empty text."""
        place = "/trajectory/uri"
        if SCHEME.match(uri) and not uri.lower().startswith("file:"):
            message = f"{uri!r} lies elsewhere and is not fetched"
            problems.note(self.path, "trajectory-elsewhere", message, line=line, pointer=place)
            return ""
        if safe_path(uri) is None or SCHEME.match(uri):
            message = f"the path {uri!r} {path_problem(uri) or 'names no member of an upload'}"
            problems.error(self.path, "trajectory-path", message, line=line, pointer=place)
            return ""
        member = next((p for p in (self.folder / uri, PurePosixPath(uri)) if p in self.files), None)
        if member is None:
            message = f"{uri!r} is no member of this upload"
            problems.warn(self.path, "trajectory-missing", message, line=line, pointer=place)
            return ""
        return self.load(str(member), sha256, line, problems)

    def load(self, member: str, sha256: str, line: int, problems: Problems) -> str:
        """Check a member's digest and form."""
        data = self.files[member]
        place = "/trajectory/sha256"
        if sha256 and not SHA256.fullmatch(sha256):
            message = "a SHA-256 is 64 hexadecimal digits and nothing else"
            problems.error(self.path, "trajectory-sha256", message, line=line, pointer=place)
            return ""
        if sha256 and sha256_hex(data) != sha256.lower():
            message = f"{member} does not have the SHA-256 that the row tells"
            problems.error(self.path, "trajectory-sha256", message, line=line, pointer=place)
            return ""
        if member not in self.used:
            try:
                read_trajectory(data, member)
            except FormatError as error:
                problems.extend(error)
                return ""
        self.used[member] = None
        return member

    def value_of(self, member: str) -> JSON:
        """The trajectory in a member that was checked; only the last one is kept in memory."""
        if self.last[0] != member:
            self.last = (member, read_trajectory(self.files[member], member))
        return self.last[1]

    def beside(self, row: Mapping[str, JSON]) -> dict[str, JSON]:
        """The trajectory that a row refers to, by its uri, if it is a member that was checked."""
        reference = reference_of(row)
        if reference is None:
            return {}
        uri, sha256 = as_text(reference.get("uri")), as_text(reference.get("sha256"))
        member = self.seen.get((uri, sha256), "")
        return {uri: {"path": member, "value": self.value_of(member)}} if member else {}


def read_trajectory(data: bytes, path: str) -> JSON:
    """A trajectory document: JSON, or a list of events as lines. Raises FormatError."""
    if path.endswith((".jsonl", ".ndjson")):
        return [line.value for line in read_jsonl(data, path=path)]
    return read_json(data, path=path)


def events_of(trajectory: JSON) -> tuple[JSON, ...]:
    """The list of steps or events of a trajectory, wherever a known form keeps it."""
    return tuple(listed_steps(trajectory)[0])


def trajectory_events(trajectory: JSON, source: str = "") -> Iterator[Event]:
    """Steps as the viewer shows them, not yet numbered; steps of the Agent Trajectory Interchange
    Format are taken apart into thoughts, message, tool calls and observations."""
    listed, place = listed_steps(trajectory, source)
    yield from step_list_events(listed, place)
