"""The original's checks between an aggregate and the file of rows beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from academy.bundle import JSON
from academy.formats.every_eval_ever.paths import (
    aggregate_path,
    datastore_problem,
    samples_path,
)
from academy.formats.every_eval_ever.reference_values import (
    Finding,
    decode,
    named,
    parse_strictly,
    rule_broken,
)


@dataclass(frozen=True, slots=True)
class Rows:
    """What the companion check knows of a file of rows; `sound` says that no row has a fault."""

    count: int
    evaluation_ids: frozenset[str]
    model_ids: frozenset[str]
    sound: bool = True


def companion_path(path: str, aggregate: Mapping[str, JSON]) -> tuple[str | None, list[Finding]]:
    """The companion that an aggregate declares, or what is wrong with the declaration."""
    detail = aggregate.get("detailed_evaluation_results")
    if detail is None:
        return None, []
    if not isinstance(detail, Mapping):
        return None, [rule_broken("detailed_evaluation_results must be an object")]
    place = "detailed_evaluation_results.file_path"
    declared = detail.get("file_path")
    if not isinstance(declared, str) or not declared.strip():
        return None, [rule_broken("names no companion", place)]
    if declared.strip() != samples_path(path):
        return None, [rule_broken(f"must be {samples_path(path)!r}, not {declared!r}", place)]
    return samples_path(path), []


def format_findings(detail: JSON) -> list[Finding]:
    """The only format of a companion is jsonl."""
    if isinstance(detail, Mapping) and detail.get("format") != "jsonl":
        return [rule_broken(f"the format must be 'jsonl', not {detail.get('format')!r}")]
    return []


def compare(aggregate: Mapping[str, JSON], rows: Rows) -> list[Finding]:
    """What does not agree between an aggregate and rows that have no fault."""
    if not rows.sound:
        return []
    errors = []
    if rows.count == 0:
        errors.append(rule_broken("the companion has no row"))
    if rows.evaluation_ids - {named(aggregate.get("evaluation_id"))}:
        errors.append(rule_broken("a row has another evaluation_id than the aggregate"))
    model = aggregate.get("model_info")
    if rows.model_ids - {named(model.get("id") if isinstance(model, Mapping) else None)}:
        errors.append(rule_broken("a row has another model_id than the aggregate"))
    detail = aggregate.get("detailed_evaluation_results")
    total = detail.get("total_rows") if isinstance(detail, Mapping) else None
    if isinstance(total, int) and total != rows.count:
        errors.append(rule_broken(f"total_rows is {total}, the companion has {rows.count} rows"))
    return errors


def rows_beside(data: bytes) -> Rows:
    """The rows as the check of the aggregate reads them. Raises ValueError.

    This reader cuts lines at every line end that Unicode knows, also inside of a string.
    """
    count = 0
    evaluations, models = set(), set()
    for line in decode(data).splitlines():
        if not line.strip():
            continue
        count += 1
        row = parse_strictly(line.strip())
        if not isinstance(row, Mapping):
            raise ValueError("a line holds no object")
        evaluations.add(named(row.get("evaluation_id")))
        models.add(named(row.get("model_id")))
    return Rows(count, frozenset(evaluations), frozenset(models))


def check_companion(
    path: str, aggregate: Mapping[str, JSON], files: Mapping[str, bytes]
) -> list[Finding]:
    """An aggregate and its rows must name each other and agree."""
    detail = aggregate.get("detailed_evaluation_results")
    if detail is None:
        beside = samples_path(path) in files
        return [rule_broken("the rows beside the aggregate are not declared")] if beside else []
    companion, errors = companion_path(path, aggregate)
    if companion is None:
        return errors
    place = "detailed_evaluation_results.file_path"
    if datastore_problem(companion):
        errors.append(rule_broken("the companion's path is no place of the datastore", place))
    errors.extend(format_findings(detail))
    if companion not in files:
        return [*errors, rule_broken("the companion is not there", place)]
    try:
        rows = rows_beside(files[companion])
    except ValueError as error:
        return [*errors, rule_broken(f"the companion cannot be read: {error}", place)]
    return errors + compare(aggregate, rows)


def check_aggregate_beside(path: str, rows: Rows, files: Mapping[str, bytes]) -> list[Finding]:
    """Rows need an aggregate beside them that points back."""
    beside = aggregate_path(path)
    if beside is None:
        return []
    if beside not in files:
        return [rule_broken(f"rows need the aggregate {beside!r} beside them")]
    try:
        aggregate = parse_strictly(decode(files[beside]))
    except ValueError as error:
        return [rule_broken(f"the aggregate cannot be read: {error}")]
    if not isinstance(aggregate, Mapping):
        return [rule_broken("the aggregate is no object")]
    detail = aggregate.get("detailed_evaluation_results")
    if detail is None:
        return [rule_broken("the aggregate does not declare these rows")]
    declared, errors = companion_path(beside, aggregate)
    if declared is None:
        return errors
    return format_findings(detail) + compare(aggregate, rows)
