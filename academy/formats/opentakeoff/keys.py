"""Answer keys: the shape inside a task, and the held-out key files of several raters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from academy.bundle import JSON, FileReport, FileStatus, KeyUpload, SuiteSpec, TaskSpec
from academy.errors import Problems
from academy.formats.opentakeoff.checking import read_checked
from academy.formats.opentakeoff.manifests import mapping, numeric
from academy.formats.reading import Files, line_of
from academy.scorers.ecmascript import plain_median

SUFFIX = ".groundtruth.json"
ORIGIN = "origin"
REPLACED = "replaced"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyMerge:
    """Task ids: given a key, left alone because they have one, and without any."""

    applied: tuple[str, ...]
    skipped: tuple[str, ...]
    missing: tuple[str, ...]


def is_key_file(path: PurePosixPath) -> bool:
    """Whether the original would read a held-out key from a file of this name."""
    return path.name.lower().endswith(SUFFIX)


def items(value: JSON) -> Sequence[JSON]:
    """A list, or an empty one for anything else."""
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()


def is_usable(key: JSON) -> bool:
    """Whether a key holds anything at all: quantities or scope items."""
    truth = mapping(key)
    return bool(items(truth.get("quantities")) or items(truth.get("scopeItems")))


def is_usable_for(metric: str, key: JSON) -> bool:
    """Whether a key holds what this metric is scored by."""
    name = "scopeItems" if metric == "scope-f1" else "quantities"
    return bool(items(mapping(key).get(name)))


def consensus(values: Sequence[float]) -> float | None:
    """The median of the finite values of several raters, or None when there are none."""
    finite = [value for value in values if math.isfinite(value)]
    return plain_median(finite) if finite else None


def rated(quantity: Mapping[str, JSON]) -> tuple[list[float], list[str]]:
    """The finite values of the raters and their names.

    As in the original, nameless raters leave no gap in the names, so that names and values of one
    quantity can get out of step.
    """
    values, names = [], []
    for rater in map(mapping, items(quantity.get("raters"))):
        value = numeric(rater.get("value"))
        if value is not None and math.isfinite(value):
            values.append(value)
            name = rater.get("by")
            if isinstance(name, str) and name:
                names.append(name)
    return values, names


def truth_of(document: Mapping[str, JSON]) -> dict[str, JSON]:
    """The key that a held-out key file makes of itself; all other fields of it stay behind.

    A quantity's own value is the truth, else the median of its raters. Two or more rater values
    are kept under `raters`, from which the agreement of people is worked out.
    """
    truth: dict[str, JSON] = {}
    spreads: list[JSON] = []
    if isinstance(document.get("quantities"), Sequence):
        quantities: list[JSON] = []
        for quantity in map(mapping, items(document["quantities"])):
            values, names = rated(quantity)
            kept = {name: quantity[name] for name in ("item", "unit") if name in quantity}
            value = numeric(quantity.get("value"))
            agreed = consensus(values) if value is None else value
            room = {"roomId": quantity["roomId"]} if quantity.get("roomId") else {}
            known = {} if agreed is None else {"value": agreed}
            quantities.append({**kept, **known, **room})
            if len(values) >= 2:
                spreads.append({**kept, "values": values, "by": names})
        truth["quantities"] = quantities
    if isinstance(document.get("scopeItems"), Sequence):
        truth["scopeItems"] = list(items(document["scopeItems"]))
    if spreads:
        truth["raters"] = spreads
    validated = document.get("validatedBy")
    validated = validated or mapping(document.get("provenance")).get("validatedBy")
    if validated:
        truth["validatedBy"] = validated
    return truth


def read_key(path: PurePosixPath, files: Files, problems: Problems) -> Mapping[str, JSON] | None:
    """One key file, or None when something is wrong with it. Messages never show a value."""
    read = read_checked("key", path, files, problems)
    if read is None or not read.is_sound(problems):
        return None
    for place, quantity in enumerate(items(truth_of(read.document).get("quantities"))):
        if "value" not in mapping(quantity):
            where = f"/quantities/{place}"
            problems.error(
                str(path),
                "key-without-value",
                "the quantity has neither a value nor a rater's value",
                line=line_of(read.data, where),
                pointer=where,
            )
    return read.document


def read_keys(files: Files) -> KeyUpload:
    """Every held-out key file of an upload.

    The original skips what it cannot read and lets the later of two keys for a task win; here
    both are errors. Raises FormatError.
    """
    problems = Problems()
    keys, reports = collect_keys(files, problems)
    if not keys and not problems.total:
        problems.error(".", "no-keys", f"no file of the upload has a name that ends in {SUFFIX}")
    problems.raise_if_any()
    known = {report.path for report in reports}
    rest = [
        FileReport(str(path), FileStatus.REFUSED, f"the name does not end in {SUFFIX}")
        for path in files
        if str(path) not in known
    ]
    ordered = sorted([*reports, *rest], key=lambda report: report.path)
    sources = {task_id: str(mapping(mapping(key)[ORIGIN])["path"]) for task_id, key in keys.items()}
    return KeyUpload(
        keys=keys, files=tuple(ordered), notices=tuple(problems.notices), sources=sources
    )


def collect_keys(files: Files, problems: Problems) -> tuple[dict[str, JSON], list[FileReport]]:
    """Keys by task id with the file they came from, and the reports of these files."""
    keys: dict[str, JSON] = {}
    origins: dict[str, str] = {}
    reports = []
    for path in filter(is_key_file, files):
        document = read_key(path, files, problems)
        if document is None:
            continue
        task_id = str(document["taskId"])
        if task_id in keys:
            problems.error(
                str(path),
                "double-key",
                f"a key for task {task_id!r} is in {origins[task_id]} already",
                pointer="/taskId",
            )
            continue
        origins[task_id] = str(path)
        origin: JSON = {"path": str(path), "document": document}
        keys[task_id] = {**truth_of(document), ORIGIN: origin}
        reports.append(FileReport(str(path), FileStatus.IMPORTED))
    return keys, reports


def with_own(key: JSON, own: JSON) -> JSON:
    """A held-out key that remembers the empty one it takes the place of, for the way back."""
    return key if own is None else {**mapping(key), REPLACED: own}


def merge_keys(suite: SuiteSpec, keys: Mapping[str, JSON]) -> tuple[SuiteSpec, KeyMerge]:
    """Give every task without a usable key the held-out one."""
    applied, skipped, missing = [], [], []
    tasks: list[TaskSpec] = []
    for task in suite.tasks:
        if is_usable(task.key):
            skipped.append(task.external_id)
            tasks.append(task)
        elif task.external_id in keys:
            applied.append(task.external_id)
            tasks.append(replace(task, key=with_own(keys[task.external_id], task.key)))
        else:
            missing.append(task.external_id)
            tasks.append(task)
    merge = KeyMerge(applied=tuple(applied), skipped=tuple(skipped), missing=tuple(missing))
    return replace(suite, tasks=tuple(tasks)), merge
