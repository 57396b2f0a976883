"""The reference verdict: what the original's validator, version 0.3.0, says of a document.

It never looks at a JSON Schema. It parses strictly, reads with forgiving models, and then checks
the place in the datastore, the companion file, the bounds of scores and the deployment axes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from academy.bundle import JSON
from academy.formats.every_eval_ever.lax import Fault, Place
from academy.formats.every_eval_ever.paths import datastore_problem
from academy.formats.every_eval_ever.reference_companions import (
    Rows,
    check_aggregate_beside,
    check_companion,
)
from academy.formats.every_eval_ever.reference_models import AGGREGATE, INSTANCE
from academy.formats.every_eval_ever.reference_scores import check_axes, check_folder, check_scores
from academy.formats.every_eval_ever.reference_values import (
    Finding,
    ReferenceVerdict,
    decode,
    named,
    parse_strictly,
    rule_broken,
)

SHOWN_ERRORS = 50


def notation(place: Place) -> str:
    """A place as the original writes it."""
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f"{' -> ' if text else ''}{part}"
    return text or "(root)"


def found(faults: Iterator[Fault], lead: str = "") -> list[Finding]:
    """Faults of models as findings."""
    return [Finding(lead + notation(place), kind) for place, kind in faults]


def syntax_finding(error: ValueError, place: str, line: int | None = None) -> Finding:
    """A finding for text that is no strict JSON."""
    if isinstance(error, json.JSONDecodeError):
        place = f"line {line or error.lineno}, col {error.colno}"
    return Finding(place, "json_parse_error", str(error))


def judge_row(text: str, line: int = 1) -> tuple[list[Finding], JSON]:
    """What the original finds in one line, and the value of the line if there is one."""
    try:
        value = parse_strictly(text)
    except ValueError as error:
        return [syntax_finding(error, f"line {line}", line)], None
    return found(INSTANCE(value, ()), f"line {line} -> "), value


def judge_rows(data: bytes) -> tuple[list[Finding], Rows]:
    """What the original finds in a file of rows by itself; at most fifty errors."""
    try:
        lines = decode(data).split("\n")
    except ValueError as error:
        return [syntax_finding(error, "(file)")], Rows(0, frozenset(), frozenset(), sound=False)
    errors: list[Finding] = []
    count = 0
    evaluations: set[str] = set()
    models: set[str] = set()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        count += 1
        findings, value = judge_row(line.strip(), number)
        if isinstance(value, Mapping):
            evaluations.add(named(value.get("evaluation_id")))
            models.add(named(value.get("model_id")))
        errors.extend(findings)
        if len(errors) >= SHOWN_ERRORS:
            errors = [*errors[:SHOWN_ERRORS], Finding("(truncated)", "truncated")]
            break
    return errors, Rows(count, frozenset(evaluations), frozenset(models), sound=not errors)


def judge_aggregate_alone(data: bytes) -> tuple[list[Finding], JSON]:
    """What parser and models find in an aggregate, and its value if there is one."""
    try:
        value = parse_strictly(decode(data))
    except ValueError as error:
        return [syntax_finding(error, "(json)")], None
    return found(AGGREGATE(value, ())), value


def judge_aggregate(path: str, files: Mapping[str, bytes]) -> ReferenceVerdict:
    """What the original finds in an aggregate at its place, with all its checks."""
    errors, value = judge_aggregate_alone(files[path])
    if errors and value is None and errors[0].type == "json_parse_error":
        return ReferenceVerdict(tuple(errors))
    problem = datastore_problem(path)
    if problem:
        errors.append(rule_broken(f"the path {problem}"))
    warnings: list[Finding] = []
    if isinstance(value, Mapping):
        errors += check_companion(path, value, files)
        errors += check_scores(value)
        errors += check_axes(value)
        if not problem:
            warnings = check_folder(path, value)
    return ReferenceVerdict(tuple(errors), tuple(warnings))


def judge_samples(path: str, files: Mapping[str, bytes]) -> ReferenceVerdict:
    """What the original finds in a file of rows at its place, with all its checks."""
    errors, rows = judge_rows(files[path])
    problem = datastore_problem(path)
    if problem:
        errors.append(rule_broken(f"the path {problem}"))
    errors += check_aggregate_beside(path, rows, files)
    return ReferenceVerdict(tuple(errors))


def judge_file(path: str, files: Mapping[str, bytes]) -> ReferenceVerdict:
    """The reference verdict on one file among others of a datastore."""
    if path.endswith(".json"):
        return judge_aggregate(path, files)
    if path.endswith(".jsonl"):
        return judge_samples(path, files)
    return ReferenceVerdict((Finding("(file)", "unsupported_extension"),))
