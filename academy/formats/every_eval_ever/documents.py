"""Finds the records of an upload: aggregates, the rows beside them, indexes, and the rest."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from academy.bundle import JSON
from academy.errors import FormatError, Problems
from academy.formats.every_eval_ever.faults import report_faults
from academy.formats.every_eval_ever.hashing import duplicate_digest
from academy.formats.every_eval_ever.metrics import Result, read_results
from academy.formats.every_eval_ever.paths import SAMPLES_SUFFIX, datastore_problem
from academy.formats.every_eval_ever.upgrading import Changes, Record, upgrade_aggregate
from academy.formats.every_eval_ever.values import as_map, as_text
from academy.formats.every_eval_ever.versions import (
    AGGREGATE_SCHEMAS,
    aggregate_version,
    said_version,
)
from academy.formats.reading import Files, check_text, read_json

HEAD = 64 * 1024
ROW_MARKS = (b'"sample_id"', b'"evaluation_name"', b'"evaluation"')
INDEX_MARKS = (b'"object_uuid"', b'"object_path"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """An aggregate as it was read: its own text, the form of 0.3.0, its results and its rows."""

    path: str
    text: str
    version: str
    record: Record
    changes: Changes
    results: tuple[Result, ...]
    digest: str
    rows: str = ""
    declared: JSON = None

    @property
    def evaluation_id(self) -> str:
        """The id that rows repeat."""
        return as_text(self.record.get("evaluation_id"))

    @property
    def model_id(self) -> str:
        """The model's id that rows repeat."""
        return as_text(as_map(self.record.get("model_info")).get("id"))


@dataclass(slots=True)
class Catalog:
    """The members of an upload by what they are. `others` says why a member is not loaded."""

    aggregates: list[str] = field(default_factory=list)
    rows: list[str] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    others: dict[str, str] = field(default_factory=dict)


def has_marks(head: bytes, marks: tuple[bytes, ...]) -> bool:
    """Whether all these names of members occur."""
    return all(mark in head for mark in marks)


def is_aggregate(head: bytes) -> bool:
    """Whether the start of a file looks like an aggregate."""
    if b'"evaluation_id"' not in head or b'"sample_id"' in head.split(b'"evaluation_id"')[0]:
        return False
    return b'"schema_version"' in head and (
        b'"evaluation_results"' in head or b'"retrieved_timestamp"' in head
    )


def sort_member(files: Files, path: PurePosixPath, catalog: Catalog) -> None:
    """Put one member where it belongs."""
    name = str(path)
    if path.suffix not in (".json", ".jsonl"):
        catalog.others[name] = "not a record of Every Eval Ever"
        return
    head = files.head(path, HEAD)
    if path.suffix == ".json":
        if is_aggregate(head):
            catalog.aggregates.append(name)
        elif b'"interaction_type"' in head and has_marks(head, ROW_MARKS):
            catalog.others[name] = "a row by itself; rows are loaded from files of lines"
        else:
            catalog.others[name] = "not a record of Every Eval Ever"
        return
    first = head.lstrip(b" \t\r\n").split(b"\n")[0]
    if b'"interaction_type"' in first or has_marks(first, ROW_MARKS):
        catalog.rows.append(name)
    elif has_marks(first, INDEX_MARKS):
        catalog.indexes.append(name)
    elif is_aggregate(first):
        catalog.others[name] = "aggregates as lines; they are loaded from files of their own"
    elif path.name.endswith(SAMPLES_SUFFIX):
        catalog.rows.append(name)
    else:
        catalog.others[name] = "not a record of Every Eval Ever"


def catalog_of(files: Files) -> Catalog:
    """Every member by what it is."""
    catalog = Catalog()
    for path in files:
        sort_member(files, path, catalog)
    return catalog


def claims(files: Files) -> bool:
    """Whether any member is a record of this format. Cheap, and never raises."""
    for path in files:
        catalog = Catalog()
        sort_member(files, path, catalog)
        rows = [name for name in catalog.rows if has_marks(files.head(name, HEAD), ROW_MARKS)]
        if catalog.aggregates or rows or catalog.indexes:
            return True
    return False


