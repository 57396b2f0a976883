"""What the original's own corpus validator would say, also where it would crash.

The checks run in the validator's order on compiled, grading-free and bucket lists together. Where
the original ends with an uncaught exception, so does this list of findings, and the exception is
told: later findings are lost there too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import PurePosixPath
from typing import Any

from academy.bundle import JSON
from academy.errors import FormatError, Problem, Severity
from academy.formats.mypcbench.layout import SHARD_END
from academy.formats.mypcbench.schemas import Form, schema_errors, schema_of
from academy.formats.reading import Files, read_json

TOLERANCE = Decimal("0.001")
TEMPLATE = re.compile(r"\$\{[A-Za-z_]+\}")
SHARED_KEYS = ("instruction", "grading", "category", "difficulty")
CUT = 120
SHOWN = 5
CRASHES = (KeyError, TypeError, AttributeError, InvalidOperation)
GRADED = "all_tasks_with_grading.json"
UNGRADED = "all_tasks.json"


@dataclass(slots=True)
class Outcome:
    """What the validator prints and how it ends. `summary` is None when it crashed."""

    failures: list[str] = field(default_factory=list)
    crashed: str | None = None
    summary: str | None = None

    @property
    def exit_code(self) -> int:
        """0 for a corpus without findings, else 1."""
        return int(bool(self.failures) or self.crashed is not None)


def validate(
    graded: Any,
    ungraded: Any,
    shards: Mapping[str, Any],
    form: Form | None,
    *,
    root: str = "<root>",
) -> Outcome:
    """Run every check on decoded files. `form` is None where no schema can be checked.

    `shards` holds the bucket files by their path from the root of the checkout.
    """
    outcome = Outcome()
    try:
        for failure in _findings(graded, ungraded, shards, form, root):
            outcome.failures.append(failure)
        items = sum(len(task["grading"]["rubrics"]) for task in graded)
        found = f"{len(outcome.failures)} FAILURES" if outcome.failures else "GREEN"
        outcome.summary = f"checked {len(graded)} tasks, {items} rubric items: {found}"
    except CRASHES as error:
        outcome.crashed = f"{type(error).__name__}: {error}"
    return outcome


def _findings(
    graded: Any, ungraded: Any, shards: Mapping[str, Any], form: Form | None, root: str
) -> Iterator[str]:
    ids = [task["id"] for task in graded]
    if len(set(ids)) < len(ids):
        yield "duplicate ids in graded bundle"
    if len(ungraded) != len(graded):
        yield f"bundle size mismatch: graded={len(graded)} ungraded={len(ungraded)}"
    bare = [{key: value for key, value in task.items() if key != "grading"} for task in graded]
    if bare != ungraded:
        yield "ungraded bundle != graded bundle minus grading"
    yield from _shard_findings(graded, shards, root)
    if form is not None:
        for task in graded:
            for error in schema_errors(task, form)[:1]:
                yield f"{task['id']}: schema violation: {error.message[:CUT]}"
    for task in graded:
        yield from _task_findings(task)


def _shard_findings(graded: Any, shards: Mapping[str, Any], root: str) -> Iterator[str]:
    compiled = {task["id"]: task for task in graded}
    met: set[Any] = set()
    for path in sorted(shards):
        for task in shards[path]:
            name = task["id"]
            if name in met:
                yield f"{name} appears in more than one shard"
            met.add(name)
            twin = compiled.get(name)
            if twin is None:
                yield f"{name} in shard {root}/{path} missing from graded bundle"
                continue
            for key in SHARED_KEYS:
                if key in task and task[key] != twin.get(key):
                    yield f"{name}: shard/bundle mismatch on {key} ({path})"
    absent = set(compiled) - met
    if absent:
        yield f"bundle tasks missing from shards: {sorted(absent)[:SHOWN]}..."


def _task_findings(task: Any) -> Iterator[str]:
    rubrics = task["grading"]["rubrics"]
    total: Any = sum(Decimal(str(rubric["weight"])) for rubric in rubrics)
    if abs(total - 1) > TOLERANCE:
        yield f"{task['id']}: weights sum to {total}"
    texts = [rubric["criterion"] for rubric in rubrics]
    if len(set(texts)) < len(texts):
        yield f"{task['id']}: duplicate criterion text"
    told = json.dumps({"instruction": task.get("instruction"), "grading": task.get("grading")})
    if TEMPLATE.search(told):
        yield f"{task['id']}: unresolved ${{VAR}} template in instruction/grading"


def compatibility(files: Files) -> tuple[Problem, ...]:
    """The validator's findings for every checkout among the files, and its verdict as a note."""
    problems: list[Problem] = []
    for path in files:
        if path.name == GRADED and path.parent.name in ("final", ""):
            problems += _checkout(files, path)
    if not problems:
        problems.append(
            Problem(
                "",
                "validator-not-run",
                f"The original's validator needs {GRADED} in a folder final; it would stop.",
                severity=Severity.INFO,
            )
        )
    return tuple(problems)


def _checkout(files: Files, graded: PurePosixPath) -> Sequence[Problem]:
    """The findings for one compiled list with the files around it."""
    final = graded.parent
    name = str(graded)
    paths = [graded, final / UNGRADED]
    shards = [
        path for path in files if path.parent.parent == final and path.name.endswith(SHARD_END)
    ]
    read: dict[PurePosixPath, JSON] = {}
    for path in (*paths, *shards):
        if path not in files:
            stop = f"FileNotFoundError: the original's validator stops without {path.name}"
            return [Problem(name, "validator-crash", stop, severity=Severity.WARNING)]
        try:
            read[path] = read_json(files[path], path=str(path))
        except FormatError as error:
            return list(error.problems)
    root = final.parent.parent
    form = form_of(files, final.parent / "schema.json")
    outcome = validate(
        read[graded],
        read[final / UNGRADED],
        {str(path.relative_to(root)): read[path] for path in shards},
        form,
    )
    found = [
        Problem(name, "validator", failure, severity=Severity.WARNING)
        for failure in outcome.failures
    ]
    if outcome.crashed:
        told = f"The original's validator crashes here, and says no more: {outcome.crashed}"
        found.append(Problem(name, "validator-crash", told, severity=Severity.WARNING))
    else:
        told = f"{outcome.summary} ({form} form of the schema; exit {outcome.exit_code})"
        found.append(Problem(name, "validator-summary", told, severity=Severity.INFO))
    return found


def form_of(files: Files, path: PurePosixPath) -> Form:
    """Which form the checkout's own schema is; the strict one where that cannot be told."""
    if path not in files:
        return Form.STRICT
    try:
        given = read_json(files[path], path=str(path))
    except FormatError:
        return Form.STRICT
    return Form.PAPER if _bare(given) == _bare(schema_of(Form.PAPER)) else Form.STRICT


def _bare(value: object) -> object:
    """A schema without the words that change no verdict."""
    if isinstance(value, Mapping):
        words = ("$schema", "title", "description", "default")
        return {
            key: _bare(part)
            for key, part in value.items()
            if key not in words or isinstance(part, Mapping)
        }
    return [_bare(part) for part in value] if isinstance(value, list) else value
