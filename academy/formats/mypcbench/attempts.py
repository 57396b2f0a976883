"""Result folders: which folders are attempts, what they hold, and which run they belong to."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.reading import Files, read_json, read_jsonl, read_text

BUNDLE = "rubric_bundle.json"
TRAJECTORY = "traj.jsonl"
FULL_TRAJECTORY = "osworld_full_traj_result.json"
PER_STEP = "rubric_result.json"
GRADED = "rubric_judge_result.json"
DONE = "result.txt"
INCOMPLETE = "incomplete.txt"
VERDICTS = (FULL_TRAJECTORY, PER_STEP, GRADED)
MARKERS = frozenset({BUNDLE, DONE, INCOMPLETE, *VERDICTS})
ATTEMPT_FILES = MARKERS | {TRAJECTORY, "messages.json", "usage.json"}
RUN_FILES = frozenset({"scores.json", "summary.json"})
MACHINE = re.compile(r"vm\d+")
SCREENSHOT = re.compile(r"step_.+\.(png|jpe?g|webp)")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One folder of results. `folder` is its path within the run, such as `vm0/retrieval-f001`."""

    root: PurePosixPath
    folder: PurePosixPath
    files: tuple[PurePosixPath, ...]
    artifacts: tuple[PurePosixPath, ...]

    @property
    def place(self) -> PurePosixPath:
        """The folder within the upload."""
        return self.root / self.folder


@dataclass(slots=True)
class RunFolder:
    """A result folder: its attempts and the files about the whole run."""

    root: PurePosixPath
    attempts: list[Attempt]
    run_files: list[PurePosixPath]


def claims_run(files: Files) -> bool:
    """Whether these look like result folders: a file that only this format has, or its markers."""
    names: dict[PurePosixPath, set[str]] = {}
    for path in files:
        if path.name in (BUNDLE, FULL_TRAJECTORY, GRADED):
            return True
        names.setdefault(path.parent, set()).add(path.name)
    pairs = ({DONE, TRAJECTORY}, {DONE, INCOMPLETE})
    return any(pair <= held for held in names.values() for pair in pairs)


def find_runs(paths: Iterable[PurePosixPath]) -> tuple[list[RunFolder], dict[PurePosixPath, str]]:
    """Every run of an upload, and why the files that are no part of one are not loaded."""
    listed = sorted(paths)
    folders = {path.parent for path in listed if path.name in MARKERS}
    runs: dict[PurePosixPath, RunFolder] = {}
    reasons: dict[PurePosixPath, str] = {}
    members: dict[PurePosixPath, list[PurePosixPath]] = {folder: [] for folder in folders}
    outside = []
    for path in listed:
        folder = next((parent for parent in path.parents if parent in folders), None)
        if folder is None:
            outside.append(path)
        else:
            members[folder].append(path)
    for folder in sorted(folders):
        attempt = _attempt_of(folder, members[folder], reasons)
        runs.setdefault(attempt.root, RunFolder(attempt.root, [], [])).attempts.append(attempt)
    for path in outside:
        root = _run_root(path.parent)
        if path.name in RUN_FILES and root in runs:
            runs[root].run_files.append(path)
        else:
            reasons[path] = _outside_reason(path)
    return [runs[root] for root in sorted(runs)], reasons


def _run_root(parent: PurePosixPath) -> PurePosixPath:
    """The run's folder for the parent of an attempt: the parallel runner puts `vm<i>` between."""
    return parent.parent if MACHINE.fullmatch(parent.name) else parent


def _outside_reason(path: PurePosixPath) -> str:
    if path.name == TRAJECTORY:
        return "no attempt: the folder has no bundle, result.txt or incomplete.txt"
    return "no part of an attempt"


def _attempt_of(
    folder: PurePosixPath, members: Iterable[PurePosixPath], reasons: dict[PurePosixPath, str]
) -> Attempt:
    own, artifacts = [], []
    for path in members:
        within = path.relative_to(folder)
        if len(within.parts) == 1 and path.name in ATTEMPT_FILES:
            own.append(path)
        elif SCREENSHOT.fullmatch(path.name) or within.parts[0] == "context":
            artifacts.append(path)
            reasons[path] = "an artifact of the attempt; the record refers to it by name"
        else:
            reasons[path] = "no file of this format"
    root = _run_root(folder.parent)
    return Attempt(root, folder.relative_to(root), tuple(own), tuple(artifacts))


def read_attempt(files: Files, attempt: Attempt, problems: Problems) -> dict[str, Any]:
    """The attempt as one document; what cannot be read is noted and left out."""
    contents: dict[str, JSON] = {}
    for path in attempt.files:
        try:
            contents[path.name] = read_member(files, path)
        except FormatError as error:
            problems.extend(error)
    return {
        "folder": str(attempt.folder),
        "files": contents,
        "artifacts": [str(path.relative_to(attempt.place)) for path in attempt.artifacts],
    }


def read_member(files: Files, path: PurePosixPath) -> JSON:
    """A native file's value: text for .txt, a list of lines for .jsonl, else the JSON document."""
    if path.suffix == ".txt":
        return read_text(files[path], path=str(path))
    if path.suffix == ".jsonl":
        if not files[path].strip():
            return []
        with files.open(path) as stream:
            return [line.value for line in read_jsonl(stream, path=str(path))]
    return read_json(files[path], path=str(path))


def write_member(name: str, value: Any) -> bytes:
    """The bytes of a native file for the value that `read_member` gave."""
    if name.endswith(".txt"):
        return str(value).encode()
    if name.endswith(".jsonl"):
        return b"".join(f"{json.dumps(line)}\n".encode() for line in value)
    return f"{json.dumps(value, indent=2)}\n".encode()


def bundle_of(document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rubric bundle of an attempt's document, empty when there is none."""
    bundle = document["files"].get(BUNDLE)
    return bundle if isinstance(bundle, Mapping) else {}


def member(value: object, *keys: str) -> Any:
    """A value below objects, or None where one of the keys is missing or no object is there."""
    for key in keys:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value