def rows_of(path: str, value: Mapping[str, JSON], catalog: Catalog) -> str:
    """The file of rows that belongs to an aggregate: the one it names, else the one beside it."""
    here = PurePosixPath(path)
    beside = str(here.with_name(f"{here.stem}{SAMPLES_SUFFIX}"))
    declared = as_text(as_map(value.get("detailed_evaluation_results")).get("file_path")).strip()
    named = PurePosixPath(declared).name
    for candidate in catalog.rows:
        if declared and (candidate == declared or candidate.endswith(f"/{declared}")):
            return candidate
    for candidate in (beside, str(here.with_name(named)) if named else beside):
        if candidate in catalog.rows:
            return candidate
    return ""


def datastore_tail(path: str) -> str:
    """The part of a path that could be a place of the datastore: from the last `data` on."""
    parts = path.split("/")
    starts = [at for at, part in enumerate(parts) if part == "data" and len(parts) - at == 5]
    return "/".join(parts[starts[-1] :]) if starts else path


def read_document(files: Files, path: str, catalog: Catalog, problems: Problems) -> Document | None:
    """One aggregate, or None when it is refused; every reason is noted."""
    try:
        data = files[path]
        value = read_json(data, path=path)
    except FormatError as error:
        problems.extend(error)
        return None
    if not isinstance(value, Mapping):
        problems.error(path, "schema-type", "an aggregate is an object", line=1)
        return None
    version = aggregate_version(value)
    said = said_version(value)
    if said not in AGGREGATE_SCHEMAS and isinstance(value.get("schema_version"), str):
        message = f"{said!r} is no version in circulation; read as {version}"
        problems.warn(path, "unknown-version", message, pointer="/schema_version")
    schema = AGGREGATE_SCHEMAS[version]
    if not report_faults(value, schema, path=path, problems=problems, data=data):
        return None
    record, changes = upgrade_aggregate(value, version)
    if not has_clean_names(record, path, problems):
        return None
    for what, number in changes.counts.items():
        times = f" ({number} times)" if number > 1 else ""
        problems.note(path, "upgraded", f"{what}{times}", pointer=changes.places[what])
    problem = datastore_problem(datastore_tail(path))
    if problem:
        problems.note(path, "datastore-path", f"the datastore would refuse this path: it {problem}")
    return Document(
        path=path,
        text=data.decode(),
        version=version,
        record=record,
        changes=changes,
        results=read_results(record, path=path, problems=problems),
        digest=duplicate_digest(value),
        rows=rows_of(path, value, catalog),
        declared=value.get("detailed_evaluation_results"),
    )


def names_in(record: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    """What of an aggregate becomes ids, names and labels, with pointers."""
    yield "/evaluation_id", as_text(record.get("evaluation_id"))
    model = as_map(record.get("model_info"))
    for name in ("id", "name", "developer"):
        yield f"/model_info/{name}", as_text(model.get(name))
    results = record.get("evaluation_results")
    for index, item in enumerate(results if isinstance(results, list) else ()):
        place = f"/evaluation_results/{index}"
        result = as_map(item)
        for name in ("evaluation_name", "evaluation_result_id"):
            yield f"{place}/{name}", as_text(result.get(name))
        for part, names in (
            ("source_data", ("dataset_name", "hf_split")),
            ("metric_config", ("metric_id", "metric_name", "metric_unit")),
        ):
            for name in names:
                yield f"{place}/{part}/{name}", as_text(as_map(result.get(part)).get(name))


def has_clean_names(record: Mapping[str, JSON], path: str, problems: Problems) -> bool:
    """Whether no name holds what no text column can; lists every one that does."""
    checks = [
        check_text(text, path=path, pointer=place, problems=problems)
        for place, text in names_in(record)
    ]
    return all(checks)
