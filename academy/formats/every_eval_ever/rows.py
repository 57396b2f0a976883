"""Streams rows as groups: the lines that one execution of one sample was written as."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec

from academy.bundle import JSON
from academy.formats.every_eval_ever.hashing import canonical_json_hash
from academy.formats.every_eval_ever.joining import Join, Joined
from academy.formats.every_eval_ever.row_upgrading import upgrade_row
from academy.formats.every_eval_ever.upgrading import Changes
from academy.formats.every_eval_ever.values import as_map, as_text, texts_of
from academy.formats.reading import Files, read_json, read_jsonl

# What may differ between the lines of one execution: which metric they tell, and its value.
EVALUATION_FIELDS = frozenset({"evaluation", "evaluation_name", "evaluation_result_id"})
# lm-eval writes one line per filter, and each filter extracts an answer of its own.
FILTERED_FIELDS = frozenset({"answer_attribution"})
FILTERED_METADATA = frozenset({"filter", "lm_eval_metrics"})
REPLICATES = ("epoch", "replicate", "attempt")
HASH_LENGTH = 16
ID_LENGTH = 200
ENCODER = msgspec.json.Encoder(order="sorted")


@dataclass(frozen=True, slots=True)
class Row:
    """One line: as it was written, in the form of 0.3.0, and what it joins."""

    number: int
    offset: int
    raw: bytes
    native: Mapping[str, JSON]
    value: Mapping[str, JSON]
    joined: Joined


@dataclass(frozen=True, slots=True)
class Key:
    """Which execution a row tells of: its data set's slug, task and replicate."""

    slug: str
    task: str
    replicate: int

    def digest(self) -> bytes:
        """A digest for the index of groups."""
        text = f"{self.slug}\0{self.replicate}\0{self.task}"
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


@dataclass(slots=True)
class Group:
    """Consecutive lines of one execution, and the digest of what they share."""

    key: Key
    rows: list[Row]
    digest: str


def sample_of(row: Mapping[str, JSON]) -> tuple[str, str, list[str]]:
    """Id, raw input and references of a row in the form of 0.3.0."""
    held = as_map(row.get("input"))
    return as_text(row.get("sample_id")), as_text(held.get("raw")), texts_of(held.get("reference"))


def task_id_of(row: Mapping[str, JSON]) -> str:
    """The id of a row's task: the sample's id and our own hash of what was asked and expected."""
    sample, raw, reference = sample_of(row)
    if len(sample) > ID_LENGTH:
        mark = hashlib.sha256(sample.encode("utf-8", "surrogatepass")).hexdigest()
        sample = f"{sample[: ID_LENGTH - 17]}~{mark[:16]}"
    return f"{sample}:{canonical_json_hash(raw, reference)[:HASH_LENGTH]}"


def replicate_of(row: Mapping[str, JSON]) -> int:
    """Which repetition a row says it is; 1 when it says none or no number from 1 on."""
    metadata = as_map(row.get("metadata"))
    for name in REPLICATES:
        said = metadata.get(name)
        text = said if isinstance(said, str) else str(said)
        if said is not None and text.isascii() and text.isdigit() and int(text[:9]) > 0:
            return int(text[:9])
    return 1


def shared_part(row: Mapping[str, JSON]) -> dict[str, JSON]:
    """A row without what may differ between the lines of one execution."""
    metadata = row.get("metadata")
    filtered = isinstance(metadata, Mapping) and "filter" in metadata
    dropped = EVALUATION_FIELDS | (FILTERED_FIELDS if filtered else frozenset())
    shared = {name: held for name, held in row.items() if name not in dropped}
    if filtered and isinstance(metadata, Mapping):
        kept = {name: held for name, held in metadata.items() if name not in FILTERED_METADATA}
        shared["metadata"] = kept
    return shared


def content_digest(row: Mapping[str, JSON]) -> str:
    """SHA-256 of what the lines of one execution share; the order of members does not matter."""
    try:
        encoded = ENCODER.encode(shared_part(row))
    except UnicodeEncodeError:
        encoded = repr(sorted(shared_part(row).items())).encode("utf-8", "backslashreplace")
    return hashlib.sha256(encoded).hexdigest()


def differing_fields(one: Mapping[str, JSON], other: Mapping[str, JSON]) -> list[str]:
    """The members in which two lines of one execution differ but must not."""
    left, right = shared_part(one), shared_part(other)
    return sorted(name for name in left.keys() | right.keys() if left.get(name) != right.get(name))


def read_rows(files: Files, path: str, join: Join) -> Iterator[Row]:
    """Every row of a file that has been checked before, one after the other."""
    with files.open(path) as stream:
        for line in read_jsonl(stream, path=path):
            native = as_map(line.value)
            value = upgrade_row(native, Changes())
            yield Row(line.number, line.offset, line.raw, native, value, join.find(value))


def parse_row(data: bytes, number: int, offset: int, path: str, join: Join) -> Row:
    """One line that has been checked before."""
    native = as_map(read_json(data, path=path, first_line=number))
    value = upgrade_row(native, Changes())
    return Row(number, offset, data, native, value, join.find(value))


def key_of_row(row: Row, *, by_sample_id: bool = False) -> Key:
    """Which execution a row tells of. Suites of other formats name their tasks by sample id."""
    task = sample_of(row.value)[0] if by_sample_id else task_id_of(row.value)
    slug = "" if by_sample_id or row.joined.data_set is None else row.joined.data_set.slug
    return Key(slug, task, replicate_of(row.value))


def grouped(rows: Iterator[Row], *, by_sample_id: bool = False) -> Iterator[Group]:
    """Consecutive rows of the same execution together."""
    group: Group | None = None
    for row in rows:
        key = key_of_row(row, by_sample_id=by_sample_id)
        digest = content_digest(row.native)
        if group is not None and group.key == key and group.digest == digest:
            group.rows.append(row)
            continue
        if group is not None:
            yield group
        group = Group(key, [row], digest)
    if group is not None:
        yield group


def raw_of(rows: Sequence[Row], trajectories: Mapping[str, JSON]) -> bytes:
    """The record in its native form: the line itself, a list of lines, or both with trajectories.

    Trajectories that rows refer to as members of the same upload are kept beside the lines.
    """
    lines = [row.raw.strip(b" \t\r\n") for row in rows]
    if not trajectories:
        return lines[0] if len(lines) == 1 else b"[" + b",\n".join(lines) + b"]"
    held = msgspec.json.encode(trajectories)
    return b'{"lines":[' + b",\n".join(lines) + b'],"trajectories":' + held + b"}"
